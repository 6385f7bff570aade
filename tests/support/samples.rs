//! One event of every sort, as it would be the next one about WP `a` in the state of a story: whether
//! it may follow depends on the phase alone.

use sop::event::{ApprovedBy, Event, MovedBranch, NextStep, Outcome, Standing, StopReason, Taken};
use sop::ledger::judge;
use sop::model::approval::Covers;
use sop::model::baseline::{Baseline, ChangedPath, Compared};
use sop::model::delivery::{DeliveryStep, Hold};
use sop::model::outcome::{Check, Class, End, Problem};
use sop::model::turn::{Fault, FaultClass, Spent, Turn, Usd};
use sop::model::verdict::{Judgment, ReviewSeverity, Verdict};

use super::story::{FAILS, OK, Story, attempt_ended, commit, ran, tier, tree, worker_of, wp_id};

pub fn of_wp(run: &Story, id: &str) -> Vec<Event> {
    let state = run.wp(id);
    let wp = wp_id(id);
    let (round, pass) = (state.round, state.pass);
    let left = state.tree.clone().unwrap_or_else(|| tree("t"));
    let next = match state.problems.is_empty() {
        true => NextStep::Commit,
        false => judge(state, None).1,
    };
    vec![
        Event::WpStarted {
            wp: wp.clone(),
            base: commit("base"),
            branch: "b".to_owned(),
            worktree: "w".to_owned(),
        },
        Event::WpProvisioned { wp: wp.clone(), copied: vec![".env".to_owned()] },
        Event::DodClassed { wp: wp.clone(), classes: Vec::new() },
        Event::RoundStarted {
            wp: wp.clone(),
            round: round + 1,
            tier: tier("standard"),
            brief: "briefs/x.md".to_owned(),
        },
        Event::AttemptStarted {
            wp: wp.clone(),
            round,
            attempt: state.attempt + 1,
            tier: tier("standard"),
            guard: "0".to_owned(),
            worker: worker_of(&tier("standard")),
            prompt: "briefs/x.md".to_owned(),
            session: Some("5e55-10".to_owned()),
        },
        Event::AttemptEnded {
            wp: wp.clone(),
            attempt: state.attempt,
            ran: ran("worker", OK),
            left_behind: 2,
            report: Some("reports/x.json".to_owned()),
            turn: Some(Turn {
                session: Some("5e55-10".to_owned()),
                cost_usd: Some(Usd(12_300)),
                turns: 3,
                answered: true,
                ..Turn::default()
            }),
            fault: None,
            asks: Vec::new(),
            problems: Vec::new(),
        },
        Event::Answered {
            wp: wp.clone(),
            number: 1,
            answer: "yes".to_owned(),
            by: "Ann".to_owned(),
        },
        Event::Redirected {
            wp: wp.clone(),
            attempt: state.attempt,
            say: "leave the tests".to_owned(),
            by: "Ann".to_owned(),
        },
        Event::BudgetSpent {
            wp: wp.clone(),
            limit: Spent::Usd { most: Usd(5_000_000) },
            of_run: false,
            reviewer: None,
        },
        Event::ReviewStarted {
            wp: Some(wp.clone()),
            round,
            block_from: ReviewSeverity::Minor,
            guard: "9c".repeat(32),
        },
        Event::ReviewerStarted {
            wp: Some(wp.clone()),
            round,
            lens: "quality".to_owned(),
            number: state.review.reviewer("quality").map_or(0, |known| known.sessions) + 1,
            tier: tier("standard"),
            worker: worker_of(&tier("standard")),
            prompt: "verdicts/a-1.quality.md".to_owned(),
            session: None,
        },
        Event::ReviewerEnded {
            wp: Some(wp.clone()),
            round,
            lens: "quality".to_owned(),
            tier: tier("standard"),
            worker: worker_of(&tier("standard")),
            ran: ran("agent", OK),
            turn: None,
            fault: Some(Fault {
                class: FaultClass::RateLimit,
                message: "429 Too Many Requests".to_owned(),
                resets_at: None,
            }),
            verdict: None,
            unread: None,
            touched: Vec::new(),
        },
        Event::ScopeChecked {
            wp: wp.clone(),
            round,
            pass: pass + 1,
            tree: left.clone(),
            against: commit("base"),
            changed: 1,
            problems: Vec::new(),
            notes: vec!["README.md was changed in the main checkout".to_owned()],
            by_lead: Vec::new(),
        },
        Event::DodRan {
            wp: wp.clone(),
            round,
            pass,
            index: u32::try_from(state.proved.len()).unwrap(),
            ran: ran("cargo test", OK),
            tail: None,
        },
        Event::ReviewRequested { wp: wp.clone(), round, tree: left.clone() },
        Event::Reviewed {
            wp: wp.clone(),
            round,
            by: "anna".to_owned(),
            verdict: Verdict {
                verdict: Judgment::Approve,
                summary: "fine".to_owned(),
                findings: Vec::new(),
            },
        },
        Event::RoundEnded {
            wp: wp.clone(),
            round,
            class: None,
            problems: state.problems.clone(),
            next,
        },
        Event::WpCommitted { wp: wp.clone(), commit: commit("c"), tree: left },
        Event::WpReported { wp: wp.clone(), report: "reports/x.json".to_owned() },
        Event::WpBlocked {
            wp: wp.clone(),
            problem: Problem::new(Check::Provision, "disk full").logged("logs/x.log", "tail"),
            halt: false,
        },
        Event::WpDeferred { wp: wp.clone(), because: wp_id("b") },
        Event::WpCancelled { wp: wp.clone(), by: "anna".to_owned() },
        Event::WpRetried { wp: wp.clone(), by: "anna".to_owned() },
        Event::WpTaken { wp: wp.clone(), by: "anna".to_owned() },
        Event::WpHandedOver {
            wp: wp.clone(),
            tree: tree("found"),
            branch_at: Some(commit("base")),
        },
        Event::RecheckStarted { wp: wp.clone(), by: "anna".to_owned(), to_worker: false },
        Event::RecheckEnded {
            wp: wp.clone(),
            problems: state.problems.clone(),
            to_worker: state.hands.as_ref().is_some_and(|hands| hands.to_worker),
        },
        Event::WpGivenBack { wp: wp.clone(), by: "anna".to_owned() },
        Event::WpReleased { wp: wp.clone(), by_lead: vec!["src/a.rs".to_owned()] },
        Event::WorktreeRemoved { wp: wp.clone(), salvage: None },
        Event::WorktreeKept { wp, why: "a process still runs in it".to_owned() },
    ]
}

