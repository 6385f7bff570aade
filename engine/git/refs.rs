//! Branches and ancestry. A ref is only ever moved or deleted by compare-and-swap, and never through a
//! symbolic ref: a worker may have turned its branch into an alias of the user's.

use std::collections::BTreeMap;

use bstr::ByteSlice;

use crate::model::ids::{CommitId, RunId};
use crate::plain_file;

use super::error::GitError;
use super::objects::{commit_id, oid};
use super::repo::Repo;

/// Where a ref stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It names an object.
    Direct(CommitId),
    /// It is another name of this ref.
    Symbolic(String),
}

impl Repo {
    /// The branch that the user's checkout is on, by its short name; `None` when HEAD is detached.
    ///
    /// # Errors
    /// HEAD cannot be read.
    pub fn current_branch(&self) -> Result<Option<String>, GitError> {
        let path = self.git_dir().join("HEAD");
        let text = plain_file::read_own_linked(&path).map_err(GitError::io("read", &path))?;
        let name = text
            .strip_prefix(b"ref: refs/heads/")
            .map(|name| name.trim().to_str_lossy().into_owned());
        if name.as_deref() != Some(".invalid") {
            return Ok(name);
        }
        // Reftable keeps HEAD elsewhere and leaves a decoy in the file.
        Ok(self.git().args(["symbolic-ref", "--quiet", "--short", "HEAD"]).run_line().ok())
    }

    /// Where the ref with this full name stands; `None` when there is none.
    ///
    /// # Errors
    /// The ref store cannot be read.
    pub fn read_ref(&self, name: &str) -> Result<Option<Target>, GitError> {
        let read = self.with(|repo| match repo.find_reference(name) {
            Ok(found) => {
                let symbolic = found.symbolic_target_bytes().map(|t| t.to_str_lossy().into_owned());
                Ok(symbolic
                    .map(Target::Symbolic)
                    .or_else(|| found.target().map(commit_id).map(Target::Direct)))
            }
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        });
        if let Some(read) = read {
            return read.map_err(GitError::objects(format!("cannot read `{name}`")));
        }
        let format = "--format=%(refname)%00%(objectname)%00%(symref)";
        let out = self.git().args(["for-each-ref", format, name]).run()?;
        for line in out.lines() {
            let mut parts = line.split(|b| *b == 0).map(|part| part.to_str_lossy().into_owned());
            let (found, id, symref) = (parts.next(), parts.next(), parts.next());
            if found.as_deref() == Some(name) {
                return Ok(match symref.filter(|s| !s.is_empty()) {
                    Some(symref) => Some(Target::Symbolic(symref)),
                    None => id.map(|id| Target::Direct(CommitId(id))),
                });
            }
        }
        Ok(None)
    }

    /// Whether any ref matches one of the patterns of `git for-each-ref`.
    ///
    /// # Errors
    /// Git could not list them.
    pub fn any_ref(&self, patterns: &[String]) -> Result<bool, GitError> {
        let git = self.git().args(["for-each-ref", "--count=1", "--format=%(refname)"]);
        Ok(!git.args(patterns).run()?.is_empty())
    }

    /// Every branch of a run, by its short name, and where it stands. What cannot be read is not there.
    ///
    /// # Errors
    /// The ref store cannot be listed.
    pub fn branches_of(&self, run: &RunId) -> Result<BTreeMap<String, Target>, GitError> {
        let rooms = ["sop", "sop-stage"].map(|room| format!("refs/heads/{room}/{run}/"));
        let mut found = BTreeMap::new();
        let mut add = |name: &[u8], target| {
            if let Some(short) = name.strip_prefix(b"refs/heads/") {
                found.insert(short.to_str_lossy().into_owned(), target);
            }
        };
        let listed = self.with(|repo| {
            for room in &rooms {
                for reference in repo.references_glob(&format!("{room}*"))? {
                    let reference = reference?;
                    let alias = reference.symbolic_target_bytes().map(symbolic);
                    let direct = || reference.target().map(commit_id).map(Target::Direct);
                    if let Some(target) = alias.or_else(direct) {
                        add(reference.name_bytes(), target);
                    }
                }
            }
            Ok(())
        });
        if let Some(listed) = listed {
            listed.map_err(GitError::objects(format!("cannot list the branches of {run}")))?;
            return Ok(found);
        }
        let format = "--format=%(refname)%00%(objectname)%00%(symref)";
        for line in self.git().args(["for-each-ref", format]).args(&rooms).run()?.lines() {
            let parts: Vec<&[u8]> = line.split(|b| *b == 0).collect();
            if let [name, id, symref] = parts[..] {
                add(
                    name,
                    match symref {
                        b"" => Target::Direct(CommitId(id.to_str_lossy().into_owned())),
                        symref => symbolic(symref),
                    },
                );
            }
        }
        Ok(found)
    }

    /// Where the branch with this short name stands; `None` when there is none.
    ///
    /// # Errors
    /// As [`Repo::read_ref`]; [`GitError::RefMoved`] when it has become a symbolic ref.
    pub fn branch(&self, short: &str) -> Result<Option<CommitId>, GitError> {
        let name = format!("refs/heads/{short}");
        match self.read_ref(&name)? {
            None => Ok(None),
            Some(Target::Direct(id)) => Ok(Some(id)),
            Some(Target::Symbolic(other)) => {
                Err(moved(&name, Some("a commit"), Some(&format!("an alias of `{other}`"))))
            }
        }
    }

