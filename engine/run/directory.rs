//! The run directory: `<git common dir>/sop-run/<run>/`. Shared by all worktrees, outlives every
//! process, and archived rather than deleted. This file is the one place that knows its names.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::journal;
use crate::model::ids::{RunId, WpId};
use crate::plain_file;

/// The folder of runs that were put away, beside the others.
const ARCHIVE: &str = ".archive";

/// What can go wrong with a run directory.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The file system's word.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another engine is at work.
    #[error("another engine holds the run `{0}`; `sop status {0}` shows what it does")]
    Held(RunId),
}

impl DirectoryError {
    fn io<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}

/// The directory of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    root: PathBuf,
    run: RunId,
}

/// An engine's hold on a run: a kernel lock, so that it falls with the process, however it dies. A
/// record lock and not `flock`, which a child would inherit: one that was just being started when its
/// engine was killed would hold the run until it has become another program.
#[derive(Debug)]
pub struct EngineLock(#[expect(dead_code, reason = "held, not read")] File);

impl RunDir {
    /// Where all runs of a repository are.
    #[must_use]
    pub fn root_in(common_dir: &Path) -> PathBuf {
        common_dir.join("sop-run")
    }

    /// Where runs of a repository are that were put away. No run is called so: a name begins with a letter or a digit.
    #[must_use]
    pub fn archive_in(common_dir: &Path) -> PathBuf {
        Self::root_in(common_dir).join(ARCHIVE)
    }

    /// Whether this one was put away.
    #[must_use]
    pub fn is_archived(&self) -> bool {
        self.root.ends_with(ARCHIVE)
    }

    /// Where it is kept what critics said of a repository's plans, by the plan's name. No run is called so either.
    #[must_use]
    pub fn readings_in(common_dir: &Path) -> PathBuf {
        Self::root_in(common_dir).join(".critic")
    }

    /// The directory of `run` under `root`; it need not exist.
    #[must_use]
    pub fn new(root: PathBuf, run: RunId) -> Self {
        Self { root, run }
    }

    /// The runs under `root`, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read; that it is not there means no runs.
    pub fn list(root: &Path) -> Result<Vec<Self>, DirectoryError> {
        let entries = match fs::read_dir(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(DirectoryError::io("read", root))?,
        };
        let mut runs: Vec<(std::time::SystemTime, Self)> = entries
            .filter_map(|entry| RunId::new(entry.ok()?.file_name().to_str()?).ok())
            .map(|run| Self::new(root.to_owned(), run))
            .filter_map(|dir| {
                let made = fs::metadata(dir.plan_file()).and_then(|m| m.modified()).ok()?;
                // One that was killed while it was being made has no record yet, and is no run.
                journal::has_begun(&dir.journal()).then_some((made, dir))
            })
            .collect();
        runs.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.run.cmp(&y.run)));
        Ok(runs.into_iter().map(|(_, dir)| dir).collect())
    }

    /// Makes the folders.
    ///
    /// # Errors
    /// When one of them cannot be made.
    pub fn make(&self) -> Result<(), DirectoryError> {
        for folder in [
            "", "briefs", "reports", "verdicts", "turns", "logs", "requests", "guard", "seed",
            "slot",
        ] {
            let path = self.path().join(folder);
            fs::create_dir_all(&path).map_err(DirectoryError::io("make", &path))?;
        }
        Ok(())
    }

    /// Takes the run for this process.
    ///
    /// # Errors
    /// [`DirectoryError::Held`] when another engine has it.
    pub fn lock(&self) -> Result<EngineLock, DirectoryError> {
        let path = self.engine_lock();
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .custom_flags(plain_file::careful())
            .open(&path);
        let file = file.map_err(DirectoryError::io("open", &path))?;
        match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(EngineLock(file)),
            Err(Errno::AGAIN | Errno::ACCESS) => Err(DirectoryError::Held(self.run.clone())),
            Err(error) => Err(DirectoryError::io("lock", &path)(error.into())),
        }
    }

    /// Whether an engine of another process has the run right now. A look: by the time it is told, it
    /// may have changed. Not for a process that has it itself, which would let go of it by looking.
    #[must_use]
    pub fn held(&self) -> bool {
        let file = plain_file::open(&self.engine_lock());
        file.is_ok_and(|file| {
            fcntl_getlk(&file, &Flock::from(FlockType::ReadLock)).is_ok_and(|lock| lock.is_some())
        })
    }

    fn engine_lock(&self) -> PathBuf {
        self.path().join("engine.lock")
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Where all runs are.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.join(self.run.as_str())
    }

    /// The truth.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.path().join("journal.jsonl")
    }

    /// The fold, for people and other tools.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.path().join("state.json")
    }

    /// The plan as it was approved.
    #[must_use]
    pub fn plan_file(&self) -> PathBuf {
        self.path().join("plan.toml")
    }

    /// The same plan with every default and every brief in it.
    #[must_use]
    pub fn resolved(&self) -> PathBuf {
        self.path().join("resolved.json")
    }

    /// Who said yes, when, to what.
    #[must_use]
    pub fn approval(&self) -> PathBuf {
        self.path().join("approval.json")
    }

    /// The user's checkout as it was when the run was made.
    #[must_use]
    pub fn baseline(&self) -> PathBuf {
        self.path().join("baseline.json")
    }

    /// Messages from other processes to the engine.
    #[must_use]
    pub fn requests(&self) -> PathBuf {
        self.path().join("requests")
    }

    /// How a worker asks.
    #[must_use]
    pub fn asking(&self) -> PathBuf {
        self.path().join("ASKING.md")
    }

    /// A file by its name within the directory, as events give it.
    #[must_use]
    pub fn named(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Name of a WP's brief for one round.
    #[must_use]
    pub fn brief_name(wp: &WpId, round: u32) -> String {
        format!("briefs/{wp}-{round}.md")
    }

    /// Name of what one attempt is told, where that is not the round's brief.
    #[must_use]
    pub fn prompt_name(wp: &WpId, round: u32, attempt: u32) -> String {
        format!("briefs/{wp}-{round}.{attempt}.md")
    }

    /// Name of the folder of one attempt's session: what it was told, asked and came to.
    #[must_use]
    pub fn turn_name(wp: &WpId, attempt: u32) -> String {
        format!("turns/{wp}-{attempt}")
    }

    /// What the names of a round's review begin with, within `verdicts/`.
    #[must_use]
    pub fn review_stem(wp: &WpId, round: u32) -> String {
        format!("{wp}-{round}")
    }

    /// The same of a look at the whole: in a folder of its own, where no WP's verdicts are.
    #[must_use]
    pub fn verify_stem(look: u32) -> String {
        format!("verify/{look}")
    }

    /// Name of the folder of one session of a reviewer: what it was told, and came to.
    #[must_use]
    pub fn sitting_name(stem: &str, lens: &str, number: u32) -> String {
        format!("verdicts/{stem}.{lens}-{number}")
    }

    /// Name of the report that a worker may leave.
    #[must_use]
    pub fn report_name(wp: &WpId, attempt: u32) -> String {
        format!("reports/{wp}-{attempt}.md")
    }

    /// Name of a verdict.
    #[must_use]
    pub fn verdict_name(wp: &WpId, round: u32) -> String {
        format!("verdicts/{wp}-{round}.json")
    }

    /// Name of the log of one step: `logs/<unit>-<step>-<n>.log`.
    #[must_use]
    pub fn log_name(unit: &str, step: &str, n: u32) -> String {
        format!("logs/{unit}-{step}-{n}.log")
    }

    /// What the rest of the repository was before a worker began.
    #[must_use]
    pub fn guard(&self, wp: &WpId, attempt: u32) -> PathBuf {
        self.path().join(format!("guard/{wp}-{attempt}.json"))
    }

    /// What refuses a worker's pushes.
    #[must_use]
    pub fn no_push(&self) -> PathBuf {
        self.path().join("no-push")
    }

    /// Where refused pushes are noted.
    #[must_use]
    pub fn pushes_folder(&self) -> PathBuf {
        self.path().join("pushes")
    }

    /// The pushes that one attempt tried.
    #[must_use]
    pub fn pushes(&self, wp: &WpId, attempt: u32) -> PathBuf {
        self.pushes_folder().join(format!("{wp}-{attempt}"))
    }

    /// What the rest of the repository was before reviewers were let in.
    #[must_use]
    pub fn review_guard(&self, unit: &str) -> PathBuf {
        self.path().join(format!("guard/{unit}-review.json"))
    }

    /// A look at the user's checkout, by its digest.
    #[must_use]
    pub fn look(&self, digest: &str) -> PathBuf {
        self.path().join(format!("guard/look-{digest}"))
    }

    /// The checkout's stat data, out of the worker's way.
    #[must_use]
    pub fn seed(&self, unit: &str) -> PathBuf {
        self.path().join("seed").join(unit)
    }

    /// The lock that lets one process tree at a time into a worktree.
    #[must_use]
    pub fn slot(&self, unit: &str) -> PathBuf {
        self.path().join("slot").join(unit)
    }
}

/// Writes a file so that a reader sees the old one or the new one, never a half, and a crash leaves
/// one of the two.
///
/// # Errors
/// What the system said.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DirectoryError> {
    let fail = || DirectoryError::io("write", path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail())?;
    file.write_all(bytes).map_err(fail())?;
    file.as_file().sync_data().map_err(fail())?;
    file.persist(path).map_err(|error| fail()(error.error))?;
    Ok(())
}
