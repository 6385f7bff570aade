//! The paths that a repository can hold, before any pattern is asked: the same rule twice, once for
//! a path at hand ([`key`]) and once as an automaton for the search ([`Place`]).

use super::symbol::{SLASH, Symbol};

/// Separates components in a key. No path holds it.
pub(super) const SEPARATOR: u8 = 0;

/// Whether a component is one that no path of a repository has.
fn forbidden(component: &[u8]) -> bool {
    component.is_empty()
        || component == b"."
        || component == b".."
        || component.eq_ignore_ascii_case(b".git")
}

/// `path` with every component closed in by separators, `a/b` as `\0a\0b\0`, so that "starts with
/// these components" is "starts with these bytes". `None` for what no whitelist reaches.
pub(super) fn key(path: &[u8]) -> Option<Vec<u8>> {
    if path.contains(&SEPARATOR) || path.split(|b| *b == b'/').any(forbidden) {
        return None;
    }
    let mut key = Vec::with_capacity(path.len() + 2);
    key.push(SEPARATOR);
    key.extend(path.iter().map(|b| if *b == b'/' { SEPARATOR } else { *b }));
    key.push(SEPARATOR);
    Some(key)
}

/// Where in a component a path being spelled out stands, as far as the rule cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    /// Nothing of the component yet.
    Start,
    /// `.`
    Dot,
    /// `..`
    DotDot,
    /// `.g`
    DotG,
    /// `.gi`
    DotGi,
    /// `.git`
    DotGit,
    /// Something that is no forbidden component, whatever follows.
    Free,
}

impl Place {
    /// The place after `symbol`, or `None` when no path goes on like that.
    pub(super) fn step(self, symbol: Symbol) -> Option<Self> {
        if symbol == 0 {
            return None;
        }
        if symbol == SLASH {
            return self.may_end().then_some(Self::Start);
        }
        let letter = char::from_u32(symbol).map(|c| c.to_ascii_lowercase());
        Some(match (self, letter) {
            (Self::Start, Some('.')) => Self::Dot,
            (Self::Dot, Some('.')) => Self::DotDot,
            (Self::Dot, Some('g')) => Self::DotG,
            (Self::DotG, Some('i')) => Self::DotGi,
            (Self::DotGi, Some('t')) => Self::DotGit,
            _ => Self::Free,
        })
    }

    /// Whether a component may end here.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Self::DotG | Self::DotGi | Self::Free)
    }

    /// The symbols that [`Place::step`] tells apart from all others at this place.
    pub(super) fn special(self) -> &'static [Symbol] {
        match self {
            Self::Start => &[0, '.' as Symbol, SLASH],
            Self::Dot => &[0, '.' as Symbol, SLASH, 'g' as Symbol, 'G' as Symbol],
            Self::DotG => &[0, SLASH, 'i' as Symbol, 'I' as Symbol],
            Self::DotGi => &[0, SLASH, 't' as Symbol, 'T' as Symbol],
            Self::DotDot | Self::DotGit | Self::Free => &[0, SLASH],
        }
    }
}
