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

use std::collections::HashSet;

use bstr::{BStr, BString, ByteSlice};

use crate::model::ids::{CommitId, TreeId};
use crate::plain_file;

use super::error::GitError;
use super::hashing::leaf_of;
use super::ignore::IgnoreRules;
use super::index_file::Index;
use super::irregular::Irregular;
use super::objects::{Change, Leaf, SYMLINK};
use super::repo::Repo;
use super::submodule;
use super::tamper::Tamper;
use super::walk::Walk;
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

impl Worktree {
    /// Looks at everything in the worktree.
    ///
    /// # Errors
    /// A file could not be read, changed meanwhile, or git could not store it.
    pub fn snapshot(&self, spec: &SnapshotSpec) -> Result<Snapshot, GitError> {
        let repo = self.repo();
        let mut tampers = Vec::new();
        let branch_at = self.look_at_head(spec, &mut tampers)?;
        if plain_file::read_own(&self.path().join(".git")).ok() != Some(self.link()) {
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
        let mut walked = walk.run()?;

        let store = |suspects: &[_]| {
            let store = |bytes: &[u8]| repo.write_blob(bytes).map(Some);
            leaf_of(self.path(), suspects, || self.hasher(), store)
        };
        let leaves = match store(&walked.suspects) {
            // Git gives no name that could be told from its message: each file is asked.
            Err(GitError::Failed { .. }) if walked.set_aside_unreadable(self.path()) => {
                store(&walked.suspects)?
            }
            other => other?,
        };
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
