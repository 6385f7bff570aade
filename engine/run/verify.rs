//! The last look at the whole, on the integrated commit: every DoD of every WP once more, the end-to-end
//! commands, and a reviewer who reads everything against the tasks. It reports, and mends nothing.

use std::collections::HashSet;
use std::sync::Arc;

use crate::brief::RanBefore;
use crate::event::Event;
use crate::ledger::{VerifyRan, VerifyState};
use crate::model::ids::{CommitId, TierId, WpId};
use crate::model::outcome::{Check, Problem, Ran};
use crate::model::panel::{Opinion, consolidate};
use crate::model::plan::{Dod, Verify};
use crate::model::verdict::{Judgment, ReviewSeverity, Verdict};

use super::directory::{RunDir, write_whole};
use super::gate::commands;
use super::provision;
use super::reviewer::{Bench, Heard, Subject, WHOLE};
use super::site::{Halt, Site};
use super::step::Orders;
use super::unit::Line;
use super::unit::prove::run_one;
use super::unit::review::{before, known_files};

/// The worktrees of a look: that of the commands, and that of the reviewer, whom nothing disturbs.
#[must_use]
pub fn units(look: u32) -> [String; 2] {
    [format!("verify-{look}"), format!("verify-{look}.review")]
}

/// Takes the look from where it is to its end.
///
/// # Errors
/// A halt when it was stopped or infrastructure is in the way; a later engine goes on from there.
pub async fn run(
    site: Arc<Site>,
    line: Line,
    mut orders: Orders,
    base: CommitId,
    state: VerifyState,
) -> Result<(), Halt> {
    let wanted = site.plan.verify.clone().unwrap_or_default();
    let ran = run_commands(&site, &line, &mut orders, &state, &wanted).await?;
    let mut problems: Vec<Problem> = ran.iter().filter_map(VerifyRan::problem).collect();
    if let Some(tier) = wanted.review_tier {
        let verdict = match state.verdict.clone() {
            Some(verdict) => Ok(verdict),
            None => {
                let who = (tier, wanted.block_from);
                let subject = subject(&site, &state, &ran, base, who).await?;
                review(&site, &line, orders, &state, subject).await?
            }
        };
        match verdict {
            Ok(verdict) => problems.extend(found(&verdict, wanted.block_from)),
            Err(unpaid) => problems.push(unpaid),
        }
    }
    line.record(Event::VerifyEnded { problems }).await?;
    discard(&site, &state).await;
    Ok(())
}

/// Takes the worktrees of a look away. Nobody worked in them: what is in them was made by the plan's own
/// commands. One that does not go is in no one's way.
pub async fn discard(site: &Arc<Site>, state: &VerifyState) {
    for unit in units(state.look) {
        let commit = state.commit.clone();
        let _ = site.blocking(Check::Merge, move |site| site.discard(&unit, &commit)).await;
    }
}

/// Every command that has not run yet, in the order of the plan; then all that have.
async fn run_commands(
    site: &Arc<Site>,
    line: &Line,
    orders: &mut Orders,
    state: &VerifyState,
    wanted: &Verify,
) -> Result<Vec<VerifyRan>, Halt> {
    let mut ran = state.ran.clone();
    let all = all_commands(site, wanted);
    if ran.len() >= all.len() {
        return Ok(ran);
    }
    let [unit, _] = units(state.look);
    let (name, commit) = (unit.clone(), state.commit.clone());
    let worktree =
        site.blocking(Check::Merge, move |site| site.worktree(&name, None, &commit)).await?;
    provision::provision(site, (&unit, 1), &worktree, orders).await?;
    for (step, wp, dod) in all.into_iter().skip(ran.len()) {
        let (one, tail) = run_one(site, &unit, &step, &dod, orders).await?;
        if one.end.broken() {
            let text = format!("could not be run on the integrated tree: {}", one.end);
            let problem = Problem::new(Check::Dod, text).about(&one.run).logged(&one.log, tail);
            return Err(Halt::blocked(problem));
        }
        let tail = (!one.end.success()).then_some(tail);
        let event = Event::VerifyRan { wp: wp.clone(), ran: one.clone(), tail: tail.clone() };
        line.record(event).await?;
        ran.push(VerifyRan { wp, ran: one, tail });
    }
    Ok(ran)
}