pub fn of_gate(run: &Story, id: &str) -> Vec<Event> {
    let gate = run.ledger.gates.last();
    let number = gate.map_or(1, |gate| gate.gate);
    let merged = gate.and_then(|gate| gate.commit.clone()).unwrap_or_else(|| commit("gate"));
    vec![
        Event::GateStarted {
            gate: u32::try_from(run.ledger.gates.len()).unwrap() + 1,
            level: run.wp(id).level,
            onto: run.ledger.trunk.clone(),
            wps: vec![wp_id(id)],
        },
        Event::GateMerged {
            gate: number,
            branch: "sop-stage/settings-1/1".to_owned(),
            commit: merged.clone(),
            tree: tree("merged"),
        },
        Event::GateDodRan { gate: number, wp: wp_id(id), ran: ran("cargo test", OK) },
        Event::GatePassed { gate: number, commit: merged },
        Event::GateFailed {
            gate: number,
            class: Class::Decision,
            wps: vec![wp_id(id)],
            problems: vec![Problem::new(Check::Merge, "conflicts").about("src/a.rs")],
        },
        Event::GateHalted { gate: number, problem: Problem::new(Check::Merge, "disk full") },
    ]
}

/// A checkout in which a person was at work while the run went on.
pub fn compared() -> Compared {
    let baseline = |status: &str, changes| Baseline {
        worktree: "/home/ann/settings".to_owned(),
        head: Some(commit("base")),
        status_sha256: status.repeat(32),
        diff_sha256: "d1".repeat(32),
        changes,
    };
    Compared {
        before: baseline("a0", 0),
        after: Some(baseline("a1", 1)),
        problem: None,
        paths: vec![ChangedPath {
            path: "notes.txt".to_owned(),
            before: None,
            after: Some("??".to_owned()),
        }],
        cut: false,
    }
}

