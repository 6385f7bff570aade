//! Where commands run, and who owns them: the `Launcher` seam.
//!
//! Every command that `sop` runs in a worktree (a worker, a DoD line, setup, a reviewer) is a *step*
//! with a [`Key`] of its own. A step is owned by a **holder**, a small process that is not the engine:
//! `sop __hold <step-dir>` ([`holder`]). It holds the kernel locks, keeps the limits, ends whatever
//! the command started, and leaves the result in a file written by rename. So the engine can die at
//! any moment; the next one asks [`Launcher::find`].
//!
//! What a step is on disk ([`step`]): `spec.json` (what to run), `lock` (held while its holder lives),
//! `started` (made with `O_EXCL`: the fence that lets a key start once, ever), `cancel` (an order to
//! stop), `control` (a FIFO that wakes the holder to read it), `result.json`.
//!
//! What holds where. On Linux the holder is a subreaper: all that a command starts stays below it and
//! is ended with it, in whatever session or process group. A coding agent stands below its driver, which
//! is a subreaper too, and if that dies, what it had is the holder's. What a command has *another* program start
//! (a container daemon, the service manager, a privileged process it may not signal) is out of reach.
//! If a holder is itself killed with KILL, the kernel ends the command, and the next engine that looks
//! ends what the command had started, known by an environment entry; only a process that cleared its
//! environment and lost its parent escapes that.

mod at_work;
pub mod error;
mod files;
pub mod handle;
pub mod holder;
pub mod key;
pub mod local;
mod lost;
mod origin;
pub mod outcome;
pub mod run_logged;
pub mod spec;
pub mod step;
mod wire;

use std::future::Future;
use std::path::PathBuf;

pub use at_work::{at_work, worked_since};
pub use error::LaunchError;
pub use handle::Handle;
pub use key::Key;
pub use local::Local;
pub use outcome::{EndedBy, Exit, Outcome, SpawnError, SpawnErrorKind};
pub use run_logged::run_logged;
pub use spec::{Capture, Spec, Stdin};
pub use step::{Progress, State};

/// What a launcher knows about a key.
#[derive(Debug)]
pub enum Found {
    /// Never started: to submit it is safe.
    NeverStarted,
    /// A holder has it. The handle resolves when it is over.
    Running(Handle),
    /// It is over. A step whose holder was killed is here too, as [`EndedBy::Lost`]: its processes
    /// have been ended by then.
    Ended(Outcome),
}

/// How hard to stop a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// TERM to the whole tree, the step's grace, then KILL.
    Term,
    /// KILL at once.
    Kill,
}

/// Where steps run. Methods that do not wait return at once (a few file operations, one fork).
pub trait Launcher: Send + Sync {
    /// Starts the step, exactly once however often and from however many engines it is submitted: a
    /// key that runs or has ended is adopted instead, whatever `spec` says. Needs a tokio runtime.
    ///
    /// # Errors
    /// If the step's files cannot be written or its holder cannot be started. The command itself not
    /// being found is no error here but [`Exit::NotSpawned`].
    fn submit(&self, key: &Key, spec: &Spec) -> Result<Handle, LaunchError>;

    /// What became of a key, after a crash of the engine too. If the step's holder was killed, ends
    /// what is left of the step first. Needs a tokio runtime.
    ///
    /// # Errors
    /// If the step's files cannot be read.
    fn find(&self, key: &Key) -> impl Future<Output = Result<Found, LaunchError>> + Send;

    /// A look from outside, for a live view: changes nothing.
    ///
    /// # Errors
    /// If the step's files cannot be read.
    fn status(&self, key: &Key) -> Result<State, LaunchError>;

    /// Orders the step's holder to stop it; the handle resolves when all is dead. A message, not a
    /// signal: nothing happens to a step that is over, and one that has a holder but has not started
    /// yet never will. False if the key was never submitted.
    ///
    /// # Errors
    /// If the order cannot be written.
    fn cancel(&self, key: &Key, how: How) -> Result<bool, LaunchError>;

    /// Where the step's log is, if it was submitted.
    ///
    /// # Errors
    /// If the step's files cannot be read.
    fn log(&self, key: &Key) -> Result<Option<PathBuf>, LaunchError>;
}
