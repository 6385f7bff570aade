//! The paths that somebody types, as paths from the repository's root.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use bstr::{BString, ByteSlice as _};

use crate::audit::{Scope, Tree};
use crate::cli::failure::Failure;
use crate::git::{GitError, Repo};
use crate::model::ids::CommitId;
use crate::process::{escape, escape_path};

/// The files of `commit` in `typed`. A path that is not there, and has commas, is several.
///
/// # Errors
/// A path leads out of the repository, or the commit has nothing there.
pub(super) fn tree(
    repo: &Repo,
    commit: &CommitId,
    typed: &[OsString],
) -> Result<(Scope, Tree), Failure> {
    let git = |error: GitError| Failure::infrastructure(error.to_string());
    let mut paths = Vec::new();
    for typed in typed {
        let whole = from_root(repo, Path::new(typed))?;
        let is_one = !whole.contains(&b',') || {
            let scope = Scope::new(vec![whole.clone()]);
            Tree::read(repo, commit, &scope).map_err(git)?.missing.is_empty()
        };
        if is_one {
            paths.push(whole);
            continue;
        }
        for part in typed.as_bytes().split_str(",").filter(|part| !part.is_empty()) {
            paths.push(from_root(repo, Path::new(std::ffi::OsStr::from_bytes(part)))?);
        }
    }
    paths.sort();
    paths.dedup();
    let scope = Scope::new(paths);
    let tree = Tree::read(repo, commit, &scope).map_err(git)?;
    if let Some(missing) = tree.missing.first() {
        let message = format!("commit {} has nothing at {}", commit.short(), escape(missing));
        return Err(Failure::usage(message).help(
            "`--scope` names files and folders that are committed; `--base` says which commit",
        ));
    }
    if tree.files.is_empty() {
        return Err(Failure::usage("there is no text file to read there"));
    }
    Ok((scope, tree))
}

/// `typed` from the repository's root, without following links: the commit is looked at, not the checkout.
fn from_root(repo: &Repo, typed: &Path) -> Result<BString, Failure> {
    let unheard = |error| Failure::infrastructure(format!("there is no working folder: {error}"));
    let here = std::env::current_dir().map_err(unheard)?;
    let top = repo.top().unwrap_or(repo.common_dir());
    // The checkout may be known by another name than the one that led here.
    let here = here.canonicalize().unwrap_or(here);
    let mut clean = PathBuf::new();
    for part in here.join(typed).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    match clean.strip_prefix(top) {
        Ok(below) => Ok(BString::from(below.as_os_str().as_bytes())),
        Err(_) => Err(Failure::usage(format!(
            "{} is not in the repository {}",
            escape_path(typed),
            escape_path(top)
        ))),
    }
}