pub fn of_run(run: &Story) -> Vec<Event> {
    let Event::RunCreated { .. } = &run.records[0].event else { unreachable!() };
    vec![
        run.records[0].event.clone(),
        Event::RunApproved {
            by: ApprovedBy::Prompt,
            plan_sha256: run.ledger.plan_sha256.clone(),
            covers: Covers::default(),
            to: None,
        },
        Event::EngineStarted { pid: 1, sop: "0.1.0".to_owned() },
        Event::EngineStopped { why: StopReason::Interrupted },
        Event::BranchesMoved {
            moved: vec![MovedBranch {
                branch: "sop/settings-1/a".to_owned(),
                checked: commit("c"),
                stands: Some("refs/heads/main".to_owned()),
            }],
        },
        Event::CheckoutCompared { compared: compared() },
        Event::RunGuarded { guard: "9d".repeat(32) },
        Event::RepositoryChanged {
            standing: vec![Standing {
                place: "config (of git's own)".to_owned(),
                what: "was changed since the run began".to_owned(),
                seen_with: vec![wp_id("a")],
                put_back: Some("cp a b".to_owned()),
            }],
        },
        Event::RepositoryLeft { guard: "9e".repeat(32) },
        Event::RepositoryAccepted {
            guard: "9f".repeat(32),
            changed: vec![Taken {
                place: "config (of git's own)".to_owned(),
                became: "was changed".to_owned(),
                settings: vec!["remote.origin.url".to_owned()],
            }],
            by: Some("Ann".to_owned()),
        },
        Event::NoteAdded { text: "The client is in `lib/`.".to_owned(), by: "Ann".to_owned() },
        Event::VerifyStarted { commit: commit("gate"), reviewer: Some(tier("lead")), live: 1 },
        Event::VerifyRan {
            wp: None,
            ran: ran("npm run e2e", FAILS),
            tail: Some("1 failed".to_owned()),
        },
        Event::VerifyReviewed {
            by: "lead".to_owned(),
            verdict: Verdict {
                verdict: Judgment::Approve,
                summary: "The whole does what the plan says.".to_owned(),
                findings: Vec::new(),
            },
        },
        Event::VerifyEnded { problems: vec![Problem::new(Check::Dod, "exits 1")] },
        Event::VerifyHalted { problem: Problem::new(Check::Provision, "disk full") },
        Event::RunFinished { outcome: Outcome::Done },
    ]
}

/// Facts of delivery, about the whole.
pub fn of_delivery() -> Vec<Event> {
    let (branch, url) = ("sop-stage/settings-1/1".to_owned(), "https://forge/7".to_owned());
    let commit = commit("gate");
    vec![
        Event::DeliveryStarted {
            wp: None,
            step: DeliveryStep::Push,
            branch: branch.clone(),
            commit: commit.clone(),
        },
        Event::BranchPushed { wp: None, branch: branch.clone(), commit: commit.clone() },
        Event::RequestOpened { wp: None, number: 7, url: url.clone() },
        Event::RequestUpdated { wp: None, number: 7, url },
        Event::RequestMerged { wp: None, number: 7 },
        Event::DeliveryHeld { wp: None, why: Hold::ChecksFailed, text: "failed: ci".to_owned() },
        Event::DeliveryLanded { wp: None, onto: commit },
        Event::BranchRemoved { branch },
        Event::AfterMergeStarted { by: "Ann".to_owned(), run: "scripts/deploy.sh".to_owned() },
        Event::AfterMergeRan { by: "Ann".to_owned(), ran: ran("scripts/deploy.sh", OK) },
    ]
}

/// One of every sort, with every way for a process to end.
pub fn all(run: &Story, id: &str) -> Vec<Event> {
    let ends = [
        End::Signal { signal: 9 },
        End::Timeout { limit: sop::model::time::Length::secs(90) },
        End::Idle { limit: sop::model::time::Length::secs(5) },
        End::Cancelled,
        End::NotStarted { error: "No such file or directory (os error 2)".to_owned() },
        End::Lost,
    ];
    let ended = ends.into_iter().map(|end| attempt_ended(wp_id(id), 1, ran("worker", end)));
    let of_wps = of_wp(run, id).into_iter().chain(of_gate(run, id));
    of_run(run).into_iter().chain(of_wps).chain(of_delivery()).chain(ended).collect()
}
