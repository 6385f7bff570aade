//! Starting, watching and ending processes: the primitives that the holder of [`crate::launch`] is
//! built from. One idea a file:
//!
//! - [`identity`]: which process is meant, in a way that a reused process id cannot fool;
//! - [`tree`]: who descends from whom, as the kernel tells it;
//! - [`spawn`]: a child in a session of its own that dies with its parent;
//! - [`reap`]: collecting the dead without waiting for the living;
//! - [`stop`]: TERM, grace, KILL, for a whole tree;
//! - [`file_size`]: a limit on the size of files fails a write, and ends nobody;
//! - [`limited_log`]: a log with a size limit that keeps its head and its tail;
//! - [`tail`]: the last lines of such a log, cheaply;
//! - [`escape`]: foreign bytes made safe for a terminal.
//!
//! Nothing here knows tokio. Trees and identities are read from `/proc`: elsewhere than on Linux this
//! room compiles, and the holder refuses to work.

pub mod escape;
pub mod file_size;
pub mod identity;
pub mod limited_log;
pub mod reap;
pub mod spawn;
pub mod stop;
pub mod tail;
pub mod tree;

pub use escape::{escape, escape_path, plain};
pub use identity::Identity;
pub use limited_log::LimitedLog;
pub use tail::tail;
