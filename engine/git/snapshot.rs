//! What a worker leaves behind: the bytes on disk against the pinned base.
//!
//! * The stat data of the fresh checkout (the seed) says which files cannot have been touched. The seed is
//!   never updated: no later moment is as trustworthy as the one before the worker came. A change of a
//!   file moves its ctime, which no user can set back, past every time stamp in the seed.
//! * Whatever else is there is hashed by git, through its filters, and put into a tree in memory: no index
//!   takes part, so no index flag can hide anything. The tree is what is checked and what is committed.
//! * Ignored means ignored by the `.gitignore` files of the base, nothing else.
//! * Provisioned paths (`keep_out`) are passed over, files and whole folders: they are never committed and never
//!   a change, whatever is in them. One that the base tracks keeps the base's version in the tree.
//! * When the worker merged a newer commit of the base branch (`upstream`) into its branch, the newest such
//!   commit becomes the base that the work is held against. The caller says what `upstream` is: only a
//!   commit that it does not owe to the worker should be given.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::model::ids::{CommitId, TreeId};

use super::command::Git;
use super::error::GitError;
use super::ignore::IgnoreRules;
use super::index_file::Index;
use super::objects::{Change, Leaf, ObjectId, SYMLINK, quote_c};
use super::refs::Target;
use super::repo::Repo;
use super::submodule;
use super::walk::{Suspect, Walk};
use super::worktree::Worktree;

/// What a worktree is held against.
#[derive(Debug, Clone)]
pub struct SnapshotSpec {
    /// The pinned base.
    pub base: CommitId,
    /// Where the branch stood when the worker began; commits up to it are not the worker's.
    pub began_at: CommitId,
    /// A commit of the base branch whose history the worker may have merged.
    pub upstream: Option<CommitId>,
    /// Provisioned paths, relative to the top.
    pub keep_out: Vec<BString>,
}

impl SnapshotSpec {
    /// The usual case: nothing provisioned, the branch at the base, no newer base.
    #[must_use]
    pub fn at(base: &CommitId) -> Self {
        Self { base: base.clone(), began_at: base.clone(), upstream: None, keep_out: Vec::new() }
    }
}

/// What is in a worktree.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The commit that the changes are against: the pinned base, or the newer one the worker merged.
    /// It is the parent for a commit of `tree`.
    pub base: CommitId,
    /// Everything on disk that counts, as a tree.
    pub tree: TreeId,
    /// How `tree` differs from the base, sorted by path.
    pub changes: Vec<Change>,
    /// What is there and cannot be in a tree, sorted by path. Never passes.
    pub irregular: Vec<Irregular>,
    /// What the worker did to the worktree's own git state.
    pub tampers: Vec<Tamper>,
    /// Where the worktree's branch stands now (for a detached one: its HEAD); `None` when it is gone.
    pub branch_at: Option<CommitId>,
}

/// Something on disk that no commit can hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Irregular {
    /// Where.
    pub path: BString,
    /// What it is.
    pub kind: IrregularKind,
}

/// Kinds of things no commit can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IrregularKind {
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A repository inside the worktree. Its files are counted as well.
    NestedRepository,
    /// A change inside a submodule that its checked-out commit does not have.
    InsideSubmodule,
    /// A name that git stores in no tree (`.GIT`).
    Unstorable,
    /// A folder that may not be read.
    Unreadable,
}

