//! What `sop status` says beyond the ledger: what is waited for and until when, what reviewers are in trouble
//! with, what was asked and waits for the next engine; and what the statistics make of reviewers.

use std::fmt::Write as _;

use serde_json::Value;
use sop::schemas;

use crate::support::rig::{Rig, until};
use crate::support::written::{plan, worker, wp};

const REVIEWS: &str = "[tiers.lead]\nworker = \"judge\"\n[workers.judge]\ncommand = [\"sh\", \"judge.sh\"]\n\
                       [review]\ntier = \"lead\"\nlenses = [\"quality\"]\n";

const APPROVES: &str = "echo '{\"verdict\": \"approve\"}'";

/// `judge` reviews the one package, which is done well.
fn reviewed(reviews: &str, judge: &str) -> Rig {
    let text = plan(&(reviews.to_owned() + &wp("a", "tier = \"standard\"")));
    Rig::new(&text, &[("worker.sh", &worker("done_well")), ("judge.sh", judge)])
}

/// `sop status --json`, held to its schema.
fn status(rig: &Rig) -> Value {
    let said = rig.sop_ends(0, &["status", "--json"]);
    let value: Value = serde_json::from_str(&said.out).expect("JSON");
    let schema = (schemas::find("status").expect("it is published").text)();
    let schema: Value = serde_json::from_str(&schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong = validator.iter_errors(&value).fold(String::new(), |mut text, error| {
        let _ = writeln!(text, "{error}");
        text
    });
    assert_eq!(wrong, "");
    value
}

#[test]
fn a_start_that_waits_and_what_was_noted_are_in_the_json() {
    let later = "[ -e $MARKS/go ] || { printf '%s' '{\"fault\":{\"class\":\"rate_limit\",\"message\":\"slow down\",\
                 \"resets_at\":\"2099-01-01T00:00:00Z\"}}' > $SOP_TURN; exit 1; }\ndone_well";
    // An instant that far off is nobody's to wait for; an hour is.
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let later = later.replace("2099-01-01T00:00:00Z", &soon.to_string());
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(&later))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    until(|| {
        let value = status(&rig);
        match value["waits"].as_array().map(Vec::as_slice) {
            Some([wait]) => {
                assert_eq!((&wait["wp"], &wait["lens"]), (&"a".into(), &Value::Null));
                assert_eq!(
                    (&wait["tier"], &wait["worker"]),
                    (&"standard".into(), &"script".into())
                );
                assert_eq!(wait["why"], "slow down (rate_limit)");
                let until: jiff::Timestamp =
                    wait["until"].as_str().expect("text").parse().expect("an instant");
                assert!(soon.duration_since(until).as_millis().abs() < 1000, "{until} {soon}");
                assert_eq!(value["held"], true);
                Ok(())
            }
            _ => Err(value.to_string()),
        }
    });
    engine.signal(rustix::process::Signal::KILL);
    engine.wait();
    rig.sop_ends(0, &["note", "The port is 8081."]);
    rig.sop_ends(0, &["cancel", "a"]);
    let value = status(&rig);
    let noted = serde_json::json!([
        { "asked": "note", "wp": null, "question": null, "by": value["noted"][0]["by"] },
        { "asked": "cancel", "wp": "a", "question": null, "by": value["noted"][1]["by"] },
    ]);
    assert_eq!((&value["noted"], &value["held"]), (&noted, &false.into()));
    assert!(value["noted"][0]["by"].as_str().is_some_and(|by| !by.is_empty()));
    assert_eq!(value["run"], "o-1", "the state stands beside it as ever");
}

#[test]
fn a_question_whose_default_will_be_taken_is_a_wait() {
    let asks = "[ $SOP_ATTEMPT = 1 ] && { printf '```question\\nKeep it?\\ndefault: yes\\n```\\n' > \"$SOP_REPORT\"; exit; }\n\
                done_well";
    let head = "autonomy = \"defaults\"\ndecide_within = \"1h\"";
    let text = crate::support::written::with_head(head, &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(asks))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("a", "asking", |wp| wp.phase == sop::ledger::Phase::AwaitingAnswer);
    let value = status(&rig);
    let wait = &value["waits"][0];
    assert_eq!(
        (&wait["wp"], &wait["why"], &wait["tier"]),
        (&"a".into(), &"Keep it?".into(), &Value::Null)
    );
    rig.sop_ends(0, &["answer", "q1", "no"]);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    assert_eq!(status(&rig)["waits"], serde_json::json!([]));
}

