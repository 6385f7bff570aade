//! What has to move, and what has to be written anew, for a checkout to become a bare repository with a worktree
//! beside it: `.git` becomes `.bare`, and the files of the checkout one worktree among others.
//!
//! Nothing is changed here: [`Repo::to_bare`] lists edits in the order in which they are to be made. The list is whole
//! before the first of them is made, so that it can be kept and gone through again, forward or backward.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use bstr::ByteSlice;

use crate::plain_file;

use super::command::Git;
use super::error::GitError;
use super::linked::Linked;
use super::repo::Repo;
use super::submodule::modules_in;

/// The folder of the bare repository.
pub const BARE: &str = ".bare";

/// One change. Paths are those that hold when it is its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// A folder is made.
    Folder(PathBuf),
    /// Something gets another place.
    Move {
        /// Where it is.
        from: PathBuf,
        /// Where it goes.
        to: PathBuf,
    },
    /// A small file is written.
    Write {
        /// Which.
        path: PathBuf,
        /// What it held; `None` when it was not there.
        was: Option<Vec<u8>>,
        /// What it holds then.
        now: Vec<u8>,
    },
}

/// Files of the repository's folder that belong to its one worktree, and so move with that.
const ITS_OWN: &[&str] = &[
    "index",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "SQUASH_MSG",
    "AUTO_MERGE",
    "config.worktree",
    "modules",
    "logs/HEAD",
    "logs/refs/worktree",
    "refs/worktree",
    "info/sparse-checkout",
];

/// Locks that say a git is at work, or died.
const LOCKS: &[&str] =
    &["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "gc.pid"];

/// The places of one migration.
#[derive(Debug, Clone)]
pub struct Places {
    /// The top of the checkout, which stays where it is and becomes the folder around everything.
    pub top: PathBuf,
    /// Where the checkout's files are gathered on their way.
    pub gathered: PathBuf,
    /// The folder of the new worktree.
    pub folder: PathBuf,
    /// The worktree's name in git's list.
    pub id: String,
}

impl Places {
    fn bare(&self) -> PathBuf {
        self.top.join(BARE)
    }

    fn admin(&self) -> PathBuf {
        self.bare().join("worktrees").join(&self.id)
    }

    /// Where a place in the checkout or in its `.git` will be in the end.
    fn in_the_end(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix(self.top.join(".git")), path.strip_prefix(&self.top)) {
            (Ok(rest), _) => self.bare().join(rest),
            (_, Ok(rest)) => self.folder.join(rest),
            _ => path.to_path_buf(),
        }
    }

    /// Where it is while the files are gathered.
    fn meanwhile(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.top) {
            Ok(rest) => self.gathered.join(rest),
            Err(_) => path.to_path_buf(),
        }
    }
}

impl Repo {
    /// What in git's own folder stands in the way of becoming a bare repository, a sentence each.
    ///
    /// # Errors
    /// Git cannot be asked.
    pub fn unmovable(&self, top: &Path) -> Result<Vec<String>, GitError> {
        let mut why = Vec::new();
        let git = top.join(".git");
        if self.common_dir() != git || git.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            why.push(
                ".git is no folder of the checkout: it is a link, a submodule or a worktree"
                    .to_owned(),
            );
            return Ok(why);
        }
        if git.join("reftable").exists() {
            why.push(
                "its refs are kept in a reftable, which knows no worktree of the main checkout"
                    .to_owned(),
            );
        }
        for lock in LOCKS {
            if git.join(lock).exists() {
                why.push(format!("{lock} is there: a git is at work, or one died"));
            }
        }
        let root = top.as_os_str().as_bytes();
        let mut listed = Vec::new();
        for file in ["config", "config.worktree"].map(|file| git.join(file)) {
            if file.exists() {
                let list = self.git().args(["config", "--file"]).arg(&file);
                listed.extend(list.args(["--list", "-z"]).run()?);
            }
        }
        for pair in listed.split(|b| *b == 0).filter(|pair| !pair.is_empty()) {
            let mut parts = pair.splitn(2, |b| *b == b'\n');
            let (key, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let shown = key.escape_ascii();
            if key == b"core.worktree" {
                why.push("core.worktree is set: its files are elsewhere".to_owned());
            } else if value.starts_with(root) && matches!(value.get(root.len()), None | Some(b'/'))
            {
                why.push(format!(
                    "`{shown}` names a place in the checkout, which moves; make it relative"
                ));
            } else if key.starts_with(b"include")
                && key.ends_with(b".path")
                && value.starts_with(b"..")
            {
                why.push(format!("`{shown}` names a file in the checkout, which moves"));
            } else if !key.starts_with(b"include") && leads_astray(value) {
                let place = top.join(OsStr::from_bytes(value));
                let place = place.canonicalize().unwrap_or(place);
                let (key, place) = (key.to_str_lossy(), place.to_string_lossy());
                let (key, place) = (shlex::try_quote(&key), shlex::try_quote(&place));
                let help = match (key, place) {
                    (Ok(key), Ok(place)) => format!(": `git config {key} {place}`"),
                    _ => String::new(),
                };
                why.push(format!(
                    "`{shown}` is {}, which leads elsewhere from a checkout that is one folder deeper; make it \
                     absolute{help}",
                    value.escape_ascii()
                ));
            }
        }
        Ok(why)
    }

