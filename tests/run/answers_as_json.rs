//! What the verbs that decide, and those that look, answer to programs.

use serde_json::{Value, json};
use sop::ledger::Phase;

use crate::support::rig::{Engine, Rig};
use crate::support::written::{plan, worker, wp};

/// Works until it is let go, and `b` asks.
const WAITS: &str = "[ $SOP_WP = a ] && until [ -e $MARKS/go ]; do sleep 0.02; done
[ $SOP_WP/$SOP_ATTEMPT = b/1 ] && {
    printf '```question\\nKeep it?\\ndefault: yes\\n```\\n' > \"$SOP_REPORT\"; exit; }
done_well";

/// The one document on standard output.
fn of(rig: &Rig, code: i32, args: &[&str]) -> Value {
    let said = rig.sop_ends(code, &[args, &["--json"]].concat());
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}

/// A run of `a` at work, `b` that asks, and `c` that a person is to review, each as far as it gets.
fn at_work() -> (Rig, Engine) {
    let text = plan(&(wp("a", "") + &wp("b", "") + &wp("c", "review = \"human\"")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(WAITS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("b", "asking", |wp| wp.phase == Phase::AwaitingAnswer);
    rig.until_wp("c", "awaiting its review", |wp| wp.phase == Phase::AwaitingReview);
    rig.until_wp("a", "at work", |wp| wp.phase == Phase::Working);
    (rig, engine)
}

fn ends(rig: &Rig, engine: Engine, code: i32) {
    std::fs::write(rig.mark("go"), "").expect("a mark");
    assert_eq!(engine.wait(), code, "{}", rig.engine_said());
    rig.until_quiet();
}

fn asked(what: &str, wps: &[&str], taken_by: &str) -> Value {
    json!({ "run": "o-1", "wps": wps, "asked": what, "taken_by": taken_by })
}

#[test]
fn what_is_asked_of_an_engine_at_work() {
    let (rig, engine) = at_work();
    let note = of(&rig, 0, &["note", "The port is 8081."]);
    assert_eq!(note, asked("note", &[], "engine"));
    let mut answer = asked("answer", &["b"], "engine");
    answer["question"] = 1.into();
    assert_eq!(of(&rig, 0, &["answer", "q1", "no"]), answer);
    let review = of(&rig, 0, &["review", "c", "--approve"]);
    assert_eq!(review, asked("review", &["c"], "engine"));
    assert_eq!(of(&rig, 0, &["cancel", "a"]), asked("cancel", &["a"], "engine"));
    rig.until_wp("a", "cancelled", |wp| wp.phase == Phase::Cancelled);
    ends(&rig, engine, 3);
}

#[test]
fn what_waits_for_the_next_engine() {
    let rig =
        Rig::new(&plan(&wp("a", "review = \"human\"")), &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    assert_eq!(of(&rig, 0, &["note", "It is so."]), asked("note", &[], "next_resume"));
    assert_eq!(of(&rig, 0, &["cancel", "--all"]), asked("cancel", &["a"], "next_resume"));
    rig.sop_ends(3, &["resume"]);
    assert_eq!(of(&rig, 0, &["retry", "a"]), asked("retry", &["a"], "next_resume"));
}

#[test]
fn what_is_refused_is_no_document() {
    let (rig, engine) = at_work();
    for args in [
        &["interrupt", "a", "--say", "Stop it."][..],
        &["review", "a", "--approve"],
        &["answer", "q7", "no"],
        &["retry", "c"],
        &["note", " "],
    ] {
        let said = rig.sop_ends(2, &[args, &["--json"]].concat());
        assert_eq!(said.out, "", "{args:?}");
        assert!(said.err.starts_with("error: "), "{args:?}: {}", said.err);
    }
    rig.sop_ends(0, &["cancel", "--all"]);
    ends(&rig, engine, 3);
}

#[test]
fn a_word_that_an_agent_takes() {
    let agent = r#"
echo '{"type":"system","subtype":"init","session_id":"5e55","model":"m"}'
case "$*" in
*--resume=5e55*) echo good > a.txt ;;
*) echo x > $MARKS/working; sleep 600 & wait ;;
esac
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","num_turns":1}'
"#;
    let text = plan(&wp("a", "")).replace(
        "command = [\"sh\", \"worker.sh\"]",
        "agent = \"claude\"\nprogram = [\"sh\", \"agent.sh\"]",
    );
    let rig = Rig::new(&text, &[("agent.sh", agent)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("working", 1);
    let told = of(&rig, 0, &["interrupt", "a", "--say", "Go on."]);
    assert_eq!(told, json!({ "run": "o-1", "wp": "a", "attempt": 1, "told": "taken" }));
    ends(&rig, engine, 0);
}

#[test]
fn what_waits_for_a_person() {
    let (rig, engine) = at_work();
    let inbox = of(&rig, 0, &["inbox"]);
    let items = inbox.as_array().expect("a list");
    let item = |wp: &str| items.iter().find(|item| item["wp"] == wp).expect(wp);
    assert_eq!(items.len(), 2, "{inbox}");
    let (question, review) = (item("b"), item("c"));
    assert_eq!((&question["kind"], &question["id"]), (&json!("question"), &json!("q1")));
    assert_eq!((&question["text"], &question["default"]), (&json!("Keep it?"), &json!("yes")));
    assert_eq!((&review["kind"], &review["id"]), (&json!("review"), &Value::Null));
    for item in items {
        assert_eq!(item["run"], "o-1");
        assert!(item["since"].as_str().is_some_and(|at| at.ends_with('Z')), "{item}");
        assert!(item["command"].as_str().is_some_and(|it| it.starts_with("sop ")), "{item}");
    }
    assert_eq!(of(&rig, 0, &["inbox", "--run", "o-1"]), inbox);
    rig.sop_ends(0, &["cancel", "--all"]);
    ends(&rig, engine, 3);
}

#[test]
fn what_all_runs_together_say() {
    let script =
        worker("[ $SOP_ROUND = 1 ] && [ $SOP_WP = a ] && { echo bad > a.txt; exit; }\ndone_well");
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &script)]);
    rig.apply(0);
    let stats = of(&rig, 0, &["stats"]);
    let numbers = ["runs", "wps", "through", "escalated", "questions", "changes_requested"];
    assert_eq!(numbers.map(|name| stats[name].as_u64()), [1, 2, 2, 0, 0, 0].map(Some), "{stats}");
    let tier = &stats["tiers"][0];
    let numbers = ["first_rounds", "first_passed", "rounds", "passed", "handed_on", "escalated"];
    assert_eq!(numbers.map(|name| tier[name].as_u64()), [2, 1, 3, 2, 0, 0].map(Some), "{stats}");
    assert_eq!(
        (&tier["tier"], &stats["workers"][0]["worker"]),
        (&json!("standard"), &json!("script"))
    );
}

#[test]
fn what_a_logged_command_came_to() {
    let rig = Rig::new(&plan(&wp("a", "")), &[]);
    rig.touches(&["out.log"], "the log that was asked for");
    let line = "echo one; echo two >&2; exit 7";
    let said = rig.sop_ends(7, &["run-logged", "--json", "out.log", "--", "sh", "-c", line]);
    let told: Value = serde_json::from_str(&said.out).expect("one document");
    assert_eq!(told, json!({ "exit": 7, "lines": 2, "log": "out.log" }));
    let log = std::fs::read_to_string(rig.repo().join("out.log")).expect("a log");
    assert_eq!(log.lines().count(), 2, "{log}");
}
