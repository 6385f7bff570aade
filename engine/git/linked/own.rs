//! What only a worktree's registration names: its own refs, what it has begun, the logs of both. All of it goes with
//! the registration, and what no shared ref holds goes with it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::objects::ObjectId;
use crate::git::repo::Repo;
use crate::model::ids::CommitId;
use crate::plain_file;

/// Refs that each worktree has for itself.
const ROOMS: [&str; 3] = ["refs/bisect", "refs/rewritten", "refs/worktree"];

/// Files in which git names a commit, while something is under way and after.
const NAMING: [&str; 12] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "MERGE_AUTOSTASH",
    "rebase-merge/orig-head",
    "rebase-merge/onto",
    "rebase-merge/autostash",
    "rebase-apply/orig-head",
    "rebase-apply/onto",
    "rebase-apply/autostash",
];

/// What no shared ref holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::git) struct Own {
    /// Commits of its own refs.
    pub(in crate::git) refs: Vec<CommitId>,
    /// Own refs that name no commit, and so can be kept in none.
    pub(in crate::git) objects: Vec<BString>,
    /// The newest of those commits that neither its HEAD nor its own refs hold: they are in a log, or are named by
    /// what is under way.
    pub(in crate::git) logged: Vec<CommitId>,
}

impl Repo {
    /// What of the worktree with this administrative folder and HEAD is nowhere else. Other worktrees' own refs and
    /// HEADs hold nothing: they may go too.
    ///
    /// # Errors
    /// Git cannot be asked.
    pub(in crate::git) fn own_of(
        &self,
        admin: &Path,
        head: Option<&CommitId>,
    ) -> Result<Own, GitError> {
        let mut own = self.own_by_refs(admin)?;
        let logs = ["HEAD"].into_iter().chain(ROOMS).map(|log| admin.join("logs").join(log));
        let logs: Vec<PathBuf> = logs.flat_map(|log| files_in(&log)).collect();
        let mut logged: Vec<CommitId> = named_in(admin, &logs).into_iter().map(CommitId).collect();
        if logged.is_empty() && admin.join("reftable").exists() {
            logged = self.logged_by_git(admin)?;
        }
        logged.retain(|id| head != Some(id) && !own.refs.contains(id));
        if !logged.is_empty() {
            let but: Vec<CommitId> = head.into_iter().chain(&own.refs).cloned().collect();
            let found = self.unheld(&logged, &but)?;
            let older: HashSet<&CommitId> = found.values().flatten().collect();
            let newest = found.keys().filter(|id| logged.contains(id) && !older.contains(id));
            own.logged = newest.cloned().collect();
        }
        Ok(own)
    }

    /// The same, of its own refs alone.
    ///
    /// # Errors
    /// Git cannot be asked.
    pub(in crate::git) fn own_by_refs(&self, admin: &Path) -> Result<Own, GitError> {
        let (mut own, mut ids) = (Own::default(), Vec::new());
        for (name, commit) in self.own_refs(admin)? {
            match commit {
                Some(commit) => ids.push(commit),
                None => own.objects.push(name),
            }
        }
        if !ids.is_empty() {
            own.refs = self.unheld(&ids, &[])?.into_keys().filter(|id| ids.contains(id)).collect();
        }
        Ok(own)
    }

    /// Whether a shared ref holds `commit`.
    ///
    /// # Errors
    /// Git cannot be asked.
    pub(in crate::git) fn is_held(&self, commit: &CommitId) -> Result<bool, GitError> {
        Ok(!self.unheld(std::slice::from_ref(commit), &[])?.contains_key(commit))
    }

