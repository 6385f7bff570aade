//! The user's checkout at one moment, as git tells it, and what became of it by another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::CommitId;

/// The checkout at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// The checkout.
    pub worktree: String,
    /// What HEAD is at; absent where there is no commit.
    pub head: Option<CommitId>,
    /// SHA-256 of what `git status --porcelain=v1` prints, in hexadecimal.
    pub status_sha256: String,
    /// SHA-256 of what `git diff HEAD` prints, in hexadecimal.
    pub diff_sha256: String,
    /// Lines of that status.
    pub changes: u64,
}

/// The same, with what tells afterwards which paths are not as they were: kept beside the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The checkout.
    #[serde(flatten)]
    pub baseline: Baseline,
    /// Paths that git has something to say of, as it writes them.
    pub paths: BTreeMap<String, Standing>,
    /// Whether there are more of them than are listed.
    pub cut: bool,
    /// Whether the paths have been brought up to date since, and the rest has not.
    #[serde(default)]
    pub taken_over: bool,
}

/// What git says of one path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Standing {
    /// The two letters of `git status`.
    pub status: Option<String>,
    /// SHA-256 of its part of `git diff HEAD`.
    pub diff: Option<String>,
}

/// The checkout when the run began, and when it was over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// When it began.
    pub before: Baseline,
    /// When it was over; absent where that could not be found out.
    pub after: Option<Baseline>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Paths that are not as they were.
    pub paths: Vec<ChangedPath>,
    /// Whether more paths may differ than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A path of the checkout that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPath {
    /// The path, as git writes it.
    pub path: String,
    /// What `git status` said of it; absent where it said nothing.
    pub before: Option<String>,
    /// What it says now.
    pub after: Option<String>,
}

/// Which of the three is another now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Differs {
    /// The commit that HEAD is at.
    Head,
    /// What `git status --porcelain=v1` prints.
    Status,
    /// What `git diff HEAD` prints.
    Diff,
}

impl Kept {
    /// What became of the checkout from `before` to `after` is as it should be. Whether that is anything.
    pub fn take_over(&mut self, before: &Self, after: &Self) -> bool {
        let paths: BTreeSet<&String> = before.paths.keys().chain(after.paths.keys()).collect();
        let mut any = false;
        for path in paths {
            let is = after.paths.get(path);
            if before.paths.get(path) == is {
                continue;
            }
            any = true;
            match is {
                Some(is) => self.paths.insert(path.clone(), is.clone()),
                None => self.paths.remove(path),
            };
        }
        self.taken_over |= any;
        any
    }

    /// What became of the checkout by `after`.
    #[must_use]
    pub fn compare(self, after: Self) -> Compared {
        let paths: BTreeSet<&String> = self.paths.keys().chain(after.paths.keys()).collect();
        let of = |kept: &Self, path: &String| kept.paths.get(path).cloned().unwrap_or_default();
        let changed = paths.into_iter().filter_map(|path| {
            let (before, after) = (of(&self, path), of(&after, path));
            (before != after).then(|| ChangedPath {
                path: path.clone(),
                before: before.status,
                after: after.status,
            })
        });
        let paths: Vec<ChangedPath> = changed.collect();
        let cut = self.cut || after.cut;
        let mut before = self.baseline;
        if self.taken_over && paths.is_empty() && !cut {
            // No path differs, so nothing does.
            before.status_sha256.clone_from(&after.baseline.status_sha256);
            before.diff_sha256.clone_from(&after.baseline.diff_sha256);
            before.changes = after.baseline.changes;
        }
        Compared { before, after: Some(after.baseline), problem: None, paths, cut }
    }
}

impl Compared {
    /// Which of head, status and diff are others now; nothing where all match, or where it is not known.
    #[must_use]
    pub fn differs(&self) -> Vec<Differs> {
        let Some(after) = &self.after else { return Vec::new() };
        let before = &self.before;
        let differs = [
            (Differs::Head, before.head != after.head),
            (Differs::Status, before.status_sha256 != after.status_sha256),
            (Differs::Diff, before.diff_sha256 != after.diff_sha256),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
    }

    /// Whether the checkout is known to be as it was.
    #[must_use]
    pub fn matches(&self) -> bool {
        self.after.is_some() && self.differs().is_empty()
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(after) = &self.after else {
            let why = self.problem.as_deref().unwrap_or("nobody looked");
            return write!(f, "whether it is as it was is not known: {why}");
        };
        let before = &self.before;
        let differs = self.differs();
        if differs.is_empty() {
            return f.write_str("as it was when the run was made");
        }
        let head = |head: &Option<CommitId>| match head {
            Some(head) => head.short().to_owned(),
            None => "no commit".to_owned(),
        };
        let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
        f.write_str("not as it was")?;
        for (n, what) in differs.iter().enumerate() {
            let (what, was, is) = match what {
                Differs::Head => ("HEAD", head(&before.head), head(&after.head)),
                Differs::Status => {
                    ("status", short(&before.status_sha256), short(&after.status_sha256))
                }
                Differs::Diff => ("diff", short(&before.diff_sha256), short(&after.diff_sha256)),
            };
            let comma = if n == 0 { ':' } else { ',' };
            write!(f, "{comma} {what} was {was} and is {is}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ChangedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |letters: &Option<String>| match letters.as_deref() {
            None => "clean".to_owned(),
            Some("??") => "untracked".to_owned(),
            Some(letters) => format!("`{letters}`"),
        };
        match self.before == self.after {
            true => write!(f, "{} ({}, and changed again)", self.path, word(&self.before)),
            false => {
                write!(f, "{} (was {}, is {})", self.path, word(&self.before), word(&self.after))
            }
        }
    }
}
