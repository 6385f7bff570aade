//! A worktree for the lead's own hands: outside the repository, on a branch of its own, provisioned.

use std::path::{Component, Path, PathBuf};
use std::process::{Command as Process, Stdio};

use super::error::UpkeepError;
use super::survey::Note;
use crate::git::{Repo, WorktreeSpec};
use crate::model::ids::{CommitId, WpId};
use crate::model::plan::Command;
use crate::process;
use crate::run::directory::RunDir;
use crate::run::provision;
use crate::run::site::{argv, worktrees_root};

/// The folder that all of a lead's worktrees are in. No run is called so: a run's name ends in a number.
const FOLDER: &str = "lead";

/// What is wanted.
#[derive(Debug, Clone, Default)]
pub struct New {
    /// Its name.
    pub name: String,
    /// The branch to make; its name, if not given.
    pub branch: Option<String>,
    /// What to start from; HEAD of the source worktree, if not given.
    pub base: Option<String>,
    /// Untracked files of the source worktree that it needs.
    pub copy: Vec<String>,
    /// Commands that get it ready.
    pub setup: Vec<Command>,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its folder.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The commit it starts from.
    pub base: CommitId,
}

/// Makes it.
///
/// # Errors
/// The name is none, something is in the way, or it could not be provisioned: then it stands all the same, and the
/// error says where.
pub fn make(repo: &Repo, new: &New) -> Result<Made, UpkeepError> {
    let root = worktrees_root(repo.common_dir()).ok_or(UpkeepError::NoHome)?;
    make_in(repo, new, &root)
}

/// As [`make`], below `root` instead of where worktrees go.
///
/// # Errors
/// As [`make`].
pub fn make_in(repo: &Repo, new: &New, root: &Path) -> Result<Made, UpkeepError> {
    let wrong = |why: String| UpkeepError::Name { name: new.name.clone(), why };
    WpId::new(&new.name).map_err(|why| wrong(why.to_string()))?;
    let branch = new.branch.clone().unwrap_or_else(|| new.name.clone());
    let path = root.join(FOLDER).join(&new.name);
    if path.symlink_metadata().is_ok() {
        return Err(wrong(format!("is taken: {} is there already", process::escape_path(&path))));
    }
    let source = super::forward::source(repo).ok();
    let main = source.as_ref().and_then(|tree| tree.head().branch().map(str::to_owned));
    let from = new.base.clone().or(main).unwrap_or_else(|| "HEAD".to_owned());
    let base = repo.resolve(&from).map_err(|error| {
        let unborn = new.base.is_none() && repo.resolve("HEAD").is_err();
        if unborn { UpkeepError::NoCommit } else { error.into() }
    })?;
    let seeds = RunDir::root_in(repo.common_dir()).join(".lead");
    let spec = WorktreeSpec {
        path,
        branch: Some(branch.clone()),
        base: base.clone(),
        seed: seeds.join(&new.name),
    };
    repo.note_branch_of_lead(&branch)?;
    let made = repo.add_worktree(&spec)?;
    let path = made.path().to_path_buf();
    let note = Note {
        name: new.name.clone(),
        branch: branch.clone(),
        base: base.clone(),
        from,
        brought: new.copy.clone(),
    };
    let linked =
        repo.worktree_at(&path)?.ok_or_else(|| UpkeepError::NoSuchTree(new.name.clone()))?;
    linked.keep_note(&serde_json::to_vec(&note).unwrap_or_default())?;
    let failed = |what: &str, why: String| UpkeepError::Provision {
        what: what.to_owned(),
        why,
        path: path.clone(),
    };
    let top = source.as_ref().and_then(|tree| tree.path());
    for entry in &new.copy {
        let down = |part| matches!(part, Component::Normal(_));
        if entry.is_empty() || !Path::new(entry).components().all(down) {
            return Err(failed(entry, "it is no path below the checkout".to_owned()));
        }
        let top =
            top.ok_or_else(|| failed(entry, "there is no checkout to copy it from".to_owned()))?;
        provision::copy(top, &path, entry).map_err(|problem| failed(entry, problem.message))?;
    }
    for (n, command) in new.setup.iter().enumerate() {
        let log = seeds.join(format!("{}-setup-{}.log", new.name, n + 1));
        set_up(command, &path, &log).map_err(|why| failed(&shown(command), why))?;
    }
    Ok(Made { path, branch, base })
}

fn set_up(command: &Command, folder: &Path, log: &Path) -> Result<(), String> {
    let words = argv(command);
    let (program, arguments) = words.split_first().ok_or("it is empty")?;
    let open = || std::fs::File::options().create(true).append(true).open(log);
    let (out, err) = (open().map_err(|e| e.to_string())?, open().map_err(|e| e.to_string())?);
    let mut child = Process::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            child.env_remove(name);
        }
    }
    let child =
        child.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(err);
    let status = child.status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(()),
        false => {
            let how =
                status.code().map_or_else(|| status.to_string(), |code| format!("exit {code}"));
            let last = process::tail(log, 1).unwrap_or_default().concat();
            let last =
                if last.is_empty() { last } else { format!(", with the last words `{last}`") };
            Err(format!("it failed ({how}){last}; its log is {}", process::escape_path(log)))
        }
    }
}

fn shown(command: &Command) -> String {
    match command {
        Command::Shell(text) => text.clone(),
        Command::Argv(words) => {
            shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
        }
    }
}
