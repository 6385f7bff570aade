//! What puts the repository back as it was taken down: for each place that differs, in which settings it does
//! and the command that a person can type. Nothing here changes anything.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use sha2::Digest;

use crate::plain_file;

use super::error::GitError;
use super::guard::{Became, Difference, Guarded};
use super::repo::Repo;
use super::scope::Place;

/// Larger files of git's own are not copied: nobody writes such by hand.
const LARGEST: u64 = 1 << 20;

/// So many settings of one file are named.
const NAMED: usize = 5;

/// What is to be known of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    /// Settings that differ, by their names; their values may be secrets.
    pub settings: Vec<String>,
    /// The commands, word by word, each after the one before; none where there is no way.
    pub steps: Vec<Vec<String>>,
}

impl Guarded {
    /// Copies the files of git's own that could be put back into `folder`. One that cannot be copied has no
    /// command one day, and differs all the same.
    pub fn keep_copies(&self, folder: &Path) {
        for (path, copy) in self.copies(folder) {
            let small = std::fs::symlink_metadata(path)
                .is_ok_and(|stat| stat.is_file() && stat.len() <= LARGEST);
            if small {
                let _ = copy_whole(path, &copy, folder);
            }
        }
    }

    /// The files of git's own, each with where its copy is: under its mode and digest, so that what was taken down at
    /// several times can have its copies in one folder.
    fn copies(&self, folder: &Path) -> impl Iterator<Item = (&PathBuf, PathBuf)> {
        let own = self.files.iter().filter(|(_, (_, shared))| !shared);
        own.map(move |(path, (state, _))| (path, folder.join(state.replace(' ', "-"))))
    }

    /// The copy of a file, if it is what was taken down.
    fn copy_of(&self, path: &Path, folder: &Path) -> Option<PathBuf> {
        let (_, copy) = self.copies(folder).find(|(known, _)| *known == path)?;
        let bytes = plain_file::read_own(&copy).ok()?;
        let digest: String =
            sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let (state, _) = self.files.get(path)?;
        state.ends_with(&digest).then_some(copy)
    }
}

impl Repo {
    /// What puts back a place that differs from what `before` took down, and whose copy is in `folder`.
    ///
    /// # Errors
    /// Git could not be started.
    pub fn put_back(
        &self,
        before: &Guarded,
        difference: &Difference,
        folder: &Path,
    ) -> Result<PutBack, GitError> {
        let none = PutBack { settings: Vec::new(), steps: Vec::new() };
        match &difference.place {
            Place::Ref(name) => Ok(PutBack { steps: texts(vec![ref_back(before, name)]), ..none }),
            Place::GitFile(name) => {
                let path = self.common_dir().join(OsStr::from_bytes(name));
                let copy = before.copy_of(&path, folder);
                let settings = match &copy {
                    Some(copy) if is_config(&path) && difference.became == Became::Changed => {
                        self.settings_that_differ(copy, &path)?
                    }
                    _ => Vec::new(),
                };
                let steps = texts(file_back(difference.became, &path, copy));
                Ok(PutBack { settings, steps })
            }
            Place::Path(_) | Place::Checkout(_) => Ok(none),
        }
    }

    /// Names of the settings in which two files differ.
    fn settings_that_differ(&self, old: &Path, new: &Path) -> Result<Vec<String>, GitError> {
        let (Some(old), Some(new)) = (self.listed(old)?, self.listed(new)?) else {
            return Ok(Vec::new());
        };
        let names = old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name));
        let mut names: Vec<String> =
            names.map(|name| Place::Path(name.clone()).to_string()).collect();
        names.sort();
        names.dedup();
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        Ok(names)
    }

    /// The settings of a file, each with its values in order; nothing when git cannot read it.
    fn listed(&self, file: &Path) -> Result<Option<BTreeMap<BString, Vec<BString>>>, GitError> {
        let git = self.git().args(["config", "--list", "-z", "--file"]).arg(file);
        let bytes = match git.run() {
            Ok(bytes) => bytes,
            Err(GitError::Failed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut listed: BTreeMap<BString, Vec<BString>> = BTreeMap::new();
        for entry in bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let (name, value) = entry.split_once_str("\n").unwrap_or((entry, b""));
            listed.entry(name.into()).or_default().push(value.into());
        }
        Ok(Some(listed))
    }
}

/// The command that puts a ref back, for whoever types it in the checkout.
fn ref_back(before: &Guarded, name: &BString) -> Vec<BString> {
    let was = before.refs.get(name);
    let line: Vec<&[u8]> = match was.map(|was| (was, was.strip_prefix(b"ref: "))) {
        None => vec![b"update-ref", b"--no-deref", b"-d", name],
        Some((_, Some(target))) => vec![b"symbolic-ref", name, target],
        Some((id, None)) => vec![b"update-ref", b"--no-deref", name, id],
    };
    [&b"git"[..]].into_iter().chain(line).map(BString::from).collect()
}

/// The commands that put a file back. Never through a link that may stand there now.
fn file_back(became: Became, path: &Path, copy: Option<PathBuf>) -> Vec<Vec<BString>> {
    let of = |path: &Path| BString::from(path.as_os_str().as_bytes());
    let remove = vec!["rm".into(), "-rf".into(), "--".into(), of(path)];
    match (became, copy) {
        (Became::Added, _) => vec![remove],
        (Became::Removed | Became::Changed, Some(copy)) => {
            vec![remove, vec!["cp".into(), "-p".into(), "--".into(), of(&copy), of(path)]]
        }
        (Became::Removed | Became::Changed, None) => Vec::new(),
    }
}

/// Copies a file, with its mode. What stands in the copy's place is replaced and not written to: a worker may have
/// put a link there.
fn copy_whole(path: &Path, copy: &Path, folder: &Path) -> std::io::Result<()> {
    let mut from = plain_file::open(path)?;
    let mut to = tempfile::NamedTempFile::new_in(folder)?;
    std::io::copy(&mut from, to.as_file_mut())?;
    to.as_file().set_permissions(from.metadata()?.permissions())?;
    to.persist(copy).map(drop).map_err(|error| error.error)
}

fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "config" || name == "config.worktree")
}

/// The words as text; no steps at all where one of them is none.
fn texts(steps: Vec<Vec<BString>>) -> Vec<Vec<String>> {
    let text = |word: BString| {
        let text = String::from_utf8(word.into()).ok()?;
        (!text.chars().any(char::is_control)).then_some(text)
    };
    let steps = steps.into_iter().map(|step| step.into_iter().map(text).collect());
    steps.collect::<Option<_>>().unwrap_or_default()
}
