//! How a branch's work got into another: proven on objects, never by name.

use bstr::ByteSlice;

use crate::model::ids::CommitId;

use super::error::GitError;
use super::repo::Repo;

/// The way in which all of a commit's work is in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It is an ancestor.
    Ancestor,
    /// Each of its commits has its twin there: the same patch, as after a rebase or cherry-pick.
    Patch,
    /// All of it together is one commit there, or merging it would change nothing.
    Squash,
}

/// Where work may have landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The ref, in short, for people.
    pub name: String,
    /// Where it stands.
    pub at: CommitId,
}

impl Repo {
    /// How all that `commit` did is in `into`; `None` when it is not, or cannot be proven to be.
    ///
    /// A branch whose commits undo each other has changed nothing in the end, and has work all the same: only
    /// ancestry or patches prove that it landed.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn landed(&self, commit: &CommitId, into: &CommitId) -> Result<Option<How>, GitError> {
        if self.is_ancestor(commit, into)? {
            return Ok(Some(How::Ancestor));
        }
        let Some(fork) = self.merge_base(commit, into)? else { return Ok(None) };
        // A merge commit can hold changes of its own, which have no patch to compare.
        let range = format!("{into}..{commit}");
        let merges = self.git().args(["rev-list", "--merges", "--max-count=1", &range]).run()?;
        if merges.is_empty() && self.all_are_there(commit, into)? {
            return Ok(Some(How::Patch));
        }
        let tree = self.tree_of(commit)?;
        if tree == self.tree_of(&fork)? {
            return Ok(None);
        }
        let who = self.identity();
        let squashed = self.commit_tree(&tree, &[fork], "All of it together", &who, 0)?;
        if self.all_are_there(&squashed, into)? || self.is_merged(&squashed, into)? {
            return Ok(Some(How::Squash));
        }
        Ok(None)
    }

    /// Whether each commit of `commit` that is not in `into` has the same patch as one there.
    fn all_are_there(&self, commit: &CommitId, into: &CommitId) -> Result<bool, GitError> {
        let listed = self.git().args(["cherry", into.as_str(), commit.as_str()]).run()?;
        Ok(listed.lines().all(|line| line.starts_with(b"-")))
    }

    /// Where work lands in this repository, most likely first: the branch of the main checkout (of the bare
    /// repository), its upstream, and what each remote calls its HEAD. `but`: a branch that is no target of itself.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn targets(&self, but: Option<&str>) -> Result<Vec<Target>, GitError> {
        let mut found: Vec<Target> = Vec::new();
        let mut add = |name: String, at: CommitId| {
            if !found.iter().any(|target| target.at == at) {
                found.push(Target { name, at });
            }
        };
        let main = self.main_branch()?;
        if let Some(main) = main.filter(|main| Some(main.as_str()) != but) {
            if let Some(at) = self.branch(&main)? {
                add(main.clone(), at);
            }
            if let Some((name, at)) = self.upstream(&main)? {
                add(name, at);
            }
        }
        let format = "--format=%(refname)%00%(symref)";
        let heads = self.git().args(["for-each-ref", format, "refs/remotes/*/HEAD"]).run()?;
        for line in heads.lines() {
            let mut parts = line.split(|b| *b == 0).map(|part| part.to_str_lossy().into_owned());
            let (Some(_), Some(full)) = (parts.next(), parts.next()) else { continue };
            if let Some(super::refs::Target::Direct(at)) = self.read_ref(&full)? {
                let name = full.strip_prefix("refs/remotes/").unwrap_or(&full).to_owned();
                // A branch's own remote twin proves that it was pushed, not that it was merged.
                if but.is_none_or(|but| !name.ends_with(&format!("/{but}"))) {
                    add(name, at);
                }
            }
        }
        Ok(found)
    }

    /// The branch that the main checkout is on, or that a bare repository calls its HEAD.
    ///
    /// # Errors
    /// HEAD cannot be read.
    pub fn main_branch(&self) -> Result<Option<String>, GitError> {
        let git = super::command::Git::new(self.common_dir(), self.common_dir());
        Ok(git.args(["symbolic-ref", "--quiet", "--short", "HEAD"]).run_line().ok())
    }

    /// The upstream of a branch, in short, and where it stands; `None` when it has none or that is gone.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn upstream(&self, branch: &str) -> Result<Option<(String, CommitId)>, GitError> {
        let name = format!("refs/heads/{branch}");
        let format = "--format=%(refname)%00%(upstream)%00%(upstream:short)";
        let out = self.git().args(["for-each-ref", format, &name]).run()?;
        for line in out.lines() {
            let parts: Vec<_> =
                line.split(|b| *b == 0).map(|p| p.to_str_lossy().into_owned()).collect();
            let [found, full, short] = &parts[..] else { continue };
            if *found == name
                && !full.is_empty()
                && let Some(super::refs::Target::Direct(at)) = self.read_ref(full)?
            {
                return Ok(Some((short.clone(), at)));
            }
        }
        Ok(None)
    }
}

impl Repo {
    /// How many entries of the stash were made on each branch, by its short name.
    ///
    /// # Errors
    /// The stash cannot be read.
    pub fn stashed_by_branch(&self) -> Result<std::collections::HashMap<String, usize>, GitError> {
        let mut found = std::collections::HashMap::new();
        if self.read_ref("refs/stash")?.is_none() {
            return Ok(found);
        }
        let listed = self.git().args(["log", "-g", "--format=%gs", "refs/stash", "--"]).run()?;
        for line in listed.lines() {
            let text = line.to_str_lossy();
            // `WIP on BRANCH: …`, or `On BRANCH: …` where it was given words.
            let on = text.strip_prefix("WIP on ").or_else(|| text.strip_prefix("On "));
            if let Some((branch, _)) = on.and_then(|rest| rest.split_once(": ")) {
                *found.entry(branch.to_owned()).or_default() += 1;
            }
        }
        Ok(found)
    }

    /// The salvage ref that holds `commit`, if one does.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn salvaged_in(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let asked =
            ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", commit.as_str()];
        let line = self.git().args(asked).arg("refs/sop/salvage").run_line()?;
        Ok(Some(line).filter(|line| !line.is_empty()))
    }
}

impl Repo {
    /// Every ref with where it stands, as bytes to be compared.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn all_refs(&self) -> Result<Vec<u8>, GitError> {
        self.git().args(["for-each-ref", "--format=%(refname) %(objectname) %(upstream)"]).run()
    }
}
