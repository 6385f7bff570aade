//! The user's checkout as `git status --porcelain=v1 --untracked-files=all` and `git diff HEAD` print it, byte for byte,
//! where nothing is configured otherwise.
//!
//! Both refresh the index, and `git diff` writes it back whatever `GIT_OPTIONAL_LOCKS` says: they are given a
//! copy of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bstr::{BStr, ByteSlice};
use sha2::{Digest, Sha256};

use crate::model::baseline::{Baseline, Kept, Standing};

use super::command::Git;
use super::error::GitError;
use super::repo::Repo;

/// Bytes that a status or a diff may have: more than that is no baseline, but a fault.
const MOST: u64 = 256 << 20;

/// Paths that are remembered one by one.
const PATHS: usize = 5_000;

impl Repo {
    /// The checkout as it is now; `None` where there is none. It takes at most `limit`, and writes nothing.
    ///
    /// # Errors
    /// Git could not answer, or not in time.
    pub fn baseline(&self, limit: Duration) -> Result<Option<Kept>, GitError> {
        let Some(top) = self.top() else { return Ok(None) };
        let scratch = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
        let index = self.copied_index(scratch.path())?;
        let git = || {
            let git = Git::new(top, self.git_dir()).env("GIT_WORK_TREE", top).reading();
            match &index {
                Some(index) => git.env("GIT_INDEX_FILE", index),
                None => git,
            }
        };
        let (head, status, diff) = std::thread::scope(|scope| {
            // Each file of a folder: one that comes into it later is seen as well.
            let status = ["status", "--porcelain=v1", "--untracked-files=all"];
            let status = git().args(status).args(["--ignore-submodules=none", "--renames"]);
            let status = scope.spawn(|| status.asked(limit, MOST));
            let head = self.resolve("HEAD").ok();
            let diff = match head {
                // Programs that the configuration names are not run for it.
                Some(_) => git()
                    .args([
                        "diff",
                        "--no-ext-diff",
                        "--no-textconv",
                        "--no-color",
                        "--find-renames",
                    ])
                    .args(["--ignore-submodules=none", "--submodule=short", "HEAD"])
                    .asked(limit, MOST),
                None => Ok(Vec::new()),
            };
            let status = status.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (head, status, diff)
        });
        let (status, diff) = (status?, diff?);
        let mut paths = BTreeMap::new();
        told(&status, &mut paths);
        shown(&diff, &mut paths);
        let cut = paths.len() > PATHS;
        while paths.len() > PATHS {
            paths.pop_last();
        }
        let baseline = Baseline {
            worktree: top.as_os_str().as_encoded_bytes().as_bstr().to_string(),
            head,
            status_sha256: sha256(&status),
            diff_sha256: sha256(&diff),
            changes: status.lines().count() as u64,
        };
        Ok(Some(Kept { baseline, paths, cut, taken_over: false }))
    }

    /// A copy of the checkout's index in `folder`, as old as the index itself: an entry as young as its index
    /// is looked at again. `None` where there is no index yet.
    fn copied_index(&self, folder: &Path) -> Result<Option<PathBuf>, GitError> {
        let index = self.git_dir().join("index");
        let written = match std::fs::metadata(&index).and_then(|meta| meta.modified()) {
            Ok(written) => written,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io("read", &index)(error)),
        };
        let copy = folder.join("index");
        std::fs::copy(&index, &copy).map_err(GitError::io("copy", &index))?;
        let file = std::fs::File::options().write(true).open(&copy);
        file.and_then(|file| file.set_modified(written)).map_err(GitError::io("write", &copy))?;
        Ok(Some(copy))
    }
}

/// Takes down what each line of a status says.
fn told(status: &[u8], paths: &mut BTreeMap<String, Standing>) {
    for line in status.lines() {
        if let (Some(letters), Some(path)) = (line.get(..2), line.get(3..)) {
            let standing = paths.entry(path.to_str_lossy().into_owned()).or_default();
            standing.status = Some(letters.to_str_lossy().into_owned());
        }
    }
}

/// Takes down the digest of each file's part of a diff.
fn shown(diff: &[u8], paths: &mut BTreeMap<String, Standing>) {
    let mut part: Option<(String, Sha256)> = None;
    let mut done = |part: Option<(String, Sha256)>| {
        if let Some((path, digest)) = part {
            paths.entry(path).or_default().diff = Some(hex(&digest.finalize()));
        }
    };
    for line in diff.lines_with_terminator() {
        // Lines of contents begin with a space, a sign or a backslash.
        let header = ["diff --git ", "diff --cc ", "diff --combined "]
            .iter()
            .find_map(|start| line.strip_prefix(start.as_bytes()));
        if let Some(header) = header {
            done(part.take());
            part = Some((path_of(header.trim_end().as_bstr()), Sha256::new()));
        }
        if let Some((_, digest)) = &mut part {
            digest.update(line);
        }
    }
    done(part);
}

/// The path in `a/PATH b/PATH`; what is no such pair is told whole.
fn path_of(header: &BStr) -> String {
    let middle = header.len() / 2;
    let whole = || header.to_str_lossy().into_owned();
    if header.get(middle) != Some(&b' ') {
        return whole();
    }
    let (left, right) = (&header[..middle], &header[middle + 1..]);
    let path = match (left.strip_prefix(b"a/"), right.strip_prefix(b"b/")) {
        (Some(left), Some(right)) if left == right => left.to_vec(),
        _ => match (left.strip_prefix(b"\"a/"), right.strip_prefix(b"\"b/")) {
            (Some(left), Some(right)) if left == right => [b"\"", left].concat(),
            _ => return whole(),
        },
    };
    path.to_str_lossy().into_owned()
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
