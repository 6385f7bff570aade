//! Walks at random: whatever the ledger says may come next may come next, wherever that leads; and
//! from wherever that is, a run that is left to itself comes to an end.

use proptest::prelude::*;
use sop::event::{Asked, Event, LevelShape, Outcome, Record, WpShape};
use sop::ledger::{
    Fork, GatePhase, LeadAsks, Ledger, NextAttempt, NextGate, Phase, WpState, judge, next_attempt,
};
use sop::model::outcome::{Check, Class, DodClass, End, Problem};
use sop::model::plan::{Kind, Mode};
use sop::model::time::Length;
use sop::model::turn::{Fault, FaultClass};

use crate::support::samples;
use crate::support::story::{
    FAILS, OK, Story, after, after_stage, attempt_ended, candidates, commit, level, ran, shape,
    tier, tree, with_workers, worker_of, wp_id,
};

fn staged() -> Vec<LevelShape> {
    let light = WpShape { tier: tier("light"), ..shape("a") };
    let scout = WpShape { kind: Kind::Scout, dods: 0, ..shape("scout") };
    let reviewed = WpShape { reviewed: true, ..shape("b") };
    let bare = WpShape { dods: 0, rounds: 1, ..after("d", &["a"]) };
    vec![
        level("one", vec![light, scout, reviewed]),
        level("two", vec![after("c", &["a", "scout"]), bare]),
        level("three", vec![after_stage("e", "two")]),
    ]
}

fn independent() -> Vec<LevelShape> {
    let reviewed = WpShape { reviewed: true, ..shape("b") };
    vec![level("all", vec![shape("a"), reviewed, WpShape { dods: 0, ..shape("c") }])]
}

/// Everything that an engine, a worker or a person could make of the state.
fn moves(run: &Story) -> Vec<Event> {
    let ledger = &run.ledger;
    if ledger.outcome.is_some() {
        let mut moves = vec![Event::EngineStarted { pid: 1, sop: "0.1.0".to_owned() }];
        moves.extend(retries(ledger));
        return moves;
    }
    let mut moves: Vec<Event> =
        ledger.startable().into_iter().flat_map(|wp| steps(run, wp)).collect();
    for wp in ledger.wps.iter().filter(|wp| wp.phase.awaits_person()) {
        moves.extend(decisions(run, wp));
    }
    let deferred = ledger.to_defer();
    moves.extend(deferred.into_iter().map(|(wp, because)| Event::WpDeferred { wp, because }));
    moves.extend(gate_steps(run));
    moves.extend(ledger.for_the_lead().flat_map(|wp| lead_steps(run, wp)));
    moves.extend(takes(ledger));
    for wp in ledger.wps.iter().filter(|wp| !wp.phase.got_through()) {
        if wp.phase != Phase::Cancelled {
            moves.push(Event::WpCancelled { wp: wp.id.clone(), by: "anna".to_owned() });
        }
    }
    moves.extend(retries(ledger));
    moves.push(Event::EngineStopped { why: sop::event::StopReason::Interrupted });
    moves.push(Event::EngineStarted { pid: 2, sop: "0.1.0".to_owned() });
    if ledger.wps.iter().all(|wp| wp.phase.settled()) && ledger.next_gate().is_none() {
        moves.push(Event::RunFinished { outcome: ledger.standing() });
    }
    moves
}

/// One of them. Most choices lead on, some take a bad turn, a few are anything at all: or no walk would
/// come far.
fn pick(run: &Story, choice: u16) -> Event {
    let (sort, n) = (choice % 16, usize::from(choice / 16));
    let ledger = &run.ledger;
    let awaited = ledger.wps.iter().filter(|wp| wp.phase.awaits_person());
    let turns: Vec<Vec<Event>> = ledger
        .startable()
        .into_iter()
        .map(|wp| steps(run, wp))
        .chain(awaited.map(|wp| decisions(run, wp)))
        .chain(ledger.for_the_lead().map(|wp| lead_steps(run, wp)))
        .chain(Some(gate_steps(run)))
        .filter(|turns| !turns.is_empty())
        .collect();
    if ledger.outcome.is_some() || turns.is_empty() || sort == 0 {
        let moves = moves(run);
        return moves[n % moves.len()].clone();
    }
    let turn = &turns[n % turns.len()];
    let which = if sort < 5 { n / turns.len() % turn.len() } else { 0 };
    turn[which].clone()
}

