//! Audits: from a tree to findings that stand, and from findings to a plan.
//!
//! An audit is a run like any other, of a plan that `sop` writes itself: a scout for each portion of the
//! tree. So its journal, its limits, `sop status`, `sop logs` and a resume after a crash are the engine's.
//! What comes before the run and after it is here:
//!
//! | file | idea |
//! | --- | --- |
//! | [`scope`], [`slice`] | what of a commit is looked at, cut into portions that one scout can read |
//! | [`ground`] | the project's own lint, type and test commands, found by rule |
//! | [`scouts`], [`record`] | the plan of the scouts, and what has to be known when they are done |
//! | [`quote`], [`check`], [`merge`] | leads against the commit: looked up, put right, put together |
//! | [`assemble`] | the gap report |
//! | [`draft`] | the plan that mends what a gap report names |
//!
//! A scout reads its portion once, with all concerns in mind, and not once for each: reading is what costs,
//! a line that is found under two concerns would have to be put together again, and whoever has just read
//! a file for its debt has seen its holes. Who wants a scout that thinks of one thing only asks for
//! one concern: `--for security`.

pub mod assemble;
pub mod check;
pub mod draft;
pub mod ground;
pub mod merge;
pub mod naming;
pub mod quote;
pub mod record;
pub mod scope;
pub mod scouts;
pub mod slice;

pub use record::Audit;
pub use scope::{File, Scope, Tree};
