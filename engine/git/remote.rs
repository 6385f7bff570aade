//! A branch of a remote: where it stands, and setting it to a commit.
//!
//! The remote is spoken to by its URL and not by its name: git then moves none of the user's
//! remote-tracking refs, and whoever looks into their checkout finds it as it was. Nothing is written to
//! `FETCH_HEAD` either.

use std::time::Duration;

use bstr::ByteSlice;

use super::error::GitError;
use super::pushes::without_password;
use super::repo::Repo;
use crate::model::delivery::Destination;
use crate::model::ids::CommitId;
use crate::process;

/// How long a remote may take to say where a branch stands.
const ASK: Duration = Duration::from_secs(60);
/// How long objects may take on their way.
const MOVE: Duration = Duration::from_secs(15 * 60);

/// A remote's two places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Where it is fetched from.
    pub fetch: String,
    /// Where it is pushed to.
    pub push: String,
}

impl Remote {
    /// Where it is, without a password.
    #[must_use]
    pub fn shown(&self) -> String {
        shown(&self.push)
    }
}

impl Remote {
    /// Where it is, as a yes to pushing there says it.
    #[must_use]
    pub fn destination(&self) -> Destination {
        Destination { push: shown(&self.push), fetch: shown(&self.fetch) }
    }
}

fn shown(url: &str) -> String {
    without_password(url.as_bytes()).to_string()
}

impl Repo {
    /// The remote of this name; `None` when there is none.
    ///
    /// # Errors
    /// Git could not be asked.
    pub fn remote(&self, name: &str) -> Result<Option<Remote>, GitError> {
        let remotes = self.settings().remotes();
        if remotes.get(name).is_none_or(|remote| remote.url.is_none()) {
            return Ok(None);
        }
        let get = |push: bool| {
            let git = self.git().args(["remote", "get-url"]);
            let git = if push { git.arg("--push") } else { git };
            git.args(["--", name]).run_line()
        };
        let remote = Remote { fetch: get(false)?, push: get(true)? };
        self.is_reached_as_named(name, &remote)?;
        Ok(Some(remote))
    }

    /// That git, told the URLs of `remote`, goes there: it rewrites by `insteadOf` whatever it is told, and these have
    /// been through that once.
    fn is_reached_as_named(&self, name: &str, remote: &Remote) -> Result<(), GitError> {
        let git = self.git().args(["config", "-z", "--get-regexp"]);
        let (output, _) = git.arg(r"^url\..*\.(insteadof|pushinsteadof)$").output()?;
        let rules: Vec<(String, String)> = output.stdout.split_str("\0").filter_map(rule).collect();
        let elsewhere = |url: &str, kind: &str| {
            let fits = |(key, prefix): &&(String, String)| {
                key.ends_with(kind) && url.starts_with(prefix.as_str())
            };
            let longest = rules.iter().filter(fits).max_by_key(|(_, prefix)| prefix.len())?;
            let base = longest.0.strip_prefix("url.")?.strip_suffix(kind)?;
            let to = format!("{base}{}", &url[longest.1.len()..]);
            Some((longest.0.clone(), to)).filter(|(_, to)| to != url)
        };
        let pushed = elsewhere(&remote.push, ".pushinsteadof");
        let pushed = pushed.or_else(|| elsewhere(&remote.push, ".insteadof"));
        match pushed.or_else(|| elsewhere(&remote.fetch, ".insteadof")) {
            None => Ok(()),
            Some((key, to)) => Err(GitError::Rewritten {
                remote: name.to_owned(),
                key: process::escape(key.as_bytes()),
                to: shown(&to),
            }),
        }
    }

    /// Where `branch` stands at `url`; `None` when it is not there.
    ///
    /// # Errors
    /// The remote does not answer, or does not let us in.
    pub fn remote_head(&self, url: &str, branch: &str) -> Result<Option<CommitId>, GitError> {
        let name = format!("refs/heads/{branch}");
        let git = self.outward().args(["ls-remote", "--refs", "--end-of-options"]).within(ASK);
        let listed = git.arg_as(url, &shown(url)).arg(&name).run()?;
        let stands = listed.lines().find_map(|line| {
            let (id, found) = line.split_once_str("\t")?;
            let is_id = id.iter().all(u8::is_ascii_hexdigit);
            (found == name.as_bytes() && is_id).then(|| CommitId(id.to_str_lossy().into_owned()))
        });
        Ok(stands)
    }

    /// Sets `branch` at `url` to `commit`, if it stands at `known` there: `None` for a branch that is not
    /// there yet. What anybody else has pushed is never overwritten. Hooks of the user's are not run.
    ///
    /// # Errors
    /// It stands elsewhere by now, the remote refuses it, does not answer, or does not let us in.
    pub fn push(
        &self,
        url: &str,
        commit: &CommitId,
        branch: &str,
        known: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let known = known.map_or("", CommitId::as_str);
        let git = self.outward().config("push.followTags=false").config("push.pushOption=");
        let git = git.args(["push", "--porcelain", "--no-verify", "--no-recurse-submodules"]);
        let git = git.arg(format!("--force-with-lease=refs/heads/{branch}:{known}"));
        let git = git.arg("--end-of-options").arg_as(url, &shown(url));
        let git = git.arg(format!("{commit}:refs/heads/{branch}"));
        let (output, line) = git.within(MOVE).output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(refused(&output, line))
    }

    /// Fetches what `branch` at `url` stands at, and says which commit that is; `None` when it is not there.
    /// No ref of this repository moves.
    ///
    /// # Errors
    /// The remote does not answer, or does not let us in.
    pub fn fetch_head(&self, url: &str, branch: &str) -> Result<Option<CommitId>, GitError> {
        let Some(at) = self.remote_head(url, branch)? else { return Ok(None) };
        if self.tree_of(&at).is_ok() {
            return Ok(Some(at));
        }
        let fetch = self.outward().args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]);
        let fetch = fetch.args(["--no-auto-maintenance", "--no-recurse-submodules", "--refmap="]);
        let fetch = fetch.arg("--end-of-options").arg_as(url, &shown(url));
        fetch.arg(format!("refs/heads/{branch}")).within(MOVE).run()?;
        Ok(Some(at))
    }
}

/// Why a push was refused: git says on standard output what became of the ref, and on standard error what the
/// remote said.
fn refused(output: &std::process::Output, command: String) -> GitError {
    let of_ref = output.stdout.lines().filter(|line| line.starts_with(b"!"));
    let said = output.stderr.lines().filter(|line| !line.trim().is_empty());
    let all: Vec<String> = of_ref.chain(said).map(process::plain).collect();
    let from = all.len().saturating_sub(12);
    GitError::Failed { command, code: output.status.code(), stderr: all[from..].join("\n") }
}

/// A key of the configuration in lower case but for its name, and its value.
fn rule(entry: &[u8]) -> Option<(String, String)> {
    let (key, value) = entry.split_once_str("\n")?;
    Some((key.to_str_lossy().into_owned(), value.to_str_lossy().into_owned()))
}
