//! What can be wrong with a list of patterns, as data: which pattern, which bytes of it, what, and
//! what to do. The caller knows the plan file and turns the place into line and column.

use std::ops::Range;

use super::lower::MAX_EXPANSIONS;
use super::syntax::{MAX_DEPTH, MAX_PATTERN};

/// Whether a finding refuses the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The list cannot be used.
    Error,
    /// The list means what it says, but hardly what was meant.
    Warning,
}

/// One problem of one pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PatternFinding {
    /// Index of the pattern in the list.
    pub pattern: usize,
    /// Bytes of the pattern that are at fault, a leading `!` counted; on character boundaries.
    pub range: Range<usize>,
    /// What is wrong.
    pub problem: Problem,
}

impl PatternFinding {
    /// Whether the finding refuses the list.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.problem.severity()
    }

    /// What to do about it: one sentence without a full stop.
    #[must_use]
    pub fn help(&self) -> String {
        self.problem.help()
    }
}

/// What is wrong with a pattern. `Display` says it in one line, [`Problem::help`] what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Nothing at all, or nothing after `!`.
    #[error("the pattern is empty")]
    Empty,
    /// Over [`MAX_PATTERN`] bytes.
    #[error("the pattern is {0} bytes long; a path has at most {MAX_PATTERN}")]
    TooLong(usize),
    /// Starts with `/` or a drive.
    #[error("the pattern is absolute")]
    Absolute,
    /// A `..` component.
    #[error("`..` leads out of the repository")]
    Parent,
    /// A `.` component.
    #[error("no path of a repository has a `.` component")]
    Dot,
    /// `//`, or braces that may be empty between two `/`.
    #[error("a component of the pattern is empty")]
    EmptyComponent,
    /// Ends in `/`.
    #[error("the pattern ends in `/`, and paths are files")]
    TrailingSlash,
    /// `**` beside anything but `/`.
    #[error("`**` stands for whole components")]
    Glued,
    /// `[` or `{` without its partner.
    #[error("`{0}` is not closed")]
    Unclosed(char),
    /// `]` or `}` without its partner.
    #[error("`{0}` closes nothing")]
    Unopened(char),
    /// `[]` or `[!]`.
    #[error("the class is empty")]
    EmptyClass,
    /// `[z-a]`
    #[error("the range from {0:?} to {1:?} is empty")]
    Reversed(char, char),
    /// `[^a]`
    #[error("`^` does not negate a class")]
    Caret,
    /// `[[:alpha:]]`
    #[error("named classes are not known")]
    NamedClass,
    /// `/` between `[` and `]`.
    #[error("a class never takes `/`")]
    SlashInClass,
    /// `{a}`
    #[error("the braces hold one alternative only")]
    OneAlternative,
    /// Braces nested deeper than [`MAX_DEPTH`].
    #[error("braces are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Alternatives with `/` multiply to more than [`MAX_EXPANSIONS`].
    #[error("the alternatives with `/` or `**` make more than {MAX_EXPANSIONS} patterns")]
    TooManyAlternatives,
    /// `\` before an ordinary character, at the end, or before `**`.
    #[error("`\\` escapes nothing here")]
    Backslash,
    /// `!!`
    #[error("the pattern is negated twice")]
    DoubleNegation,
    /// A NUL byte.
    #[error("no path holds a NUL byte")]
    Nul,
    /// A component `.git`; a warning where it would be subtracted.
    #[error("`.git` is outside every whitelist")]
    Git {
        /// The pattern starts with `!`.
        negative: bool,
    },
    /// No path at all matches.
    #[error("no path can match the pattern")]
    NeverMatches,
    /// The list takes away again all that the pattern gives.
    #[error("everything the pattern matches is subtracted by {}", list(by))]
    Subtracted {
        /// The `!` patterns that do it.
        by: Vec<String>,
    },
    /// `!` patterns and no other.
    #[error("the list only subtracts, so nothing can match")]
    OnlyNegative,
    /// Warning: a `!` pattern that takes nothing away.
    #[error("the pattern subtracts nothing: no other pattern of the list shares a path with it")]
    SubtractsNothing,
    /// Warning: a control character.
    #[error("the pattern holds the control character {0:?}")]
    Control(char),
    /// Warning: white space at either end.
    #[error("the pattern starts or ends with white space, which is part of it")]
    OuterSpace,
    /// Warning: `[name]` as a whole component.
    #[error("the class takes one character, though it looks like a name in brackets")]
    ClassAsName {
        /// How a folder or file with that name, brackets included, is written.
        literal: String,
    },
}

