//! What cannot be moved, by name.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use bstr::BString;

use crate::git::Repo;
use crate::git::layout::{BARE, Places};
use crate::git::linked::Linked;
use crate::git::linked::condition::Condition;
use crate::git::linked::inside::Inside;
use crate::model::upkeep::RunState;
use crate::process;

use super::WORKSHOP;
use crate::upkeep::ancestry::Asking;
use crate::upkeep::error::UpkeepError;
use crate::upkeep::runs;
use crate::upkeep::survey::listed;

/// Every reason why the checkout cannot be migrated.
pub(super) fn refusals(
    repo: &Repo,
    places: &Places,
    main: &Condition,
    linked: &[Linked],
    conditions: &[Condition],
) -> Result<Vec<String>, UpkeepError> {
    let top = &places.top;
    let mut why = repo.unmovable(top)?;
    for name in [BARE, WORKSHOP] {
        if top.join(name).symlink_metadata().is_ok() {
            why.push(format!("{name} is there already"));
        }
    }
    if !main.under_way.is_empty() {
        why.push(format!("a {} is under way in it", main.under_way.join(" and a ")));
    }
    let asking = Asking::now();
    let strangers = |found: &Condition| -> Vec<String> {
        let others = found.users.iter().filter(|user| !asking.is(user.pid));
        others.map(|user| format!("{} ({})", user.pid, user.name)).collect()
    };
    let here = strangers(main);
    if !here.is_empty() {
        why.push(format!("a process is in it: {}", here.join(", ")));
    }
    for known in runs::known(repo)? {
        if !known.state.is_over() && known.state != RunState::Unreadable {
            let run = known.dir.run();
            why.push(format!(
                "the run `{run}` is not over, and knows its worktrees by their place; `sop resume {run}` goes on with \
                 it, `sop run archive {run} --unfinished` gives it up"
            ));
        }
    }
    for (tree, found) in linked.iter().zip(conditions) {
        let place =
            tree.path().or(Some(tree.admin())).map(process::escape_path).unwrap_or_default();
        if found.missing {
            why.push(format!(
                "the worktree {place} is not there, and could not be told; `git worktree prune` forgets it"
            ));
        } else if found.unlinked {
            why.push(format!(
                "the worktree {place} does not lead back here; `git worktree repair` mends it"
            ));
        } else if tree.path().is_some_and(|path| is_anothers(&path.join(".git"))) {
            why.push(format!("the worktree {place} is another user's"));
        }
        if found.index_locked {
            why.push(format!("index.lock is there in the worktree {place}"));
        }
        let there = strangers(found);
        if !there.is_empty() {
            why.push(format!("a process is in the worktree {place}: {}", there.join(", ")));
        }
    }
    let inside = Inside::of(top);
    // Only what is at the top is renamed: what is below goes along, whoever has it.
    let at_top = |path: &&BString| !path.contains(&b'/');
    let others: Vec<BString> = inside.others.iter().filter(at_top).cloned().collect();
    if !others.is_empty() {
        why.push(format!("files of another user are in it: {}", listed(&others)));
    }
    if is_anothers(top) || is_anothers(&top.join(".git")) {
        why.push("the folder or its .git is another user's".to_owned());
    }
    for (paths, what) in [
        (&inside.mounts, "another file system is mounted inside"),
        (&inside.unreadable, "it cannot all be read"),
    ] {
        if !paths.is_empty() {
            why.push(format!("{what}: {}", listed(paths)));
        }
    }
    let led_out: Vec<BString> = inside
        .links
        .iter()
        .filter(|(path, target)| leads_astray(top, path, target))
        .map(|(path, _)| path.clone())
        .collect();
    if !led_out.is_empty() {
        why.push(format!("links lead somewhere else once they are moved: {}", listed(&led_out)));
    }
    let submodules: HashSet<PathBuf> = repo.kept_submodules(places).into_iter().collect();
    let own: Vec<&Path> = linked.iter().filter_map(Linked::path).collect();
    for path in &inside.repositories {
        let at = top.join(on_disk(path));
        let known = submodules.contains(on_disk(path)) || own.iter().any(|own| at.starts_with(own));
        if !known && let Some(reason) = repo.nested_unmovable(&at) {
            why.push(format!("the repository {} cannot be moved: {reason}", process::escape(path)));
        }
    }
    Ok(why)
}

fn on_disk(path: &BString) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

fn is_anothers(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|meta| meta.uid() != own)
}

/// Whether a link would lead elsewhere once the checkout is one folder deeper: one out of it, one into `.git`, and one
/// that names a place in it outright.
fn leads_astray(top: &Path, path: &BString, target: &BString) -> bool {
    let target = on_disk(target);
    if target.is_absolute() {
        return target.starts_with(top);
    }
    let mut at: Vec<std::ffi::OsString> = on_disk(path)
        .parent()
        .map(|folder| folder.iter().map(ToOwned::to_owned).collect())
        .unwrap_or_default();
    for part in target.components() {
        match part {
            Component::ParentDir if at.pop().is_none() => return true,
            Component::Normal(name) => at.push(name.to_owned()),
            _ => {}
        }
    }
    at.first().is_some_and(|first| first == ".git")
}
