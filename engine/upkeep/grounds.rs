//! Why a worktree stays, whoever asks: what can neither be kept in a commit nor be taken from whoever has it.

use super::ancestry::Asking;
use super::survey::{Surveyed, commits, listed};
use crate::model::upkeep::Whose;

/// What keeps it where it is, a sentence each; none when it may be archived.
#[must_use]
pub fn stays(tree: &Surveyed) -> Vec<String> {
    let found = &tree.condition;
    let mut why = Vec::new();
    if tree.whose == Whose::Main {
        why.push("it is the main checkout".to_owned());
    }
    if let Some(reason) = &found.locked {
        let reason =
            if reason.is_empty() { String::new() } else { format!(" ({})", reason.escape_debug()) };
        why.push(format!("it is locked{reason}; `git worktree unlock` frees it"));
    }
    if !found.users.is_empty() {
        let asking = Asking::now();
        let users = found.users.iter().map(|user| match asking.is(user.pid) {
            true => format!("{} ({}), which you are at", user.pid, user.name),
            false => format!("{} ({})", user.pid, user.name),
        });
        why.push(format!("a process is in it: {}", users.collect::<Vec<_>>().join(", ")));
    }
    if found.index_locked {
        why.push("its index is locked: a git is at work in it, or one died".to_owned());
    }
    if found.unlinked && !found.missing {
        why.push(
            "its `.git` does not lead back to it; `git worktree repair` mends that".to_owned(),
        );
    }
    for (paths, what) in [
        (&found.came_since, "its removal was cut short, and something came into its folder since"),
        (&found.nested, "a repository of its own is inside"),
        (&found.submodules, "a submodule holds work that is nowhere else"),
        (
            &found.own_objects,
            "a ref of its own holds what is no commit and so cannot be kept in one",
        ),
        (&found.unreadable, "it cannot all be read"),
        (&found.others, "files of another user are inside"),
        (&found.mounts, "another file system is mounted inside"),
    ] {
        if !paths.is_empty() {
            why.push(format!("{what}: {}", listed(paths)));
        }
    }
    why
}

/// What in it could not be kept if it was archived, a sentence each.
#[must_use]
pub fn unkeepable(tree: &Surveyed) -> Option<String> {
    let paths = &tree.condition.unstorable;
    let why = "git stores no file of such a name, so it cannot be kept; rename it, or move it away";
    (!paths.is_empty()).then(|| format!("{why}: {}", listed(paths)))
}

/// As [`stays`], for one that is to go without being archived: no word of it may be lost.
#[must_use]
pub fn unkept(tree: &Surveyed) -> Vec<String> {
    let found = &tree.condition;
    let mut why = stays(tree);
    if !found.under_way.is_empty() {
        why.push(format!("a {} is under way in it", found.under_way.join(" and a ")));
    }
    if let Some(at) = &found.loose_head {
        let name = &tree.name;
        why.push(format!(
            "its HEAD is at commit {}, which no branch holds; `sop worktree archive {name}` keeps it",
            at.short()
        ));
    }
    if !found.own_refs.is_empty() {
        why.push(format!(
            "refs of its own hold commits that no other has ({}); `sop worktree archive {}` keeps them",
            commits(&found.own_refs),
            tree.name
        ));
    }
    why
}

/// That the branch it is on is not merged, if it is so.
#[must_use]
pub fn unmerged(tree: &Surveyed) -> Option<String> {
    let branch = tree.linked.head().branch()?;
    let at = tree.linked.head().commit();
    match (&tree.merged, at) {
        (None, Some(_)) => Some(format!("its branch `{}` is not merged", branch.escape_debug())),
        _ => None,
    }
}

/// That its run still needs it, if it is so.
#[must_use]
pub fn needed(tree: &Surveyed, state: Option<crate::model::upkeep::RunState>) -> Option<String> {
    use crate::model::upkeep::RunState;
    let Whose::Run { run, .. } = &tree.whose else { return None };
    match state {
        Some(RunState::AtWork) => {
            Some(format!("an engine has its run; `sop status {run}` shows what it does"))
        }
        Some(RunState::Open) => Some(format!("its run can be gone on with; `sop resume {run}`")),
        Some(RunState::Unreadable) => {
            Some(format!("the journal of its run `{run}` cannot be read"))
        }
        // The run is over, and something of it is not.
        _ if !tree.at_work.is_empty() => {
            Some(format!("{} is still at work for it", tree.at_work.join(", ")))
        }
        _ => None,
    }
}