fn retries(ledger: &Ledger) -> Vec<Event> {
    let wps = ledger.wps.iter().filter(|wp| ledger.may_retry(wp));
    wps.map(|wp| Event::WpRetried { wp: wp.id.clone(), by: "anna".to_owned() }).collect()
}

/// WPs that the lead could take into its own hands.
fn takes(ledger: &Ledger) -> Vec<Event> {
    let free = |wp: &&WpState| {
        let there = wp.worktree.is_some() || ledger.may_begin(wp);
        wp.kind == Kind::Change && !wp.phase.got_through() && !wp.is_with_lead() && there
    };
    let wps = ledger.wps.iter().filter(free);
    wps.map(|wp| Event::WpTaken { wp: wp.id.clone(), by: "anna".to_owned() }).collect()
}

/// What an engine makes of what the lead wants.
fn lead_steps(run: &Story, wp: &WpState) -> Vec<Event> {
    let sample = |name: &str| {
        samples::of_wp(run, wp.id.as_str()).into_iter().find(|event| event.name() == name).unwrap()
    };
    let blocked = Event::WpBlocked {
        wp: wp.id.clone(),
        problem: Problem::new(Check::Scope, "disk full"),
        halt: false,
    };
    match wp.lead_asks() {
        Some(LeadAsks::Take) => {
            let gone = Event::WorktreeRemoved { wp: wp.id.clone(), salvage: None };
            vec![sample("wp_handed_over"), gone, blocked]
        }
        Some(LeadAsks::Back) => vec![sample("wp_released"), blocked],
        None if wp.rechecks() && wp.phase == Phase::Deciding => vec![sample("recheck_ended")],
        None => steps(run, wp),
    }
}

/// What a person makes of a WP that waits for one.
fn decisions(run: &Story, wp: &WpState) -> Vec<Event> {
    if wp.phase == Phase::Taken && wp.lead_asks().is_none() {
        let to_worker = wp.round.is_multiple_of(2);
        let id = || wp.id.clone();
        let by = || "anna".to_owned();
        return vec![
            Event::WpGivenBack { wp: id(), by: by() },
            Event::RecheckStarted { wp: id(), by: by(), to_worker },
        ];
    }
    if wp.is_with_lead() && wp.phase != Phase::AwaitingReview {
        return Vec::new();
    }
    if wp.phase == Phase::AwaitingReview {
        return reviews(run, wp);
    }
    let answered = |fork: &Fork| Event::Answered {
        wp: wp.id.clone(),
        number: fork.number,
        answer: "yes".to_owned(),
        by: "anna".to_owned(),
    };
    wp.unanswered().map(answered).collect()
}

fn reviews(run: &Story, wp: &WpState) -> Vec<Event> {
    let review = |verdict| Event::Reviewed {
        wp: wp.id.clone(),
        round: wp.round,
        by: "anna".to_owned(),
        verdict: sop::model::verdict::Verdict {
            verdict,
            summary: "so".to_owned(),
            findings: Vec::new(),
        },
    };
    let mut moves = vec![
        review(sop::model::verdict::Judgment::Approve),
        review(sop::model::verdict::Judgment::RequestChanges),
    ];
    if wp.phase == Phase::Reviewing {
        let tree = run.wp(wp.id.as_str()).tree.clone().unwrap();
        moves.push(Event::ReviewRequested { wp: wp.id.clone(), round: wp.round, tree });
    }
    moves
}

