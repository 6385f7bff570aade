//! All that is left, in three classes: what may go, what may go once it is archived, what stays. Each is looked at
//! once more just before it goes.

use super::archive::{How, put_away};
use super::error::UpkeepError;
use super::grounds;
use super::leave::drop_own_branch;
use super::runs::{self, KnownRun};
use super::survey::{Survey, Surveyed, commits, identify, listed, proof};
use crate::git::Repo;
use crate::git::linked::Linked;
use crate::model::ids::{CommitId, RunId};
use crate::model::upkeep::{Class, Done, How as Proven, Leftover, LeftoverKind, RunState, Whose};
use crate::process;
use crate::run::directory::EngineLock;

/// What is to be tidied.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Only what this run left, and that even where it failed.
    pub run: Option<RunId>,
    /// Keep ignored files too, and so archive what has any.
    pub ignored: bool,
    /// Do it.
    pub apply: bool,
}

/// Judges all that is left, and with [`Order::apply`] takes away what may go.
///
/// # Errors
/// Git cannot be asked. What cannot be removed is told by its entry.
pub fn tidy(repo: &Repo, order: &Order) -> Result<Vec<Leftover>, UpkeepError> {
    let survey = Survey::of(repo)?;
    let mut found = Vec::new();
    let mut standing: Vec<String> = Vec::new();
    let mut locks = Locks::default();
    for (linked, looked) in survey.each()? {
        let tree = match looked {
            Ok(tree) => tree,
            Err(error) => {
                standing.extend(linked.head().branch().map(str::to_owned));
                found.extend(not_seen(order, &linked, &error));
                continue;
            }
        };
        if tree.whose == Whose::Main || !concerns(order, &tree.whose) {
            standing.extend(tree.linked.head().branch().map(str::to_owned));
            continue;
        }
        let mut left = judged(&survey, &tree, order);
        if order.apply && left.class != Class::Hold {
            left.done = Some(act(repo, &survey, &tree, order, left.class, &mut locks));
        }
        let goes = match &left.done {
            Some(done) => !matches!(done, Done::Left { .. }),
            None => left.class != Class::Hold,
        };
        if !goes {
            standing.extend(tree.linked.head().branch().map(str::to_owned));
        }
        found.push(left);
    }
    for run in survey.runs() {
        if order.run.as_ref().is_none_or(|only| only == run.dir.run()) {
            found.extend(branches(repo, &survey, run, order, &standing, &mut locks)?);
        }
    }
    if order.run.is_none() {
        found.extend(archived_branches(repo, &survey, order, &standing)?);
    }
    found.sort_by(|a, b| (a.class, a.kind, &a.name).cmp(&(b.class, b.kind, &b.name)));
    Ok(found)
}

fn concerns(order: &Order, whose: &Whose) -> bool {
    match (&order.run, whose) {
        (None, _) => true,
        (Some(only), Whose::Run { run, .. }) => only == run,
        (Some(_), _) => false,
    }
}

/// One that could not be looked at stays, and stops nobody else.
fn not_seen(order: &Order, linked: &Linked, error: &UpkeepError) -> Option<Leftover> {
    let (whose, name, _) = identify(linked);
    concerns(order, &whose).then(|| Leftover {
        kind: LeftoverKind::Worktree,
        name,
        path: linked.path().map(process::escape_path),
        class: Class::Hold,
        why: vec![format!("it cannot be looked at: {error}")],
        done: None,
    })
}

/// What may become of a worktree, and why.
fn judged(survey: &Survey<'_>, tree: &Surveyed, order: &Order) -> Leftover {
    let (class, why) = judge(survey, tree, order);
    Leftover {
        kind: LeftoverKind::Worktree,
        name: tree.name.clone(),
        path: tree.linked.path().map(process::escape_path),
        class,
        why,
        done: None,
    }
}

