//! What is no failure of the work: providers that are out, and what sessions used and may use.

use serde_json::Value;
use sop::event::Event;
use sop::ledger::Phase;
use sop::model::outcome::Check;
use sop::model::turn::FaultClass;

use crate::support::rig::{Rig, until};
use crate::support::written::{plan, with_head, worker, wp};

/// Two tiers with a worker each: `light` falls back on `standard`.
fn two_tiers(head: &str, wps: &str) -> String {
    let light = "[tiers.light]\nworker = \"cheap\"\nfallback = [\"standard\"]\n\
                 [workers.cheap]\ncommand = [\"sh\", \"worker.sh\"]\n";
    with_head(head, &(light.to_owned() + wps))
}

/// Leaves a turn with this in it, as an agent would.
fn turn(inside: &str) -> String {
    format!("printf '%s' '{{{inside}}}' > \"$SOP_TURN\"")
}

fn faults(rig: &Rig) -> Vec<(FaultClass, String)> {
    let fault = |record: sop::event::Record| match record.event {
        Event::AttemptEnded { fault: Some(fault), .. } => Some((fault.class, fault.message)),
        _ => None,
    };
    rig.records().into_iter().filter_map(fault).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_command_that_says_try_later_costs_no_round() {
    let script = "[ $SOP_ATTEMPT = 1 ] && { echo '429 slow down'; exit 75; }\ndone_well";
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(script))]);
    let said = rig.apply(0);
    assert!(said.out.contains("worker: 429 slow down (rate_limit)"), "{}", said.out);
    assert!(said.out.contains("next on standard in 1s"), "{}", said.out);
    assert_eq!(faults(&rig), [(FaultClass::RateLimit, "429 slow down".to_owned())]);
    let a = rig.wp("a");
    assert_eq!((a.attempt, a.rounds.len()), (2, 1));
    let times: Vec<_> = rig
        .records()
        .into_iter()
        .filter(|it| matches!(it.event, Event::AttemptEnded { .. } | Event::AttemptStarted { .. }))
        .map(|it| it.at.0)
        .collect();
    assert!(times[2].duration_since(times[1]).as_millis() >= 1000, "it waits: {times:?}");
}

#[test]
fn what_an_agent_at_work_is_in_trouble_with_is_in_the_status() {
    let plan = "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n\
                [tiers.standard]\nworker = \"pretender\"\n[workers.pretender]\nagent = \"codex\"\n\
                program = [\"sh\", \"worker.sh\"]\n";
    let script = r#"
echo '{"type":"error","message":"Reconnecting... 2/5 (503 Service Unavailable)"}'
while [ ! -e "$MARKS/go" ]; do sleep 0.1; done
done_well
echo '{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'"#;
    let rig = Rig::new(&(plan.to_owned() + &wp("a", "")), &[("worker.sh", &worker(script))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    until(|| {
        let status = rig.sop_ends(0, &["status"]).out;
        let line = status.lines().find(|line| line.contains("Reconnecting... 2/5 (503"));
        let line = line.ok_or_else(|| status.clone())?;
        match line.contains("a start 1") && line.contains("pretender on standard said") {
            true => Ok(()),
            false => Err(line.to_owned()),
        }
    });
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0);
    assert!(!rig.sop_ends(0, &["status"]).out.contains("Reconnecting"));
}

#[test]
fn a_provider_that_is_out_is_found_out_once() {
    let script = format!(
        "echo \"$SOP_WP $SOP_TIER\" >> $MARKS/tiers\n\
         [ $SOP_TIER = light ] && {{ {}; exit 1; }}\ndone_well",
        turn("\"fault\":{\"class\":\"credit\",\"message\":\"402 no money\"}")
    );
    let wps: String = ["a", "b", "c"].iter().map(|id| wp(id, "tier = \"light\"")).collect();
    let rig = Rig::new(&two_tiers("max_parallel = 1", &wps), &[("worker.sh", &worker(&script))]);
    let said = rig.apply(0);
    assert_eq!(rig.lines("tiers"), ["a light", "a standard", "b standard", "c standard"]);
    assert!(said.out.contains("402 no money (credit)"), "{}", said.out);
    assert!(rig.ledger().wps.iter().all(|wp| wp.rounds.len() == 1));
    let stats = json(&rig.sop_ends(0, &["stats", "--json"]).out);
    let cheap = stats["workers"].as_array().unwrap().iter().find(|it| it["worker"] == "cheap");
    assert_eq!(cheap.unwrap()["spoilt"]["credit"], 1);
    let text = rig.sop_ends(0, &["stats"]).out;
    assert!(text.contains("1 credit") && text.contains("3 of 3 (100%)"), "{text}");
}

#[test]
fn where_no_tier_is_left_a_person_reads_the_last_error_first() {
    let script = format!(
        "[ -e $MARKS/mended ] || {{ {}; exit 1; }}\ndone_well",
        turn("\"fault\":{\"class\":\"auth\",\"message\":\"401 bad key\"}")
    );
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(&script))]);
    rig.apply(5);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
    let status = rig.sop_ends(0, &["status"]).out;
    assert!(status.contains("a start 1  script on standard: 401 bad key (auth)"), "{status}");
    assert!(status.contains("out until somebody has acted"), "{status}");
    let inbox = rig.sop_ends(0, &["inbox"]).out;
    assert!(inbox.contains("o-1 a blocked") && inbox.contains("401 bad key"), "{inbox}");
    assert!(inbox.contains("sop resume o-1"), "{inbox}");
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.wp("a").rounds.len(), 1);
    assert!(!rig.sop_ends(0, &["status"]).out.contains("401 bad key"), "it is over");
}