    /// Whether the nested repository in `folder` can be moved; why not, if it cannot.
    #[must_use]
    pub fn nested_unmovable(&self, folder: &Path) -> Option<&'static str> {
        let git = folder.join(".git");
        if !git.is_dir() {
            return Some("it is a worktree of another repository, which knows it by its place");
        }
        let worktrees = std::fs::read_dir(git.join("worktrees"));
        if worktrees.is_ok_and(|mut inside| inside.next().is_some()) {
            return Some("it has worktrees of its own, which know it by its place");
        }
        let borrowed =
            plain_file::read_own(&git.join("objects/info/alternates")).unwrap_or_default();
        let lies_here = |line: &[u8]| {
            let there = git.join("objects").join(OsStr::from_bytes(line)).canonicalize();
            there.is_ok_and(|there| there.starts_with(self.common_dir()))
        };
        let mut lines = borrowed.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let borrows = lines.any(lies_here);
        borrows.then_some("it borrows objects from this repository by its place")
    }

    /// Folders of submodules of the main checkout whose repository is in the shared folder, relative to its top.
    #[must_use]
    pub fn kept_submodules(&self, places: &Places) -> Vec<PathBuf> {
        modules_in(&self.common_dir().join("modules"))
            .iter()
            .filter_map(|module| worktree_of(module))
            .filter_map(|folder| folder.strip_prefix(&places.top).ok().map(Path::to_path_buf))
            .collect()
    }

    /// The edits that turn the checkout into a bare repository with a worktree beside it. `linked`: the other
    /// worktrees; `entries`: what is at the top, but for `.git`.
    ///
    /// # Errors
    /// A file that is to be written anew cannot be read.
    pub fn to_bare(
        &self,
        places: &Places,
        entries: &[OsString],
        linked: &[Linked],
    ) -> Result<Vec<Edit>, GitError> {
        let (git, bare, admin) = (places.top.join(".git"), places.bare(), places.admin());
        let mut edits = vec![Edit::Folder(places.gathered.clone())];
        for entry in entries {
            let (from, to) = (places.top.join(entry), places.gathered.join(entry));
            edits.push(Edit::Move { from, to });
        }
        edits.push(Edit::Move { from: git.clone(), to: bare.clone() });
        if !git.join("worktrees").is_dir() {
            edits.push(Edit::Folder(bare.join("worktrees")));
        }
        edits.push(Edit::Folder(admin.clone()));
        let shared = |name: &OsStr| {
            let name = name.as_bytes();
            name.starts_with(b"sharedindex.").then(|| name.to_vec())
        };
        let listing = std::fs::read_dir(&git).map_err(GitError::io("list", &git))?;
        let mut own: Vec<PathBuf> = ITS_OWN.iter().map(PathBuf::from).collect();
        let split = listing.flatten().filter_map(|entry| shared(&entry.file_name()));
        own.extend(split.map(|name| PathBuf::from(OsString::from_vec(name))));
        let mut made: Vec<PathBuf> = Vec::new();
        for name in own.iter().filter(|name| git.join(name).symlink_metadata().is_ok()) {
            let above: Vec<&Path> =
                name.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()).collect();
            for folder in above.into_iter().rev() {
                if !made.iter().any(|made| made == folder) {
                    made.push(folder.to_path_buf());
                    edits.push(Edit::Folder(admin.join(folder)));
                }
            }
            edits.push(Edit::Move { from: bare.join(name), to: admin.join(name) });
        }
        let read =
            |path: &Path| plain_file::read_own_linked(path).map_err(GitError::io("read", path));
        let mut write = |path: PathBuf, was: Option<Vec<u8>>, now: Vec<u8>| {
            if was.as_ref() != Some(&now) {
                edits.push(Edit::Write { path, was, now });
            }
        };
        write(admin.join("HEAD"), None, read(&git.join("HEAD"))?);
        write(admin.join("commondir"), None, b"../..\n".to_vec());
        write(
            admin.join("gitdir"),
            None,
            line(&[places.folder.join(".git").as_os_str().as_bytes()]),
        );
        let config = read(&git.join("config"))?;
        let each_its_own = self.settings().is_on("extensions.worktreeconfig");
        write(bare.join("config"), Some(config.clone()), bare_config(&config, each_its_own)?);
        if each_its_own {
            // What the shared file says of this, every worktree would take for its own.
            write(bare.join("config.worktree"), None, b"[core]\n\tbare = true\n".to_vec());
        }

        for module in modules_in(&git.join("modules")) {
            let rest = module.strip_prefix(&git).unwrap_or(&module);
            let Some(folder) = worktree_of(&module) else { continue };
            let (its, at_last) = (admin.join(rest), places.in_the_end(&folder));
            let was = read(&module.join("config"))?;
            let to = relative(&its, &at_last);
            write(its.join("config"), Some(was.clone()), with_worktree(&was, &to)?);
            let link = folder.join(".git");
            if let Ok(was) = plain_file::read_own(&link) {
                let to = relative(&at_last, &its);
                let now = line(&[b"gitdir: ", to.as_os_str().as_bytes()]);
                write(places.meanwhile(&link), Some(was), now);
            }
        }
        for tree in linked {
            let Some(path) = tree.path() else { continue };
            let its = places.in_the_end(tree.admin());
            let link = path.join(".git");
            let now = line(&[b"gitdir: ", its.as_os_str().as_bytes()]);
            write(places.meanwhile(&link), Some(read(&link)?), now);
            if path.starts_with(&places.top) {
                let was = read(&tree.admin().join("gitdir"))?;
                let now = line(&[places.in_the_end(&link).as_os_str().as_bytes()]);
                write(its.join("gitdir"), Some(was), now);
            }
            for module in modules_in(&tree.admin().join("modules")) {
                let Some(folder) = worktree_of(&module) else { continue };
                let at_last = places.in_the_end(&folder);
                let (its, link) = (places.in_the_end(&module), folder.join(".git"));
                let was = read(&module.join("config"))?;
                let now = with_worktree(&was, &relative(&its, &at_last))?;
                write(its.join("config"), Some(was), now);
                if let Ok(was) = plain_file::read_own(&link) {
                    let to = relative(&at_last, &its);
                    let now = line(&[b"gitdir: ", to.as_os_str().as_bytes()]);
                    write(places.meanwhile(&link), Some(was), now);
                }
            }
        }
        let own_link = line(&[b"gitdir: ", admin.as_os_str().as_bytes()]);
        write(places.gathered.join(".git"), None, own_link);
        edits.push(Edit::Move { from: places.gathered.clone(), to: places.folder.clone() });
        let now = line(&[b"gitdir: ./", BARE.as_bytes()]);
        edits.push(Edit::Write { path: git, was: None, now });
        Ok(edits)
    }
}

