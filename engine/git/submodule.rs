//! What stands in the folder of a submodule. A commit of the outer repository can hold the commit that is
//! checked out in it and nothing else, so any other change inside is named and never passes.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use crate::plain_file;

use super::command::Git;
use super::error::GitError;
use super::hashing::leaf_of;
use super::ignore::IgnoreRules;
use super::index_file::Index;
use super::irregular::{Irregular, IrregularKind};
use super::listing;
use super::objects::{GITLINK, Leaf, ObjectId};
use super::walk::Walk;

/// A submodule's folder, looked at.
pub(super) struct Inside {
    /// The commit that is checked out; `None` when the folder is empty, as it is before initialisation.
    pub(super) head: Option<ObjectId>,
    /// What is there beside it, by path relative to the outer worktree.
    pub(super) irregular: Vec<Irregular>,
}

/// Looks into the submodule folder at `path`, relative to `root`.
pub(super) fn look(root: &Path, path: &BStr) -> Result<Inside, GitError> {
    let folder = root.join(OsStr::from_bytes(path));
    let mut listing = std::fs::read_dir(&folder).map_err(GitError::io("list", &folder))?;
    if listing.next().is_none() {
        return Ok(Inside { head: None, irregular: Vec::new() });
    }
    let broken = || Inside {
        head: None,
        irregular: vec![Irregular { path: path.to_owned(), kind: IrregularKind::NestedRepository }],
    };
    let Some(git_dir) = git_dir(&folder) else {
        // Files in a folder that only a submodule may fill: they belong to nothing.
        let (rules, keep_out, index) = (IgnoreRules::default(), HashSet::new(), Index::default());
        let walked = Walk {
            root: &folder,
            index: &index,
            rules: &rules,
            keep_out: &keep_out,
            fingerprints: false,
        }
        .run()?;
        let stray = walked.suspects.into_iter().map(|suspect| suspect.path);
        let stray = stray.chain(walked.irregular.into_iter().map(|odd| odd.path));
        return Ok(Inside {
            head: None,
            irregular: stray.map(|inner| inside(path, &inner)).collect(),
        });
    };
    let git = || {
        Git::new(&folder, &git_dir)
            .env("GIT_WORK_TREE", &folder)
            .config("core.sparseCheckout=false")
    };
    let head = git().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).run_line();
    let Some(head) = head.ok().and_then(|hex| ObjectId::from_hex(hex.as_bytes())) else {
        return Ok(broken());
    };

    let leaves = listing::leaves(git(), &head.to_string())?;
    let mut rules = IgnoreRules::default();
    for (name, leaf) in leaves.iter().filter(|(name, _)| is_ignore_file(name.as_bstr())) {
        let content = git().args(["cat-file", "blob", &leaf.id.to_string()]).run()?;
        rules.add(folder_of(name.as_bstr()), &content);
    }
    let (index, keep_out) = (Index::of_leaves(&leaves), HashSet::new());
    let walked = Walk {
        root: &folder,
        index: &index,
        rules: &rules,
        keep_out: &keep_out,
        fingerprints: false,
    }
    .run()?;
    let found = leaf_of(&folder, &walked.suspects, git, |bytes| {
        let git = git().args(["hash-object", "--stdin", "--no-filters"]).feed(bytes.to_vec());
        git.run_line().map(|hex| ObjectId::from_hex(hex.as_bytes()))
    })?;
    let mut odd: Vec<BString> = Vec::new();
    for (suspect, leaf) in walked.suspects.iter().zip(found) {
        let known: Option<Leaf> = suspect.entry.map(|at| index.entries()[at].leaf);
        if known != Some(leaf) {
            odd.push(suspect.path.clone());
        }
    }
    odd.extend(walked.gone.iter().map(|at| index.path(&index.entries()[*at]).to_owned()));
    odd.extend(walked.irregular.into_iter().map(|odd| odd.path));
    let mut irregular: Vec<Irregular> = odd.iter().map(|inner| inside(path, inner)).collect();
    for at in walked.submodules {
        let entry = &index.entries()[at];
        let name = index.path(entry);
        let deeper = look(&folder, name)?;
        if deeper.head.is_some_and(|head| head != entry.leaf.id) {
            irregular.push(inside(path, &name.to_owned()));
        }
        irregular.extend(deeper.irregular.iter().map(|odd| inside(path, &odd.path)));
    }
    Ok(Inside { head: Some(head), irregular })
}

/// The leaf that a submodule folder stands for.
pub(super) fn gitlink(id: ObjectId) -> Leaf {
    Leaf { mode: GITLINK, id }
}

fn inside(path: &BStr, inner: &BString) -> Irregular {
    Irregular {
        path: [path.as_bytes(), b"/", inner].concat().into(),
        kind: IrregularKind::InsideSubmodule,
    }
}

fn git_dir(folder: &Path) -> Option<PathBuf> {
    let link = folder.join(".git");
    if link.is_dir() {
        return Some(link);
    }
    let said = plain_file::read_own(&link).ok()?;
    Some(folder.join(OsStr::from_bytes(said.strip_prefix(b"gitdir: ")?.trim_ascii_end())))
}

/// Whether a path is a `.gitignore`.
pub(super) fn is_ignore_file(path: &BStr) -> bool {
    path.ends_with(b".gitignore") && (path.len() == 10 || path[path.len() - 11] == b'/')
}

/// The folder part of a path; `""` at the top.
pub(super) fn folder_of(path: &BStr) -> &BStr {
    path[..path.rfind_byte(b'/').unwrap_or(0)].as_bstr()
}

/// Whether the submodule at `path` is checked out and holds commits (on branches, HEAD or stashed) that none of
/// its remote-tracking branches and tags has: they would be lost with its folder.
pub(super) fn has_own_commits(root: &Path, path: &BStr) -> Result<bool, GitError> {
    let folder = root.join(OsStr::from_bytes(path));
    let Some(git_dir) = git_dir(&folder).filter(|at| at.exists()) else {
        return Ok(false);
    };
    let git = Git::new(&folder, &git_dir).env("GIT_WORK_TREE", &folder);
    let own = git.args([
        "rev-list",
        "--max-count=1",
        "HEAD",
        "--branches",
        "--glob=refs/stash",
        "--not",
        "--remotes",
        "--tags",
    ]);
    Ok(!own.run()?.is_empty())
}