/// What may come of one WP's phase, good and bad.
fn steps(run: &Story, wp: &WpState) -> Vec<Event> {
    let id = wp.id.as_str();
    let outside = || vec![Problem::new(Check::Scope, "is outside the whitelist").about("x")];
    let scope = |left: &str, problems| Event::ScopeChecked {
        wp: wp.id.clone(),
        round: wp.round,
        pass: wp.pass + 1,
        tree: tree(left),
        against: commit("base"),
        changed: 2,
        problems,
        notes: Vec::new(),
        by_lead: Vec::new(),
    };
    let sample = |name: &str| {
        samples::of_wp(run, id).into_iter().find(|event| event.name() == name).unwrap()
    };
    let dod = |end: End| Event::DodRan {
        wp: wp.id.clone(),
        round: wp.round,
        pass: wp.pass,
        index: u32::try_from(wp.proved.len()).unwrap(),
        ran: ran("cargo test", end),
        tail: None,
    };
    let ended = |end: End| attempt_ended(wp.id.clone(), wp.attempt, ran("worker", end));
    let faulted = |class: FaultClass| {
        let mut event = ended(FAILS);
        if let Event::AttemptEnded { fault, .. } = &mut event {
            *fault = Some(Fault { class, message: "no".to_owned(), resets_at: None });
        }
        event
    };
    let asks = |answer: Option<&str>| {
        let mut event = ended(OK);
        if let Event::AttemptEnded { asks, .. } = &mut event {
            *asks = vec![Asked {
                question: "Keep it?".to_owned(),
                default: None,
                answer: answer.map(str::to_owned),
            }];
        }
        event
    };
    let blocked = |halt| Event::WpBlocked {
        wp: wp.id.clone(),
        problem: Problem::new(Check::Provision, "disk full"),
        halt,
    };
    let first = wp.spoilt.first().map_or(&wp.tier, |spoilt| &spoilt.tier);
    let tiers = [first.clone(), tier("spare")];
    let with_workers = with_workers(&tiers);
    let mut moves = match wp.phase {
        Phase::Waiting => return vec![sample("wp_started")],
        Phase::Provisioning => vec![sample("wp_provisioned")],
        Phase::Classing => vec![sample("dod_classed")],
        Phase::Briefing => vec![Event::RoundStarted {
            wp: wp.id.clone(),
            round: wp.round + 1,
            tier: wp.tier.clone(),
            brief: "briefs/x.md".to_owned(),
        }],
        Phase::Starting => {
            match next_attempt(wp, &candidates(&with_workers), &run.ledger.outages) {
                NextAttempt::Start { tier, .. } => vec![Event::AttemptStarted {
                    wp: wp.id.clone(),
                    round: wp.round,
                    attempt: wp.attempt + 1,
                    worker: worker_of(&tier),
                    tier,
                    guard: "0".to_owned(),
                    prompt: "briefs/x.md".to_owned(),
                    session: None,
                }],
                NextAttempt::GiveUp(_) => vec![blocked(false)],
            }
        }
        Phase::Working => [
            OK,
            FAILS,
            End::Exit { code: 127 },
            End::Signal { signal: 9 },
            End::Lost,
            End::Cancelled,
            End::Timeout { limit: Length::secs(9) },
        ]
        .map(ended)
        .into_iter()
        .chain([FaultClass::Credit, FaultClass::RateLimit, FaultClass::EmptyTurn].map(faulted))
        .chain([asks(None), asks(Some("yes"))])
        .collect(),
        Phase::Scoping => vec![
            scope("one", Vec::new()),
            scope(&format!("{id}{}", wp.round), Vec::new()),
            scope("one", outside()),
        ],
        Phase::Proving => vec![dod(OK), dod(OK), dod(FAILS)],
        Phase::Rechecking => {
            let same = wp.tree.clone().unwrap();
            let changed = scope(&format!("changed{}", wp.pass), Vec::new());
            let mut kept = changed.clone();
            if let Event::ScopeChecked { tree, .. } = &mut kept {
                *tree = same;
            }
            vec![kept, changed, scope("two", outside())]
        }
        Phase::Reviewing => reviews(run, wp),
        Phase::Deciding => {
            let (class, next) = judge(wp, Some(&tier("standard")));
            let problems = wp.problems.clone();
            vec![Event::RoundEnded { wp: wp.id.clone(), round: wp.round, class, problems, next }]
        }
        Phase::Committing if wp.kind == Kind::Scout => vec![sample("wp_reported")],
        Phase::Committing => vec![sample("wp_committed")],
        phase => panic!("{id} is startable while {phase:?}"),
    };
    if wp.phase != Phase::Starting {
        moves.push(blocked(moves.len() % 2 == 0));
    }
    moves
}

