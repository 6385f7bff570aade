//! The base and what it follows: how far they are apart as far as the last fetch knows, and that fetch.

use std::time::Duration;

use bstr::ByteSlice;

use crate::model::ids::CommitId;

use super::error::GitError;
use super::objects::oid;
use super::repo::Repo;

/// Bytes that git may answer.
const MOST: u64 = 1 << 20;

/// What a branch follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// The ref here that stands for it: `refs/remotes/origin/main`.
    pub local: String,
    /// The remote that it is on, and its ref there; nothing where it is a branch of this repository.
    pub remote: Option<(String, String)>,
}

impl Upstream {
    /// Its short name.
    #[must_use]
    pub fn short(&self) -> &str {
        let local = self.local.strip_prefix("refs/").unwrap_or(&self.local);
        local.strip_prefix("remotes/").or_else(|| local.strip_prefix("heads/")).unwrap_or(local)
    }
}

impl Repo {
    /// The local branch that `rev` names: a branch by its short name, or `HEAD` for the one that the checkout
    /// is on. Nothing for anything else.
    #[must_use]
    pub fn branch_of(&self, rev: &str) -> Option<String> {
        let name = match rev {
            "HEAD" | "@" => self.current_branch().ok().flatten()?,
            name => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
        };
        let there = self.read_ref(&format!("refs/heads/{name}")).ok().flatten();
        there.map(|_| name)
    }

    /// What a local branch follows: what its configuration says, else the branch of its name on the only remote
    /// or on `origin`. Whether that is known here is not asked.
    #[must_use]
    pub fn upstream_of(&self, branch: &str) -> Option<Upstream> {
        let said = |key: &str| self.settings().text_of("branch", branch, key);
        let (remote, there) = match (said("remote"), said("merge")) {
            (Some(remote), Some(there)) if remote == "." => {
                return Some(Upstream { local: there, remote: None });
            }
            (Some(remote), Some(there)) => (remote, there),
            _ => (self.remote_for_pushes()?, format!("refs/heads/{branch}")),
        };
        let short = there.strip_prefix("refs/heads/").unwrap_or(&there);
        // What a clone sets up. With another refspec the ref is not there, and nothing is compared.
        let local = format!("refs/remotes/{remote}/{short}");
        Some(Upstream { local, remote: Some((remote, there)) })
    }

    /// The remote that branches are pushed to unless somebody says another: `origin`, or the only one.
    #[must_use]
    pub fn remote_for_pushes(&self) -> Option<String> {
        let remotes = self.settings().remotes();
        match remotes.contains_key("origin") {
            true => Some("origin".to_owned()),
            false if remotes.len() == 1 => remotes.into_keys().next(),
            false => None,
        }
    }

    /// Where a remote is: what it is pushed to.
    #[must_use]
    pub fn remote_url(&self, remote: &str) -> Option<String> {
        let found = self.settings().remotes().remove(remote)?;
        Some(found.pushurl.or(found.url)?.to_string_lossy().into_owned())
    }

    /// How many commits the one has and the other lacks, and the other way round.
    ///
    /// # Errors
    /// One of them is not here, or git could not say in time.
    pub fn apart(
        &self,
        one: &CommitId,
        other: &CommitId,
        limit: Duration,
    ) -> Result<(u64, u64), GitError> {
        if one == other {
            return Ok((0, 0));
        }
        let counted = self.with(|repo| repo.graph_ahead_behind(oid(one)?, oid(other)?));
        if let Some(counted) = counted {
            let (ahead, behind) =
                counted.map_err(GitError::objects(format!("cannot compare {one} with {other}")))?;
            return Ok((ahead as u64, behind as u64));
        }
        let range = format!("{one}...{other}");
        let git = self.git().args(["rev-list", "--left-right", "--count", &range]);
        let out = git.asked(limit, MOST)?;
        let text = out.to_str_lossy();
        let mut counts = text.split_whitespace().map(|count| count.parse().unwrap_or(0));
        Ok((counts.next().unwrap_or(0), counts.next().unwrap_or(0)))
    }

    /// Fetches one branch of a remote, and nothing else: no tags, no submodules, no upkeep behind it.
    ///
    /// # Errors
    /// Git's own words, or that it took longer than `limit`.
    pub fn fetch_upstream(&self, upstream: &Upstream, limit: Duration) -> Result<(), GitError> {
        let Some((remote, there)) = &upstream.remote else { return Ok(()) };
        let refspec = format!("+{there}:{}", upstream.local);
        let git = self.outward().args([
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ]);
        git.args(["--", remote, &refspec]).asked(limit, MOST).map(drop)
    }
}
