//! The gate of a level: merge what got through, run all of its DoDs on the merged tree, and only then
//! let the next level start from it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::event::Event;
use crate::git::{GitError, MergeOutcome, Worktree};
use crate::ledger::{GatePhase, GateState, WpState};
use crate::model::ids::{CommitId, TreeId, WpId};
use crate::model::outcome::{Check, Class, Problem};
use crate::model::plan::Dod;
use crate::process;

use super::clean;
use super::provision::{self, snapshot_spec};
use super::site::{Halt, Site};
use super::step::Orders;
use super::unit::Line;
use super::unit::prove::run_one;

/// Takes a gate from where it is to its end. `members` are its WPs, in its order.
///
/// # Errors
/// A halt when it was stopped or infrastructure is in the way; a later engine goes on from there.
pub async fn run(
    site: Arc<Site>,
    line: Line,
    mut orders: Orders,
    gate: GateState,
    members: Vec<WpState>,
) -> Result<(), Halt> {
    let number = gate.gate;
    if gate.phase == GatePhase::Merging
        && let Some((wp, problem)) = first_touched(&site, &members).await?
    {
        let (class, problems) = (Class::Decision, vec![problem]);
        let event = Event::GateFailed { gate: number, class, wps: vec![wp], problems };
        return line.record(event).await.map(drop);
    }
    let (commit, done) = match (gate.phase, gate.commit.clone()) {
        (GatePhase::Proving, Some(commit)) => (commit, gate.proved.len()),
        _ => match merge(&site, &gate, &members).await? {
            Ok((branch, commit, tree)) => {
                let event =
                    Event::GateMerged { gate: number, branch, commit: commit.clone(), tree };
                line.record(event).await?;
                (commit, 0)
            }
            Err((wp, problems)) => {
                let event = Event::GateFailed {
                    gate: number,
                    class: Class::Decision,
                    wps: vec![wp],
                    problems,
                };
                return line.record(event).await.map(drop);
            }
        },
    };
    let unit = format!("gate-{number}");
    let worktree = worktree(&site, &unit, &commit).await?;
    provision::provision(&site, (&unit, 1), &worktree, &mut orders).await?;
    let mut problems = Vec::new();
    let mut named = Vec::new();
    for (n, (wp, dod)) in commands(&site, &gate.wps).into_iter().enumerate() {
        // The verdict needs every command of this gate: after a crash those before are read again,
        // not run again.
        let step = format!("dod.{}", n + 1);
        let (ran, tail) = run_one(&site, &unit, &step, &dod, &mut orders).await?;
        if ran.end.broken() {
            let text =
                format!("could not be run on the merged tree: {}; this is nobody's work", ran.end);
            let problem = Problem::new(Check::Merge, text).about(&ran.run).logged(&ran.log, tail);
            return Err(Halt::blocked(problem));
        }
        if n >= done {
            let event = Event::GateDodRan { gate: number, wp: wp.clone(), ran: ran.clone() };
            line.record(event).await?;
        }
        if !ran.end.success() {
            let text = format!("on the merged tree: {}", ran.end);
            problems.push(Problem::new(Check::Merge, text).about(&ran.run).logged(&ran.log, tail));
            named.push(wp);
        }
    }
    if problems.is_empty()
        && let Some(problem) = changed_by_dod(&site, &worktree).await?
    {
        problems.push(problem);
        named.clone_from(&gate.wps);
    }
    let passed = problems.is_empty();
    if passed {
        is_whole(&site, &gate, &members, &commit).await?;
        line.record(Event::GatePassed { gate: number, commit: commit.clone() }).await?;
    } else {
        named.dedup();
        let event =
            Event::GateFailed { gate: number, class: Class::Decision, wps: named, problems };
        line.record(event).await?;
    }
    // Nobody works in it and its commit is on the gate's branch; if it does not go, it is in no one's
    // way.
    let _ = site.blocking(Check::Merge, move |site| site.discard(&unit, &commit)).await;
    if passed {
        for wp in &members {
            if let Some(event) = clean::clean(&site, wp).await {
                line.record(event).await?;
            }
        }
    }
    Ok(())
}

/// All that the merged tree, and each step to it, is made of is on disk.
async fn is_whole(
    site: &Arc<Site>,
    gate: &GateState,
    members: &[WpState],
    commit: &CommitId,
) -> Result<(), Halt> {
    let mut parts: Vec<CommitId> = members.iter().filter_map(|wp| wp.commit.clone()).collect();
    let (onto, tip) = (gate.onto.clone(), commit.clone());
    let merges = parts.len();
    site.blocking(Check::Merge, move |site| {
        let mut at = tip;
        for _ in 0..merges {
            if at == onto {
                break;
            }
            let before = site.repo.parents_of(&at)?.into_iter().next();
            parts.push(std::mem::replace(&mut at, before.unwrap_or_else(|| onto.clone())));
        }
        parts.push(onto);
        site.repo.are_whole(&parts)
    })
    .await
}