    /// Commits from `ids` on back that neither a shared ref nor one of `but` holds, with their parents. What is not
    /// there is passed over.
    fn unheld(
        &self,
        ids: &[CommitId],
        but: &[CommitId],
    ) -> Result<BTreeMap<CommitId, Vec<CommitId>>, GitError> {
        let feed = ids.iter().flat_map(|id| [id.as_str().as_bytes(), b"\n"].concat()).collect();
        let git = Git::new(self.common_dir(), self.common_dir()).feed(feed);
        let git = git.args(["rev-list", "--parents", "--ignore-missing", "--stdin", "--not"]);
        let git = git.args(ROOMS.map(|room| format!("--exclude={room}/*")));
        let git = git.args(["--exclude=HEAD", "--single-worktree", "--all"]);
        let out = git.args(but.iter().map(CommitId::as_str)).run()?;
        let ids = |line: &[u8]| {
            let mut ids = line.to_str_lossy().into_owned();
            let parents = ids.find(' ').map(|end| ids.split_off(end)).unwrap_or_default();
            let parents = parents.split_ascii_whitespace().map(str::to_owned).map(CommitId);
            (CommitId(ids), parents.collect())
        };
        Ok(out.lines().map(ids).collect())
    }

    /// The own refs of a worktree, each with its commit, if it names one.
    fn own_refs(&self, admin: &Path) -> Result<Vec<(BString, Option<CommitId>)>, GitError> {
        let mut found: Vec<(BString, String)> = Vec::new();
        if admin.join("reftable").exists() {
            let git = Git::new(admin, admin).env("GIT_COMMON_DIR", self.common_dir());
            let git = git.args(["for-each-ref", "--format=%(objectname) %(refname)"]).args(ROOMS);
            for line in git.run()?.lines() {
                if let Some((id, name)) = line.split_once_str(" ") {
                    found.push((BString::from(name), id.to_str_lossy().into_owned()));
                }
            }
        } else {
            // Git packs none of them.
            for file in ROOMS.iter().flat_map(|room| files_in(&admin.join(room))) {
                let said = plain_file::read_own(&file).unwrap_or_default();
                let id = said.trim();
                if ObjectId::from_hex(id).is_some() {
                    let name = file.strip_prefix(admin).unwrap_or(&file);
                    let name = BString::from(name.as_os_str().as_encoded_bytes());
                    found.push((name, id.to_str_lossy().into_owned()));
                }
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let feed = found.iter().flat_map(|(_, id)| format!("{id}^{{commit}}\n").into_bytes());
        let git = self.git().args(["cat-file", "--batch-check=%(objectname)"]);
        let out = git.feed(feed.collect()).run()?;
        let commit = |line: &[u8]| {
            ObjectId::from_hex(line).map(|_| CommitId(line.to_str_lossy().into_owned()))
        };
        let commits = out.lines().map(commit);
        Ok(found.into_iter().map(|(name, _)| name).zip(commits).collect())
    }

    fn logged_by_git(&self, admin: &Path) -> Result<Vec<CommitId>, GitError> {
        let git = Git::new(admin, admin).env("GIT_COMMON_DIR", self.common_dir());
        let out = git.args(["log", "-g", "--format=%H", "HEAD", "--"]).run()?;
        Ok(out.lines().map(|line| CommitId(line.to_str_lossy().into_owned())).collect())
    }
}

/// Ids in these logs of a git folder, and in the files in which git names one there; sorted, each once. What was fetched
/// is left out: it is where it came from.
pub(in crate::git) fn named_in(folder: &Path, logs: &[PathBuf]) -> Vec<String> {
    let mut found = HashSet::new();
    for file in NAMING {
        let said = plain_file::read_own(&folder.join(file)).unwrap_or_default();
        found.extend(said.lines().map(|line| line.trim().to_vec()));
    }
    for log in logs {
        let said = plain_file::read_own(log).unwrap_or_default();
        for line in said.lines() {
            found.extend(line.split(|b| *b == b' ').take(2).map(<[u8]>::to_vec));
        }
    }
    let is_some = |id: &Vec<u8>| ObjectId::from_hex(id).is_some() && id.iter().any(|b| *b != b'0');
    let shown = |id: Vec<u8>| id.to_str_lossy().into_owned();
    let mut found: Vec<String> = found.into_iter().filter(is_some).map(shown).collect();
    found.sort();
    found
}

/// The file, or every file below the folder; none when nothing is there.
pub(in crate::git) fn files_in(place: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    match place.symlink_metadata() {
        Ok(meta) if meta.is_file() => found.push(place.to_path_buf()),
        Ok(meta) if meta.is_dir() => {
            for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
                found.extend(files_in(&entry.path()));
            }
        }
        _ => {}
    }
    found.sort();
    found
}
