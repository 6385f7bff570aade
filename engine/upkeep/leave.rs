//! A worktree taken away by name, with nothing kept but what only its log named: so only what is merged, and only what
//! it is said to lose.

use super::archive::{ref_name, stamp};
use super::error::UpkeepError;
use super::grounds;
use super::survey::{Survey, Surveyed, listed};
use crate::git::Repo;
use crate::git::linked::{Head, Linked};
use crate::model::upkeep::{Gone, Whose};
use crate::process;

/// What may be lost with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Discard {
    /// Changes of tracked files, staged or not.
    pub modified: bool,
    /// Untracked files.
    pub untracked: bool,
}

/// Removes the worktree that `name` means; the branch that `sop worktree new` made for it goes with it.
///
/// # Errors
/// [`UpkeepError::Stays`] with every reason, and then nothing was touched.
pub fn remove(repo: &Repo, name: &str, discard: Discard) -> Result<Gone, UpkeepError> {
    let survey = Survey::of(repo)?;
    let tree = survey.find(name)?;
    let why = refusals(&survey, &tree, discard);
    if !why.is_empty() {
        let help = tree.condition.has_modified()
            || !tree.condition.untracked.is_empty()
            || tree.merged.is_none();
        let help = help && tree.whose != Whose::Main && grounds::stays(&tree).is_empty();
        let help = help.then(|| {
            format!("`sop worktree archive {}` keeps all of it, and then removes it", tree.name)
        });
        return Err(UpkeepError::Stays { what: tree.name, why, help });
    }
    // Time has passed since the look: what was not there then is not lost now.
    let again = survey.look(tree.linked.again()?)?;
    if !refusals(&survey, &again, discard).is_empty() || !again.is_as(&tree) {
        return Err(UpkeepError::Changed { what: tree.name });
    }
    let went = went(&tree, discard);
    let kept = match &tree.condition.logged[..] {
        [] => None,
        logged => {
            let (stamp, now) = stamp();
            Some(tree.linked.keep_commits(logged, &ref_name(&tree), &stamp, now)?)
        }
    };
    tree.linked.take_away()?;
    let branch = drop_own_branch(repo, &tree)?;
    let path = tree.linked.path().map(process::escape_path);
    Ok(Gone { name: tree.name, path, branch, went, kept })
}

/// Every reason why it may not go.
#[must_use]
pub fn refusals(survey: &Survey<'_>, tree: &Surveyed, discard: Discard) -> Vec<String> {
    let found = &tree.condition;
    if tree.whose == Whose::Main {
        return vec!["it is the main checkout, which is never removed".to_owned()];
    }
    let mut why = grounds::unkept(tree);
    if let Whose::Run { run, .. } = &tree.whose {
        why.extend(grounds::needed(tree, survey.run(run).map(|run| run.state)));
    }
    if found.has_modified() && !discard.modified {
        let mut paths = [&found.conflicts[..], &found.modified, &found.staged].concat();
        paths.sort();
        paths.dedup();
        why.push(format!(
            "files are modified ({}); `--discard-modified` gives them up",
            listed(&paths)
        ));
    }
    if !found.untracked.is_empty() && !discard.untracked {
        why.push(format!(
            "files are untracked ({}); `--discard-untracked` gives them up",
            listed(&found.untracked)
        ));
    }
    why.extend(grounds::unmerged(tree));
    why
}

/// Deletes the branch that was made for a lead's worktree, if it still stands where it was found merged.
///
/// # Errors
/// It moved meanwhile, and was left.
pub fn drop_own_branch(repo: &Repo, tree: &Surveyed) -> Result<Option<String>, UpkeepError> {
    let own = tree.note.as_ref().map(|note| note.branch.as_str());
    match tree.linked.head() {
        Head::Branch(branch, Some(at)) if own == Some(branch) && tree.merged.is_some() => {
            // Git would let two worktrees be on one branch, and then it is the other's as well.
            let on_it = |other: &Linked| {
                other.admin() != tree.linked.admin() && other.head().branch() == Some(branch)
            };
            if repo.all_worktrees()?.iter().any(on_it) {
                return Ok(None);
            }
            repo.delete_branch(branch, at)?;
            Ok(Some(branch.clone()))
        }
        _ => Ok(None),
    }
}

fn went(tree: &Surveyed, discard: Discard) -> Vec<String> {
    let found = &tree.condition;
    let mut went = Vec::new();
    for (paths, what, so) in [
        (&found.conflicts, "in conflict", discard.modified),
        (&found.modified, "modified", discard.modified),
        (&found.staged, "staged", discard.modified),
        (&found.untracked, "untracked", discard.untracked),
        (&found.ignored, "ignored", true),
    ] {
        if so && !paths.is_empty() {
            went.push(format!("{what}: {}", listed(paths)));
        }
    }
    went
}
