//! What a worker did to its worktree's own git state: branch, HEAD, index, attributes.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::model::ids::CommitId;
use crate::plain_file;

use super::error::GitError;
use super::hashing::hash_files;
use super::index_file::Index;
use super::objects::{Leaf, ObjectId, SYMLINK};
use super::refs::Target;
use super::snapshot::SnapshotSpec;
use super::walk::Suspect;
use super::worktree::Worktree;

/// What a worker did to its worktree's git state. None of it changes what the snapshot sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tamper {
    /// Commits were made on the branch, or it was reset or deleted.
    BranchMoved {
        /// Full ref name (`HEAD` for a detached worktree).
        name: String,
        /// Where it stood.
        from: CommitId,
        /// Where it stands; `None` when it is gone or no longer names a commit.
        to: Option<CommitId>,
        /// Everything on it that is new is the base branch's, or merges of it.
        only_upstream: bool,
    },
    /// HEAD names something else than the worktree's branch.
    HeadSwitched {
        /// What HEAD says.
        to: BString,
    },
    /// The `.git` file of the worktree was replaced or rewritten.
    LinkReplaced,
    /// The stat data kept from the checkout was touched; every file was read instead.
    SeedTouched,
    /// The index held other content for a path than base and disk do.
    StagedOnly {
        /// Which path.
        path: BString,
    },
    /// An index flag would have hidden changes of a path from git; a note, it hid nothing here.
    Hidden {
        /// Which path.
        path: BString,
        /// `assume-unchanged` or `skip-worktree`.
        flag: &'static str,
    },
    /// The bytes on disk differ from the base's, and attributes that the worker changed make git store them
    /// as if they did not.
    Masked {
        /// Which path.
        path: BString,
    },
}

impl Worktree {
    /// Where the branch stands; HEAD and branch that are not as they were become tampers.
    pub(super) fn look_at_head(
        &self,
        spec: &SnapshotSpec,
        tampers: &mut Vec<Tamper>,
    ) -> Result<Option<CommitId>, GitError> {
        let repo = self.repo();
        let head = self.head()?;
        let (name, at) = match self.branch() {
            Some(branch) => {
                let name = format!("refs/heads/{branch}");
                if head != format!("ref: {name}").as_bytes() {
                    tampers.push(Tamper::HeadSwitched {
                        to: head.strip_prefix(b"ref: ").unwrap_or(&head).into(),
                    });
                }
                let at = repo.read_ref(&name)?;
                (name, at.and_then(|at| if let Target::Direct(id) = at { Some(id) } else { None }))
            }
            None => match head.strip_prefix(b"ref: ") {
                Some(to) => {
                    tampers.push(Tamper::HeadSwitched { to: to.into() });
                    ("HEAD".to_owned(), Some(spec.began_at.clone()))
                }
                None => ("HEAD".to_owned(), Some(CommitId(head.to_str_lossy().into_owned()))),
            },
        };
        if at.as_ref() != Some(&spec.began_at) {
            let only_upstream = match (&at, &spec.upstream) {
                (Some(to), Some(upstream)) => self.only_upstream(&spec.began_at, to, upstream)?,
                _ => false,
            };
            tampers.push(Tamper::BranchMoved {
                name,
                from: spec.began_at.clone(),
                to: at.clone(),
                only_upstream,
            });
        }
        Ok(at)
    }

    /// The commit that HEAD names by itself, when it is on no branch.
    pub(super) fn detached_at(&self) -> Result<Option<CommitId>, GitError> {
        let head = self.head()?;
        let is_commit = ObjectId::from_hex(&head).is_some();
        Ok(is_commit.then(|| CommitId(head.to_str_lossy().into_owned())))
    }

    /// What HEAD says, without its line end; empty when there is none.
    fn head(&self) -> Result<BString, GitError> {
        if self.repo().in_process() {
            let path = self.git_dir().join("HEAD");
            return match plain_file::read_own(&path) {
                Ok(said) => Ok(said.trim_ascii_end().into()),
                // Removed by the worker: HEAD says nothing then.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(BString::default()),
                Err(error) => Err(GitError::io("read", &path)(error)),
            };
        }
        let named = self.git().args(["symbolic-ref", "--quiet", "HEAD"]).run_line();
        match named {
            Ok(name) => Ok(format!("ref: {name}").into()),
            Err(_) => self
                .git()
                .args(["rev-parse", "--verify", "--quiet", "HEAD"])
                .run_line()
                .map(BString::from),
        }
    }

