//! Findings cut into parts that cannot tread on each other: whatever shares a file, directly or through
//! others, is one part, and so is what names one path in two ways that differ in case. Parts wait for
//! each other as their findings do; those that wait in a circle are one.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::gap::Gap;

/// Findings that one work package mends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The findings, as indices, in their order.
    pub findings: Vec<usize>,
    /// The files that they touch, by name.
    pub files: Vec<String>,
    /// Parts that have to be done before, as indices.
    pub needs: Vec<usize>,
    /// Whether it was put together because its findings wait for each other.
    pub circular: bool,
}

/// Cuts `findings`. Parts are in the order of their first findings.
#[must_use]
pub fn cut(findings: &[Gap]) -> Vec<Part> {
    let mut sets = Sets((0..findings.len()).collect());
    let mut owner: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, gap) in findings.iter().enumerate() {
        for file in files(gap) {
            sets.join(n, *owner.entry(file).or_insert(n));
        }
    }
    // A path that is a file to one and a folder to another: both would be made in one place.
    for (file, n) in &owner {
        let cuts = file.match_indices('/').map(|(at, _)| &file[..at]);
        for above in cuts {
            if let Some(other) = owner.get(above) {
                sets.join(*n, *other);
            }
        }
    }
    for (_, ways) in spelled(findings).into_iter().filter(|(_, ways)| ways.len() > 1) {
        let all: Vec<usize> = ways.into_values().flatten().collect();
        all.windows(2).for_each(|pair| sets.join(pair[0], pair[1]));
    }
    let index: BTreeMap<&str, usize> =
        findings.iter().enumerate().map(|(n, gap)| (gap.id.as_str(), n)).collect();
    let before =
        |n: usize| findings[n].depends_on.iter().filter_map(|id| index.get(id.as_str()).copied());
    let shared = sets.clone();
    let mut waits: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for n in 0..findings.len() {
        let part = sets.root(n);
        let others = before(n).map(|other| sets.root(other)).filter(|other| *other != part);
        waits.entry(part).or_default().extend(others);
    }
    for circle in circles(&waits) {
        for pair in circle.windows(2) {
            sets.join(pair[0], pair[1]);
        }
    }
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for (n, gap) in findings.iter().enumerate() {
        let part = parts.entry(sets.root(n)).or_insert_with(|| Part {
            findings: Vec::new(),
            files: Vec::new(),
            needs: Vec::new(),
            circular: false,
        });
        part.findings.push(n);
        part.files.extend(files(gap).map(str::to_owned));
        part.circular |= shared.root(n) != shared.root(part.findings[0]);
    }
    let number: BTreeMap<usize, usize> =
        parts.keys().enumerate().map(|(at, root)| (*root, at)).collect();
    let mut parts: Vec<Part> = parts.into_values().collect();
    for (at, part) in parts.iter_mut().enumerate() {
        part.files.sort();
        part.files.dedup();
        let needs = part.findings.iter().flat_map(|n| before(*n));
        let needs = needs.map(|other| number[&sets.root(other)]).filter(|other| *other != at);
        part.needs = needs.collect::<BTreeSet<usize>>().into_iter().collect();
    }
    parts
}

/// Paths, and the folders above them, by what is left of them without case: each way in which one is spelled,
/// and the findings that spell it so. Where a file system does not tell case apart, there is room for one.
fn spelled(findings: &[Gap]) -> BTreeMap<String, BTreeMap<&str, Vec<usize>>> {
    let mut spelled: BTreeMap<String, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for (n, gap) in findings.iter().enumerate() {
        for file in files(gap) {
            let ends = file.match_indices('/').map(|(at, _)| at).chain([file.len()]);
            for path in ends.map(|end| &file[..end]) {
                let ways = spelled.entry(path.to_lowercase()).or_default();
                ways.entry(path).or_default().push(n);
            }
        }
    }
    spelled
}

fn files(gap: &Gap) -> impl Iterator<Item = &str> {
    std::iter::once(gap.path.as_str()).chain(gap.files.iter().map(String::as_str))
}

/// Sets of numbers, each known by its least.
#[derive(Clone)]
struct Sets(Vec<usize>);

impl Sets {
    fn root(&self, mut n: usize) -> usize {
        while self.0[n] != n {
            n = self.0[n];
        }
        n
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Groups of nodes each of which can be reached from each other.
fn circles(waits: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<Vec<usize>> {
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        waits.keys().map(|from| (*from, reach(*from, waits))).collect();
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    for (from, to) in &reached {
        if done.contains(from) || !to.contains(from) {
            continue;
        }
        let back = |other: &&usize| reached.get(other).is_some_and(|to| to.contains(from));
        let circle: Vec<usize> = to.iter().filter(back).copied().collect();
        done.extend(circle.iter().copied());
        circles.push(circle);
    }
    circles
}

/// What can be reached in one step or more.
fn reach(from: usize, waits: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        for next in waits.get(&at).into_iter().flatten() {
            if seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    seen
}
