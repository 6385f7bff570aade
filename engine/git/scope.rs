//! The verdict on a snapshot: what of it, and of the rest of the repository, is outside what the WP may touch.

use std::fmt;

use bstr::{BStr, BString, ByteSlice};

use super::guard::{Became, Fault, GuardDiff};
use super::irregular::IrregularKind;
use super::objects::ChangeKind;
use super::snapshot::Snapshot;
use super::tamper::Tamper;

/// Where something is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A path in the worktree.
    Path(BString),
    /// A path in the user's checkout.
    Checkout(BString),
    /// A ref, by its full name, or `HEAD`.
    Ref(BString),
    /// A file of git's own: relative to the common git directory, or absolute.
    GitFile(BString),
}

impl Place {
    /// Its name, as bytes.
    #[must_use]
    pub fn name(&self) -> &BStr {
        match self {
            Self::Path(name) | Self::Checkout(name) | Self::Ref(name) | Self::GitFile(name) => {
                name.as_bstr()
            }
        }
    }
}

impl fmt::Display for Place {
    /// For people: one line, everything unprintable escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::new();
        for chunk in self.name().utf8_chunks() {
            shown.extend(chunk.valid().chars().flat_map(char::escape_debug));
            shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
        match self {
            Self::Path(_) | Self::Ref(_) => f.write_str(&shown),
            Self::Checkout(_) => write!(f, "{shown} (in the main checkout)"),
            Self::GitFile(_) => write!(f, "{shown} (of git's own)"),
        }
    }
}

/// What is wrong with a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// It changed and the whitelist does not hold it.
    OutsideWhitelist(ChangeKind),
    /// It can be in no commit.
    Irregular(IrregularKind),
    /// The index held other content for it, and the whitelist does not hold it.
    Staged,
    /// A change of its bytes was hidden by attributes.
    Masked,
    /// Commits were made on the WP's branch, or it was moved or deleted.
    BranchMoved,
    /// The worktree is on something else than its branch; the name of that.
    HeadSwitched(BString),
    /// The worktree's link to the repository was replaced.
    LinkReplaced,
    /// Outside the worktree, and nobody's to touch.
    Repository(Became),
    /// Outside the worktree, and a person may have done it.
    Person(Became),
    /// An index flag on it would have hidden changes from git.
    Hidden(&'static str),
    /// The seed was touched.
    SeedTouched,
}

impl What {
    /// Whether it is about the worktree's own git state (HEAD, branch, index, link) rather than about
    /// a file: that much can be set right without touching anybody's work.
    #[must_use]
    pub fn is_of_git_state(&self) -> bool {
        matches!(
            self,
            Self::Staged | Self::BranchMoved | Self::HeadSwitched(_) | Self::LinkReplaced
        )
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let became = |became: &Became| match became {
            Became::Added => "was added",
            Became::Removed => "was removed",
            Became::Changed => "was changed",
        };
        match self {
            Self::OutsideWhitelist(kind) => {
                let verb = match kind {
                    ChangeKind::Added => "added",
                    ChangeKind::Deleted => "deleted",
                    ChangeKind::Modified => "changed",
                    ChangeKind::Mode => "given another mode",
                    ChangeKind::Type => "made something of another kind",
                };
                write!(f, "was {verb} and is outside the whitelist")
            }
            Self::Irregular(kind) => write!(f, "is {kind}, which no commit can hold"),
            Self::Staged => {
                f.write_str("was staged with other content and is outside the whitelist")
            }
            Self::Masked => {
                f.write_str("differs on disk, and changed attributes hide that from git")
            }
            Self::BranchMoved => {
                f.write_str("was moved by the worker; commits are not its to make")
            }
            Self::HeadSwitched(to) => write!(f, "was switched to {}", Place::Ref(to.clone())),
            Self::LinkReplaced => {
                f.write_str("was replaced; it ties the worktree to its repository")
            }
            Self::Repository(how) => {
                write!(f, "{} while the worker ran, and is nobody's to touch", became(how))
            }
            Self::Person(how) => write!(
                f,
                "{} while the worker ran; whoever did it, nothing was undone",
                became(how)
            ),
            Self::Hidden(flag) => {
                write!(f, "carries the index flag {flag}; its changes count all the same")
            }
            Self::SeedTouched => f.write_str("was touched; every file was read instead"),
        }
    }
}

/// A place and what is wrong with it. `Display` makes one line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeFinding {
    /// Where.
    pub place: Place,
    /// What.
    pub what: What,
}

impl fmt::Display for ScopeFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, self.what)
    }
}

/// All that stands against the work, each with its place. Empty: it may go on.
#[must_use]
pub fn check(
    snapshot: &Snapshot,
    guard: &GuardDiff,
    allowed: impl Fn(&BStr) -> bool,
) -> Vec<ScopeFinding> {
    let mut findings = Vec::new();
    let mut add = |place, what| findings.push(ScopeFinding { place, what });
    for change in &snapshot.changes {
        if !allowed(change.path.as_bstr()) {
            add(Place::Path(change.path.clone()), What::OutsideWhitelist(change.kind));
        }
    }
    for odd in &snapshot.irregular {
        add(Place::Path(odd.path.clone()), What::Irregular(odd.kind));
    }
    for tamper in &snapshot.tampers {
        match tamper {
            // The base branch's own commits, merged in, are nobody's fault.
            Tamper::BranchMoved { only_upstream: true, .. }
            | Tamper::Hidden { .. }
            | Tamper::SeedTouched => {}
            Tamper::BranchMoved { name, .. } => {
                add(Place::Ref(name.as_str().into()), What::BranchMoved)
            }
            Tamper::HeadSwitched { to } => {
                add(Place::Ref("HEAD".into()), What::HeadSwitched(to.clone()))
            }
            Tamper::LinkReplaced => add(Place::Path(".git".into()), What::LinkReplaced),
            Tamper::StagedOnly { path } if allowed(path.as_bstr()) => {}
            Tamper::StagedOnly { path } => add(Place::Path(path.clone()), What::Staged),
            Tamper::Masked { path } => add(Place::Path(path.clone()), What::Masked),
        }
    }
    for difference in guard.findings() {
        add(difference.place.clone(), What::Repository(difference.became));
    }
    findings
}

/// What a person should know and nothing is held against: what changed in their own checkout, hiding flags.
#[must_use]
pub fn notes(snapshot: &Snapshot, guard: &GuardDiff) -> Vec<ScopeFinding> {
    let mut notes = Vec::new();
    for tamper in &snapshot.tampers {
        match tamper {
            Tamper::Hidden { path, flag } => {
                notes.push(ScopeFinding {
                    place: Place::Path(path.clone()),
                    what: What::Hidden(flag),
                });
            }
            Tamper::SeedTouched => {
                notes.push(ScopeFinding {
                    place: Place::GitFile("seed".into()),
                    what: What::SeedTouched,
                });
            }
            _ => {}
        }
    }
    let person = guard.differences.iter().filter(|difference| difference.fault == Fault::Person);
    notes.extend(
        person.map(|d| ScopeFinding { place: d.place.clone(), what: What::Person(d.became) }),
    );
    notes
}
