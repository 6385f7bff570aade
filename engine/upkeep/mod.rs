//! What is left when the work is done: worktrees, branches, runs; and the house they stand in.
//!
//! | file | idea |
//! | --- | --- |
//! | [`survey`] | every worktree with whose it is, what is in it and whether its work is merged |
//! | [`grounds`] | why one stays, whoever asks |
//! | [`ancestry`] | who asks |
//! | [`fresh`], [`making`] | a worktree for the lead's own hands; one that is being made |
//! | [`held`] | a lock, and what was under way when its holder died |
//! | [`leave`] | one taken away, by name |
//! | [`archive`] | the same, with all that is in it kept first |
//! | [`runs`], [`put_away`] | the runs of a repository; one moved to the archive |
//! | [`tidy`] | all that is left in three classes, and what may go taken away |
//! | [`forward`] | the main checkout brought up to what was merged |
//! | [`bare`] | a checkout turned into a bare repository with worktrees beside it |
//!
//! Nothing goes that is not proven merged, clean and left alone, or kept first; and each is looked at once more just
//! before it goes. There is no way around that.

pub mod ancestry;
pub mod archive;
pub mod bare;
pub mod error;
pub mod forward;
pub mod fresh;
pub mod grounds;
pub mod held;
pub mod leave;
pub mod making;
pub mod put_away;
pub mod runs;
pub mod survey;
pub mod tidy;
