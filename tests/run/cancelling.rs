//! A cancellation leaves nothing at work: whether an engine has the run, takes it up later, or none does, and
//! whoever it is that works.

use rustix::process::Signal;
use sop::event::{Event, Outcome};
use sop::ledger::Phase;

use crate::support::rig::{Engine, Rig, until};
use crate::support::written::{plan, with_head, worker, wp};

/// Hears nothing but KILL, and so does its child, which is in a session of its own.
const DEAF: &str = "trap '' TERM INT HUP; (setsid sh -c \"trap '' TERM; while :; do sleep 0.05; done\" &)\n\
                    echo $$ >> $MARKS/deaf; while :; do sleep 0.05; done";

fn killed(engine: Engine) {
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
}

/// Nothing but a holder on its way out is alive.
fn nothing_lives(rig: &Rig) {
    let left: Vec<_> =
        rig.processes().into_iter().filter(|(_, line)| !line.contains("__hold")).collect();
    assert!(left.is_empty(), "{left:?}");
    rig.until_quiet();
}

/// Two lenses, whose reviewers do as `judge` says.
fn reviewed(judge: &str) -> Rig {
    let text = "version = 1\n[plan]\nname = \"o\"\ngoal = \"Be judged.\"\nbase = \"main\"\ntier = \"standard\"\n\
         [tiers.standard]\nworker = \"script\"\n[tiers.reviewers]\nworker = \"judge\"\ngrace = \"300ms\"\n\
         [workers.script]\ncommand = [\"sh\", \"worker.sh\"]\n[workers.judge]\ncommand = [\"sh\", \"judge.sh\"]\n\
         [review]\ntier = \"reviewers\"\nlenses = [\"quality\", \"tests\"]\n"
        .to_owned()
        + &wp("a", "");
    let judge = format!("echo \"$SOP_LENS\" >> \"$MARKS/asked\"\n{judge}\n");
    Rig::new(&text, &[("worker.sh", &worker("done_well")), ("judge.sh", &judge)])
}

fn short_grace(text: &str) -> String {
    text.replace("worker = \"script\"\n", "worker = \"script\"\ngrace = \"300ms\"\n")
}

