//! Objects whose files were written over since a moment. Git does not hash what it reads of files that it trusts,
//! and to hash a whole base takes as long as to read it; but a file that was changed has a younger change time, which
//! no user can set back. So only those are read that changed since: what the run itself has made, and what somebody
//! has touched.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use crate::model::ids::CommitId;
use crate::plain_file;

use super::command::failed;
use super::error::GitError;
use super::repo::Repo;
use super::scope::Place;
use super::whole::lost;

/// How deep stores of objects may refer to others, as git has it.
const DEEPEST: usize = 5;

impl Repo {
    /// Looks whether what these commits are made of holds what it says, as far as its files changed since
    /// `since` (seconds since 1970, by the clock of the file system).
    ///
    /// # Errors
    /// [`GitError::Lost`] names what does not.
    pub fn hold_what_they_say(&self, commits: &[CommitId], since: i64) -> Result<(), GitError> {
        let (mut loose, mut packs) = (Vec::new(), Vec::new());
        for store in self.stores() {
            changed(&store, since, &mut loose, &mut packs)?;
        }
        let mut what = Vec::new();
        for pack in packs {
            match self.git().arg("verify-pack").arg(&pack).run() {
                Ok(_) => {}
                Err(GitError::Failed { .. }) => {
                    let name = pack.file_name().unwrap_or_default().as_encoded_bytes();
                    what.push(format!("pack {}", Place::Path(name.into())));
                }
                Err(error) => return Err(error),
            }
        }
        let wrong = self.wrong(loose)?;
        if !wrong.is_empty() {
            what.extend(self.reached(commits, &wrong)?);
        }
        lost(what)
    }

    /// The folders that hold objects: the repository's own, and those that it borrows from.
    fn stores(&self) -> Vec<PathBuf> {
        let mut stores = vec![self.common_dir().join("objects")];
        let mut from = 0;
        for _ in 0..DEEPEST {
            let until = stores.len();
            for n in from..until {
                let lent = plain_file::read_own(&stores[n].join("info/alternates"));
                let lent = lent.unwrap_or_default();
                let lines = lent.lines().filter(|line| !line.is_empty() && line[0] != b'#');
                let more: Vec<PathBuf> =
                    lines.filter_map(|line| Some(stores[n].join(line.to_path().ok()?))).collect();
                stores.extend(more.into_iter().filter(|store| store.is_dir()));
            }
            from = until;
        }
        stores
    }

    /// Of these objects, those whose files hold something else, or nothing that can be read.
    fn wrong(&self, ids: Vec<String>) -> Result<HashSet<String>, GitError> {
        if !self.in_process() {
            return self.wrong_by_git(ids);
        }
        // A handle of its own: those in the pool remember objects. libgit2 hashes what it reads.
        let repo = git2::Repository::open(self.git_dir())
            .map_err(GitError::objects("cannot open the repository again"))?;
        let odb = repo.odb().map_err(GitError::objects("cannot open the objects again"))?;
        let holds = |id: &String| git2::Oid::from_str(id).is_ok_and(|id| odb.read(id).is_ok());
        Ok(ids.into_iter().filter(|id| !holds(id)).collect())
    }

    /// The same where only git can read them: one that is wrong is told on standard error, and the exit code may be
    /// 0 all the same.
    fn wrong_by_git(&self, ids: Vec<String>) -> Result<HashSet<String>, GitError> {
        let mut wrong = HashSet::new();
        let checks = |ids: &[String]| {
            let git = self.git().args(["rev-list", "--quiet", "--objects", "--verify-objects"]);
            let list = ids.join("\n").into_bytes();
            let (output, _) = git.args(["--no-walk", "--stdin"]).feed(list).output()?;
            Ok::<_, GitError>(output.status.success() && output.stderr.is_empty())
        };
        // All at once, and one by one only where something is wrong.
        if ids.is_empty() || checks(&ids)? {
            return Ok(wrong);
        }
        for id in ids {
            if !checks(std::slice::from_ref(&id))? {
                wrong.insert(id);
            }
        }
        Ok(wrong)
    }

    /// Of the objects that are wrong, those that the commits reach, by their paths.
    fn reached(
        &self,
        commits: &[CommitId],
        wrong: &HashSet<String>,
    ) -> Result<Vec<String>, GitError> {
        let list: Vec<&str> = commits.iter().map(CommitId::as_str).collect();
        let git = self.git().args(["rev-list", "--objects", "--no-walk", "--stdin"]);
        let (output, line) = git.feed(list.join("\n").into_bytes()).output()?;
        let mut found = Vec::new();
        for entry in output.stdout.lines() {
            let (id, path) = entry.split_once_str(" ").unwrap_or((entry, b""));
            if wrong.contains(id.to_str_lossy().as_ref()) {
                found.push(named(id.as_bstr(), path.as_bstr()));
            }
        }
        match output.status.success() {
            true => Ok(found),
            // A folder that cannot be read keeps git from listing what is in it.
            false => match failed(&output, line) {
                GitError::Failed { stderr, .. } => Ok([found, vec![stderr]].concat()),
                error => Err(error),
            },
        }
    }
}

fn named(id: &BStr, path: &BStr) -> String {
    let place = match path.is_empty() {
        true => String::new(),
        false => format!(" ({})", Place::Path(path.to_owned())),
    };
    format!("object {:.12}{place}, whose file holds something else", id.to_str_lossy())
}

/// The loose objects and the packs of a store that changed since.
fn changed(
    store: &Path,
    since: i64,
    loose: &mut Vec<String>,
    packs: &mut Vec<PathBuf>,
) -> Result<(), GitError> {
    for (name, folder) in entries(store)? {
        let is_fan = name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit);
        if !is_fan && name != "pack" {
            continue;
        }
        for (rest, file) in entries(&folder)? {
            let young = std::fs::symlink_metadata(&file).is_ok_and(|stat| stat.ctime() >= since);
            if !young {
                continue;
            }
            if is_fan && rest.iter().all(u8::is_ascii_hexdigit) {
                loose.push(format!("{name}{rest}"));
            } else if rest.ends_with(b".idx") || rest.ends_with(b".pack") {
                packs.push(file.with_extension("idx"));
            }
        }
    }
    packs.sort();
    packs.dedup();
    Ok(())
}

/// What a folder holds, which need not be there.
fn entries(folder: &Path) -> Result<Vec<(BString, PathBuf)>, GitError> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(GitError::io("list", folder)(error)),
    };
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.map_err(GitError::io("list", folder))?;
        Ok((BString::from(entry.file_name().as_encoded_bytes()), entry.path()))
    };
    listing.map(entry).collect()
}
