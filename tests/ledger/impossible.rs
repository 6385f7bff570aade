//! What cannot be: every phase against every sort of event. A refusal names both, and leaves the state
//! as it was.

use std::collections::BTreeSet;

use sop::event::{Asked, Event, NextStep, WpShape};
use sop::ledger::{GatePhase, Ledger, LedgerError, Phase};
use sop::model::approval::Covers;
use sop::model::outcome::{Check, Problem};
use sop::model::plan::{Kind, Mode};

use crate::support::samples;
use crate::support::story::{FAILS, OK, Story, after, commit, level, shape, tree, wp_id};

const PHASES: [Phase; 21] = [
    Phase::Waiting,
    Phase::Provisioning,
    Phase::Classing,
    Phase::Briefing,
    Phase::Starting,
    Phase::Working,
    Phase::AwaitingAnswer,
    Phase::Scoping,
    Phase::Proving,
    Phase::Rechecking,
    Phase::Reviewing,
    Phase::AwaitingReview,
    Phase::Deciding,
    Phase::Committing,
    Phase::Passed,
    Phase::Integrated,
    Phase::Escalated,
    Phase::Blocked,
    Phase::Deferred,
    Phase::Cancelled,
    Phase::Taken,
];

/// A run in which `a` is in `phase`.
fn at(phase: Phase, kind: Kind) -> Story {
    let reviewed = matches!(phase, Phase::Reviewing | Phase::AwaitingReview);
    let a = WpShape { reviewed, kind, ..after("a", &["b"]) };
    let levels = vec![level("one", vec![shape("b")]), level("two", vec![a])];
    let mut run = Story::new(Mode::Staged, levels);
    if phase == Phase::Deferred {
        run.escalate("b").deferred();
        return run;
    }
    run.pass("b").gate_through(0, &["b"]);
    let problem = || Problem::new(Check::Provision, "disk full");
    let steps: [&dyn Fn(&mut Story); 11] = [
        &|run| {
            run.started("a");
        },
        &|run| {
            run.provisioned("a");
        },
        &|run| {
            run.classed("a", &[]);
        },
        &|run| {
            run.round("a");
        },
        &|run| {
            run.attempt("a");
        },
        &|run| {
            run.ended("a", OK);
        },
        &|run| {
            run.scope("a", "t", Vec::new());
        },
        &|run| {
            run.dod("a", OK).dod("a", OK);
        },
        &|run| {
            run.scope("a", "t", Vec::new());
        },
        &|run| {
            run.judged("a", None);
        },
        &|run| {
            if kind == Kind::Change {
                run.committed("a");
            } else {
                run.say(Event::WpReported { wp: wp_id("a"), report: "r".to_owned() });
            }
        },
    ];
    let n = match phase {
        Phase::Waiting => 0,
        Phase::Provisioning => 1,
        Phase::Classing => 2,
        Phase::Briefing => 3,
        Phase::Starting => 4,
        Phase::Working | Phase::AwaitingAnswer => 5,
        Phase::Scoping => 6,
        Phase::Proving => 7,
        Phase::Rechecking => 8,
        Phase::Reviewing | Phase::AwaitingReview | Phase::Deciding => 9,
        Phase::Committing => 10,
        Phase::Passed | Phase::Integrated => 11,
        Phase::Blocked => 6,
        Phase::Cancelled => 3,
        Phase::Escalated => 3,
        Phase::Taken => 3,
        Phase::Deferred => unreachable!(),
    };
    for step in &steps[..n] {
        step(&mut run);
    }
    match phase {
        Phase::AwaitingAnswer => {
            let question = "Keep it?".to_owned();
            run.asks("a", vec![Asked { question, default: None, answer: None }]);
        }
        Phase::AwaitingReview => {
            run.say(Event::ReviewRequested { wp: wp_id("a"), round: 1, tree: tree("t") });
        }
        Phase::Integrated => {
            run.gate_through(1, &["a"]);
        }
        Phase::Blocked => {
            run.blocked("a", problem(), false);
        }
        Phase::Cancelled => {
            run.cancelled("a");
        }
        Phase::Taken => {
            run.taken("a");
        }
        Phase::Escalated => {
            for left in ["1", "2", "3"] {
                run.failing_round("a", left, None);
            }
        }
        _ => {}
    }
    run
}

