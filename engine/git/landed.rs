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

    /// Where the work of the branch `own` may have landed, most likely first: the branch of the main checkout (of the
    /// bare repository), its upstream, what each remote calls its HEAD, and the branches `from` on which it may have
    /// begun, by short name. Nothing that is `own` itself by another name proves anything of it: what it is pushed to
    /// would say that it was pushed, not that it was merged.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn targets(&self, own: Option<&str>, from: &[String]) -> Result<Vec<Target>, GitError> {
        let main = self.main_branch()?;
        let mut full: Vec<String> = Vec::new();
        if let Some(main) = &main {
            full.push(format!("refs/heads/{main}"));
            full.extend(self.followed(main)?.upstream);
        }
        let format = "--format=%(symref)";
        let heads = self.git().args(["for-each-ref", format, "refs/remotes/*/HEAD"]).run()?;
        let heads: Vec<String> = heads
            .lines()
            .filter(|full| !full.is_empty())
            .map(|full| full.to_str_lossy().into_owned())
            .collect();
        full.extend(heads.iter().cloned());
        for name in from {
            full.extend([format!("refs/heads/{name}"), format!("refs/remotes/{name}")]);
        }
        let own = own.map(|own| self.names_of(own, main.as_deref(), &heads)).transpose()?;
        let mut found: Vec<Target> = Vec::new();
        for full in full {
            // Work may have begun at what is no name of a ref, as `HEAD~2` is none.
            let is_ref = git2::Reference::is_valid_name(&full);
            if !is_ref || own.as_ref().is_some_and(|own| own.has(&full)) {
                continue;
            }
            if let Some(super::refs::Target::Direct(at)) = self.read_ref(&full)?
                && !found.iter().any(|target| target.at == at)
            {
                found.push(Target { name: short(&full).to_owned(), at });
            }
        }
        Ok(found)
    }

    /// The names of a branch, here and at remotes. `main`, `heads`: where everybody's work lands, and which is no name of
    /// this one even where it follows it.
    fn names_of(&self, own: &str, main: Option<&str>, heads: &[String]) -> Result<Names, GitError> {
        let mut names = Names {
            own: own.to_owned(),
            remotes: self.settings().remotes().into_keys().collect(),
            full: vec![format!("refs/heads/{own}")],
        };
        let everybodys = |full: &String| {
            let of_main = main.is_some_and(|main| full.ends_with(&format!("/{main}")));
            of_main || heads.contains(full)
        };
        // Another branch of this repository holds what it has, whoever follows it.
        let is_name = |full: &String| full.starts_with("refs/remotes/") && !everybodys(full);
        let followed = self.followed(own)?;
        names.full.extend([followed.upstream, followed.push].into_iter().flatten().filter(is_name));
        Ok(names)
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
        let Some(upstream) = self.followed(branch)?.upstream else { return Ok(None) };
        Ok(match self.read_ref(&upstream)? {
            Some(super::refs::Target::Direct(at)) => Some((short(&upstream).to_owned(), at)),
            _ => None,
        })
    }

    /// What a branch follows, and what it is pushed to, as far as git's configuration says so.
    fn followed(&self, branch: &str) -> Result<Followed, GitError> {
        let name = format!("refs/heads/{branch}");
        let format = "--format=%(refname)%00%(upstream)%00%(push)";
        let out = self.git().args(["for-each-ref", format, &name]).run()?;
        for line in out.lines() {
            let mut parts = line.split(|b| *b == 0).map(|p| p.to_str_lossy().into_owned());
            if parts.next().as_ref() == Some(&name) {
                let mut ref_of = || parts.next().filter(|full| !full.is_empty());
                return Ok(Followed { upstream: ref_of(), push: ref_of() });
            }
        }
        Ok(Followed::default())
    }
}

/// Refs by their full names.
#[derive(Default)]
struct Followed {
    upstream: Option<String>,
    push: Option<String>,
}

/// The names of one branch.
struct Names {
    own: String,
    remotes: Vec<String>,
    full: Vec<String>,
}

impl Names {
    fn has(&self, full: &str) -> bool {
        let at_remote = || {
            let remote = full.strip_prefix("refs/remotes/")?.strip_suffix(&self.own)?;
            let remote = remote.strip_suffix('/')?;
            Some(!remote.contains('/') || self.remotes.iter().any(|known| known == remote))
        };
        self.full.iter().any(|name| name == full) || at_remote() == Some(true)
    }
}

/// A ref as people call it.
fn short(full: &str) -> &str {
    let rest = full.strip_prefix("refs/").unwrap_or(full);
    rest.strip_prefix("heads/").or_else(|| rest.strip_prefix("remotes/")).unwrap_or(rest)
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

    /// The salvage ref of a worktree that was archived while its HEAD was at `commit`, if there is one.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn archived_at(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let asked =
            ["for-each-ref", "--format=%(refname) %(parent)", "--contains", commit.as_str()];
        let listed = self.git().args(asked).arg("refs/sop/salvage").run()?;
        let of_it =
            |line: &&[u8]| line.split(|b| *b == b' ').nth(1) == Some(commit.as_str().as_bytes());
        let found = listed.lines().find(of_it).and_then(|line| line.split(|b| *b == b' ').next());
        Ok(found.map(|name| name.to_str_lossy().into_owned()))
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