impl Problem {
    /// Whether the problem refuses the list.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::SubtractsNothing
            | Self::Control(_)
            | Self::OuterSpace
            | Self::ClassAsName { .. }
            | Self::Git { negative: true } => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// What to do about it: one sentence without a full stop.
    #[must_use]
    pub fn help(&self) -> String {
        let text = match self {
            Self::Empty => "name a file, or write `dir/**` for everything in a folder",
            Self::TooLong(_) | Self::TooManyAlternatives => "split it into several patterns",
            Self::Absolute => "write the path relative to the root of the repository",
            Self::Parent => "a whitelist reaches only the repository's own files",
            Self::Dot => "leave the `.` out",
            Self::EmptyComponent => {
                "write one `/` between two names; for an optional folder, `a/{,b/}c`"
            }
            Self::TrailingSlash => "write `dir/**` for everything in the folder",
            Self::Glued => "write `*` within a name, or `/**/` between folders",
            Self::Unclosed('[') => "close it with `]`, or write `\\[` for the character",
            Self::Unclosed(_) => "close it with `}`, or write `\\{` for the character",
            Self::Unopened(c) => return format!("write `\\{c}` for the character"),
            Self::EmptyClass => "name its characters; `\\]` stands for a `]`",
            Self::Reversed(..) => "write the lower end first, or `\\-` for a dash",
            Self::Caret => "write `[!…]` for all other characters, or `\\^` for the character",
            Self::NamedClass => "write ranges such as `a-z`, or `\\[` for the character",
            Self::SlashInClass => "take it out: use braces for whole components, `{a/,b}`",
            Self::OneAlternative => "add one, `{a,b}`, or write `\\{` and `\\}` for the characters",
            Self::TooDeep => "write the alternatives side by side",
            Self::Backslash => "separate components with `/`, and write `\\\\` for the character",
            Self::DoubleNegation => "write one `!` to subtract, or `\\!` for a name that starts so",
            Self::Nul => "take it out",
            Self::Git { negative: true } => "leave the pattern out",
            Self::Git { negative: false } => "git's own files are nobody's to touch",
            Self::NeverMatches => {
                "check what it names: components `.`, `..` and `.git` are no one's"
            }
            Self::Subtracted { .. } => "leave one of them out",
            Self::OnlyNegative => "say first what is allowed; `**` is everything",
            Self::SubtractsNothing => "leave it out, or correct it: it may be misspelt",
            Self::Control(_) => {
                "take it out, or write `?` in its place if the name really holds it"
            }
            Self::OuterSpace => "take it out if the name does not hold it",
            Self::ClassAsName { literal } => {
                return format!("write `{literal}` if the name holds the brackets");
            }
        };
        text.to_owned()
    }
}

/// `` `a`, `b` and 3 more``, with odd characters escaped.
fn list(patterns: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<_> =
        patterns.iter().take(SHOWN).map(|p| format!("`{}`", p.escape_debug())).collect();
    match patterns.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Collects the findings of one pattern.
pub(super) struct Notes<'a> {
    pub(super) pattern: usize,
    pub(super) findings: &'a mut Vec<PatternFinding>,
}

impl Notes<'_> {
    /// Adds a finding, unless the same is known (braces repeat what stands beside them).
    pub(super) fn add(&mut self, range: Range<usize>, problem: Problem) {
        let finding = PatternFinding { pattern: self.pattern, range, problem };
        let mut own = (self.findings.iter().rev()).take_while(|f| f.pattern == self.pattern);
        if !own.any(|f| *f == finding) {
            self.findings.push(finding);
        }
    }
}
