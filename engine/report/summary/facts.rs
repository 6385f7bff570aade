//! From the state of a WP or a gate to what a person wants to know of it afterwards.

use super::{
    DodSummary, Moved, ReviewSummary, ScopeSummary, StageSummary, Verified, WpSummary, next,
};
use crate::event::MovedBranch;
use crate::ledger::{GateState, Ledger, Phase, WpState};
use crate::model::ids::TierId;
use crate::model::outcome::{Check, Problem};
use crate::report::narrate::length_of;

impl WpSummary {
    pub(super) fn of(wp: &WpState, ledger: &Ledger) -> Self {
        Self {
            id: wp.id.clone(),
            title: wp.title.clone(),
            stage: wp.stage.clone(),
            kind: wp.kind,
            state: wp.phase,
            verified: verified(wp),
            rounds: wp.round,
            attempts: wp.attempt,
            tiers: tiers(wp),
            took: length_of(wp),
            branch: wp.branch.clone(),
            commit: wp.commit.clone(),
            worktree: wp.worktree.clone(),
            kept: wp.kept.clone(),
            moved: next::moved(ledger, wp.branch.as_deref(), wp.commit.as_ref()).map(set_right),
            report: wp.report.clone(),
            because: wp.because.clone(),
            asks: match wp.phase {
                Phase::AwaitingAnswer => wp.unanswered().cloned().collect(),
                _ => Vec::new(),
            },
            fault: (wp.fault.as_ref().filter(|_| !wp.phase.got_through()))
                .map(|faulted| faulted.fault.clone()),
            problems: problems(wp).into_iter().cloned().collect(),
            notes: wp.notes.clone(),
            taken_by: wp.hands.as_ref().filter(|it| it.held).map(|hands| hands.by.clone()),
            by_lead: wp.by_lead().into_iter().map(str::to_owned).collect(),
        }
    }
}

impl StageSummary {
    pub(super) fn of(gate: &GateState, ledger: &Ledger) -> Option<Self> {
        let stage = &ledger.wps.iter().find(|wp| wp.level == gate.level)?.stage;
        Some(Self {
            gate: gate.gate,
            stage: stage.clone(),
            state: gate.phase,
            wps: gate.wps.clone(),
            dod: (gate.proved.len(), gate.proved.iter().filter(|ran| ran.end.success()).count()),
            branch: gate.branch.clone(),
            commit: gate.commit.clone(),
            moved: next::moved(ledger, gate.branch.as_deref(), gate.commit.as_ref()).map(set_right),
            class: gate.class,
            problems: gate.problems.clone(),
        })
    }
}

/// What keeps a WP from getting through: what blocks it, or what its last round left wrong.
pub(super) fn problems(wp: &WpState) -> Vec<&Problem> {
    match wp.phase {
        Phase::Blocked => wp.blocked_by.iter().collect(),
        Phase::Escalated => wp.carried().iter().collect(),
        Phase::Taken => wp.hands.iter().flat_map(|hands| &hands.problems).collect(),
        _ => Vec::new(),
    }
}

fn verified(wp: &WpState) -> Verified {
    let checked = wp.tree.is_some() && wp.pass > 0;
    Verified {
        scope: checked.then(|| ScopeSummary {
            paths: wp.changed,
            ok: !wp.problems.iter().any(|problem| problem.check == Check::Scope),
        }),
        dod: wp
            .proved
            .iter()
            .map(|ran| DodSummary {
                run: ran.run.clone(),
                end: ran.end.clone(),
                log: ran.log.clone(),
            })
            .collect(),
        review: wp.verdict.as_ref().map(|verdict| ReviewSummary {
            by: wp.reviewed_by.clone().unwrap_or_default(),
            verdict: verdict.verdict,
        }),
    }
}

/// What is wrong with a branch, and what to type. An alias must not be followed: it may be of the
/// user's own branch.
fn set_right(moved: &MovedBranch) -> Moved {
    let (branch, checked) = (next::quoted(&moved.branch), &moved.checked);
    Moved {
        what: format!("branch {} was moved after its work was checked: it {moved}", moved.branch),
        command: format!("git update-ref --no-deref refs/heads/{branch} {checked}"),
    }
}

/// Who worked, each once in a row.
fn tiers(wp: &WpState) -> Vec<TierId> {
    let rounds = wp.rounds.iter().map(|round| &round.tier);
    // A round that is not over has its worker in the state itself.
    let open = (wp.attempt > 0 && wp.rounds.len() < wp.round as usize).then_some(&wp.tier);
    let mut tiers: Vec<TierId> = rounds.chain(open).cloned().collect();
    tiers.dedup();
    tiers
}
