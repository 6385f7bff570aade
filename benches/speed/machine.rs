//! On what the figures were measured: a ratio without it cannot be argued with.

use std::process::Command;

use crate::scratch::Place;

pub fn describe(place: &Place) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let git = Command::new("git").arg("version").output().expect("git is installed");
    let git = String::from_utf8_lossy(&git.stdout).trim().replace("git version", "git");
    println!(
        "sop {} · {} · {cores} cores, {} GiB · {git} · scratch on {}",
        env!("CARGO_PKG_VERSION"),
        jiff::Timestamp::now().to_string().get(..10).unwrap_or_default(),
        memory_gib().map_or_else(|| "?".to_owned(), |gib| gib.to_string()),
        place.describe(),
    );
    println!(
        "times are medians; a ratio is the median over paired runs, each pair in the same round"
    );
}

/// As the kernel counts it, rounded up.
fn memory_gib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = text.lines().next()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib.div_ceil(1 << 20))
}
