//! The rest of the repository, before and after a worker.
//!
//! Looked at: configuration files and hooks (those of initialised submodules too), `info/`, alternates, `shallow`, every ref that is not this run's own, and the user's
//! checkout. The cost does not grow with the run: its own refs and its other worktrees are not visited (a
//! sibling worktree is verified once, when its stage is gated: [`super::Worktree::verify_settled`]).
//!
//! What a person may rightly be doing meanwhile (working in a checkout of their own, fetching, another run) is
//! told apart from what nobody may touch while workers run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::BString;

use crate::model::ids::{CommitId, RunId};
use crate::plain_file;

use super::error::GitError;
use super::fingerprint::add;
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

impl Guarded {
    /// Where the branch stood that `rev` names: a branch by its short name, or `HEAD` for the one that
    /// the user's checkout is on. Nothing for anything else, which does not move.
    #[must_use]
    pub fn tip(&self, rev: &str) -> Option<CommitId> {
        let name: BString = match rev {
            "HEAD" => self.head.strip_prefix(b"ref: ")?.trim_ascii_end().into(),
            branch => format!("refs/heads/{branch}").into(),
        };
        let value = self.refs.get(&name)?;
        let is_id = !value.is_empty() && value.iter().all(u8::is_ascii_hexdigit);
        is_id.then(|| CommitId(value.to_string()))
    }
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
        let in_common = [
            "config",
            "config.worktree",
            "hooks",
            "info",
            "objects/info/alternates",
            "shallow",
            "commondir",
        ];
        let mut paths: Vec<PathBuf> = in_common.iter().map(|name| common.join(name)).collect();
        paths.extend(spec.worktree.map(|worktree| worktree.git_dir().join("config.worktree")));
        submodules(&common.join("modules"), &mut paths)?;
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
            head: plain_file::read_own_linked(&head).map_err(GitError::io("read", &head))?.into(),
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
            // A fetch moves where a history that is shallow already ends.
            let fetched = shown == Path::new("shallow") && became != Became::Added;
            let place = Place::GitFile(shown.as_os_str().as_bytes().into());
            differences.push(Difference {
                place,
                became,
                fault: if shared || fetched { Fault::Person } else { Fault::Finding },
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

    /// The branches that the user's own worktrees are on, those of a lead among them, or were before.
    fn checked_out_by_people(&self, before: &Guarded) -> Result<BTreeSet<BString>, GitError> {
        let mut heads = vec![before.head.to_vec()];
        let own = [self.git_dir().to_path_buf(), self.common_dir().to_path_buf()];
        let linked = self
            .registered()?
            .into_iter()
            .map(|(admin, _)| admin)
            .filter(|admin| !admin.join(MARK).exists());
        for folder in own.into_iter().chain(linked) {
            heads.extend(plain_file::read_own_linked(&folder.join("HEAD")));
        }
        let named = heads.iter().filter_map(|head| {
            head.strip_prefix(b"ref: ").map(|name| name.trim_ascii_end().into())
        });
        // A lead may make and delete its own beside a run.
        let leads = self.branches_of_leads().into_iter();
        let leads = leads.map(|name| BString::from([b"refs/heads/", name.as_slice()].concat()));
        Ok(named.chain(leads).collect())
    }
}

/// The settings and hooks of the submodules whose git directories are under a folder, which is theirs alone;
/// a name may hold `/`, and a submodule may hold others.
fn submodules(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), GitError> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(GitError::io("list", folder)(error)),
    };
    for item in listing {
        let item = item.map_err(GitError::io("list", folder))?;
        // A link leads elsewhere, and could lead in circles.
        if !item.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = item.path();
        if path.join("HEAD").exists() || path.join("config").exists() {
            let own = ["config", "config.worktree", "hooks", "info/attributes", "commondir"];
            paths.extend(own.iter().map(|name| path.join(name)));
            submodules(&path.join("modules"), paths)?;
        } else {
            submodules(&path, paths)?;
        }
    }
    Ok(())
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

/// The keys whose values differ.
pub(super) fn changed<'a, K: Ord, V: PartialEq>(
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