impl std::fmt::Display for IrregularKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::NestedRepository => "a repository of its own",
            Self::InsideSubmodule => "a change inside a submodule",
            Self::Unstorable => "a name that git cannot store",
            Self::Unreadable => "a folder that cannot be read",
        })
    }
}

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
    /// Looks at everything in the worktree.
    ///
    /// # Errors
    /// A file could not be read, changed meanwhile, or git could not store it.
    pub fn snapshot(&self, spec: &SnapshotSpec) -> Result<Snapshot, GitError> {
        let repo = self.repo();
        let mut tampers = Vec::new();
        let branch_at = self.look_at_head(spec, &mut tampers)?;
        if std::fs::read(self.path().join(".git")).ok() != Some(self.link()) {
            tampers.push(Tamper::LinkReplaced);
        }
        let index = if self.seed_is_sound() {
            Index::read(self.seed(), repo.oid_len())?
        } else {
            tampers.push(Tamper::SeedTouched);
            Index::of_leaves(&repo.leaves_of(self.base().as_str())?)
        };
        let base = effective_base(repo, spec, branch_at.as_ref())?;
        let rules = rules_at(repo, &base, (base == *self.base()).then_some(&index))?;
        let keep_out: HashSet<BString> =
            spec.keep_out.iter().map(|path| path.trim_end_with(|c| c == '/').into()).collect();
        let walk = Walk {
            root: self.path(),
            index: &index,
            rules: &rules,
            keep_out: &keep_out,
            fingerprints: false,
        };
        let walked = walk.run()?;

        let leaves = leaf_of(
            self.path(),
            &walked.suspects,
            || self.git(),
            |bytes| repo.write_blob(bytes).map(Some),
        )?;
        let mut edits: Vec<(BString, Option<Leaf>)> = Vec::new();
        let mut same = Vec::new();
        for (suspect, leaf) in walked.suspects.iter().zip(leaves) {
            let known = suspect.entry.map(|at| index.entries()[at].leaf);
            if known == Some(leaf) {
                same.push((suspect, leaf))
            } else {
                edits.push((suspect.path.clone(), Some(leaf)))
            }
        }
        edits.extend(
            walked
                .gone
                .iter()
                .map(|at| index.path(&index.entries()[*at]))
                .filter(|path| !lies_in(&keep_out, path))
                .map(|path| (path.to_owned(), None)),
        );
        let mut irregular = walked.irregular;
        for at in walked.submodules {
            let entry = &index.entries()[at];
            let path = index.path(entry);
            let inside = submodule::look(self.path(), path)?;
            if let Some(head) = inside.head.filter(|head| *head != entry.leaf.id) {
                edits.push((path.to_owned(), Some(submodule::gitlink(head))));
            }
            irregular.extend(inside.irregular);
        }
        edits.sort_by(|one, two| one.0.cmp(&two.0));
        irregular.sort();

        let from = repo.tree_of(self.base())?;
        let mut tree = repo.edit_tree(&from, &edits)?;
        let against = repo.tree_of(&base)?;
        let changes = if against == from {
            let old = |path: &BStr| index.find(path).map(|entry| entry.leaf);
            edits
                .iter()
                .filter_map(|(path, new)| Change::between(path.clone(), old(path.as_bstr()), *new))
                .collect()
        } else {
            let (provisioned, changes): (Vec<_>, Vec<_>) = repo
                .diff_trees(&against, &tree)?
                .into_iter()
                .partition(|change| lies_in(&keep_out, change.path.as_bstr()));
            let back: Vec<_> =
                provisioned.into_iter().map(|change| (change.path, change.old)).collect();
            tree = repo.edit_tree(&tree, &back)?;
            changes
        };
        if changes.iter().any(|change: &Change| {
            change.path.rsplit(|b| *b == b'/').next() == Some(b".gitattributes")
        }) {
            let masked = self.masked(&base, &same)?;
            tampers.extend(masked.into_iter().map(|path| Tamper::Masked { path }));
        }
        self.look_at_index(&index, &edits, &mut tampers)?;
        Ok(Snapshot { base, tree, changes, irregular, tampers, branch_at })
    }

    /// Where the branch stands; HEAD and branch that are not as they were become tampers.
    fn look_at_head(
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

    /// What HEAD says, without its line end.
    fn head(&self) -> Result<BString, GitError> {
        if self.repo().in_process() {
            let path = self.git_dir().join("HEAD");
            let said = std::fs::read(&path).map_err(GitError::io("read", &path))?;
            return Ok(said.trim_ascii_end().into());
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
    fn look_at_index(
        &self,
        seed: &Index,
        edits: &[(BString, Option<Leaf>)],
        tampers: &mut Vec<Tamper>,
    ) -> Result<(), GitError> {
        let path = self.git_dir().join("index");
        let Ok(now) = std::fs::read(&path) else {
            return Ok(());
        };
        if std::fs::read(self.seed()).is_ok_and(|seed| seed == now) {
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
    fn masked(&self, base: &CommitId, same: &[(&Suspect, Leaf)]) -> Result<Vec<BString>, GitError> {
        let files: Vec<_> = same.iter().filter(|(suspect, _)| suspect.mode != SYMLINK).collect();
        let paths: Vec<&BStr> = files.iter().map(|(suspect, _)| suspect.path.as_bstr()).collect();
        let plain = hash_files(self.git().args(["hash-object", "--no-filters"]), &paths)?;
        let differ: Vec<_> = files
            .iter()
            .zip(plain)
            .filter(|((_, leaf), plain)| leaf.id != *plain)
            .map(|(file, _)| *file)
            .collect();
        let paths: Vec<&BStr> = differ.iter().map(|(suspect, _)| suspect.path.as_bstr()).collect();
        let git = self.git().arg(format!("--attr-source={base}")).arg("hash-object");
        // A git that has no such option cannot clear them.
        let cleaned = hash_files(git, &paths).ok();
        let clear =
            |at: usize, leaf: Leaf| cleaned.as_ref().is_some_and(|cleaned| cleaned[at] == leaf.id);
        let masked = differ.iter().enumerate().filter(|(at, (_, leaf))| !clear(*at, *leaf));
        Ok(masked.map(|(_, (suspect, _))| suspect.path.clone()).collect())
    }

    /// The paths whose content on disk is not that of `tree`, and what is there that no tree can hold: for a
    /// worktree whose work was committed, and which nobody should have touched since.
    ///
    /// # Errors
    /// As [`Worktree::snapshot`].
    pub fn verify_settled(
        &self,
        tree: &TreeId,
        keep_out: &[BString],
    ) -> Result<Vec<BString>, GitError> {
        let spec = SnapshotSpec { keep_out: keep_out.to_vec(), ..SnapshotSpec::at(self.base()) };
        let now = self.snapshot(&spec)?;
        let mut paths: Vec<BString> = now.irregular.into_iter().map(|odd| odd.path).collect();
        paths
            .extend(self.repo().diff_trees(tree, &now.tree)?.into_iter().map(|change| change.path));
        paths.sort();
        paths.dedup();
        Ok(paths)
    }
}

/// The newest commit of `upstream` that the branch holds, if it goes beyond the pinned base.
fn effective_base(
    repo: &Repo,
    spec: &SnapshotSpec,
    branch_at: Option<&CommitId>,
) -> Result<CommitId, GitError> {
    let (Some(upstream), Some(at)) = (&spec.upstream, branch_at) else {
        return Ok(spec.base.clone());
    };
    if *at == spec.began_at || *upstream == spec.base {
        return Ok(spec.base.clone());
    }
    let merged = repo.merge_base(at, upstream)?;
    let newer = |merged: &CommitId| repo.is_ancestor(&spec.base, merged);
    match merged {
        Some(merged) if newer(&merged)? => Ok(merged),
        _ => Ok(spec.base.clone()),
    }
}

/// The ignore rules of a commit. `index`: its paths, when they are known already.
fn rules_at(
    repo: &Repo,
    commit: &CommitId,
    index: Option<&Index>,
) -> Result<IgnoreRules, GitError> {
    let mut rules = IgnoreRules::default();
    let mut add = |path: &BStr, leaf: Leaf| -> Result<(), GitError> {
        if submodule::is_ignore_file(path) && leaf.mode != SYMLINK {
            rules.add(submodule::folder_of(path), &repo.blob(leaf.id)?);
        }
        Ok(())
    };
    match index {
        Some(index) => {
            index.entries().iter().try_for_each(|entry| add(index.path(entry), entry.leaf))?
        }
        None => repo
            .leaves_of(commit.as_str())?
            .iter()
            .try_for_each(|(path, leaf)| add(path.as_bstr(), *leaf))?,
    }
    Ok(rules)
}

/// Whether a path or a folder above it is in the set.
fn lies_in(set: &HashSet<BString>, path: &BStr) -> bool {
    !set.is_empty()
        && (set.contains(path) || path.find_iter("/").any(|at| set.contains(path[..at].as_bstr())))
}

/// What each suspect is as a leaf of a tree: links by `store`, files through git and its filters.
pub(super) fn leaf_of(
    root: &Path,
    suspects: &[Suspect],
    git: impl Fn() -> Git,
    store: impl Fn(&[u8]) -> Result<Option<ObjectId>, GitError>,
) -> Result<Vec<Leaf>, GitError> {
    let files: Vec<&BStr> =
        suspects.iter().filter(|s| s.mode != SYMLINK).map(|s| s.path.as_bstr()).collect();
    let mut hashed = hash_files(git().args(["hash-object", "-w"]), &files)?.into_iter();
    let mut leaves = Vec::with_capacity(suspects.len());
    for suspect in suspects {
        let unsettled = || GitError::Unsettled { path: suspect.path.clone() };
        let id = if suspect.mode == SYMLINK {
            let target = std::fs::read_link(root.join(OsStr::from_bytes(&suspect.path)))
                .map_err(|_| unsettled())?;
            store(target.as_os_str().as_bytes())?.ok_or_else(unsettled)?
        } else {
            hashed.next().ok_or_else(unsettled)?
        };
        leaves.push(Leaf { mode: suspect.mode, id });
    }
    Ok(leaves)
}

/// Runs a `git hash-object` over paths, which it reads from a list.
fn hash_files(git: Git, paths: &[&BStr]) -> Result<Vec<ObjectId>, GitError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = Vec::new();
    for path in paths {
        quote_c(path, &mut list);
        list.push(b'\n');
    }
    let out = git.arg("--stdin-paths").feed(list).run()?;
    let ids: Option<Vec<ObjectId>> = out.lines().map(ObjectId::from_hex).collect();
    ids.filter(|ids| ids.len() == paths.len()).ok_or_else(|| GitError::Answer {
        command: "git hash-object --stdin-paths".into(),
        what: format!("{} ids were expected", paths.len()),
    })
}
