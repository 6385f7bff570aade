//! The user's own, before and after: every byte of their checkout and of what the repository keeps beside it, their
//! index, HEAD, configuration, hooks and refs among them. Fixtures take it down before the first `sop` runs in them
//! and compare it when they go, so that no test forgets to.
//!
//! What a test changes itself, on purpose, it does in [`Checkout::by_hand`]. What something else is meant to change
//! meanwhile is named, with the reason, by [`Checkout::touched`], and only that is not compared.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is `sop`'s in a repository's folder, beside the objects, which hold what nothing names as well.
pub const OURS: [&str; 9] = [
    "sop-run",
    "objects",
    "worktrees",
    "refs/heads/sop",
    "refs/heads/sop-stage",
    "refs/sop",
    "logs/refs/heads/sop",
    "logs/refs/heads/sop-stage",
    "logs/refs/sop",
];

const OUR_REFS: [&str; 3] = [" refs/heads/sop/", " refs/heads/sop-stage/", " refs/sop/"];

/// Each file, link and folder: its mode with its bytes, or with where it leads.
pub type Bytes = BTreeMap<PathBuf, Vec<u8>>;

/// A folder that is watched.
pub struct Checkout {
    folder: PathBuf,
    /// Places below it that are not looked at.
    ours: Vec<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Nothing before `sop` first ran.
    before: Option<Bytes>,
    touched: Vec<PathBuf>,
}

impl Checkout {
    /// A checkout at `folder`, its repository's folder at `git` below that.
    pub fn new(folder: PathBuf, git: &str) -> Self {
        let ours = OURS.iter().map(|name| folder.join(git).join(name)).collect();
        Self { folder, ours, known: Mutex::default() }
    }

    /// `sop` is about to run: from here on the user's own stays as it is.
    pub fn sop_runs(&self) {
        let mut known = self.known();
        if known.before.is_none() {
            known.before = Some(self.look());
        }
    }

    /// What a test changes itself. Up to here all is as it was, and what comes of this is what is compared with.
    #[track_caller]
    pub fn by_hand<T>(&self, change: impl FnOnce() -> T) -> T {
        if self.known().before.is_none() {
            return change();
        }
        self.is_as_it_was();
        let made = change();
        self.known().before = Some(self.look());
        made
    }

    /// These places below the folder are not compared, and why.
    pub fn touched(&self, names: &[&str], _why: &str) {
        let places = names.iter().map(|name| self.folder.join(name));
        self.known().touched.extend(places);
    }

    /// Fails where anything is not as it was.
    #[track_caller]
    pub fn is_as_it_was(&self) {
        let known = self.known();
        let Some(before) = &known.before else { return };
        let after = self.look();
        let differ: Vec<String> = before
            .keys()
            .chain(after.keys().filter(|path| !before.contains_key(*path)))
            .filter(|path| before.get(*path) != after.get(*path))
            .filter(|path| !known.touched.iter().any(|place| path.starts_with(place)))
            .map(|path| told(path, before.get(path), after.get(path)))
            .collect();
        drop(known);
        assert!(differ.is_empty(), "the user's own is not as it was:\n{}", differ.join("\n"));
    }

    fn look(&self) -> Bytes {
        let mut found = Bytes::new();
        walk(&self.folder, &self.ours, &mut found);
        // Once somebody has packed them, `sop`'s refs are lines of a file with the others.
        for (path, bytes) in &mut found {
            if path.ends_with("packed-refs") {
                let text = String::from_utf8_lossy(bytes);
                let theirs =
                    text.lines().filter(|line| !OUR_REFS.iter().any(|it| line.contains(it)));
                *bytes = theirs.collect::<Vec<_>>().join("\n").into_bytes();
            }
        }
        found
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // Of a test that fails nothing more is asked.
        if !std::thread::panicking() {
            self.is_as_it_was();
        }
    }
}

/// Everything below `folder` but these places. A worker may be at work: what goes meanwhile is not there.
pub fn walk(folder: &Path, but: &[PathBuf], found: &mut Bytes) {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if but.contains(&path) {
            continue;
        }
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let mut bytes = format!("{:o} ", meta.permissions().mode()).into_bytes();
        if meta.is_symlink() {
            let to = fs::read_link(&path).unwrap_or_default();
            bytes.extend(to.as_os_str().as_bytes());
        } else if meta.is_file() {
            bytes.extend(fs::read(&path).unwrap_or_default());
        } else if meta.is_dir() {
            walk(&path, but, found);
        }
        found.insert(path, bytes);
    }
}

/// One difference, its text as far as it is one.
fn told(path: &Path, before: Option<&Vec<u8>>, after: Option<&Vec<u8>>) -> String {
    let text = |bytes: Option<&Vec<u8>>| match bytes {
        None => "not there".to_owned(),
        Some(bytes) => {
            let start = &bytes[..bytes.len().min(200)];
            format!("{:?} ({} bytes)", String::from_utf8_lossy(start), bytes.len())
        }
    };
    format!("{}: {} → {}", path.display(), text(before), text(after))
}

/// Whether a look finds something other than it was.
#[cfg(test)]
fn found(checkout: &Checkout) -> bool {
    let look = std::panic::AssertUnwindSafe(|| checkout.is_as_it_was());
    std::panic::catch_unwind(look).is_err()
}

#[test]
fn what_nobody_named_is_found_and_what_is_named_or_ours_is_not() {
    let temp = tempfile::TempDir::new().expect("a folder");
    let put = |name: &str, text: &str| {
        let path = temp.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    };
    put("a", "1");
    put(".git/index", "i");
    put(".git/refs/heads/main", "1");
    put(".git/packed-refs", "1 refs/heads/main\n2 refs/heads/sop/o-1/a\n");
    let checkout = Checkout::new(temp.path().to_owned(), ".git");
    put("a", "2");
    checkout.sop_runs();
    put(".git/refs/sop/x", "3");
    put(".git/packed-refs", "1 refs/heads/main\n");
    checkout.by_hand(|| put("a", "3"));
    assert!(!found(&checkout));
    for (name, was) in [(".git/index", "i"), ("a", "3"), (".git/packed-refs", "1 refs/heads/main")]
    {
        put(name, "another");
        assert!(found(&checkout), "{name}");
        put(name, was);
        assert!(!found(&checkout), "{name}");
    }
    put("new", "");
    assert!(found(&checkout));
    checkout.touched(&["new"], "it is new");
    assert!(!found(&checkout));
    fs::remove_file(temp.path().join("a")).expect("it goes");
    assert!(found(&checkout));
    checkout.touched(&["a"], "it goes");
}
