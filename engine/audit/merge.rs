//! The same finding, told twice: by two scouts, or by one under two concerns.

use std::collections::BTreeSet;

use super::check::Checked;

/// Share of the words of the shorter text that two tellings of one thing have in common, at least.
const ALIKE: f64 = 0.5;

/// Puts together what is about the same lines in much the same words, and brings the rest in order: by
/// severity, then by place.
#[must_use]
pub fn merge(mut all: Vec<Checked>) -> Vec<Checked> {
    // The most severe telling comes first and is the one that is kept.
    let order = |it: &Checked| {
        (
            it.severity,
            it.path.clone(),
            it.span.from,
            it.span.to,
            it.title.clone(),
            it.evidence.clone(),
        )
    };
    all.sort_by_cached_key(|it| (order(it), it.found_in.clone(), it.names.clone()));
    let mut merged: Vec<Checked> = Vec::with_capacity(all.len());
    for next in all {
        match merged.iter_mut().find(|known| is_same(known, &next)) {
            Some(known) => take_over(known, next),
            None => merged.push(next),
        }
    }
    merged
}

fn is_same(a: &Checked, b: &Checked) -> bool {
    let overlap = a.span.from <= b.span.to && b.span.from <= a.span.to;
    a.path == b.path && overlap && alike(a, b)
}

fn alike(a: &Checked, b: &Checked) -> bool {
    let (a, b) = (words(a), words(b));
    let shared = a.intersection(&b).count();
    let shorter = a.len().min(b.len());
    shorter == 0 || shared as f64 >= ALIKE * shorter as f64
}

/// The words that say what a finding is: not the shortest, which all texts have in common.
fn words(it: &Checked) -> BTreeSet<String> {
    let text = format!("{} {}", it.title, it.evidence).to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.chars().count() > 3).map(str::to_owned).collect()
}

fn take_over(known: &mut Checked, other: Checked) {
    add(&mut known.concerns, other.concerns);
    known.concerns.sort();
    add(&mut known.files, other.files);
    add(&mut known.names, other.names);
    add(&mut known.after, other.after);
    add(&mut known.found_in, other.found_in);
    add(&mut known.notes, other.notes);
    if known.fix.is_empty() {
        known.fix = other.fix;
    }
}

fn add<T: PartialEq>(to: &mut Vec<T>, from: Vec<T>) {
    for item in from {
        if !to.contains(&item) {
            to.push(item);
        }
    }
}
