//! What all paths of a pattern have in common at one place of theirs: text that two patterns must agree
//! on if they are to meet.
//!
//! A facet gives every pattern a key. Two patterns can share a path only when one key is a prefix of
//! the other; a pattern that leaves the place open has the empty key, which is a prefix of all.

use super::sequence::{Component, Part, Sequence};
use super::universe::SEPARATOR;

/// Components looked at from either end.
const DEPTH: usize = 4;

/// A place in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Facet {
    /// The path from its end, for as far as it is literal.
    Tail,
    /// A component.
    Component {
        /// Counted from this end, from 0.
        from: End,
        depth: usize,
        /// Read from this end.
        read: End,
    },
}

/// An end of a path, or of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Start,
    Last,
}

impl Facet {
    /// All of them. How a path starts is no facet: patterns are grouped by that.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let components = (0..DEPTH).flat_map(|depth| {
            [End::Last, End::Start].into_iter().flat_map(move |from| {
                [End::Start, End::Last].map(|read| Self::Component { from, depth, read })
            })
        });
        std::iter::once(Self::Tail).chain(components)
    }

    /// The key of a pattern.
    pub(super) fn of(self, sequence: &Sequence) -> Vec<u8> {
        match self {
            Self::Tail => sequence.tail().iter().rev().copied().collect(),
            Self::Component { from: End::Start, depth, read } => {
                of_component(at(sequence.parts().iter(), depth), read)
            }
            Self::Component { from: End::Last, depth, read } => {
                of_component(at(sequence.parts().iter().rev(), depth), read)
            }
        }
    }

    /// The key of one path (`universe::key`).
    pub(super) fn of_path(self, key: &[u8]) -> Vec<u8> {
        let inner = key.get(1..key.len() - 1).unwrap_or_default();
        let mut names = inner.split(|byte| *byte == SEPARATOR);
        let (name, read) = match self {
            Self::Tail => return key.iter().rev().copied().collect(),
            Self::Component { from: End::Start, depth, read } => (names.nth(depth), read),
            Self::Component { from: End::Last, depth, read } => (names.nth_back(depth), read),
        };
        name.map_or_else(absent, |name| closed(name, read))
    }
}

/// What is at a place.
enum Found<'a> {
    Component(&'a Component),
    /// No path of the pattern is that long.
    Nothing,
    /// Not known: there is a `**` before it.
    Open,
}

fn at<'a>(parts: impl Iterator<Item = &'a Part>, depth: usize) -> Found<'a> {
    for (n, part) in parts.enumerate() {
        match part {
            Part::Components => return Found::Open,
            Part::One(component) if n == depth => return Found::Component(component),
            Part::One(_) => {}
        }
    }
    Found::Nothing
}

fn of_component(found: Found<'_>, read: End) -> Vec<u8> {
    match (found, read) {
        (Found::Open | Found::Component(Component::Any), _) => Vec::new(),
        (Found::Nothing, _) => absent(),
        (Found::Component(Component::Literal(name)), _) => closed(name, read),
        (Found::Component(Component::Glob(glob)), End::Start) => glob.prefix().to_vec(),
        (Found::Component(Component::Glob(glob)), End::Last) => {
            glob.suffix().iter().rev().copied().collect()
        }
    }
}

/// No name at all, which no name agrees with.
fn absent() -> Vec<u8> {
    vec![SEPARATOR]
}

/// A whole name, which nothing goes on from.
fn closed(name: &[u8], read: End) -> Vec<u8> {
    let mut key = name.to_vec();
    if read == End::Last {
        key.reverse();
    }
    key.push(SEPARATOR);
    key
}
