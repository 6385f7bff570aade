//! How results are printed: one line a comparison, with the aim and whether it is met.

use std::time::Duration;

use crate::race::Entrant;

/// What a ratio should come to (the last table of the design).
#[derive(Clone, Copy)]
pub enum Aim {
    AtMost(f64),
    Below(f64),
    /// Shown for information.
    None,
}

pub fn heading(name: &str, what: &str) {
    println!("\n## {name}: {what}");
}

/// A line that explains what was measured.
pub fn note(text: &str) {
    println!("   ({text})");
}

/// One entrant's own time, then its ratio to each of the others.
pub fn compare(label: &str, entrants: &[Entrant<'_>], aims: &[Aim]) {
    let (ours, others) = entrants.split_first().expect("someone ran");
    println!("{label:<14} {:<40} {:>10}", ours.name(), show(ours.median()));
    for (other, aim) in others.iter().zip(aims) {
        let ratio = ours.ratio(other);
        println!(
            "{:<14} {:<40} {:>10} {ratio:>8.2}×  {}",
            "",
            other.name(),
            show(other.median()),
            verdict(ratio, *aim)
        );
    }
}

/// A figure that is no time, beside its limit.
pub fn figure(label: &str, what: &str, value: f64, unit: &str, aim: Aim) {
    println!("{label:<14} {what:<40} {value:>7.1} {unit}   {}", verdict(value, aim));
}

fn verdict(value: f64, aim: Aim) -> String {
    let (met, text) = match aim {
        Aim::AtMost(limit) => (value <= limit, format!("aim ≤ {limit}")),
        Aim::Below(limit) => (value < limit, format!("aim < {limit}")),
        Aim::None => return String::new(),
    };
    format!("{text}: {}", if met { "met" } else { "MISSED" })
}

pub fn show(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        0.0..10.0 => format!("{ms:.2} ms"),
        10.0..1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1000.0),
    }
}
