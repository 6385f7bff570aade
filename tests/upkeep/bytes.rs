//! Every byte of work: file contents by the id that git would give them, on disk and reachable from refs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository};

/// Files and links by path: mode and bytes.
pub type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Contents, by id, each with where one of them was found.
pub type Contents = BTreeMap<Oid, String>;

/// Every file and link below `folder` but for git's own: path, mode, bytes.
pub fn on_disk(folder: &Path) -> Files {
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

fn walk(root: &Path, folder: &Path, found: &mut Files) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.expect("an entry");
        let (path, meta) = (entry.path(), entry.metadata().expect("it is there"));
        if entry.file_name() == ".git" {
            continue;
        }
        let name = path.strip_prefix(root).expect("below").to_path_buf();
        if meta.is_symlink() {
            let target = fs::read_link(&path).expect("a link").as_os_str().as_bytes().to_vec();
            found.insert(name, (0o120_000, target));
        } else if meta.is_dir() {
            walk(root, &path, found);
        } else if meta.is_file() {
            let mode = meta.permissions().mode();
            found.insert(name, (mode, fs::read(&path).expect("a file")));
        }
    }
}

/// The contents of files on disk.
pub fn contents(files: &Files) -> Contents {
    let id = |bytes: &[u8]| Oid::hash_object(ObjectType::Blob, bytes).expect("an id");
    files.iter().map(|(path, (_, bytes))| (id(bytes), format!("on disk, {path:?}"))).collect()
}

/// The contents that an index file of the repository names, every side of a conflict.
pub fn in_index(index: &Path) -> Contents {
    let Ok(index) = git2::Index::open(index) else { return Contents::new() };
    let blobs = index.iter().filter(|entry| entry.mode != 0o160_000 && !is_intended(entry));
    blobs
        .map(|entry| (entry.id, format!("index, {:?}", String::from_utf8_lossy(&entry.path))))
        .collect()
}

/// `git add -N`: a name without content.
fn is_intended(entry: &git2::IndexEntry) -> bool {
    entry.flags_extended & 0x2000 != 0
}

/// Everything that refs hold, their whole history, and every entry of the stash.
pub fn by_refs(common: &Path) -> Contents {
    let repo = Repository::open(common).expect("a repository");
    let mut tips: Vec<(Oid, String)> = Vec::new();
    for reference in repo.references().expect("refs") {
        let reference = reference.expect("a ref");
        if let Ok(commit) = reference.peel_to_commit() {
            tips.push((commit.id(), String::from_utf8_lossy(reference.name_bytes()).into_owned()));
        }
    }
    if let Ok(stash) = repo.reflog("refs/stash") {
        tips.extend(stash.iter().map(|entry| (entry.id_new(), "the stash".to_owned())));
    }
    of_commits(&repo, &tips)
}

/// Everything that a git folder holds for itself: what its own refs, its HEAD and its logs name, and its index. `common`:
/// where the objects are.
pub fn of_git_folder(folder: &Path, common: &Path) -> Contents {
    let repo = Repository::open(common).expect("a repository");
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for place in ["HEAD", "refs", "logs"] {
        for (file, text) in text_of(&folder.join(place)) {
            for word in text.split([' ', '\n']).filter(|word| word.len() == 40) {
                ids.insert(word.to_owned(), file.display().to_string());
            }
        }
    }
    let mut found = in_index(&folder.join("index"));
    for (id, file) in ids {
        let Ok(object) = Oid::from_str(&id).and_then(|id| repo.find_object(id, None)) else {
            continue;
        };
        match object.peel_to_commit() {
            Ok(commit) => found.extend(of_commits(&repo, &[(commit.id(), file)])),
            Err(_) => drop(found.insert(object.id(), file)),
        }
    }
    found
}

/// Files at or below a place, with what is written in them.
fn text_of(place: &Path) -> Vec<(PathBuf, String)> {
    if place.is_file() {
        return fs::read_to_string(place)
            .map(|text| (place.to_path_buf(), text))
            .into_iter()
            .collect();
    }
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries.flat_map(|entry| text_of(&entry.path())).collect()
}

/// The git folders of submodules below a `modules` folder.
pub fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.join("HEAD").exists() {
            found.extend(modules(&path.join("modules")));
            found.push(path);
        } else if path.is_dir() {
            found.extend(modules(&path));
        }
    }
    found
}

fn of_commits(repo: &Repository, tips: &[(Oid, String)]) -> Contents {
    let (mut found, mut seen) = (Contents::new(), HashSet::new());
    for (tip, name) in tips {
        let mut walk = repo.revwalk().expect("a walk");
        walk.push(*tip).expect("a commit");
        for commit in walk {
            let commit = repo.find_commit(commit.expect("a commit")).expect("it is there");
            of_tree(repo, &commit.tree().expect("its tree"), name, &mut seen, &mut found);
        }
    }
    found
}

fn of_tree(
    repo: &Repository,
    tree: &git2::Tree<'_>,
    name: &str,
    seen: &mut HashSet<Oid>,
    found: &mut Contents,
) {
    if !seen.insert(tree.id()) {
        return;
    }
    for entry in tree {
        match entry.kind() {
            Some(ObjectType::Blob) => {
                found.entry(entry.id()).or_insert_with(|| {
                    format!("{name}, {:?}", String::from_utf8_lossy(entry.name_bytes()))
                });
            }
            Some(ObjectType::Tree) => {
                of_tree(repo, &repo.find_tree(entry.id()).expect("a tree"), name, seen, found);
            }
            _ => {}
        }
    }
}

/// What of `before` is nowhere in `after`, for a failure to name.
pub fn lost(before: &Contents, after: &[Contents]) -> BTreeSet<String> {
    let there = |id: &Oid| after.iter().any(|after| after.contains_key(id));
    before.iter().filter(|(id, _)| !there(id)).map(|(_, what)| what.clone()).collect()
}