    /// Sets the branch `short` to `new` if it stands at `expected_old` (`None`: if it does not exist).
    ///
    /// # Errors
    /// [`GitError::RefMoved`]: it stands elsewhere, and was left there.
    pub fn set_branch(
        &self,
        short: &str,
        new: &CommitId,
        expected_old: Option<&CommitId>,
    ) -> Result<(), GitError> {
        self.set_ref(&format!("refs/heads/{short}"), new, expected_old)
    }

    /// As [`Repo::set_branch`], for a full ref name.
    ///
    /// # Errors
    /// As [`Repo::set_branch`].
    pub fn set_ref(
        &self,
        name: &str,
        new: &CommitId,
        expected_old: Option<&CommitId>,
    ) -> Result<(), GitError> {
        if !git2::Reference::is_valid_name(name) || !name.starts_with("refs/") {
            return Err(GitError::BadName { name: name.to_owned() });
        }
        let found = self.read_ref(name)?;
        let stands = match (&found, expected_old) {
            (None, None) => true,
            (Some(Target::Direct(id)), Some(old)) => id == old,
            _ => false,
        };
        if !stands {
            let shown = found.as_ref().map(|target| match target {
                Target::Direct(id) => id.to_string(),
                Target::Symbolic(other) => format!("an alias of `{other}`"),
            });
            return Err(moved(name, expected_old.map(CommitId::as_str), shown.as_deref()));
        }
        self.unlocked(name, || self.swap(name, new, expected_old))
    }

    fn swap(
        &self,
        name: &str,
        new: &CommitId,
        expected_old: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let done = self.with(|repo| {
            let id = oid(new)?;
            match expected_old {
                Some(old) => repo.reference_matching(name, id, true, oid(old)?, "sop").map(drop),
                None => repo.reference(name, id, false, "sop").map(drop),
            }
        });
        match done {
            Some(Ok(())) => Ok(()),
            Some(Err(error))
                if matches!(error.code(), git2::ErrorCode::Modified | git2::ErrorCode::Exists) =>
            {
                Err(moved(name, expected_old.map(CommitId::as_str), Some("another commit")))
            }
            Some(Err(error)) => Err(GitError::objects(format!("cannot set `{name}`"))(error)),
            None => {
                let zero = "0".repeat(self.oid_len() * 2);
                let old = expected_old.map_or(zero.as_str(), CommitId::as_str);
                self.git()
                    .args(["update-ref", "--no-deref", "-m", "sop", name, new.as_str(), old])
                    .run()
                    .map(drop)
            }
        }
    }

    /// Deletes the branch `short` if it stands at `expected`; a branch that is gone already is fine.
    ///
    /// # Errors
    /// [`GitError::RefMoved`]: it stands elsewhere, and was left there.
    pub fn delete_branch(&self, short: &str, expected: &CommitId) -> Result<(), GitError> {
        let name = format!("refs/heads/{short}");
        match self.read_ref(&name)? {
            None => return Ok(()),
            Some(Target::Direct(id)) if id == *expected => {}
            Some(Target::Direct(id)) => {
                return Err(moved(&name, Some(expected.as_str()), Some(id.as_str())));
            }
            Some(Target::Symbolic(other)) => {
                return Err(moved(
                    &name,
                    Some(expected.as_str()),
                    Some(&format!("an alias of `{other}`")),
                ));
            }
        }
        // The executable: it also drops the reflog and looks into packed-refs under their lock.
        self.unlocked(&name, || {
            let git = self.git().args(["update-ref", "--no-deref", "-d", &name, expected.as_str()]);
            git.run().map(drop)
        })
    }

    /// Whether `ancestor` is `commit` or one of its ancestors.
    ///
    /// # Errors
    /// One of them is not in the repository.
    pub fn is_ancestor(&self, ancestor: &CommitId, commit: &CommitId) -> Result<bool, GitError> {
        if ancestor == commit {
            return Ok(true);
        }
        let answer = self.with(|repo| repo.graph_descendant_of(oid(commit)?, oid(ancestor)?));
        match answer {
            Some(answer) => {
                answer.map_err(GitError::objects(format!("cannot compare {ancestor} and {commit}")))
            }
            None => self
                .git()
                .args(["merge-base", "--is-ancestor", ancestor.as_str(), commit.as_str()])
                .ask(),
        }
    }

    /// The best common ancestor of two commits, if they have one.
    ///
    /// # Errors
    /// One of them is not in the repository.
    pub fn merge_base(&self, one: &CommitId, two: &CommitId) -> Result<Option<CommitId>, GitError> {
        let answer = self.with(|repo| match repo.merge_base(oid(one)?, oid(two)?) {
            Ok(id) => Ok(Some(commit_id(id))),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        });
        if let Some(answer) = answer {
            return answer.map_err(GitError::objects(format!("cannot compare {one} and {two}")));
        }
        let (output, line) =
            self.git().args(["merge-base", one.as_str(), two.as_str()]).output()?;
        match output.status.code() {
            Some(0) => Ok(Some(CommitId(output.stdout.trim().to_str_lossy().into_owned()))),
            Some(1) => Ok(None),
            _ => Err(super::command::failed(&output, line)),
        }
    }
}

fn symbolic(target: &[u8]) -> Target {
    Target::Symbolic(target.to_str_lossy().into_owned())
}

fn moved(name: &str, expected: Option<&str>, found: Option<&str>) -> GitError {
    let word = |side: Option<&str>| side.unwrap_or("no commit at all").to_owned();
    GitError::RefMoved { name: name.to_owned(), expected: word(expected), found: word(found) }
}
