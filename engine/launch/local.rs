//! Steps on this machine: one holder process each.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::model::ids::RunId;
use crate::plain_file;
use crate::process::identity::{Stat, signal};

use super::origin::{self, Origin};
use super::spec::SpecFile;
use super::step::{State, Step};
use super::{Found, Handle, How, Key, LaunchError, Launcher, Outcome, Spec, Stdin, lost};

/// How often an adopted step, which is no child of this engine, is looked at.
const LOOK: Duration = Duration::from_millis(30);
/// How many holders may die before they start anything (a Ctrl-C in their first millisecond) until
/// the step is given up.
const TRIES: u32 = 5;

/// The launcher for this machine.
#[derive(Debug, Clone)]
pub struct Local {
    root: PathBuf,
    program: PathBuf,
    /// Which steps to believe in; all, where nothing is started or adopted on the word of files alone.
    origin: Option<Arc<Origin>>,
}

impl Local {
    /// Keeps steps below `root` (`<git common dir>/sop-run`), each in the folder its key names. The
    /// holders are this very program, even if its file has been replaced since it was started.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sop"))
        };
        Self { root: absolute(&root.into()), program, origin: None }
    }

    /// Has another program hold the steps: a `sop` binary, for a test that is none itself.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// For the engine that has just taken `run` for itself: of the run's steps, it adopts those that it
    /// starts from now on, and of those that are there now the ones that are `open`, told unit, step and
    /// attempt: that an engine before it may have left in flight. Any other folder is refused, whatever is
    /// in it ([`LaunchError::Foreign`]).
    ///
    /// # Errors
    /// When the folders cannot be listed.
    pub fn owning(
        mut self,
        run: &RunId,
        open: impl Fn(&str, &str, u32) -> bool,
    ) -> Result<Self, LaunchError> {
        self.origin = Some(Arc::new(Origin::of(&self.root.join(run.as_str()), open)?));
        Ok(self)
    }

    /// Whether a stop of this step was nobody's order, given that the engine gave none: a signal that
    /// somebody sent to its holder. An order on file counts only for a step that this engine adopted;
    /// for its own steps nobody else gives orders, and a worker could leave such a file too.
    #[must_use]
    pub fn unordered(&self, key: &Key) -> bool {
        let step = self.step(key);
        self.origin.as_ref().is_some_and(|origin| origin.made(step.dir()))
            || step.ordered().is_none()
    }

    /// Ends the holder of a step that does not do as it was told: one that was stopped (`SIGSTOP`), say. The
    /// kernel ends the command with it, and whoever follows the step ends what that has left.
    ///
    /// # Errors
    /// If the step's lock cannot be asked about.
    pub fn overrule(&self, key: &Key) -> Result<(), LaunchError> {
        let holder = self.step(key).held_by()?.and_then(|lock| lock.pid);
        // The kernel has just said that this very process has the lock.
        if let Some(stat) = holder.and_then(|pid| Stat::read(pid.as_raw_nonzero().get())) {
            signal(&stat, Signal::KILL);
        }
        Ok(())
    }

    /// The units of a run that have steps.
    ///
    /// # Errors
    /// When the folders cannot be listed.
    pub fn units_of(&self, run: &RunId) -> Result<Vec<String>, LaunchError> {
        names(&self.root.join(run.as_str()).join("steps"))
    }

    /// The steps of a unit, whatever became of them.
    ///
    /// # Errors
    /// When the folders cannot be listed.
    pub fn steps_of(&self, run: &RunId, unit: &str) -> Result<Vec<Key>, LaunchError> {
        let steps = names(&self.root.join(run.as_str()).join("steps").join(unit))?;
        let key = |name: String| {
            let (step, attempt) = name.rsplit_once('-')?;
            Key::new(run, unit, step, attempt.parse().ok()?).ok()
        };
        Ok(steps.into_iter().filter_map(key).collect())
    }

    fn believe(&self, key: &Key, step: &Step) -> Result<(), LaunchError> {
        self.origin.as_ref().map_or(Ok(()), |origin| origin.check(key, step.dir()))
    }

    /// The folder of a key.
    #[must_use]
    pub fn step_dir(&self, key: &Key) -> PathBuf {
        self.root.join(key.folder())
    }

    fn step(&self, key: &Key) -> Step {
        Step::at(self.step_dir(key))
    }

    fn hold(&self, key: &Key, outlives: bool) -> Result<Child, LaunchError> {
        let mut command = Command::new(&self.program);
        command.arg0("sop").arg("__hold").arg(self.step_dir(key));
        // The tether is the holder's standard input: this process has the only other end.
        command.stdin(if outlives { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|source| LaunchError::NoHolder {
            key: key.clone(),
            program: self.program.clone(),
            source: Arc::new(source),
        })
    }

    /// Follows a step in a task of its own, which also collects the holder and keeps its tether, so
    /// that neither hangs on the handle.
    fn follow(&self, key: &Key, log: PathBuf, holder: Option<(Child, bool)>) -> Handle {
        let (report, reports) = watch::channel(None);
        let (local, step_key) = (self.clone(), key.clone());
        tokio::spawn(async move {
            let outcome = local.see_through(&step_key, holder).await;
            report.send_replace(Some(outcome));
        });
        Handle::new(key.clone(), log, reports)
    }

    async fn see_through(
        &self,
        key: &Key,
        holder: Option<(Child, bool)>,
    ) -> Result<Outcome, LaunchError> {
        let step = self.step(key);
        let Some((mut child, outlives)) = holder else {
            return match settle(&step, key).await? {
                Some(outcome) => Ok(outcome),
                None => Err(gave_up(&step, key)),
            };
        };
        for _ in 0..TRIES {
            // `wait` would close the tether first.
            let tether = child.stdin.take();
            let ended = child.wait().await;
            drop(tether);
            if let Some(outcome) = settle(&step, key).await? {
                return Ok(outcome);
            }
            if ended.is_ok_and(|status| status.code() == Some(1)) {
                break;
            }
            child = self.hold(key, outlives)?;
        }
        Err(gave_up(&step, key))
    }
}