/// What may follow.
fn may(phase: Phase, kind: Kind) -> BTreeSet<&'static str> {
    let own: &[&str] = match phase {
        Phase::Waiting => &["wp_started", "wp_deferred"],
        Phase::Provisioning => &["wp_provisioned"],
        Phase::Classing => &["dod_classed"],
        Phase::Briefing => &["round_started", "budget_spent"],
        Phase::Starting => &["attempt_started", "budget_spent"],
        Phase::Working => &["attempt_ended", "redirected"],
        Phase::AwaitingAnswer => &["answered"],
        Phase::Scoping | Phase::Rechecking => &["scope_checked"],
        Phase::Proving => &["dod_ran"],
        Phase::Reviewing => &["review_requested", "reviewed", "review_started", "budget_spent"],
        Phase::AwaitingReview => &["reviewed"],
        Phase::Taken => &["recheck_started", "wp_given_back"],
        Phase::Deciding => &["round_ended"],
        Phase::Committing if kind == Kind::Scout => &["wp_reported"],
        Phase::Committing => &["wp_committed"],
        Phase::Escalated | Phase::Blocked | Phase::Deferred | Phase::Cancelled => &["wp_retried"],
        // What passed is tried again after a failed gate alone: `gates` has that.
        Phase::Passed | Phase::Integrated => &[],
    };
    let mut names: BTreeSet<&str> = own.iter().copied().collect();
    if phase.active() {
        names.insert("wp_blocked");
    }
    if !phase.got_through() && phase != Phase::Cancelled {
        names.insert("wp_cancelled");
    }
    if !phase.got_through() && phase != Phase::Taken && kind == Kind::Change {
        names.insert("wp_taken");
    }
    if phase.settled() {
        names.extend(["worktree_removed", "worktree_kept"]);
    }
    names
}

#[test]
fn each_phase_takes_what_may_follow_and_refuses_the_rest_by_both_names() {
    for kind in [Kind::Change, Kind::Scout] {
        for phase in PHASES {
            // A scout has nothing that could be merged, or mended by hand.
            if kind == Kind::Scout && matches!(phase, Phase::Integrated | Phase::Taken) {
                continue;
            }
            let run = at(phase, kind);
            assert_eq!(run.phase("a"), phase);
            let expected = may(phase, kind);
            for event in samples::of_wp(&run, "a") {
                let name = event.name();
                let mut after = run.clone();
                match after.try_say(event) {
                    Ok(()) => assert!(
                        expected.contains(name.as_str()),
                        "{name} was taken while {phase:?} ({kind:?})"
                    ),
                    Err(error) => {
                        let said = error.to_string();
                        assert!(!expected.contains(name.as_str()), "{phase:?}: {said}");
                        let seq = run.ledger.seq + 1;
                        assert_eq!(
                            said,
                            format!(
                                "record {seq}: `{name}` cannot happen to `a` while it is {}",
                                phase.name()
                            )
                        );
                        assert_eq!(after.ledger, run.ledger, "a refusal changes nothing");
                    }
                }
            }
        }
    }
}

#[test]
fn facts_with_the_wrong_number_are_refused_in_the_right_phase_too() {
    let wp = || wp_id("a");
    let wrong = |phase: Phase, make: &dyn Fn(&Story) -> Event| {
        let mut run = at(phase, Kind::Change);
        let before = run.ledger.clone();
        let event = make(&run);
        let name = event.name();
        let error = run.try_say(event).expect_err(&name);
        assert!(matches!(error, LedgerError::Impossible { .. }), "{name}: {error}");
        assert_eq!(run.ledger, before);
    };
    let sample = |name: &'static str| {
        move |run: &Story| {
            samples::of_wp(run, "a").into_iter().find(|event| event.name() == name).unwrap()
        }
    };
    let edit = |phase, name, edit: &dyn Fn(&mut Event)| {
        wrong(phase, &|run| {
            let mut event = sample(name)(run);
            edit(&mut event);
            event
        });
    };
    edit(Phase::Briefing, "round_started", &|e| {
        if let Event::RoundStarted { round, .. } = e {
            *round += 1;
        }
    });
    for by in [1, 2] {
        edit(Phase::Starting, "attempt_started", &|e| {
            if let Event::AttemptStarted { attempt, round, .. } = e {
                if by == 1 { *attempt += 1 } else { *round += 1 }
            }
        });
        edit(Phase::Scoping, "scope_checked", &|e| {
            if let Event::ScopeChecked { pass, round, .. } = e {
                if by == 1 { *pass += 1 } else { *round += 1 }
            }
        });
        edit(Phase::Proving, "dod_ran", &|e| {
            if let Event::DodRan { index, pass, .. } = e {
                if by == 1 { *index += 1 } else { *pass += 1 }
            }
        });
        edit(Phase::Reviewing, "review_requested", &|e| {
            if let Event::ReviewRequested { round, tree: left, .. } = e {
                if by == 1 { *round += 1 } else { *left = tree("other") }
            }
        });
    }
    edit(Phase::Working, "attempt_ended", &|e| {
        if let Event::AttemptEnded { attempt, .. } = e {
            *attempt += 1;
        }
    });
    edit(Phase::AwaitingReview, "reviewed", &|e| {
        if let Event::Reviewed { round, .. } = e {
            *round += 1;
        }
    });
    edit(Phase::Committing, "wp_committed", &|e| {
        if let Event::WpCommitted { tree: left, .. } = e {
            *left = tree("something else");
        }
    });
    edit(Phase::Deciding, "round_ended", &|e| {
        if let Event::RoundEnded { round, .. } = e {
            *round += 1;
        }
    });
    // Nothing is wrong, so nothing else than a commit can follow.
    wrong(Phase::Deciding, &|_| Event::RoundEnded {
        wp: wp(),
        round: 1,
        class: None,
        problems: Vec::new(),
        next: NextStep::Escalate,
    });
}

