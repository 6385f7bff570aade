//! A worktree taken away with all that is in it kept first, as commits that plain git brings back.

use std::ffi::OsStr;
use std::path::Path;

use super::error::UpkeepError;
use super::grounds;
use super::survey::{Survey, Surveyed, listed};
use crate::git::Repo;
use crate::git::linked::Head;
use crate::git::linked::keep::{Kept, Trees};
use crate::model::upkeep::{Archived, Whose};

/// How it is to be archived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct How {
    /// Ignored files are kept too.
    pub ignored: bool,
}

/// Archives and removes the worktree that `name` means. Its branch stays.
///
/// # Errors
/// [`UpkeepError::Stays`] with every reason, and then nothing was touched.
pub fn archive(repo: &Repo, name: &str, how: How) -> Result<Archived, UpkeepError> {
    let survey = Survey::of(repo)?;
    let tree = survey.find(name)?;
    let mut why = grounds::stays(&tree);
    why.extend(grounds::unkeepable(&tree));
    if let Whose::Run { run, .. } = &tree.whose {
        why.extend(grounds::needed(&tree, survey.run(run).map(|run| run.state)));
    }
    if !why.is_empty() {
        return Err(UpkeepError::Stays { what: tree.name, why, help: None });
    }
    put_away(&survey, &tree, how)
}

/// Keeps what is in `tree`, looks at it once more, and takes it away. Whoever calls has looked at its grounds.
///
/// # Errors
/// It could not be kept, or is not what it was any more; then it is still there, and what was kept stays kept.
pub fn put_away(survey: &Survey<'_>, tree: &Surveyed, how: How) -> Result<Archived, UpkeepError> {
    let (stamp, now) = stamp();
    let trees = tree.linked.trees(&tree.brought, how.ignored)?;
    let kept = tree.linked.keep(trees.clone(), &ref_name(tree), &stamp, now)?;
    let again = survey.look(tree.linked.again()?)?;
    // Commits that no ref held, the salvage ref holds by now: one that is left came in between.
    let held = Trees { others: Vec::new(), ..trees };
    let same = || -> Result<bool, UpkeepError> {
        Ok(again.linked.trees(&tree.brought, how.ignored)? == held)
    };
    if again.condition != tree.condition.but_for_commits() || !same()? {
        return Err(UpkeepError::Changed { what: tree.name.clone() });
    }
    let restore = restore(tree, &kept);
    tree.linked.take_away()?;
    Ok(Archived { restore, not_kept: not_kept(tree, how), salvage: kept.name, commit: kept.commit })
}

/// Now, as a part of a ref's name and in seconds since 1970.
#[must_use]
pub fn stamp() -> (String, i64) {
    let now = jiff::Timestamp::now();
    (now.strftime("%Y%m%dT%H%M%SZ").to_string(), now.as_second())
}

/// Its name as a part of a ref: what git takes in no ref is written otherwise.
#[must_use]
pub fn ref_name(tree: &Surveyed) -> String {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
    let name: String = tree.name.chars().map(|c| if fit(c) { c } else { '-' }).collect();
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    match parts.is_empty() {
        true => "worktree".to_owned(),
        false => parts.join("/"),
    }
}

/// The command that brings it back.
fn restore(tree: &Surveyed, kept: &Kept) -> String {
    let path = tree.linked.path().unwrap_or(Path::new("."));
    let path = quoted(path.as_os_str());
    let name = &kept.name;
    let add = match tree.linked.head() {
        // A branch of a run goes when what is on it is kept, as it is from now on.
        Head::Branch(branch, Some(_)) if !matches!(tree.whose, Whose::Run { .. }) => {
            let branch = quoted(OsStr::new(branch));
            // It may be gone by then.
            format!(
                "{{ git worktree add {path} {branch} || git worktree add -b {branch} {path} {name}^1; }}"
            )
        }
        _ => format!("git worktree add --detach {path} {name}^1"),
    };
    let trees = &kept.trees;
    let repo_is_as_head =
        trees.untracked.is_none() && trees.work == trees.index && !tree.condition.has_modified();
    match repo_is_as_head {
        true => add,
        false => format!("{add} && git -C {path} stash apply --index {name}"),
    }
}

/// What goes with it and is kept nowhere.
fn not_kept(tree: &Surveyed, how: How) -> Vec<String> {
    let found = &tree.condition;
    let mut gone = Vec::new();
    if !how.ignored && !found.ignored.is_empty() {
        gone.push(format!("ignored: {}", listed(&found.ignored)));
    }
    if !found.provisioned.is_empty() {
        gone.push(format!("copied in by provisioning: {}", listed(&found.provisioned)));
    }
    if !found.special.is_empty() {
        gone.push(format!("pipes, sockets and devices: {}", listed(&found.special)));
    }
    if !found.under_way.is_empty() {
        let what = found.under_way.join(" and ");
        gone.push(format!(
            "the list of steps of the {what} that was under way; the commits that it names are kept"
        ));
    }
    gone
}

/// An argument that any shell takes as it is.
fn quoted(text: &OsStr) -> String {
    let plain = text.to_string_lossy();
    match shlex::try_quote(&plain) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => plain.into_owned(),
    }
}
