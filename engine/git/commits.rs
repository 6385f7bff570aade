//! Commits: found by name, read path by path, made from a tree. Nothing here needs a working tree.

use std::os::unix::ffi::OsStrExt;

use bstr::BStr;

use crate::model::ids::{CommitId, TreeId};

use super::error::GitError;
use super::listing;
use super::objects::{GITLINK, Identity, Leaf, ObjectId, commit_id, leaf, oid, raw};
use super::repo::Repo;

impl Repo {
    /// The commit that a revision names (`main`, `HEAD~2`, a tag, an id), as seen from the user's checkout.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`].
    pub fn resolve(&self, rev: &str) -> Result<CommitId, GitError> {
        let unknown = || GitError::UnknownRevision { rev: rev.to_owned() };
        let found = self.with(|repo| {
            repo.revparse_single(rev)?.peel_to_commit().map(|commit| commit_id(commit.id()))
        });
        if let Some(Ok(found)) = found {
            return Ok(found);
        }
        if rev.is_empty() || rev.contains('\0') {
            return Err(unknown());
        }
        let spec = format!("{rev}^{{commit}}");
        let asked = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])
            .run_line();
        asked.map(CommitId).map_err(|_| unknown())
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let found = self.with(|repo| {
            repo.find_commit(oid(commit)?).map(|commit| TreeId(commit.tree_id().to_string()))
        });
        match found {
            Some(found) => found.map_err(GitError::objects(format!("cannot read commit {commit}"))),
            None => {
                let spec = format!("{commit}^{{tree}}");
                self.git().args(["rev-parse", "--verify", "--quiet", &spec]).run_line().map(TreeId)
            }
        }
    }

    /// The parents of a commit, in order.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn parents_of(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let found = self
            .with(|repo| Ok(repo.find_commit(oid(commit)?)?.parent_ids().map(commit_id).collect()));
        match found {
            Some(found) => found.map_err(GitError::objects(format!("cannot read commit {commit}"))),
            None => {
                let line = self
                    .git()
                    .args(["rev-list", "--parents", "-n", "1", commit.as_str()])
                    .run_line()?;
                Ok(line.split(' ').skip(1).map(|id| CommitId(id.to_owned())).collect())
            }
        }
    }

    /// The bytes of a file (or the target of a link) in a commit; `None` when it holds no such file.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn blob_at(&self, commit: &CommitId, path: &BStr) -> Result<Option<Vec<u8>>, GitError> {
        let found = self.leaf_at(commit, path)?;
        found.filter(|leaf| leaf.mode != GITLINK).map(|leaf| self.blob(leaf.id)).transpose()
    }

    /// What a commit holds under one path; `None` for nothing, or a folder.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn leaf_at(&self, commit: &CommitId, path: &BStr) -> Result<Option<Leaf>, GitError> {
        let found = self.with(|repo| {
            let mut tree = repo.find_commit(oid(commit)?)?.tree()?;
            let mut parts = path.split(|b| *b == b'/').peekable();
            while let Some(part) = parts.next() {
                let Some((mode, id)) =
                    tree.iter().find(|e| e.name_bytes() == part).map(|e| (e.filemode(), e.id()))
                else {
                    return Ok(None);
                };
                if parts.peek().is_some() && mode == 0o040_000 {
                    tree = repo.find_tree(id)?;
                } else if parts.peek().is_some() || mode == 0o040_000 {
                    return Ok(None);
                } else {
                    return Ok(leaf(mode, id));
                }
            }
            Ok(None)
        });
        if let Some(found) = found {
            return found.map_err(GitError::objects(format!("cannot read commit {commit}")));
        }
        if path.is_empty() {
            return Ok(None);
        }
        let path_arg = std::ffi::OsStr::from_bytes(path);
        let git = self.git().env("GIT_LITERAL_PATHSPECS", "1");
        let out = git
            .args(["ls-tree", "-z", "--full-tree", commit.as_str(), "--"])
            .arg(path_arg)
            .run()?;
        Ok(listing::parse(&out)?
            .into_iter()
            .find(|(found, leaf)| found == path && leaf.mode != 0o040_000)
            .map(|(_, leaf)| leaf))
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// It is not in the repository.
    pub fn blob(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        let found = self.with(|repo| repo.find_blob(raw(id)?).map(|blob| blob.content().to_vec()));
        match found {
            Some(Ok(found)) => Ok(found),
            // The executable too: a partial clone fetches what is missing.
            _ => self.git().args(["cat-file", "blob", &id.to_string()]).run(),
        }
    }

    /// Stores a blob as it is, unfiltered.
    pub(super) fn write_blob(&self, bytes: &[u8]) -> Result<ObjectId, GitError> {
        // What libgit2 cannot store, on a full disk say, it does not say why: then git tries, and says it.
        if let Some(Ok(id)) = self.with(|repo| repo.blob(bytes)) {
            return ObjectId::from_bytes(id.as_bytes())
                .ok_or(GitError::UnknownRevision { rev: id.to_string() });
        }
        let git =
            self.git().args(["hash-object", "-w", "--stdin", "--no-filters"]).feed(bytes.to_vec());
        let hex = git.run_line()?;
        ObjectId::from_hex(hex.as_bytes()).ok_or(GitError::UnknownRevision { rev: hex })
    }

    /// Makes a commit of a tree. The same input gives the same id; no hook runs, nothing is signed.
    /// `when` is in seconds since 1970, written as UTC.
    ///
    /// # Errors
    /// The tree or a parent is not in the repository, or it cannot be written to.
    pub fn commit_tree(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
        who: &Identity,
        when: i64,
    ) -> Result<CommitId, GitError> {
        let who = who.clean();
        let message = format!("{}\n", message.replace('\0', "").trim_end());
        let made = self.with(|repo| {
            let signature = git2::Signature::new(&who.name, &who.email, &git2::Time::new(when, 0))?;
            let tree = repo.find_tree(git2::Oid::from_str(tree.as_str())?)?;
            let parents: Result<Vec<_>, _> =
                parents.iter().map(|id| repo.find_commit(oid(id)?)).collect();
            let parents = parents?;
            let parents = parents.iter().collect::<Vec<_>>();
            let made = repo.commit(None, &signature, &signature, &message, &tree, &parents)?;
            // On a full disk libgit2 1.9 gives an id all the same, and there is no such object.
            Ok::<_, git2::Error>(repo.odb()?.exists(made).then_some(made))
        });
        if let Some(Ok(Some(made))) = made {
            return Ok(commit_id(made));
        }
        let date = format!("@{when} +0000");
        let mut git = self.git().args(["commit-tree", "--no-gpg-sign", tree.as_str()]);
        for parent in parents {
            git = git.args(["-p", parent.as_str()]);
        }
        for role in ["AUTHOR", "COMMITTER"] {
            git = git
                .env(&format!("GIT_{role}_NAME"), &who.name)
                .env(&format!("GIT_{role}_EMAIL"), &who.email);
            git = git.env(&format!("GIT_{role}_DATE"), &date);
        }
        git.args(["-F", "-"]).feed(message.into_bytes()).run_line().map(CommitId)
    }
}
