//! The rest of the repository, before and after a worker.
//!
//! Looked at: configuration files, hooks, `info/`, alternates, every ref that is not this run's own, and the user's
//! checkout. The cost does not grow with the run: its own refs and its other worktrees are not visited (a
//! sibling worktree is verified once, when its stage is gated: [`super::Worktree::verify_settled`]).
//!
//! What a person may rightly be doing meanwhile (working in a checkout of their own, fetching, another run) is
//! told apart from what nobody may touch while workers run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use sha2::Digest;

use crate::model::ids::RunId;

use super::error::GitError;
use super::look::Look;
use super::repo::Repo;
use super::scope::Place;
use super::worktree::{MARK, Worktree};

/// What to watch.
#[derive(Debug, Clone, Copy)]
pub struct GuardSpec<'a> {
    /// The run whose own refs are its engine's to move.
    pub run: &'a RunId,
    /// The worktree of the worker that is watched.
    pub worktree: Option<&'a Worktree>,
    /// Whether to look at the files of the user's checkout too (an `lstat` each).
    pub checkout: bool,
}

/// The rest of the repository at one moment.
#[derive(Debug, Clone, Default)]
pub struct Guarded {
    /// Mode and digest (or the target of a link), by path; and whether it is the user's for all repositories.
    pub(super) files: BTreeMap<PathBuf, (String, bool)>,
    pub(super) refs: BTreeMap<BString, BString>,
    pub(super) head: BString,
    pub(super) look: Option<Look>,
}

/// Whose doing a difference is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nobody's to touch while a worker runs.
    Finding,
    /// A person may have done it: named, blamed on no one.
    Person,
}

/// What happened to one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// It was not there.
    Added,
    /// It is gone.
    Removed,
    /// It is another.
    Changed,
}

/// One place that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub place: Place,
    /// How.
    pub became: Became,
    /// Who is to answer for it.
    pub fault: Fault,
}

/// All that differs between two moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardDiff {
    /// Sorted by kind of place, then by name.
    pub differences: Vec<Difference>,
}

impl GuardDiff {
    /// What nobody may touch and somebody did.
    pub fn findings(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.fault == Fault::Finding)
    }

    /// What a person may have done.
    pub fn by_a_person(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.fault == Fault::Person)
    }
}

impl Repo {
    /// Takes down what is to be compared later.
    ///
    /// # Errors
    /// Something in the git directory or the checkout cannot be read.
    pub fn guard(&self, spec: GuardSpec<'_>) -> Result<Guarded, GitError> {
        let mut files = BTreeMap::new();
        let common = self.common_dir();
        for config in &self.settings().files {
            add(&mut files, &config.path, config.shared)?;
        }
        let in_common = ["config", "config.worktree", "hooks", "info", "objects/info/alternates"];
        let mut paths: Vec<PathBuf> = in_common.iter().map(|name| common.join(name)).collect();
        paths.extend(spec.worktree.map(|worktree| worktree.git_dir().join("config.worktree")));
        // Hooks kept in the checkout are files of the checkout.
        let in_checkout = |path: &PathBuf| {
            self.top().is_some_and(|top| path.starts_with(top)) && !path.starts_with(common)
        };
        paths.extend(self.hooks_path().filter(|path| !in_checkout(path)));
        for path in paths {
            add(&mut files, &path, false)?;
        }
        // Written by housekeeping.
        files.remove(&common.join("info/refs"));
        let head = self.git_dir().join("HEAD");
        Ok(Guarded {
            files,
            refs: self.refs_beside(spec.run)?,
            head: std::fs::read(&head).map_err(GitError::io("read", &head))?.into(),
            look: if spec.checkout { Look::take(self)? } else { None },
        })
    }

