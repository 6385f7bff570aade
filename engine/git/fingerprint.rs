//! What the guard takes down: refs with what they hold, files with their mode and digest.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use sha2::Digest;

use crate::model::ids::RunId;
use crate::plain_file;

use super::checked;
use super::error::GitError;
use super::repo::Repo;

impl Repo {
    /// Every ref but this run's own, with what it holds.
    pub(super) fn refs_beside(&self, run: &RunId) -> Result<BTreeMap<BString, BString>, GitError> {
        let own = ["refs/heads/sop", "refs/heads/sop-stage", "refs/sop/salvage"]
            .map(|under| format!("{under}/{run}/"));
        let own = [&own[..], &[checked::folder(run)]].concat();
        let is_own = |name: &[u8]| own.iter().any(|prefix| name.starts_with(prefix.as_bytes()));
        let mut refs = BTreeMap::new();
        if self.common_dir().join("reftable").exists() {
            let out = self
                .git()
                .args(["for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)"])
                .run()?;
            for line in out.lines() {
                if let Some((name, value)) =
                    line.split_once_str("\0").filter(|(name, _)| !is_own(name))
                {
                    refs.insert(name.into(), value.into());
                }
            }
            return Ok(refs);
        }
        let packed = self.common_dir().join("packed-refs");
        let lines = match plain_file::read_own_linked(&packed) {
            Ok(lines) => lines,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(GitError::io("read", &packed)(error)),
        };
        for line in lines.lines().filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"))
        {
            if let Some((value, name)) = line.split_once_str(" ").filter(|(_, name)| !is_own(name))
            {
                refs.insert(name.into(), value.into());
            }
        }
        loose(&self.common_dir().join("refs"), b"refs/".into(), &is_own, &mut refs)?;
        Ok(refs)
    }
}

/// Reads the loose refs under a folder; `prefix` ends in `/`.
fn loose(
    folder: &Path,
    prefix: BString,
    is_own: &impl Fn(&[u8]) -> bool,
    refs: &mut BTreeMap<BString, BString>,
) -> Result<(), GitError> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        // Git removes a folder when its last ref goes.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(GitError::io("list", folder)(error)),
    };
    for item in listing {
        let item = item.map_err(GitError::io("list", folder))?;
        let mut name = prefix.clone();
        name.extend_from_slice(item.file_name().as_bytes());
        if item.file_type().is_ok_and(|kind| kind.is_dir()) {
            name.push(b'/');
            if !is_own(&name) {
                loose(&item.path(), name, is_own, refs)?;
            }
        } else if !name.ends_with(b".lock")
            && let Ok(value) = plain_file::read_own_linked(&item.path())
        {
            refs.insert(name, value.trim_ascii_end().into());
        }
    }
    Ok(())
}

/// Takes down a file, or all that a folder holds. What is not there is not taken down.
pub(super) fn add(
    files: &mut BTreeMap<PathBuf, (String, bool)>,
    path: &Path,
    shared: bool,
) -> Result<(), GitError> {
    let stat = match std::fs::symlink_metadata(path) {
        Ok(stat) => stat,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(());
        }
        Err(error) => return Err(GitError::io("look at", path)(error)),
    };
    let content: Vec<u8> = if stat.is_dir() {
        for item in std::fs::read_dir(path).map_err(GitError::io("list", path))? {
            add(files, &item.map_err(GitError::io("list", path))?.path(), shared)?;
        }
        return Ok(());
    } else if stat.is_symlink() {
        // Where it points, and what is there.
        let target = std::fs::read_link(path).map_err(GitError::io("read", path))?;
        let mut content = target.into_os_string().into_encoded_bytes();
        content.extend(plain_file::read_own_linked(path).unwrap_or_default());
        content
    } else if stat.is_file() {
        plain_file::read_own_linked(path).map_err(GitError::io("read", path))?
    } else {
        Vec::new()
    };
    let digest = sha2::Sha256::digest(&content);
    let mut state = format!("{:o} ", stat.mode());
    state.extend(digest.iter().map(|byte| format!("{byte:02x}")));
    files.insert(path.to_path_buf(), (state, shared));
    Ok(())
}