fn judge(survey: &Survey<'_>, tree: &Surveyed, order: &Order) -> (Class, Vec<String>) {
    let found = &tree.condition;
    let stays = grounds::stays(tree);
    if found.removing && stays.is_empty() {
        return (Class::Reclaim, vec!["its removal was begun, and cut short".to_owned()]);
    }
    let state = match &tree.whose {
        Whose::Run { run, .. } => survey.run(run).map(|run| run.state),
        _ => None,
    };
    let mut hold = stays;
    hold.extend(grounds::unkeepable(tree));
    hold.extend(grounds::needed(tree, state));
    if found.missing {
        hold.push(format!(
            "its folder is gone: `git worktree repair NEWPLACE` if you moved it, `sop worktree rm {}` if not",
            tree.name
        ));
    }
    let merged = tree.merged.as_ref().map(|(how, into)| said(proof(*how), into));
    match &tree.whose {
        Whose::Foreign if hold.is_empty() => {
            hold.push(format!("sop did not make it; `sop worktree rm {}` or `archive`", tree.name));
        }
        Whose::Lead if hold.is_empty() => {
            let begun = tree.note.as_ref().map(|note| &note.base) != tree.linked.head().commit();
            match (&merged, begun || !tree.is_clean()) {
                (None, _) => {
                    hold.extend(grounds::unmerged(tree).or(Some("it is on no branch".to_owned())))
                }
                (Some(_), false) => hold.push(format!(
                    "nothing was done in it yet; `sop worktree rm {}` if nothing will be",
                    tree.name
                )),
                (Some(_), true) if !begun => {
                    hold.push("what was done in it is on no branch yet".to_owned());
                }
                _ => {}
            }
        }
        Whose::Run { run, .. } if hold.is_empty() => {
            let dirty = !tree.is_clean();
            if state == Some(RunState::Failed) && dirty && order.run.is_none() {
                hold.push(format!(
                    "its run failed and can be tried again; `sop run clean {run}` if it will not be"
                ));
            }
        }
        _ => {}
    }
    if !hold.is_empty() {
        return (Class::Hold, hold);
    }
    let mut why: Vec<String> = merged.into_iter().collect();
    if tree.linked.head().branch().is_some() && why.is_empty() {
        why.push("its branch stays".to_owned());
    }
    let keep_ignored = order.ignored && !found.ignored.is_empty();
    let under_way = !found.under_way.is_empty();
    if tree.is_clean() && !keep_ignored && !under_way {
        if !found.ignored.is_empty() {
            why.push(format!("with what is ignored: {}", listed(&found.ignored)));
        }
        return (Class::Reclaim, why);
    }
    for (paths, what) in [
        (&found.conflicts, "in conflict"),
        (&found.modified, "modified"),
        (&found.staged, "staged"),
        (&found.untracked, "untracked"),
    ] {
        if !paths.is_empty() {
            why.push(format!("{what}: {}", listed(paths)));
        }
    }
    if under_way {
        why.push(format!("a {} is under way", found.under_way.join(" and a ")));
    }
    if let Some(at) = &found.loose_head {
        why.push(format!("HEAD is at {}, which no branch holds", at.short()));
    }
    for (ids, what) in
        [(&found.own_refs, "only refs of its own hold"), (&found.logged, "only its log names")]
    {
        if !ids.is_empty() {
            why.push(format!("{what} {}", commits(ids)));
        }
    }
    if !found.ignored.is_empty() {
        let what = if order.ignored { "ignored, and kept" } else { "ignored, and not kept" };
        why.push(format!("{what}: {}", listed(&found.ignored)));
    }
    (Class::Salvage, why)
}

/// Looks once more, and does what was found right.
fn act(
    repo: &Repo,
    survey: &Survey<'_>,
    tree: &Surveyed,
    order: &Order,
    class: Class,
    locks: &mut Locks,
) -> Done {
    let tried = || -> Result<Done, UpkeepError> {
        let run = match &tree.whose {
            Whose::Run { run, .. } => survey.run(run),
            _ => None,
        };
        if let Some(why) = locks.take(run) {
            return Ok(Done::Left { why });
        }
        let again = survey.look(tree.linked.again()?)?;
        if !again.is_as(tree) || judge(survey, &again, order).0 != class {
            return Err(UpkeepError::Changed { what: tree.name.clone() });
        }
        if class == Class::Salvage {
            let kept = put_away(survey, &again, How { ignored: order.ignored })?;
            return Ok(Done::Archived(kept));
        }
        again.linked.take_away()?;
        drop_own_branch(repo, &again)?;
        Ok(Done::Removed)
    };
    let mut tried = tried;
    tried().unwrap_or_else(|error| Done::Left { why: error.to_string() })
}

/// The branches of a run.
fn branches(
    repo: &Repo,
    survey: &Survey<'_>,
    run: &KnownRun,
    order: &Order,
    standing: &[String],
    locks: &mut Locks,
) -> Result<Vec<Leftover>, UpkeepError> {
    let all = runs::branches(repo, run)?;
    let mut found = Vec::new();
    for (name, at) in &all {
        let (class, why) = judge_branch(repo, survey, run, (name, at), &all, standing)?;
        let done = (order.apply && class == Class::Reclaim).then(|| {
            if let Some(why) = locks.take(Some(run)) {
                return Done::Left { why };
            }
            match repo.delete_branch(name, at) {
                Ok(()) => Done::Removed,
                Err(error) => Done::Left { why: error.to_string() },
            }
        });
        let (kind, name) = (LeftoverKind::Branch, name.clone());
        found.push(Leftover { kind, name, path: None, class, why, done });
    }
    Ok(found)
}