    /// What differs between two moments.
    ///
    /// # Errors
    /// The list of worktrees cannot be read.
    pub fn compare(&self, before: &Guarded, after: &Guarded) -> Result<GuardDiff, GitError> {
        let mut differences = Vec::new();
        for (path, became) in changed(&before.files, &after.files) {
            let shared = before
                .files
                .get(path)
                .or_else(|| after.files.get(path))
                .is_some_and(|(_, shared)| *shared);
            let shown = path.strip_prefix(self.common_dir()).unwrap_or(path);
            let place = Place::GitFile(shown.as_os_str().as_bytes().into());
            differences.push(Difference {
                place,
                became,
                fault: if shared { Fault::Person } else { Fault::Finding },
            });
        }
        let refs: Vec<_> = changed(&before.refs, &after.refs).collect();
        let theirs = if refs.iter().any(|(name, _)| name.starts_with(b"refs/heads/")) {
            self.checked_out_by_people(before)?
        } else {
            BTreeSet::new()
        };
        for (name, became) in refs {
            let fault =
                if theirs.contains(name) || others(name) { Fault::Person } else { Fault::Finding };
            differences.push(Difference { place: Place::Ref(name.clone()), became, fault });
        }
        let person = |place, became| Difference { place, became, fault: Fault::Person };
        if before.head != after.head {
            differences.push(person(Place::Ref("HEAD".into()), Became::Changed));
        }
        if let (Some(old), Some(new)) = (&before.look, &after.look) {
            let (paths, staged) = old.differs(new);
            differences.extend(
                paths.into_iter().map(|path| person(Place::Checkout(path), Became::Changed)),
            );
            if staged {
                differences.push(person(Place::GitFile("index".into()), Became::Changed));
            }
        }
        Ok(GuardDiff { differences })
    }

    /// The branches that the user's own worktrees are on, or were before.
    fn checked_out_by_people(&self, before: &Guarded) -> Result<BTreeSet<BString>, GitError> {
        let mut heads = vec![before.head.to_vec()];
        let own = [self.git_dir().to_path_buf(), self.common_dir().to_path_buf()];
        let linked = self
            .registered()?
            .into_iter()
            .map(|(admin, _)| admin)
            .filter(|admin| !admin.join(MARK).exists());
        for folder in own.into_iter().chain(linked) {
            heads.extend(std::fs::read(folder.join("HEAD")));
        }
        let named = heads.iter().filter_map(|head| {
            head.strip_prefix(b"ref: ").map(|name| name.trim_ascii_end().into())
        });
        Ok(named.collect())
    }

    /// Every ref but this run's own, with what it holds.
    fn refs_beside(&self, run: &RunId) -> Result<BTreeMap<BString, BString>, GitError> {
        let own = ["refs/heads/sop", "refs/heads/sop-stage", "refs/sop/salvage"]
            .map(|under| format!("{under}/{run}/"));
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
        let lines = match std::fs::read(&packed) {
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

/// Refs that a fetch, a bisect, another run or another session moves.
fn others(name: &BString) -> bool {
    let prefixes: [&[u8]; 6] = [
        b"refs/remotes/",
        b"refs/prefetch/",
        b"refs/bisect/",
        b"refs/sop/",
        b"refs/heads/sop/",
        b"refs/heads/sop-stage/",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
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
            && let Ok(value) = std::fs::read(item.path())
        {
            refs.insert(name, value.trim_ascii_end().into());
        }
    }
    Ok(())
}

/// Takes down a file, or all that a folder holds. What is not there is not taken down.
fn add(
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
        content.extend(std::fs::read(path).unwrap_or_default());
        content
    } else if stat.is_file() {
        std::fs::read(path).map_err(GitError::io("read", path))?
    } else {
        Vec::new()
    };
    let digest = sha2::Sha256::digest(&content);
    let mut state = format!("{:o} ", stat.mode());
    state.extend(digest.iter().map(|byte| format!("{byte:02x}")));
    files.insert(path.to_path_buf(), (state, shared));
    Ok(())
}

/// The keys whose values differ.
fn changed<'a, K: Ord, V: PartialEq>(
    before: &'a BTreeMap<K, V>,
    after: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, Became)> {
    let old = before.iter().filter_map(|(key, value)| match after.get(key) {
        None => Some((key, Became::Removed)),
        Some(other) if other != value => Some((key, Became::Changed)),
        Some(_) => None,
    });
    let new = after.keys().filter(|key| !before.contains_key(key)).map(|key| (key, Became::Added));
    let mut all: Vec<_> = old.chain(new).collect();
    all.sort_by(|one, two| one.0.cmp(two.0));
    all.into_iter()
}