fn gate_steps(run: &Story) -> Vec<Event> {
    match run.ledger.next_gate() {
        None => Vec::new(),
        Some(NextGate::Ready { level, wps }) => vec![Event::GateStarted {
            gate: u32::try_from(run.ledger.gates.len()).unwrap() + 1,
            level,
            onto: run.ledger.trunk.clone(),
            wps,
        }],
        Some(NextGate::Open(gate)) => {
            let number = gate.gate;
            let failed = Event::GateFailed {
                gate: number,
                class: Class::Decision,
                wps: vec![gate.wps[0].clone()],
                problems: vec![Problem::new(Check::Merge, "conflicts").about("x")],
            };
            let halted = Event::GateHalted {
                gate: number,
                problem: Problem::new(Check::Merge, "disk full"),
            };
            match (gate.phase, gate.commit.clone()) {
                (GatePhase::Proving, Some(commit)) => vec![
                    Event::GateDodRan {
                        gate: number,
                        wp: gate.wps[0].clone(),
                        ran: ran("cargo test", OK),
                    },
                    Event::GatePassed { gate: number, commit },
                    failed,
                    halted,
                ],
                _ => vec![
                    Event::GateMerged {
                        gate: number,
                        branch: format!("sop-stage/settings-1/{number}"),
                        commit: commit(&format!("gate{number}")),
                        tree: tree("merged"),
                    },
                    failed,
                    halted,
                ],
            }
        }
    }
}

/// What must hold in every state, wherever the walk came from.
fn holds(run: &Story) {
    let ledger = &run.ledger;
    for wp in &ledger.wps {
        assert!(wp.round <= wp.last_round, "{}: round {} of {}", wp.id, wp.round, wp.last_round);
        // The lead's checks are counted on: no two of a round have one number.
        assert!(wp.pass <= wp.pass_from + 6, "{}: pass {}", wp.id, wp.pass);
        match wp.phase {
            Phase::Passed | Phase::Integrated => {
                assert!(wp.problems.is_empty(), "{} got through with problems", wp.id);
                assert_eq!(wp.commit.is_some(), wp.kind == Kind::Change, "{}", wp.id);
            }
            Phase::Escalated => assert!(!wp.carried().is_empty(), "{}: why?", wp.id),
            Phase::Blocked => assert!(wp.blocked_by.is_some(), "{}: by what?", wp.id),
            Phase::Deferred => assert!(wp.because.is_some(), "{}: because of whom?", wp.id),
            Phase::Waiting => assert!(wp.commit.is_none(), "{}", wp.id),
            _ => {}
        }
        if wp.phase == Phase::Integrated {
            let merged = |gate: &&sop::ledger::GateState| {
                gate.phase == GatePhase::Passed && gate.wps.contains(&wp.id)
            };
            assert_eq!(ledger.gates.iter().filter(merged).count(), 1, "{} is in twice", wp.id);
        }
        // Nobody is at work on what is not there yet.
        if let sop::event::After::Wps(needs) = &wp.after
            && wp.phase.active()
        {
            for need in needs {
                assert!(ledger.wp(need).unwrap().phase.got_through(), "{} without {need}", wp.id);
            }
        }
    }
    let open = ledger.gates.iter().filter(|gate| gate.phase.open()).count();
    assert!(open <= 1, "{open} gates are open");
    let passed = ledger.gates.iter().rev().find(|gate| gate.phase == GatePhase::Passed);
    let trunk = passed.and_then(|gate| gate.commit.clone()).unwrap_or(ledger.base.clone());
    assert_eq!(ledger.trunk, trunk);
}

/// Plays the run to its end with nothing going wrong any more.
fn play_out(run: &mut Story) -> Outcome {
    run.engine();
    for _ in 0..2000 {
        let ledger = &run.ledger;
        let deferred = ledger.to_defer();
        let good = ledger
            .startable()
            .first()
            .map(|wp| steps(run, wp).remove(0))
            .or_else(|| Some(lead_steps(run, ledger.for_the_lead().next()?).remove(0)))
            .or_else(|| {
                let mut awaited = ledger.wps.iter().filter(|wp| wp.phase.awaits_person());
                awaited.next().map(|wp| decisions(run, wp).remove(0))
            })
            .or_else(|| {
                gate_steps(run).into_iter().next().map(|event| match event {
                    // The commands have run often enough.
                    Event::GateDodRan { gate, .. } => {
                        let commit = ledger.gates.last().unwrap().commit.clone().unwrap();
                        Event::GatePassed { gate, commit }
                    }
                    event => event,
                })
            });
        match (deferred.into_iter().next(), good) {
            (Some((wp, because)), _) => run.say(Event::WpDeferred { wp, because }),
            (None, Some(event)) => run.say(event),
            (None, None) => {
                let outcome = run.ledger.standing();
                run.say(Event::RunFinished { outcome });
                return outcome;
            }
        };
    }
    panic!("the run does not come to an end");
}