#[test]
fn what_is_wrong_cannot_be_committed() {
    let mut run = at(Phase::Proving, Kind::Change);
    run.dod("a", OK).dod("a", FAILS);
    let error = run
        .try_say(Event::RoundEnded {
            wp: wp_id("a"),
            round: 1,
            class: None,
            problems: Vec::new(),
            next: NextStep::Commit,
        })
        .unwrap_err();
    assert!(error.to_string().contains("`round_ended` cannot happen to `a` while it is deciding"));
}

#[test]
fn gates_take_what_may_follow_and_refuse_the_rest() {
    let passed = || {
        let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a")])]);
        run.pass("a");
        run
    };
    let mut merging = passed();
    merging.gate_started(0, &["a"]);
    let mut proving = merging.clone();
    proving.gate_merged();
    let mut through = proving.clone();
    through.gate_passed();
    let mut failed = proving.clone();
    failed.gate_failed(&["a"], Vec::new());
    let mut superseded = failed.clone();
    superseded.retried("a");
    let cases: [(Option<GatePhase>, &Story, &[&str]); 6] = [
        (None, &passed(), &["gate_started"]),
        (Some(GatePhase::Merging), &merging, &["gate_merged", "gate_failed", "gate_halted"]),
        (
            Some(GatePhase::Proving),
            &proving,
            &["gate_dod_ran", "gate_passed", "gate_failed", "gate_halted"],
        ),
        (Some(GatePhase::Passed), &through, &[]),
        // Its WPs are still as they passed: the ledger leaves it to the engine not to merge them again.
        (Some(GatePhase::Failed), &failed, &["gate_started"]),
        (Some(GatePhase::Superseded), &superseded, &[]),
    ];
    for (phase, run, expected) in cases {
        assert_eq!(run.ledger.gates.last().map(|gate| gate.phase), phase);
        for event in samples::of_gate(run, "a") {
            let name = event.name();
            let mut after = run.clone();
            match after.try_say(event) {
                Ok(()) => assert!(expected.contains(&name.as_str()), "{name} taken in {phase:?}"),
                Err(error) => {
                    assert!(!expected.contains(&name.as_str()), "{phase:?}: {error}");
                    assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
                    assert_eq!(after.ledger, run.ledger);
                }
            }
        }
    }
}

#[test]
fn what_the_run_does_not_have_is_named() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a")])]);
    let ghost = wp_id("ghost");
    let error = run.try_say(Event::WpCancelled { wp: ghost.clone(), by: "x".to_owned() });
    assert_eq!(
        error.unwrap_err().to_string(),
        "record 4: `wp_cancelled` names the work package `ghost`, which this run does not have"
    );
    run.pass("a");
    let (onto, wps) = (commit("base"), vec![ghost.clone()]);
    let error = run.try_say(Event::GateStarted { gate: 1, level: 0, onto, wps }).unwrap_err();
    assert!(error.to_string().contains("the work package `ghost`"));
    run.gate_started(0, &["a"]).gate_merged();
    let ran = crate::support::story::ran("true", OK);
    let error = run.try_say(Event::GateDodRan { gate: 1, wp: ghost, ran }).unwrap_err();
    assert!(error.to_string().contains("the work package `ghost`"));
}

#[test]
fn a_run_is_created_once_and_first_and_approved_for_its_own_plan() {
    let story = Story::created(Mode::Independent, vec![level("all", vec![shape("a")])]);
    let first = story.records[0].clone();
    let second = story.next(Event::EngineStarted { pid: 1, sop: "x".to_owned() });
    assert_eq!(
        Ledger::open(&second).unwrap_err().to_string(),
        "record 2: `engine_started` where the run is not created yet"
    );
    assert_eq!(
        Ledger::fold([&first, &story.next(first.event.clone())]).unwrap_err().to_string(),
        "record 2: `run_created` where the run exists already"
    );
    assert!(Ledger::fold(std::iter::empty()).unwrap_err().to_string().contains("end of journal"));
    let by = sop::event::ApprovedBy::Flag;
    let other = Event::RunApproved {
        by,
        plan_sha256: "00".repeat(32),
        covers: Covers::default(),
        to: None,
    };
    let mut run = story.clone();
    assert_eq!(
        run.try_say(other).unwrap_err().to_string(),
        "record 2: `run_approved` cannot happen to the run while it is one of another plan"
    );
    assert!(!run.ledger.approved);
}

#[test]
fn a_gap_and_a_repetition_are_refused() {
    let run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    let mut gap = run.records.clone();
    gap.remove(1);
    assert_eq!(
        Ledger::fold(&gap).unwrap_err().to_string(),
        "record 3 follows record 1: the journal has a gap or a repetition"
    );
    let mut twice = run.records.clone();
    twice.insert(2, run.records[1].clone());
    assert!(matches!(
        Ledger::fold(&twice).unwrap_err(),
        LedgerError::Sequence { last: 2, found: 2 }
    ));
}