/// Branches of the lead's worktrees that were archived, where they stand as they did then.
fn archived_branches(
    repo: &Repo,
    survey: &Survey<'_>,
    order: &Order,
    standing: &[String],
) -> Result<Vec<Leftover>, UpkeepError> {
    let mut found = Vec::new();
    for name in repo.branches_of_leads() {
        let name = String::from_utf8_lossy(&name).into_owned();
        let Some(at) = repo.branch(&name)?.filter(|_| !standing.contains(&name)) else { continue };
        let Some(kept) = repo.archived_at(&at)? else { continue };
        let (class, why) = match survey.merged(&at, Some(&name), &[])? {
            Some((how, into)) => (Class::Reclaim, said(proof(how), &into)),
            None => {
                let why = format!("its worktree is archived in {kept}, and it is not merged");
                (Class::Hold, why)
            }
        };
        let done = (order.apply && class == Class::Reclaim).then(|| {
            match repo.delete_branch(&name, &at) {
                Ok(()) => Done::Removed,
                Err(error) => Done::Left { why: error.to_string() },
            }
        });
        let kind = LeftoverKind::Branch;
        found.push(Leftover { kind, name, path: None, class, why: vec![why], done });
    }
    Ok(found)
}

fn judge_branch(
    repo: &Repo,
    survey: &Survey<'_>,
    run: &KnownRun,
    (name, at): (&str, &CommitId),
    all: &[(String, CommitId)],
    standing: &[String],
) -> Result<(Class, Vec<String>), UpkeepError> {
    let id = run.dir.run();
    let hold = |why: String| Ok((Class::Hold, vec![why]));
    match run.state {
        RunState::AtWork => return hold("an engine has its run".to_owned()),
        RunState::Open => return hold(format!("its run can be gone on with; `sop resume {id}`")),
        RunState::Unreadable => return hold("the journal of its run cannot be read".to_owned()),
        RunState::Failed | RunState::Done | RunState::Archived => {}
    }
    if standing.iter().any(|branch| branch == name) {
        return hold("a worktree is on it".to_owned());
    }
    let from: Vec<String> = run.base_name.iter().cloned().collect();
    if let Some((how, into)) = survey.merged(at, Some(name), &from)? {
        return Ok((Class::Reclaim, vec![said(proof(how), &into)]));
    }
    if let Some(kept) = repo.salvaged_in(at)? {
        return Ok((Class::Reclaim, vec![said(Proven::Archived, &kept)]));
    }
    // What a later stage holds goes when that branch goes, or is merged.
    let stage = |branch: &str| -> Option<u32> {
        branch.strip_prefix("sop-stage/")?.rsplit_once('/')?.1.parse().ok()
    };
    for (later, its) in all {
        if later != name
            && stage(later).is_some_and(|n| stage(name).is_none_or(|own| n > own))
            && repo.is_ancestor(at, its)?
        {
            return Ok((Class::Reclaim, vec![said(Proven::Ancestor, later)]));
        }
    }
    hold("it is not merged".to_owned())
}

/// A proof in words.
fn said(how: Proven, into: &str) -> String {
    let into = into.escape_debug();
    match how {
        Proven::Ancestor => format!("merged into {into}"),
        Proven::Patch => format!("merged into {into}, patch by patch"),
        Proven::Squash => format!("merged into {into} as one commit"),
        Proven::Archived => format!("kept in {into}"),
    }
}

/// Runs that are kept from engines while something of theirs is taken away.
#[derive(Default)]
struct Locks(Vec<(RunId, EngineLock)>);

impl Locks {
    /// Takes the run, unless that was done; why not, if it cannot be.
    fn take(&mut self, run: Option<&KnownRun>) -> Option<String> {
        let run = run?;
        if run.state == RunState::Archived || self.0.iter().any(|(held, _)| held == run.dir.run()) {
            return None;
        }
        match run.dir.lock() {
            Ok(lock) => {
                self.0.push((run.dir.run().clone(), lock));
                None
            }
            Err(error) => Some(error.to_string()),
        }
    }
}