/// Whether a value is a path out of the checkout, or into its `.git`, as seen from its top.
fn leads_astray(value: &[u8]) -> bool {
    let starts = [&b"../"[..], b"./", b".git/"].iter().any(|start| value.starts_with(start));
    if value != b".." && !starts {
        return false;
    }
    let mut depth = 0_usize;
    let mut first = None;
    for part in Path::new(OsStr::from_bytes(value)).components() {
        match part {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(name) => {
                first = if depth == 0 { Some(name) } else { first };
                depth += 1;
            }
            _ => {}
        }
    }
    depth > 0 && first.is_some_and(|first| first == ".git")
}

fn line(parts: &[&[u8]]) -> Vec<u8> {
    [parts.concat().as_slice(), b"\n"].concat()
}

/// The folder that a submodule's repository has its files in.
fn worktree_of(module: &Path) -> Option<PathBuf> {
    let git = Git::new(module, module).args(["config", "--file"]).arg(module.join("config"));
    let mut said = git.args(["--null", "core.worktree"]).run().ok()?;
    said.pop_if(|last| *last == 0);
    module.join(OsStr::from_bytes(&said)).canonicalize().ok()
}

/// `config` with one setting changed, by git itself.
fn changed_config(config: &[u8], change: impl Fn(Git) -> Git) -> Result<Vec<u8>, GitError> {
    let scratch = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
    let file = scratch.path().join("config");
    std::fs::write(&file, config).map_err(GitError::io("write", &file))?;
    change(Git::bare(scratch.path()).args(["config", "--file"]).arg(&file)).run()?;
    std::fs::read(&file).map_err(GitError::io("read", &file))
}

/// The shared settings of a bare repository. `elsewhere`: that it is bare is said in another file.
fn bare_config(config: &[u8], elsewhere: bool) -> Result<Vec<u8>, GitError> {
    let bare = changed_config(config, |git| git.args(["core.bare", "true"]))?;
    match elsewhere {
        false => Ok(bare),
        true => changed_config(&bare, |git| git.args(["--unset-all", "core.bare"])),
    }
}

fn with_worktree(config: &[u8], folder: &Path) -> Result<Vec<u8>, GitError> {
    changed_config(config, |git| git.arg("core.worktree").arg(folder))
}

/// `to` as seen from the folder `from`; both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<_>) =
        (from.components().collect(), to.components().collect());
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - same);
    up.chain(to[same..].iter().copied()).collect()
}
