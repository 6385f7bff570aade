//! The base: the commit that the run starts from, and the paths in it.

use bstr::{BStr, BString};

use crate::finding::Finding;
use crate::git::{GitError, Repo};
use crate::model::ids::CommitId;

use super::subject::Subject;

/// The commit that a plan's base names now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit.
    pub commit: CommitId,
    /// Every path in it, in git's order: by bytes.
    pub paths: Vec<BString>,
}

impl Base {
    /// Whether the commit holds `path`, as a file, a link or a folder.
    #[must_use]
    pub fn holds(&self, path: &BStr) -> bool {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let from = self.paths.partition_point(|p| p.as_slice() < path);
        // `a-b` stands between `a` and `a/b`, so the folder is looked for by its own first path.
        let mut folder = path.to_vec();
        folder.push(b'/');
        let inside = self.paths.partition_point(|p| p.as_slice() < folder.as_slice());
        self.paths.get(from).is_some_and(|p| p.as_slice() == path)
            || self.paths.get(inside).is_some_and(|p| p.starts_with(&folder))
    }
}

/// Pins the base, or says that it names no commit.
pub(super) fn pin(
    subject: Subject<'_>,
    repo: Option<&Repo>,
    findings: &mut Vec<Finding>,
) -> Result<Option<Base>, GitError> {
    let Some(repo) = repo else {
        return Ok(None);
    };
    let rev = &subject.plan.base;
    let commit = match repo.resolve(rev) {
        Ok(commit) => commit,
        Err(GitError::UnknownRevision { .. }) => {
            let message = format!("the base `{rev}` names no commit in this repository");
            let help = if repo.resolve("HEAD").is_err() {
                "there is no commit yet; make a first one"
            } else {
                "name a branch, a tag or a commit that is here, or fetch it first"
            };
            findings.push(subject.here("unknown-base", "/plan/base", message).help(help));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut paths = repo.paths_at(&commit)?;
    if !paths.is_sorted() {
        paths.sort();
    }
    Ok(Some(Base { commit, paths }))
}
