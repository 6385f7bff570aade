//! Worktrees, runs and what may become of them, as people and programs are shown them. Paths are escaped text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{CommitId, RunId};
use super::stand::Stand;
use super::time::Timestamp;

/// A worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tree {
    /// What the verbs take for it: a name of the lead's, `RUN/WP`, or a folder's name.
    pub name: String,
    /// Its folder.
    pub path: Option<String>,
    /// Whose it is.
    pub whose: Whose,
    /// The branch it is on.
    pub branch: Option<String>,
    /// The commit it is at.
    pub head: Option<CommitId>,
    /// What is so of it; never empty.
    pub states: Vec<State>,
    /// Where its branch's work is merged, if it is.
    pub merged: Option<Merged>,
}

/// Whose a worktree is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Whose {
    /// The user's main checkout.
    Main,
    /// A run made it for a WP or a gate.
    Run {
        /// The run.
        run: RunId,
        /// The WP or gate.
        unit: String,
    },
    /// `sop worktree new` made it.
    Lead,
    /// `sop` did not make it.
    Foreign,
}

/// Something that is so of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct State {
    /// What.
    pub kind: StateKind,
    /// How many, where it is about paths, processes or entries; else 0.
    pub count: usize,
    /// Some of them, or the reason.
    pub some: Vec<String>,
}

/// What can be so of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateKind {
    /// Nothing in it would be lost with it.
    Clean,
    /// Tracked files are not as the index has them.
    Modified,
    /// The index is not as HEAD has it.
    Staged,
    /// Conflicts nobody has solved.
    Conflict,
    /// Untracked files.
    Untracked,
    /// Ignored files.
    Ignored,
    /// Files that provisioning brought.
    Provisioned,
    /// The stash has entries made on its branch.
    Stash,
    /// A repository of its own inside.
    Nested,
    /// A submodule with work that is nowhere else.
    Submodule,
    /// What may not be read.
    Unreadable,
    /// Another user's files.
    OtherUser,
    /// Another file system inside.
    Mount,
    /// Pipes, sockets, devices.
    Special,
    /// A rebase, merge, cherry-pick or bisect is under way.
    UnderWay,
    /// HEAD is on no branch.
    Detached,
    /// HEAD's commit is on no branch and has no other name.
    LooseHead,
    /// Refs that only this worktree has hold commits that are nowhere else.
    OwnRefs,
    /// Refs that only this worktree has name what is no commit.
    OwnObjects,
    /// Commits that only the log of its HEAD names.
    Logged,
    /// The branch has no commit yet.
    Unborn,
    /// A person locked it.
    Locked,
    /// The index is locked.
    IndexLocked,
    /// Its folder is not there.
    Missing,
    /// Its removal was cut short.
    Removing,
    /// Its `.git` does not lead to its registration.
    Unlinked,
    /// A process is in it.
    Process,
}

/// How and where work is merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Merged {
    /// How it is known.
    pub how: How,
    /// The branch that has it.
    pub into: String,
}

/// How it is known that work is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// By ancestry.
    Ancestor,
    /// Patch by patch.
    Patch,
    /// As one commit.
    Squash,
    /// It is kept in a salvage commit.
    Archived,
}

/// What may become of something that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It may go: nothing is lost with it.
    Reclaim,
    /// It may go once it is archived.
    Salvage,
    /// It stays.
    Hold,
}

/// Something that is left, and what may become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Leftover {
    /// A worktree or a branch.
    pub kind: LeftoverKind,
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: Option<String>,
    /// What may become of it.
    pub class: Class,
    /// Why.
    pub why: Vec<String>,
    /// What was done, where it was to be done.
    pub done: Option<Done>,
}

/// What is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftoverKind {
    /// A worktree.
    Worktree,
    /// A branch.
    Branch,
}

/// What was done with something that was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Done {
    /// It is gone.
    Removed,
    /// It is gone, and kept.
    Archived(Archived),
    /// It was not touched after all.
    Left {
        /// Why.
        why: String,
    },
}

/// A worktree that was archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Archived {
    /// The ref that keeps it.
    pub salvage: String,
    /// Its commit.
    pub commit: CommitId,
    /// What brings it back.
    pub restore: String,
    /// What was not kept, and so is gone.
    pub not_kept: Vec<String>,
}

/// A worktree that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gone {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: Option<String>,
    /// The branch that went with it.
    pub branch: Option<String>,
    /// What went with it: discarded because it was said so, or ignored.
    pub went: Vec<String>,
    /// The ref that keeps commits which only its log named, where there were any.
    pub kept: Option<String>,
}

/// A checkout that was brought forward, or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Synced {
    /// The checkout.
    pub path: String,
    /// Its branch.
    pub branch: Option<String>,
    /// What it was to be brought to.
    pub to: String,
    /// From which commit it was brought forward; nothing where it stood there already.
    pub from: Option<CommitId>,
    /// Where it stands now.
    pub at: CommitId,
    /// How many files changed.
    pub files: usize,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunLine {
    /// The run.
    pub run: RunId,
    /// How it stands.
    pub state: RunState,
    /// The same in the word that all reports say; absent where its journal cannot be read.
    pub stand: Option<Stand>,
    /// What it is for.
    pub goal: String,
    /// WPs that got through.
    pub through: usize,
    /// All of them.
    pub wps: usize,
    /// Its last record.
    pub updated: Option<Timestamp>,
    /// Its worktrees that are left.
    pub worktrees: usize,
    /// Its branches that are left.
    pub branches: usize,
    /// Why it cannot be read, if it cannot.
    pub unreadable: Option<String>,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// An engine is at it.
    AtWork,
    /// It can be gone on with.
    Open,
    /// It is over, and not all got through.
    Failed,
    /// It is over.
    Done,
    /// It was put away.
    Archived,
    /// Its journal cannot be read.
    Unreadable,
}

impl RunState {
    /// Whether nothing more is to come of it by itself.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Failed | Self::Done | Self::Archived)
    }
}