#[test]
fn reviewers_that_wait_are_told_with_why_and_until_when() {
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let judge = format!(
        "printf '%s' '{{\"fault\":{{\"class\":\"rate_limit\",\"message\":\"slow down\",\"resets_at\":\"{soon}\"}}}}' > $SOP_TURN; exit 1"
    );
    let rig = reviewed(REVIEWS, &judge);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    let table = until_told(&rig, "for judge on lead: slow down (rate_limit)");
    assert!(table.contains("a reviewer for quality  waits until "), "{table}");
    let value = status(&rig);
    let wait = &value["waits"][0];
    assert_eq!((&wait["wp"], &wait["lens"]), (&"a".into(), &"quality".into()));
    assert_eq!((&wait["tier"], &wait["worker"]), (&"lead".into(), &"judge".into()));
    engine.signal(rustix::process::Signal::INT);
    engine.wait();
}

/// `sop status`, once it has this in it.
fn until_told(rig: &Rig, what: &str) -> String {
    let mut told = String::new();
    until(|| {
        told = rig.sop_ends(0, &["status"]).out;
        if told.contains(what) { Ok(()) } else { Err(told.clone()) }
    });
    told
}

#[test]
fn reviewers_at_work_tell_what_they_are_in_trouble_with() {
    let agent = REVIEWS.replace(
        "command = [\"sh\", \"judge.sh\"]",
        "agent = \"claude\"\nprogram = [\"sh\", \"judge.sh\"]",
    );
    let judge = r#"
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m"}'
echo '{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"error_status":529}'
until [ -e $MARKS/go ]; do sleep 0.05; done
echo '{"type":"result","subtype":"success","is_error":false,"result":"{\"verdict\": \"approve\"}","num_turns":1,"usage":{"input_tokens":20,"output_tokens":10}}'
"#;
    let whole = "[verify]\nreview_tier = \"lead\"\n[[stage]]\nname = \"one\"\n";
    for (more, key, who, wp) in [
        ("", "tier = \"standard\"", "a reviewer for quality", Value::from("a")),
        (
            whole,
            "review = \"none\"\nstage = \"one\"\ntier = \"standard\"",
            "reviewer of the whole",
            Value::Null,
        ),
    ] {
        let review = if more.is_empty() {
            agent.clone()
        } else {
            agent.split("[review]").next().expect("a part").to_owned()
        };
        let text = plan(&(review + more + &self::wp("a", key)));
        let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("judge.sh", judge)]);
        let engine = rig.start(&["apply", "--yes"]);
        rig.until_lines("starts", 1);
        let words = "the provider answered status 529; trying again (2 of 10)";
        let table = until_told(&rig, words);
        let line = table.lines().find(|line| line.contains(words)).expect("a line");
        assert!(line.contains(who) && line.contains("judge on lead said"), "{line}");
        let value = status(&rig);
        assert_eq!(
            (&value["troubles"][0]["wp"], &value["troubles"][0]["text"]),
            (&wp, &words.into())
        );
        std::fs::write(rig.mark("go"), "").expect("a mark");
        assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
        assert_eq!(status(&rig)["troubles"], serde_json::json!([]));
    }
}

#[test]
fn faults_of_reviewers_count_against_their_provider() {
    let fault = "printf '%s' '{\"fault\":{\"class\":\"provider\",\"message\":\"503\"}}' > $SOP_TURN; exit 1";
    for (does, what) in [
        (fault, "provider"),
        ("kill -9 $$", "killed"),
        ("exit 3", "failed"),
        ("echo hm", "no_verdict"),
    ] {
        let judge =
            format!("[ -e $MARKS/once ] && {{ {APPROVES}; exit; }}\n: > $MARKS/once\n{does}");
        let rig = reviewed(REVIEWS, &judge);
        rig.apply(0);
        let said = rig.sop_ends(0, &["stats", "--json"]);
        let stats: Value = serde_json::from_str(&said.out).expect("JSON");
        let judge =
            stats["workers"].as_array().expect("a list").iter().find(|it| it["worker"] == "judge");
        let judge = judge.expect("it is there");
        assert_eq!(
            (&judge["sessions"], &judge["spoilt"]),
            (&2.into(), &serde_json::json!({ what: 1 })),
            "{does}"
        );
        let text = rig.sop_ends(0, &["stats"]).out;
        assert!(text.contains(&format!("1 {what}")), "{text}");
    }
}
