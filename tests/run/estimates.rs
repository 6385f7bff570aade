//! What a run is likely to cost, as the runs before it did.

use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::written::{worker, wp};

/// Tells what it used as claude does: $0.50 and 100 tokens in the first run, $1.50 and 300 in the second.
const SCRIPT: &str = r#"
case $SOP_RUN in o-1) usd=0.5 tokens=90;; *) usd=1.5 tokens=290;; esac
echo '{"type":"system","subtype":"init","session_id":"s-'$$'","model":"m"}'
[ $SOP_WP = s ] || done_well
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s-'$$'","num_turns":1,"total_cost_usd":'$usd',"usage":{"input_tokens":'$tokens',"output_tokens":10}}'
"#;

fn rig(wps: &str) -> Rig {
    let tier = |name: &str| format!("[tiers.{name}]\nworker = \"pretender\"\n");
    let plan = format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n{}{}\
         [workers.pretender]\nagent = \"claude\"\nprogram = [\"sh\", \"worker.sh\"]\n{wps}\n",
        tier("standard"),
        tier("light"),
    );
    Rig::new(&plan, &[("worker.sh", &worker(SCRIPT))])
}

fn planned(rig: &Rig) -> Value {
    let said = rig.sop_ends(0, &["plan", "--json", "--no-dry-run"]);
    serde_json::from_str(&said.out).expect(&said.out)
}

#[test]
fn a_first_run_has_no_estimate() {
    let rig = rig(&wp("a", "tier = \"standard\""));
    let said = rig.sop_ends(0, &["plan", "--no-dry-run"]);
    assert!(said.out.contains("  estimate   no past runs\n"), "{}", said.out);
    assert!(!said.out.contains("    past runs"), "{}", said.out);
    let json = planned(&rig);
    assert_eq!((json.get("estimate"), json["stages"][0]["wps"][0].get("estimate")), (None, None));
}

#[test]
fn later_ones_have_that_of_their_tiers_archived_runs_included() {
    let rig = rig(&(wp("a", "tier = \"standard\"") + &wp("b", "tier = \"light\"")));
    let text = rig.plan_text();
    // Only `a` in the runs before: nothing is known of the tier of `b`.
    rig.write("plan.toml", text.split("\n[[wp]]\nid = \"b\"").next().unwrap());
    rig.apply(0);
    rig.apply(0);
    rig.sop_ends(0, &["run", "archive", "o-1"]);
    rig.write("plan.toml", &text);
    let json = planned(&rig);
    let wps = &json["stages"][0]["wps"];
    let usd = json!({ "of": 2, "low": 0.5, "median": 1.0, "high": 1.5 });
    let tokens = json!({ "of": 2, "low": 100, "median": 200, "high": 300 });
    assert_eq!((&wps[0]["estimate"]["usd"], &wps[0]["estimate"]["tokens"]), (&usd, &tokens));
    assert_eq!(wps[0]["estimate"]["took"]["of"], 2);
    assert_eq!(wps[1].get("estimate"), None);
    let run = &json["estimate"];
    assert_eq!(
        (&run["of"], &run["usd"]["median"], &run["usd"]["of"]),
        (&1.into(), &1.0.into(), &1.into())
    );
    let said = rig.sop_ends(0, &["plan", "--no-dry-run"]).out;
    assert!(said.contains("$1.00 ($0.50 to $1.50), 200 tokens (100 to 300), "), "{said}");
    assert!(said.contains("; 2 WPs with standard\n"), "{said}");
    assert!(said.contains("    past runs  none with light\n"), "{said}");
    assert!(said.contains("; of 1 of 2 WPs\n"), "{said}");
}

/// A scout that ran on a tier says nothing of what a change on it takes.
#[test]
fn a_change_is_not_estimated_by_what_scouts_used() {
    let scout =
        "[[wp]]\nid = \"s\"\nkind = \"scout\"\ntier = \"standard\"\nbrief_text = \"Look.\"\n";
    let rig = rig(scout);
    rig.apply(0);
    let json = planned(&rig);
    assert_eq!(json["stages"][0]["wps"][0]["estimate"]["usd"]["of"], 1, "a scout is: {json:#}");
    let text = rig.plan_text();
    rig.write("plan.toml", &(text.replace(scout, "") + &wp("b", "tier = \"standard\"")));
    let json = planned(&rig);
    assert_eq!(json["stages"][0]["wps"][0].get("estimate"), None, "{json:#}");
}

#[test]
fn what_was_given_up_says_nothing() {
    let rig = rig(&wp("a", "tier = \"standard\""));
    rig.write("worker.sh", "echo no; exit 3\n");
    rig.git(&["commit", "--quiet", "--all", "-m", "a worker that fails"]);
    rig.sop(&["apply", "--yes"]);
    rig.sop_ends(0, &["cancel", "a"]);
    rig.sop(&["resume"]);
    assert_eq!(planned(&rig).get("estimate"), None);
}