/// The commands: the step of each, whose DoD it is, and what is run.
fn all_commands(site: &Site, wanted: &Verify) -> Vec<(String, Option<WpId>, Dod)> {
    let wps: Vec<WpId> = site.plan.wps.iter().map(|wp| wp.id.clone()).collect();
    let dods = commands(site, &wps).into_iter().enumerate();
    let dods = dods.map(|(n, (wp, dod))| (format!("dod.{}", n + 1), Some(wp), dod));
    let live = wanted.live.iter().enumerate();
    let live = live.map(|(n, dod)| (format!("live.{}", n + 1), None, dod.clone()));
    dods.chain(live).collect()
}

/// What of a verdict keeps the whole from holding.
fn found(verdict: &Verdict, block_from: ReviewSeverity) -> Vec<Problem> {
    if verdict.verdict == Judgment::Approve {
        return Vec::new();
    }
    let blocking = verdict.findings.iter().filter(|finding| finding.severity >= block_from);
    blocking
        .map(|finding| {
            let problem = Problem::new(Check::Review, finding.message.clone());
            match (&finding.file, finding.line) {
                (Some(file), Some(line)) => problem.about(format!("{file}:{line}")),
                (Some(file), None) => problem.about(file),
                (None, _) => problem,
            }
        })
        .collect()
}

/// The reviewer's verdict, or that nothing is left to pay one with.
async fn review(
    site: &Arc<Site>,
    line: &Line,
    orders: Orders,
    state: &VerifyState,
    subject: Subject,
) -> Result<Result<Verdict, Problem>, Halt> {
    let (base, tree, tier) = (subject.base.clone(), subject.tree.clone(), subject.tier.clone());
    let block_from = subject.block_from;
    let bench =
        Bench::new(Arc::clone(site), line.clone(), orders, subject, None, state.review.clone());
    let answers = match bench.hear().await? {
        Heard::All(answers) => answers,
        Heard::Spent { limit, reviewer, .. } => {
            let why = match reviewer {
                Some(_) => format!("the reviewer was ended at {limit} before it had answered"),
                None => format!("the run has used up {limit}"),
            };
            let text = format!("nobody has read the whole: {why}");
            return Ok(Err(Problem::new(Check::Review, text)));
        }
        Heard::Later => return Err(Halt::Stopped),
    };
    let known = known_files(site, &answers, &base, &tree).await?;
    let opinions: Vec<Opinion<'_>> =
        answers.iter().map(|(lens, verdict)| Opinion { lens, verdict }).collect();
    let verdict = consolidate(&opinions, block_from, |file| known.contains(file));
    let kept = site.dir.named(&format!("verdicts/{}.json", RunDir::verify_stem(state.look)));
    let bytes = serde_json::to_vec_pretty(&verdict).unwrap_or_default();
    write_whole(&kept, &bytes)
        .map_err(|error| Halt::blocked(Problem::new(Check::Review, error.to_string())))?;
    let by = tier.to_string();
    line.record(Event::VerifyReviewed { by, verdict: verdict.clone() }).await?;
    Ok(Ok(verdict))
}

async fn subject(
    site: &Arc<Site>,
    state: &VerifyState,
    ran: &[VerifyRan],
    base: CommitId,
    (tier, block_from): (TierId, ReviewSeverity),
) -> Result<Subject, Halt> {
    let [_, unit] = units(state.look);
    let (name, commit, onto) = (unit.clone(), state.commit.clone(), base.clone());
    let (worktree, tree, diff) = site
        .blocking(Check::Review, move |site| {
            let tree = site.repo.tree_of(&commit)?;
            let diff = site.repo.patch(&onto, &tree)?;
            Ok((site.worktree(&name, None, &commit)?, tree, diff))
        })
        .await?;
    let diff_file = site.dir.named(&format!("verdicts/{}.diff", RunDir::verify_stem(state.look)));
    let unwritten = |error: String| Halt::blocked(Problem::new(Check::Review, error));
    site.dir.own("verdicts/verify").map_err(|error| unwritten(error.to_string()))?;
    write_whole(&diff_file, &diff).map_err(|error| unwritten(error.to_string()))?;
    let mut seen = HashSet::new();
    let ran: Vec<&Ran> =
        ran.iter().map(|one| &one.ran).filter(|ran| seen.insert(ran.run.clone())).collect();
    let ran: Vec<RanBefore> = ran.into_iter().map(|ran| before(site, ran)).collect();
    Ok(Subject {
        wp: None,
        unit,
        stem: RunDir::verify_stem(state.look),
        round: 0,
        tier,
        lenses: vec![WHOLE.to_owned()],
        block_from,
        worktree,
        tree,
        base,
        diff,
        diff_file,
        brief_file: None,
        ran,
        earlier: Vec::new(),
    })
}