/// The commands all pass, but on a tree that they changed themselves: the merged one is not proven.
async fn changed_by_dod(site: &Arc<Site>, worktree: &Worktree) -> Result<Option<Problem>, Halt> {
    let (worktree, spec) = (worktree.clone(), snapshot_spec(site, worktree.base()));
    let snapshot = site.blocking(Check::Merge, move |_| worktree.snapshot(&spec)).await?;
    let paths: Vec<String> =
        snapshot.changes.iter().map(|change| process::escape(&change.path)).collect();
    let text =
        "the Definition of Done changes files on the merged tree, so what it proves is another";
    Ok((!paths.is_empty()).then(|| Problem::new(Check::Merge, text).about(paths.join(", "))))
}

/// The first WP that somebody touched after its work was checked. Its commit is still what was
/// checked, but who did this may have done more, so a person looks before anything is built on it.
async fn first_touched(
    site: &Arc<Site>,
    members: &[WpState],
) -> Result<Option<(WpId, Problem)>, Halt> {
    for wp in members {
        let touched = clean::touched_since(site, wp).await?;
        if !touched.is_empty() {
            let text = "was touched after its work was checked, and is nobody's to touch; its commit \
                        is as it was checked";
            let about = format!(
                "{}: {}",
                wp.worktree.as_deref().unwrap_or("its worktree"),
                touched.join(", ")
            );
            return Ok(Some((wp.id.clone(), Problem::new(Check::Merge, text).about(about))));
        }
    }
    Ok(None)
}

/// The DoD commands of the merged WPs, each once, with the first WP that has it.
pub(super) fn commands(site: &Site, wps: &[WpId]) -> Vec<(WpId, Dod)> {
    let mut seen = HashSet::new();
    let all = wps.iter().flat_map(|wp| site.wp(wp).dod.iter().map(move |dod| (wp, dod)));
    all.filter(|(_, dod)| seen.insert(dod.text.clone()))
        .map(|(wp, dod)| (wp.clone(), dod.clone()))
        .collect()
}

async fn worktree(site: &Arc<Site>, unit: &str, commit: &CommitId) -> Result<Worktree, Halt> {
    let (unit, commit) = (unit.to_owned(), commit.clone());
    site.blocking(Check::Merge, move |site| site.worktree(&unit, None, &commit)).await
}

type MergeResult = Result<(String, CommitId, TreeId), (WpId, Vec<Problem>)>;

/// Merges one WP after the other onto the trunk and points the gate's branch at the result. Made again
/// after a crash, it is the same commit.
async fn merge(
    site: &Arc<Site>,
    gate: &GateState,
    members: &[WpState],
) -> Result<MergeResult, Halt> {
    let parts: Vec<(WpId, CommitId)> =
        members.iter().filter_map(|wp| Some((wp.id.clone(), wp.commit.clone()?))).collect();
    let branch = format!("sop-stage/{}/{}", site.dir.run(), gate.gate);
    let (onto, when) = (gate.onto.clone(), gate.started_at.0.as_second());
    site.blocking(Check::Merge, move |site| {
        let mut tip = onto;
        for (n, (wp, commit)) in parts.iter().enumerate() {
            let message = format!(
                "Merge {wp}: {}\n\nSop-Run: {}\nSop-Wp: {wp}\n",
                site.wp(wp).title,
                site.dir.run()
            );
            let merge = |onto| site.repo.merge(onto, commit, &message, &site.identity, when);
            match merge(&tip)? {
                MergeOutcome::Merged(merged) => tip = merged.commit,
                MergeOutcome::Conflict { paths, messages } => {
                    let paths: Vec<String> =
                        paths.iter().map(|path| process::escape(path)).collect();
                    // Nobody keeps what is merged here; it is asked whether it can be.
                    let mut against = Vec::new();
                    for (other, commit) in &parts[..n] {
                        if matches!(merge(commit)?, MergeOutcome::Conflict { .. }) {
                            against.push(format!("`{other}`"));
                        }
                    }
                    let text = match against.as_slice() {
                        [] => format!(
                            "what `{wp}` did there conflicts with what the stage has merged before it"
                        ),
                        others => format!(
                            "what `{wp}` did there conflicts with what {} did, which is merged before it",
                            others.join(" and ")
                        ),
                    };
                    let problem = Problem::new(Check::Merge, text);
                    let problem = Problem { tail: Some(messages.join("\n")), ..problem };
                    let problem = problem.about(paths.join(", "));
                    return Ok::<_, GitError>(Err((wp.clone(), vec![problem])));
                }
            }
        }
        let tree = site.repo.tree_of(&tip)?;
        let stands = site.repo.branch(&branch)?;
        if stands.as_ref() != Some(&tip) {
            site.repo.set_branch(&branch, &tip, stands.as_ref())?;
        }
        Ok(Ok((branch, tip, tree)))
    })
    .await
}
