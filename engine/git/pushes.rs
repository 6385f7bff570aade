//! Pushes by a worker: how they are refused, and how one that got through is told.
//!
//! **Refused.** Git is given, for this repository alone (`includeIf.gitdir`, by its environment), a setting that
//! turns every URL that is pushed to into `sop-refuses::URL`, and so starts a program of ours in place of a
//! transport: it notes the attempt and says no. A `pre-push` hook would be passed over by `--no-verify`, and would
//! have to take the place of the repository's own hooks. What this does not hold: a git whose environment was
//! cleared or whose settings were overridden (`git -c`), `git send-pack`, another clone, a program that is not
//! git; nor a URL which is no configured remote's and which a `pushInsteadOf` of the user's own rewrites.
//!
//! **Told.** After a push git moves the remote-tracking ref and writes `update by push` into its log. A person may
//! have done that, so it is held against the worker only where it is about the WP's own branch or commits.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use bstr::{BStr, BString, ByteSlice};

use crate::model::ids::CommitId;

use super::error::GitError;
use super::guard::{Became, Fault, GuardDiff, Guarded};
use super::repo::Repo;
use super::scope::Place;
use super::worktree::Worktree;

/// The name under which git looks for [`HELPER`] in `PATH`.
pub const HELPER_NAME: &str = "git-remote-sop-refuses";
/// The program that refuses a push.
pub const HELPER: &str = include_str!("git-remote-sop-refuses.sh");
/// What the file that it notes attempts in is called in its environment.
pub const NOTES: &str = "SOP_PUSHES";
/// What stands before a URL that is refused.
const SCHEME: &str = "sop-refuses::";

/// Something that was, or was to be, pushed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Push {
    /// Where to: a URL or path, without a password; empty when it is not known.
    pub url: BString,
    /// The ref: its name there, or for one that got through, the remote-tracking ref. Empty when git gave up
    /// before it named one.
    pub name: BString,
}

impl Push {
    fn new(url: &[u8], name: &[u8]) -> Self {
        Self { url: without_password(url), name: name.into() }
    }
}

/// The attempts that [`HELPER`] noted, each once.
#[must_use]
pub fn attempts(notes: &[u8]) -> Vec<Push> {
    let mut found: Vec<Push> = notes
        .lines()
        .map(|line| match line.rsplit_once_str("\t") {
            Some((url, name)) => Push::new(url, name),
            None => Push::new(line, b""),
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

impl Repo {
    /// The settings under which nothing is pushed, as a configuration file.
    #[must_use]
    pub fn refusing_pushes(&self) -> Vec<u8> {
        let mut text = format!("[url \"{SCHEME}\"]\n\tpushInsteadOf =\n").into_bytes();
        for (name, remote) in self.settings().remotes() {
            let (own, url) = (remote.pushurl.is_some(), remote.pushurl.or(remote.url));
            let Some(url) = url else { continue };
            text.extend([b"[remote ", &quoted(name.as_bytes())[..], b"]\n"].concat());
            if own {
                // Empties the list, in a git that is new enough (2.46).
                text.extend(b"\tpushurl =\n");
            }
            let refused = [SCHEME.as_bytes(), url.as_os_str().as_bytes()].concat();
            text.extend([b"\tpushurl = ", &quoted(&refused)[..], b"\n"].concat());
        }
        text
    }

    /// The keys of the settings whose value is a configuration file that counts wherever git works on this
    /// repository, and nowhere else: in the user's checkout, and in worktrees and submodules. None where no
    /// key can say that.
    #[must_use]
    pub fn include_here(&self) -> Vec<OsString> {
        let place = self.common_dir().as_os_str().as_bytes();
        if place.contains(&b'\n') {
            return Vec::new();
        }
        let mut key = b"includeIf.gitdir:".to_vec();
        for byte in place {
            if b"\\*?[]".contains(byte) {
                key.push(b'\\');
            }
            key.push(*byte);
        }
        let ends: [&[u8]; 2] = [b".path", b"/.path"];
        ends.map(|end| OsString::from_vec([&key, end].concat())).to_vec()
    }

    /// What was pushed between two looks, and is the worker's: the remote-tracking refs that a push moved, to
    /// the WP's own branch or to a commit that was made in its worktree.
    ///
    /// # Errors
    /// The logs of refs cannot be asked for.
    pub fn pushed(
        &self,
        diff: &GuardDiff,
        after: &Guarded,
        worktree: &Worktree,
        began_at: &CommitId,
    ) -> Result<Vec<Push>, GitError> {
        let mut found = Vec::new();
        for difference in &diff.differences {
            let Place::Ref(name) = &difference.place else { continue };
            let Some(short) = name.strip_prefix(b"refs/remotes/") else { continue };
            if difference.became == Became::Removed || difference.fault != Fault::Person {
                continue;
            }
            let path = std::ffi::OsStr::from_bytes(name);
            let log = self.git().args(["log", "-g", "--max-count=1", "--format=%gs"]);
            let Ok(said) = log.arg(path).arg("--").run() else { continue };
            if said.trim() != b"update by push" {
                continue;
            }
            let branch = worktree.branch().unwrap_or_default();
            let is_branch = !branch.is_empty() && short.ends_with(format!("/{branch}").as_bytes());
            let at = after.refs.get(name).map(|at| at.as_bstr());
            if is_branch || at.is_some_and(|at| made_in(worktree, at, began_at)) {
                let remote = short.split(|byte| *byte == b'/').next().unwrap_or_default();
                let key = format!("remote.{}", remote.to_str_lossy());
                let settings = self.settings();
                let url = settings.text(&format!("{key}.pushurl"));
                let url = url.or_else(|| settings.text(&format!("{key}.url")));
                found.push(Push::new(url.unwrap_or_default().as_bytes(), name));
            }
        }
        Ok(found)
    }
}

/// Whether a commit is one that the worktree's HEAD was at since, and that was not there before.
fn made_in(worktree: &Worktree, commit: &BStr, began_at: &CommitId) -> bool {
    let log = worktree.git().args(["log", "-g", "--format=%H", "HEAD", "--"]).run();
    let was_at = log.is_ok_and(|log| log.lines().any(|line| line == commit.as_bytes()));
    let commit = CommitId(commit.to_str_lossy().into_owned());
    was_at && !worktree.repo().is_ancestor(&commit, began_at).unwrap_or(false)
}

/// A value or a name as configuration files have it.
fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in bytes {
        match byte {
            b'\n' => out.extend(b"\\n"),
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

/// A URL without what stands before its host: a name, and often a token.
pub(super) fn without_password(url: &[u8]) -> BString {
    let Some(start) = url.find(b"://").map(|at| at + 3) else { return url.into() };
    let end = url[start..].find_byte(b'/').map_or(url.len(), |at| start + at);
    match url[start..end].rfind_byte(b'@') {
        Some(at) => [&url[..start], &url[start + at + 1..]].concat().into(),
        None => url.into(),
    }
}