impl Launcher for Local {
    fn submit(&self, key: &Key, spec: &Spec) -> Result<Handle, LaunchError> {
        if spec.argv.is_empty() {
            return Err(LaunchError::Empty(key.clone()));
        }
        let step = self.step(key);
        if let Some(origin) = &self.origin {
            origin.make(key, step.dir())?;
        }
        let file = SpecFile { key: key.clone(), spec: at_absolute_paths(spec.clone()) };
        if step.state()? != State::NeverStarted {
            let log = step.spec()?.map_or(file.spec.log, |file| file.spec.log);
            return Ok(self.follow(key, log, None));
        }
        step.write_spec(&file)?;
        let holder = self.hold(key, spec.outlives)?;
        Ok(self.follow(key, file.spec.log, Some((holder, spec.outlives))))
    }

    fn find(&self, key: &Key) -> impl Future<Output = Result<Found, LaunchError>> + Send {
        let (local, key) = (self.clone(), key.clone());
        async move {
            let step = local.step(&key);
            local.believe(&key, &step)?;
            Ok(match step.state()? {
                State::NeverStarted => Found::NeverStarted,
                State::Waiting | State::Running(_) => {
                    let log = step.spec()?.map(|file| file.spec.log).unwrap_or_default();
                    Found::Running(local.follow(&key, log, None))
                }
                State::Ended(outcome) => Found::Ended(outcome),
                State::Lost => Found::Ended(lost::clean_up(&step, &key).await?),
            })
        }
    }

    fn status(&self, key: &Key) -> Result<State, LaunchError> {
        self.step(key).state()
    }

    fn cancel(&self, key: &Key, how: How) -> Result<bool, LaunchError> {
        let step = self.step(key);
        if step.spec()?.is_none() {
            return Ok(false);
        }
        if step.outcome()?.is_none() {
            step.order(how)?;
        }
        Ok(true)
    }

    fn log(&self, key: &Key) -> Result<Option<PathBuf>, LaunchError> {
        Ok(self.step(key).spec()?.map(|file| file.spec.log))
    }
}

/// Names of the folders in a folder.
fn names(folder: &Path) -> Result<Vec<String>, LaunchError> {
    let name = |path: PathBuf| Some(path.file_name()?.to_str()?.to_owned());
    Ok(origin::folders(folder)?.into_iter().filter_map(name).collect())
}

/// Waits while some holder has the step. The outcome, or nothing if it was never started.
async fn settle(step: &Step, key: &Key) -> Result<Option<Outcome>, LaunchError> {
    loop {
        match step.state()? {
            State::Ended(outcome) => return Ok(Some(outcome)),
            State::Waiting | State::Running(_) => tokio::time::sleep(LOOK).await,
            State::Lost => return lost::clean_up(step, key).await.map(Some),
            State::NeverStarted => return Ok(None),
        }
    }
}

fn gave_up(step: &Step, key: &Key) -> LaunchError {
    let message = plain_file::read(&step.file("holder.err"), plain_file::DOCUMENT).map_or_else(
        |_| "it was killed, or said nothing".to_owned(),
        |bytes| crate::process::escape(&bytes),
    );
    LaunchError::HolderFailed { key: key.clone(), message }
}

/// A holder does not share the engine's working directory.
fn at_absolute_paths(mut spec: Spec) -> Spec {
    spec.cwd = absolute(&spec.cwd);
    spec.log = absolute(&spec.log);
    spec.slot = spec.slot.as_deref().map(absolute);
    if let Stdin::File(path) = &mut spec.stdin {
        *path = absolute(path);
    }
    if let Some(capture) = &mut spec.capture {
        capture.path = absolute(&capture.path);
    }
    spec
}

/// Relative to the working directory; as it is if that is gone or the path is empty, for the holder
/// to stumble over and name.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