fn walk(mode: Mode, levels: Vec<LevelShape>, choices: &[u16]) -> Story {
    let mut run = Story::new(mode, levels);
    for choice in choices {
        let event = pick(&run, *choice);
        run.say(event);
        holds(&run);
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_walk_leads_anywhere_impossible(
        staged_run in any::<bool>(),
        choices in prop::collection::vec(any::<u16>(), 1..160),
    ) {
        let (mode, levels) =
            if staged_run { (Mode::Staged, staged()) } else { (Mode::Independent, independent()) };
        let mut run = walk(mode, levels, &choices);

        // One fold, whoever makes it and from whatever it reads.
        prop_assert_eq!(&Ledger::fold(&run.records).unwrap(), &run.ledger);
        let lines: Vec<String> =
            run.records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
        let read: Vec<Record> =
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &run.records);
        let state = serde_json::to_value(&run.ledger).unwrap();
        let back: Ledger = serde_json::from_value(state.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&back).unwrap(), state);

        let outcome = play_out(&mut run);
        let through = run.ledger.wps.iter().all(|wp| wp.phase.got_through());
        prop_assert_eq!(outcome == Outcome::Done, through && !run.ledger.gate_failed());
        let merged = |wp: &WpState| wp.phase == Phase::Integrated || wp.kind == Kind::Scout;
        if outcome == Outcome::Done && staged_run {
            prop_assert!(run.ledger.wps.iter().all(merged), "done, and something is not merged");
        }
        for wp in &run.ledger.wps {
            prop_assert!(
                wp.phase.settled() || run.ledger.gate_failed() || run.ledger.halted,
                "{} was left {:?}", wp.id, wp.phase
            );
        }
    }
}

#[test]
fn walks_come_by_every_phase_of_wps_and_gates() {
    let mut seen = std::collections::BTreeSet::new();
    // Numbers that look random and are always the same.
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for n in 0..300 {
        let choices: Vec<u16> = (0..160)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 48) as u16
            })
            .collect();
        let (mode, levels) = match n % 3 {
            0 => (Mode::Independent, independent()),
            _ => (Mode::Staged, staged()),
        };
        let mut run = Story::new(mode, levels);
        for choice in choices {
            let event = pick(&run, choice);
            run.say(event);
            seen.extend(run.ledger.wps.iter().map(|wp| format!("{:?}", wp.phase)));
            seen.extend(run.ledger.gates.iter().map(|gate| format!("gate {:?}", gate.phase)));
        }
    }
    assert_eq!(seen.len(), 21 + 5, "{seen:?}");
}

#[test]
fn a_run_in_which_nothing_goes_wrong_gets_everything_through() {
    for (mode, levels) in [(Mode::Staged, staged()), (Mode::Independent, independent())] {
        let mut run = Story::new(mode, levels);
        assert_eq!(play_out(&mut run), Outcome::Done);
    }
}

#[test]
fn a_state_read_back_answers_the_same_questions() {
    let mut run = Story::new(Mode::Staged, staged());
    run.started("a").provisioned("a").classed("a", &[("true", DodClass::Green)]);
    let text = serde_json::to_string(&run.ledger).unwrap();
    let back: Ledger = serde_json::from_str(&text).unwrap();
    assert_eq!(back.wp(&wp_id("a")), run.ledger.wp(&wp_id("a")));
    let ids = |ledger: &Ledger| -> Vec<String> {
        ledger.startable().into_iter().map(|wp| wp.id.to_string()).collect()
    };
    assert_eq!(ids(&back), ids(&run.ledger));
}
