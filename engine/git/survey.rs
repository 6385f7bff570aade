//! What is special about a repository, and what earlier runs have left in it. Nothing is written.

use std::path::PathBuf;
use std::time::Duration;

use bstr::{BStr, BString, ByteSlice};

use crate::model::ids::CommitId;
use crate::plain_file;

use super::error::GitError;
use super::objects::{GITLINK, SYMLINK};
use super::repo::Repo;
use super::worktree::MARK;

/// Bytes of answers and files that are looked at.
const MOST: u64 = 16 << 20;

/// What is special about a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Special {
    /// The version of libgit2.
    pub libgit2: String,
    /// Whether libgit2 opens it.
    pub in_process: bool,
    /// How objects are named.
    pub object_format: &'static str,
    /// How refs are stored.
    pub ref_format: String,
    /// Whether the checkout is sparse.
    pub sparse: bool,
    /// Names of the submodules of HEAD.
    pub submodules: Vec<String>,
    /// How many of them are initialised.
    pub initialised: usize,
    /// Whether the attributes at the top of HEAD, or those of this clone, send files through `filter=lfs`.
    pub lfs: bool,
    /// Whether the history is cut off.
    pub shallow: bool,
    /// Whether objects are fetched when they are needed.
    pub partial: bool,
    /// Whether worktrees have settings of their own.
    pub worktree_config: bool,
    /// Whether git takes names for equal that differ in case.
    pub ignore_case: bool,
    /// Whether the repository is a bare one, wherever its worktrees are.
    pub bare: bool,
}

/// A worktree in git's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// Its folder, as far as it can be told.
    pub path: Option<PathBuf>,
    /// Whether `sop` made it.
    pub ours: bool,
}

/// How a file of the checkout compares with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgainstCommit {
    /// Whether the commit has it.
    pub tracked: bool,
    /// Whether the checkout has it.
    pub present: bool,
    /// Whether both have the same.
    pub same: bool,
}

impl Repo {
    /// What is special about this repository.
    #[must_use]
    pub fn special(&self) -> Special {
        let settings = self.settings();
        let head = self.resolve("HEAD").ok();
        let at_head = |path: &str| {
            let found = self.blob_at(head.as_ref()?, BStr::new(path)).ok()?;
            found.filter(|bytes| bytes.len() as u64 <= MOST)
        };
        let submodules = at_head(".gitmodules").map(|text| named(&text)).unwrap_or_default();
        let known = |name: &&String| settings.text_of("submodule", name, "url").is_some();
        let initialised = submodules.iter().filter(known).count();
        let own = plain_file::read(&self.common_dir().join("info/attributes"), MOST).ok();
        let lfs = at_head(".gitattributes").into_iter().chain(own).any(|text| uses_lfs(&text));
        let (major, minor, patch) = git2::Version::get().libgit2_version();
        Special {
            libgit2: format!("{major}.{minor}.{patch}"),
            in_process: self.in_process(),
            object_format: if self.oid_len() == 32 { "sha256" } else { "sha1" },
            ref_format: settings.text("extensions.refstorage").unwrap_or_else(|| "files".into()),
            sparse: settings.is_on("core.sparsecheckout"),
            initialised,
            submodules,
            lfs,
            shallow: self.common_dir().join("shallow").exists(),
            partial: settings.text("extensions.partialclone").is_some() || settings.has_promisor(),
            worktree_config: settings.is_on("extensions.worktreeconfig"),
            ignore_case: settings.is_on("core.ignorecase"),
            bare: settings.is_on("core.bare"),
        }
    }

    /// The version of `git`, in its own words.
    ///
    /// # Errors
    /// It is not there, or does not answer in time.
    pub fn git_version(&self, limit: Duration) -> Result<String, GitError> {
        let out = self.git().arg("version").asked(limit, MOST)?;
        let text = out.to_str_lossy().trim().to_owned();
        Ok(text.strip_prefix("git version ").unwrap_or(&text).to_owned())
    }

