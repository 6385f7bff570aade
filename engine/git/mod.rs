//! The one door to git.
//!
//! Everything here is synchronous (callers on an async runtime use a blocking thread) and every type
//! is `Send + Sync`. Two means are used. libgit2, in-process, for discovery, objects, refs and ancestry,
//! where it can open the repository. The `git` executable for whatever touches a working tree, an index,
//! filters, worktrees or merges, and for everything in the repositories that libgit2 cannot open
//! (sha256, reftable).
//!
//! | file | idea |
//! | --- | --- |
//! | [`repo`] | find a repository, name what stands in the way of a run |
//! | [`commits`], `listing`, [`trees`], [`refs`], [`standing`], [`merge`] | commits, trees and branches, on objects alone |
//! | [`worktree`], [`removal`] | give a WP its folder; take it away without losing anything |
//! | [`linked`], [`landed`], [`forward`] | any worktree, whoever made it; whether its work is merged; the main checkout brought forward |
//! | [`snapshot`] | the bytes on disk against the pinned base |
//! | [`guard`] | the rest of the repository before and after a worker |
//! | [`scope`] | snapshot and guard against a whitelist |
//! | [`baseline`], [`survey`], [`upstream`] | what holds before a run, asked without writing anything |
//! | [`pushes`] | what a worker tried to push, or did |
//! | [`remote`] | a remote's branch: where it stands, and setting it to a commit |
//! | [`checked`], [`whole`] | what was checked stays until it is committed; what is committed is on disk |
//!
//! The scope check does not ask git what changed. It walks the worktree itself, once, and compares each
//! file with the stat data that the checkout recorded (`seed`), because git's own answer can be bent by
//! index flags, configuration, exclude files and a file system monitor, and is silent about pipes,
//! nested repositories and edited ignore rules. Only what may have changed is handed to git, for hashing
//! through its filters.

pub mod baseline;
pub mod checked;
mod command;
pub mod commits;
pub mod error;
mod fingerprint;
pub mod follow;
pub mod forward;
pub mod guard;
pub mod guard_file;
mod half_made;
mod hashing;
pub mod ignore;
pub mod in_use;
pub mod index_file;
pub mod irregular;
pub mod landed;
pub mod layout;
pub mod linked;
mod listing;
mod look;
pub mod merge;
#[cfg(target_os = "linux")]
mod mounts;
pub mod objects;
mod patch;
pub mod pushes;
pub mod put_back;
mod ref_lock;
pub mod refs;
mod registry;
pub mod remote;
pub mod removal;
pub mod repo;
pub mod rewritten;
pub mod scope;
mod seed;
mod settings;
pub mod settle;
pub mod snapshot;
pub mod standing;
mod submodule;
pub mod survey;
pub mod tamper;
pub mod trees;
pub mod upstream;
mod walk;
pub mod whole;
mod wildmatch;
pub mod worktree;

pub use error::GitError;
pub use guard::{Difference, Fault, GuardDiff, GuardSpec, Guarded};
pub use guard_file::KeptLook;
pub use irregular::{Irregular, IrregularKind};
pub use merge::{MergeOutcome, Merged};
pub use objects::{Change, ChangeKind, Identity};
pub use remote::Remote;
pub use removal::{Refusal, Removal, Salvage};
pub use repo::{Obstacle, ObstacleKind, Repo};
pub use scope::{Place, ScopeFinding};
pub use snapshot::{Snapshot, SnapshotSpec};
pub use tamper::Tamper;
pub use worktree::{Worktree, WorktreeSpec};