#[test]
fn what_sessions_used_is_counted_by_wp_and_by_tier() {
    let script = format!(
        "[ $SOP_WP = b ] && {{ done_well; exit; }}\n{}\n\
         [ $SOP_ROUND = 1 ] && {{ echo bad > a.txt; exit; }}\ndone_well",
        turn(
            "\"usage\":{\"input\":12000,\"cached\":2000,\"output\":340},\"cost_usd\":0.05,\"turns\":3"
        )
    );
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &worker(&script))]);
    let said = rig.apply(0);
    assert!(said.out.contains("12.3k tokens, $0.0500"), "{}", said.out);
    for text in [&said.out, &rig.sop_ends(0, &["status"]).out] {
        let row: Vec<&str> = text.lines().filter(|line| line.contains("24.0k")).collect();
        // WP a, the tier, and all together.
        assert_eq!(row.len(), 3, "{text}");
        assert!(row.iter().all(|row| row.contains("$0.10") && row.contains("680")), "{text}");
    }
    let stats = json(&rig.sop_ends(0, &["stats", "--json"]).out);
    assert_eq!(stats["costs"]["wps"][0]["name"], "o-1/a");
    assert_eq!(stats["costs"]["total"]["cost_usd"], 0.1);
    assert_eq!(stats["tiers"][0]["first_rounds"], 2);
    assert_eq!(stats["tiers"][0]["first_passed"], 1);
    let state = json(&rig.sop_ends(0, &["status", "--json"]).out);
    assert_eq!(state["wps"][0]["costs"][0]["usage"]["input"], 24_000);
}

#[test]
fn a_plan_of_plain_commands_says_nothing_of_costs() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    let said = rig.apply(0);
    let all = said.out + &rig.sop_ends(0, &["status"]).out + &rig.sop_ends(0, &["stats"]).out;
    assert!(!all.contains("COST") && !all.contains('$') && !all.contains("token"), "{all}");
}

#[test]
fn a_budget_of_a_package_stops_its_next_session() {
    let script = format!(
        "{}\n[ -e $MARKS/better ] || {{ echo bad > a.txt; exit; }}\ndone_well",
        turn("\"cost_usd\":0.02")
    );
    let rig = Rig::new(&plan(&wp("a", "budget_usd = 0.01")), &[("worker.sh", &worker(&script))]);
    let said = rig.apply(3);
    assert!(said.out.contains("escalated: it has used up its budget of $0.0100"), "{}", said.out);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt), (Phase::Escalated, 1));
    assert!(rig.sop_ends(0, &["inbox"]).out.contains("sop retry a --run o-1"));
    // Whoever asks for another try grants the same again.
    std::fs::write(rig.mark("better"), "").unwrap();
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.wp("a").attempt, 2);
    // What the worker left wrong is its to mend; that nothing was left to pay it with is not.
    let brief = rig.of_run("briefs/a-2.md");
    let wrong = &a.rounds[0].problems[0];
    assert_eq!(wrong.check, Check::Dod);
    assert!(brief.contains(&wrong.message), "{brief}");
    assert!(!brief.contains("used up"), "{brief}");
}

#[test]
fn a_budget_of_the_run_stops_every_next_session() {
    let script = format!("{}\ndone_well", turn("\"usage\":{\"input\":100,\"output\":50}"));
    let text = with_head("max_parallel = 1\nbudget_tokens = 120", &(wp("a", "") + &wp("b", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(&script))]);
    let said = rig.apply(3);
    assert!(said.out.contains("the run has used up its budget of 120 tokens"), "{}", said.out);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.wp("b").phase, Phase::Escalated);
}