    /// The worktrees in git's list, the main checkout not among them.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn worktrees(&self) -> Result<Vec<Registered>, GitError> {
        let found = self.registered()?.into_iter();
        let found = found.map(|(admin, path)| Registered { path, ours: admin.join(MARK).exists() });
        Ok(found.collect())
    }

    /// The names of all refs below any of `rooms` (`refs/heads/sop/`), sorted.
    ///
    /// # Errors
    /// They cannot be listed, or not in time.
    pub fn refs_below(&self, rooms: &[&str], limit: Duration) -> Result<Vec<BString>, GitError> {
        let listed = self.with(|repo| {
            let mut names = Vec::new();
            for room in rooms {
                for found in repo.references_glob(&format!("{room}*"))? {
                    names.push(BString::from(found?.name_bytes()));
                }
            }
            Ok(names)
        });
        let mut names = match listed {
            Some(listed) => listed.map_err(GitError::objects("cannot list refs".to_owned()))?,
            None => {
                let git = self.git().args(["for-each-ref", "--format=%(refname)"]).args(rooms);
                git.asked(limit, MOST)?.lines().map(BString::from).collect()
            }
        };
        names.sort();
        Ok(names)
    }

    /// Whether `commit` has a folder of this name.
    #[must_use]
    pub fn has_folder(&self, commit: &CommitId, path: &str) -> bool {
        let found = self.with(|repo| {
            let tree = repo.find_commit(oid_of(commit)?)?.tree()?;
            Ok::<_, git2::Error>(
                tree.get_path(std::path::Path::new(path))
                    .is_ok_and(|entry| entry.kind() == Some(git2::ObjectType::Tree)),
            )
        });
        match found {
            Some(found) => found.unwrap_or(false),
            None => {
                let spec = format!("{commit}:{path}");
                let kind = self.git().args(["cat-file", "-t", &spec]).run_line();
                kind.is_ok_and(|kind| kind == "tree")
            }
        }
    }

    /// How the checkout's file at `path` compares with that of `commit`. What filters make of a file (line
    /// ends) is no difference.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub fn against(&self, commit: &CommitId, path: &BStr) -> Result<AgainstCommit, GitError> {
        let leaf = self.leaf_at(commit, path)?.filter(|leaf| leaf.mode != GITLINK);
        let here = self.top().map(|top| top.join(path.to_path_lossy()));
        let meta = here.as_ref().and_then(|here| here.symlink_metadata().ok());
        let tracked = leaf.is_some();
        let present = meta.as_ref().is_some_and(|meta| meta.is_file() || meta.is_symlink());
        let (Some(leaf), Some(here), Some(meta), true) = (leaf, here, meta, present) else {
            return Ok(AgainstCommit { tracked, present, same: false });
        };
        let committed = self.blob(leaf.id)?;
        let bytes = match meta.is_symlink() {
            true => std::fs::read_link(&here).map(|to| to.into_os_string().into_encoded_bytes()),
            false => plain_file::read(&here, MOST),
        };
        let alike = bytes.is_ok_and(|bytes| bytes == committed)
            && meta.is_symlink() == (leaf.mode == SYMLINK);
        let same = alike || (!meta.is_symlink() && self.hashes_to(path, &leaf.id.to_string()));
        Ok(AgainstCommit { tracked, present, same })
    }

    /// Whether the file, through the filters that its path has, is the blob of this name.
    fn hashes_to(&self, path: &BStr, id: &str) -> bool {
        let Some(top) = self.top() else { return false };
        let git = super::command::Git::new(top, self.git_dir()).env("GIT_WORK_TREE", top);
        let hash = git.args(["hash-object", "--"]).arg(path.to_os_str_lossy()).run_line();
        hash.is_ok_and(|hash| hash == id)
    }
}

fn oid_of(commit: &CommitId) -> Result<git2::Oid, git2::Error> {
    super::objects::oid(commit)
}

/// The names in a `.gitmodules`.
fn named(text: &[u8]) -> Vec<String> {
    let name = |line: &[u8]| {
        let rest = line.trim().strip_prefix(b"[submodule \"")?;
        Some(rest.strip_suffix(b"\"]")?.to_str_lossy().into_owned())
    };
    text.lines().filter_map(name).collect()
}

/// Whether a line of attributes, and no remark, sends files through the filter of large files.
fn uses_lfs(attributes: &[u8]) -> bool {
    let lines = attributes.lines().map(|line| line.trim()).filter(|line| !line.starts_with(b"#"));
    lines.into_iter().any(|line| line.fields().any(|word| word == b"filter=lfs"))
}
