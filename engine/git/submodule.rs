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
use super::linked::own::{files_in, named_in};
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

/// Submodules with work that would be lost with a worktree: those of the checked-out `paths` below `root`, and all whose
/// repositories are in `admin`, checked out or not. By path; by name where they are in no folder.
///
/// # Errors
/// None of them could be asked; one that cannot be read counts as holding some.
pub(super) fn own_work(
    root: Option<&Path>,
    admin: &Path,
    paths: &[BString],
) -> Result<Vec<BString>, GitError> {
    let mut found = Vec::new();
    let modules = admin.join("modules");
    let mut asked: HashSet<PathBuf> = HashSet::new();
    for path in paths {
        let folder = root.map(|root| root.join(OsStr::from_bytes(path)));
        let Some(dir) = folder.and_then(|folder| git_dir(&folder)).filter(|dir| dir.exists())
        else {
            continue;
        };
        let dir = dir.canonicalize().map_err(GitError::io("find", &dir))?;
        let inner = modules_in(&dir.join("modules"));
        if [&dir].into_iter().chain(&inner).any(|dir| holds_own(dir)) {
            found.push(path.clone());
        }
        asked.extend(inner);
        asked.insert(dir);
    }
    for dir in modules_in(&modules.canonicalize().unwrap_or(modules.clone())) {
        if !asked.contains(&dir) && holds_own(&dir) {
            let name = dir.strip_prefix(admin).unwrap_or(&dir);
            found.push(BString::from(name.as_os_str().as_bytes()));
        }
    }
    Ok(found)
}

/// Whether a submodule's repository holds what none of its remote-tracking branches has: commits of branches, tags,
/// stashes, notes, of its HEAD and of their logs; other objects that a tag names; a staged change. Unless that can be
/// ruled out, it does.
fn holds_own(dir: &Path) -> bool {
    let git = || Git::new(dir, dir).env("GIT_WORK_TREE", dir).reading();
    let logs = files_in(&dir.join("logs"));
    let remotes = dir.join("logs/refs/remotes");
    let logs: Vec<PathBuf> = logs.into_iter().filter(|log| !log.starts_with(&remotes)).collect();
    let feed = named_in(dir, &logs).join("\n").into_bytes();
    let list = ["rev-list", "--max-count=1", "--ignore-missing", "--all", "--stdin"];
    let commits = git().args(list).args(["--not", "--remotes"]).feed(feed).run();
    let kinds = git().args(["for-each-ref", "--format=%(objecttype)%(*objecttype)"]).run();
    let odd = |kind: &[u8]| !matches!(kind, b"commit" | b"tagcommit");
    let as_head = || git().args(["diff-index", "--cached", "--quiet", "HEAD"]).ask();
    let staged = || dir.join("index").exists() && !as_head().unwrap_or(false);
    !commits.is_ok_and(|found| found.is_empty())
        || !kinds.is_ok_and(|kinds| !kinds.lines().any(odd))
        || staged()
}

/// Repositories of submodules below a `modules` folder, those of their submodules too.
pub(super) fn modules_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if path.join("HEAD").exists() && path.join("objects").is_dir() {
            found.extend(modules_in(&path.join("modules")));
            found.push(path);
        } else {
            // A submodule's name may hold slashes.
            found.extend(modules_in(&path));
        }
    }
    found.sort();
    found
}