#[test]
fn without_an_engine_a_worker_that_does_not_listen_is_gone_before_it_is_said() {
    let script = worker(&format!("[ $SOP_ATTEMPT = 1 ] || {{ done_well; exit; }}\n{DEAF}"));
    let rig = Rig::new(&short_grace(&plan(&wp("a", ""))), &[("worker.sh", &script)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("deaf", 1);
    killed(engine);
    let said = rig.sop_ends(0, &["cancel", "a"]);
    assert!(said.out.contains("nothing of it is alive"), "{}", said.out);
    nothing_lives(&rig);
    rig.sop_ends(3, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
}

#[test]
fn without_an_engine_reviewers_are_gone_too() {
    let rig = reviewed(DEAF);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("deaf", 2);
    killed(engine);
    rig.sop_ends(0, &["cancel", "a"]);
    nothing_lives(&rig);
    rig.sop_ends(3, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    assert!(!rig.wp("a").review.is_at_work());
    assert_eq!(rig.lines("asked").len(), 2, "nobody is asked again");
}

#[test]
fn without_an_engine_checks_and_the_reviewer_of_the_whole_are_gone_too() {
    let check = "[ -e a.txt ] || exit 1; echo $$ >> $MARKS/deaf; trap '' TERM; while :; do sleep 0.05; done\n";
    let text = plan(&wp("a", "")).replace("grep -q good a.txt", "sh check.sh");
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("check.sh", check)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("deaf", 1);
    killed(engine);
    rig.sop_ends(0, &["cancel", "--all"]);
    nothing_lives(&rig);

    let verify = "[verify]\nreview_tier = \"lead\"\n[tiers.lead]\nworker = \"judge\"\ngrace = \"300ms\"\n\
                  [workers.judge]\ncommand = [\"sh\", \"judge.sh\"]\n[[stage]]\nname = \"one\"\n";
    let text = with_head("tier = \"standard\"", &[verify, &wp("a", "stage = \"one\"")].concat());
    let judge =
        format!("[ -e $MARKS/go ] && {{ echo '{{\"verdict\": \"approve\"}}'; exit; }}\n{DEAF}\n");
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("judge.sh", &judge)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("deaf", 1);
    killed(engine);
    let said = rig.sop_ends(2, &["cancel", "--all"]);
    assert!(said.err.contains("still at work on the whole was ended"), "{}", said.err);
    nothing_lives(&rig);
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

/// Leaves the request while its engine is there and cannot take it.
fn asked_of_a_dead_engine(rig: &Rig, engine: Engine) {
    engine.signal(Signal::STOP);
    let said = rig.sop_ends(0, &["cancel", "a"]);
    assert!(said.out.contains("the engine at work takes it"), "{}", said.out);
    killed(engine);
}

#[test]
fn the_next_engine_takes_up_what_it_is_to_cancel_and_ends_it() {
    for (rig, deaf) in [
        (Rig::new(&short_grace(&plan(&wp("a", ""))), &[("worker.sh", &worker(DEAF))]), 1),
        (reviewed(DEAF), 2),
    ] {
        let engine = rig.start(&["apply", "--yes"]);
        rig.until_lines("deaf", deaf);
        asked_of_a_dead_engine(&rig, engine);
        assert!(rig.processes().len() > deaf, "they outlive their engine");
        rig.sop_ends(3, &["resume"]);
        nothing_lives(&rig);
        assert_eq!(rig.wp("a").phase, Phase::Cancelled);
        let ended = rig.count(|event| {
            matches!(event, Event::AttemptEnded { .. } | Event::ReviewerEnded { .. })
        });
        assert!(ended >= deaf, "what they came to is told: {:?}", rig.records());
        assert_eq!(rig.lines("deaf").len(), deaf, "nothing is begun");
    }
}

#[test]
fn what_has_not_begun_is_not_begun_to_be_ended() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    let scout = Rig::copy_of(&rig);
    scout.apply(0);
    let begins = |event: &Event| matches!(event, Event::AttemptStarted { .. });
    let at = scout.records().iter().position(|record| begins(&record.event)).expect("one") + 1;
    let fault = format!("kill:{at}");
    let said = rig.sop_with(&[("SOP_FAULT", &fault)], &["apply", "--yes"]);
    assert_eq!(said.code, 256, "{}", said.err);
    assert_eq!(rig.wp("a").phase, Phase::Working);
    rig.sop_ends(0, &["cancel", "a"]);
    rig.sop_ends(3, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    assert_eq!(rig.lines("starts"), Vec::<String>::new());
}

#[test]
fn a_cancellation_is_not_lost_with_the_engine_that_was_at_it() {
    let text = short_grace(&plan(&wp("a", ""))).replace("300ms", "20s");
    let rig = Rig::new(&text, &[("worker.sh", &worker(DEAF))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("deaf", 1);
    rig.sop_ends(0, &["cancel", "a"]);
    rig.until_cancelled("a");
    killed(engine);
    rig.signal_holder("a", Signal::KILL);
    rig.sop_ends(3, &["resume"]);
    nothing_lives(&rig);
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    assert_eq!(rig.lines("starts"), ["a/1"]);
}

#[test]
fn who_names_no_wp_is_asked_or_has_to_say_all() {
    let text =
        with_head("max_parallel = 1", &[wp("a", "review = \"human\""), wp("b", "")].concat());
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    let said = rig.sop_ends(2, &["cancel"]);
    assert!(said.err.contains("`o-1` has `a`") && said.err.contains("--all"), "{}", said.err);
    assert!(rig.sop_ends(2, &["cancel", "a", "--all"]).err.contains("cannot be used with"));
    let question = "Cancel all of `o-1` that is not done: `a`? [y/N] ";
    let (code, screen) = rig.types("n\r", question, &["cancel"]);
    assert!(code == 4 && screen.contains("nothing was cancelled"), "{code}: {screen}");
    let (code, screen) = rig.types("\u{3}", question, &["cancel"]);
    assert_eq!(code, 130, "{screen}");
    rig.sop_ends(4, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::AwaitingReview);
    let (code, screen) = rig.types("y\r", question, &["cancel"]);
    assert!(code == 0 && screen.contains("cancel a: noted"), "{code}: {screen}");
    until(|| match rig.sop(&["resume"]).code {
        3 => Ok(()),
        code => Err(format!("{code}")),
    });
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    assert_eq!(rig.wp("b").phase, Phase::Passed);
}
