//! Whitelists: which paths a work package may create, change, delete or rename, and whether two work
//! packages can tread on each other.
//!
//! # The pattern language
//!
//! A pattern describes whole paths, relative to the root of the repository, with `/` between the
//! components. A whitelist is the union of its patterns minus the union of its `!` patterns; their
//! order does not matter.
//!
//! | written | matches |
//! | --- | --- |
//! | `*` | any run of characters within a component, the empty run and leading dots included |
//! | `?` | one character within a component |
//! | `[a-z_]`, `[!a-z]` | one character of the class, or outside it; never `/` |
//! | `{a,b/c}` | any of the alternatives; they nest, may be empty, and may hold `/` |
//! | `**` | as a whole component: any number of components, none included |
//! | `dir/**` | at the end of a pattern: everything *inside* `dir`, not `dir` itself |
//! | `\*` | the character itself, for any of `* ? [ ] { } , ! \ ^ -` |
//! | `!pattern` | subtracts what the pattern matches |
//!
//! A file or a symlink put in the place of `dir` is a change of `dir`'s parent, so `dir/**` does not
//! cover it.
//!
//! Matching is by bytes and minds the case. Paths need not be UTF-8: reading from the left, a valid
//! UTF-8 sequence is one character and any other byte is one *stray*. `?`, `*` and negated classes
//! take strays; nothing else does.
//!
//! # Paths that no whitelist reaches
//!
//! Whatever the patterns say: the empty path, a path with an empty, `.` or `..` component, a NUL
//! byte, or a component that spells `.git` in any case.
//!
//! # Exactness
//!
//! "Can this ever match?" and "do these two share a path?" are answered as emptiness of a language,
//! by searching the product of the patterns' automata (`search.rs`): never by guess. The one
//! limit is [`MAX_STEPS`], after which the answer is the cautious one. Which pairs of patterns are
//! searched at all is decided by indices (`neighbours.rs`) that leave out only what cannot meet.
//!
//! A tree cannot hold `a` and `a/b` either. Where one whitelist allows `a` and a pattern of another one
//! spells out the folder `a`, that is an [`OverlapKind::Clash`] (`clash.rs`).

mod audit;
mod automaton;
mod clash;
mod facet;
mod finding;
mod index;
mod lower;
mod neighbours;
mod overlap;
mod search;
mod sequence;
mod symbol;
mod syntax;
mod universe;

pub use finding::{PatternFinding, Problem, Severity};
pub use lower::MAX_EXPANSIONS;
pub use overlap::{MAX_PAIRS, MAX_PATHS, Overlap, OverlapKind, Overlaps, overlaps};
pub use search::{Effort, MAX_STEPS};
pub use syntax::{MAX_DEPTH, MAX_PATTERN};

use index::PrefixTree;
use sequence::Sequence;

/// The compiled whitelist of one work package.
#[derive(Debug, Clone)]
pub struct Whitelist {
    positive: PrefixTree<Sequence>,
    negative: PrefixTree<Sequence>,
}

/// A whitelist that can be used, and what its author should know about it all the same.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The compiled patterns.
    pub whitelist: Whitelist,
    /// Findings of [`Severity::Warning`], by pattern and place.
    pub warnings: Vec<PatternFinding>,
}

/// The pattern that matches `path` and nothing else.
#[must_use]
pub fn literal(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for (at, c) in path.char_indices() {
        // A `!` takes away only where it comes first.
        if "*?[]{}\\".contains(c) || (c == '!' && at == 0) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

impl Whitelist {
    /// Compiles `patterns`. An empty list is taken and matches nothing: whether that is allowed
    /// (it is for a scout) is the caller's to say, with [`Whitelist::is_empty`].
    ///
    /// # Errors
    /// Every finding of the list, by pattern and place, when at least one is an error.
    pub fn parse<S: AsRef<str>>(patterns: &[S]) -> Result<Parsed, Vec<PatternFinding>> {
        let mut findings = Vec::new();
        let mut read = Vec::with_capacity(patterns.len());
        for (index, text) in patterns.iter().enumerate() {
            read.push(lower::pattern(index, text.as_ref(), &mut findings));
        }
        audit::check(&read, &mut findings);
        findings.sort_by_key(|f| (f.pattern, f.range.start, f.range.end));
        if findings.iter().any(|f| f.severity() == Severity::Error) {
            return Err(findings);
        }
        let (negative, positive): (Vec<_>, Vec<_>) = read.into_iter().partition(|p| p.negative);
        let compile = |list: Vec<lower::Pattern>| {
            PrefixTree::new(list.into_iter().flat_map(|p| p.sequences).collect())
        };
        Ok(Parsed {
            whitelist: Self { positive: compile(positive), negative: compile(negative) },
            warnings: findings,
        })
    }

    /// Whether no pattern was given, so that nothing can match.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positive.items().is_empty()
    }

    /// Whether the whitelist allows `path`: relative to the repository's root, `/` between the
    /// components, the bytes as git gives them. What is not such a path is not allowed.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        universe::key(path).is_some_and(|key| {
            self.positive.above(&key).any(|s| s.matches(&key)) && !self.subtracts(&key)
        })
    }

    /// Whether a `!` pattern takes away the path that `key` encodes.
    fn subtracts(&self, key: &[u8]) -> bool {
        self.negative.above(key).any(|s| s.matches(key))
    }
}