    /// Whether every commit from `from` to `to` is in `upstream` or merges it.
    fn only_upstream(
        &self,
        from: &CommitId,
        to: &CommitId,
        upstream: &CommitId,
    ) -> Result<bool, GitError> {
        if !self.repo().is_ancestor(from, to)? {
            return Ok(false);
        }
        let range = [to.as_str().to_owned(), format!("^{from}"), format!("^{upstream}")];
        let own = self
            .repo()
            .git()
            .args(["rev-list", "--no-merges", "--max-count=1"])
            .args(range)
            .run()?;
        Ok(own.is_empty())
    }

    /// Compares the worktree's index with the seed and the disk.
    pub(super) fn look_at_index(
        &self,
        seed: &Index,
        edits: &[(BString, Option<Leaf>)],
        tampers: &mut Vec<Tamper>,
    ) -> Result<(), GitError> {
        let path = self.git_dir().join("index");
        let Ok(now) = plain_file::read_own(&path) else {
            return Ok(());
        };
        if plain_file::read_own(self.seed()).is_ok_and(|seed| seed == now) {
            return Ok(());
        }
        let index = match Index::read(&path, self.repo().oid_len()) {
            Err(GitError::Index { .. }) => self.expanded(&path)?,
            other => Some(other?),
        };
        let Some(index) = index else { return Ok(()) };
        let on_disk: HashMap<&BStr, Option<Leaf>> =
            edits.iter().map(|(path, leaf)| (path.as_bstr(), *leaf)).collect();
        let mut known = seed.entries().iter().peekable();
        for entry in index.entries() {
            let path = index.path(entry);
            for (set, flag) in [
                (entry.assume_unchanged, "assume-unchanged"),
                (entry.skip_worktree, "skip-worktree"),
            ] {
                if set {
                    tampers.push(Tamper::Hidden { path: path.to_owned(), flag });
                }
            }
            while known.next_if(|other| seed.path(other) < path).is_some() {}
            let before = known.next_if(|other| seed.path(other) == path).map(|other| other.leaf);
            if entry.stage == 0 && before != Some(entry.leaf) && !on_disk.contains_key(path) {
                tampers.push(Tamper::StagedOnly { path: path.to_owned() });
            }
        }
        Ok(())
    }

    /// A split or sparse index, rewritten by git into one that can be read; `None` when git cannot read it either
    /// (it says nothing then that could count).
    fn expanded(&self, index: &Path) -> Result<Option<Index>, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
        let copy = scratch.path().join("index");
        std::fs::copy(index, &copy).map_err(GitError::io("copy", index))?;
        let git = self.git().env("GIT_INDEX_FILE", &copy);
        match git.args(["update-index", "--no-split-index", "--force-write-index"]).run() {
            Ok(_) => Index::read(&copy, self.repo().oid_len()).map(Some),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Of files whose stored form is still the base's, those that are so only because of attributes that changed.
    pub(super) fn masked(
        &self,
        base: &CommitId,
        same: &[(&Suspect, Leaf)],
    ) -> Result<Vec<BString>, GitError> {
        let files: Vec<_> = same.iter().filter(|(suspect, _)| suspect.mode != SYMLINK).collect();
        let paths: Vec<&BStr> = files.iter().map(|(suspect, _)| suspect.path.as_bstr()).collect();
        let plain = hash_files(self.hasher().args(["hash-object", "--no-filters"]), &paths)?;
        let differ: Vec<_> = files
            .iter()
            .zip(plain)
            .filter(|((_, leaf), plain)| leaf.id != *plain)
            .map(|(file, _)| *file)
            .collect();
        let paths: Vec<&BStr> = differ.iter().map(|(suspect, _)| suspect.path.as_bstr()).collect();
        let git = self.hasher().arg(format!("--attr-source={base}")).arg("hash-object");
        // A git that has no such option cannot clear them.
        let cleaned = hash_files(git, &paths).ok();
        let clear =
            |at: usize, leaf: Leaf| cleaned.as_ref().is_some_and(|cleaned| cleaned[at] == leaf.id);
        let masked = differ.iter().enumerate().filter(|(at, (_, leaf))| !clear(*at, *leaf));
        Ok(masked.map(|(_, (suspect, _))| suspect.path.clone()).collect())
    }
}
