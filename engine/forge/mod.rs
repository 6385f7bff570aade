//! Requests at a forge: found, opened, updated, looked at, merged.
//!
//! [`Forge`] is the one seam. `gh` stands behind it; `glab` and `tea` would, each in a folder of its own. A
//! forge's program is spoken to as an argument vector, never through a shell, from a folder without a
//! repository; bodies go in by standard input; answers are read up to a bound; nothing waits for ever
//! ([`program`]). What goes wrong has a kind ([`ForgeError`]), which decides what is tried again and what a
//! person is told to do. Calls block.

pub mod back_off;
mod error;
mod gh;
mod place;
mod program;
mod remote;

pub use error::{ForgeError, Kind};
pub use gh::Gh;
pub use place::Place;
pub use remote::of_git;

use crate::model::delivery::{ForgeKind, MergeMethod};
use crate::model::ids::CommitId;

/// A request to merge a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its number at the forge.
    pub number: u64,
    /// Where a person looks at it.
    pub url: String,
    /// Its branch.
    pub head: String,
    /// The commit that it is at.
    pub at: CommitId,
    /// The branch that it asks to be merged into.
    pub base: String,
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
}

/// A request that is to be opened.
#[derive(Debug, Clone, Copy)]
pub struct NewRequest<'a> {
    /// Its branch, which is pushed.
    pub head: &'a str,
    /// The branch that it asks to be merged into.
    pub base: &'a str,
    /// Its title: one line.
    pub title: &'a str,
    /// Its body.
    pub body: &'a str,
    /// Whether it is a draft.
    pub draft: bool,
}

/// A branch that requests ask to be merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseBranch {
    /// Whether the forge protects it.
    pub protected: bool,
    /// Checks that its protection requires, as far as that can be read.
    pub required: Vec<String>,
}

/// How a request stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Whether it is open.
    pub state: State,
    /// The commit that it is at.
    pub at: CommitId,
    /// The branch that it asks to be merged into by now.
    pub base: String,
    /// Its checks, all taken together.
    pub checks: Checks,
    /// What the forge says to merging it.
    pub merge: MergeState,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Neither of the others.
    Open,
    /// Merged.
    Merged,
    /// Closed, and not merged.
    Closed,
}

/// Checks of a request, all taken together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checks {
    /// None has been reported.
    None,
    /// These have not come to an end; none has failed.
    Pending(Vec<String>),
    /// All passed.
    Passed,
    /// These failed.
    Failed(Vec<String>),
}

/// What a forge says to merging a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeState {
    /// It has not found out yet.
    Unknown,
    /// Nothing is in the way.
    Clean,
    /// It conflicts with its base.
    Conflict,
    /// The base's protection wants it brought up to date first.
    Behind,
    /// The base's protection asks for more; what, where that is known.
    Blocked(String),
    /// It is a draft.
    Draft,
}

/// A forge, for one repository of it.
pub trait Forge: Send + Sync {
    /// Whether its program is there and somebody is logged in. Changes nothing, asks nobody over the network.
    ///
    /// # Errors
    /// [`Kind::NoProgram`], [`Kind::NoToken`].
    fn ready(&self) -> Result<(), ForgeError>;

    /// A branch of the repository, as far as it can be read.
    ///
    /// # Errors
    /// [`Kind::NotFound`]: there is no such branch, or no such repository for whoever is logged in.
    fn base(&self, branch: &str) -> Result<BaseBranch, ForgeError>;

    /// Open requests of this repository's own branches: the one of `head`, or all.
    ///
    /// # Errors
    /// As the forge says.
    fn open_requests(&self, head: Option<&str>) -> Result<Vec<Request>, ForgeError>;

    /// Opens a request.
    ///
    /// # Errors
    /// [`Kind::Exists`]: there is one of this branch already.
    fn create(&self, new: &NewRequest<'_>) -> Result<(), ForgeError>;

    /// Sets title and body of a request.
    ///
    /// # Errors
    /// As the forge says.
    fn update(&self, number: u64, title: &str, body: &str) -> Result<(), ForgeError>;

    /// How a request stands.
    ///
    /// # Errors
    /// As the forge says.
    fn look(&self, number: u64) -> Result<Look, ForgeError>;

    /// Merges a request that is at `head`: with the rights of whoever is logged in, never past what protects
    /// the base.
    ///
    /// # Errors
    /// [`Kind::HeadMoved`], [`Kind::Conflict`], [`Kind::Protected`].
    fn merge(&self, number: u64, how: MergeMethod, head: &CommitId) -> Result<(), ForgeError>;
}

/// The forge of this kind at which the repository of a remote is.
#[must_use]
pub fn at(kind: ForgeKind, place: Place) -> Box<dyn Forge> {
    match kind {
        ForgeKind::Gh => Box::new(Gh::new(place)),
    }
}
