//! From files on disk to objects: links as they are, files through git and its filters.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BStr, ByteSlice, ByteVec};

use super::command::Git;
use super::error::GitError;
use super::objects::{Leaf, ObjectId, SYMLINK};
use super::walk::Suspect;

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
pub(super) fn hash_files(git: Git, paths: &[&BStr]) -> Result<Vec<ObjectId>, GitError> {
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

/// A path as git reads it from a list of lines: in C quotes, so that no byte in it can end the line.
fn quote_c(path: &BStr, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in path.iter() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => out.push_str(format!("\\{byte:03o}")),
        }
    }
    out.push(b'"');
}
