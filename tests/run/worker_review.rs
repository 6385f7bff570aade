//! Workers as reviewers: what they say, how it is put together, and what becomes of those who say
//! nothing, say it in no form, or do more than read.

use sop::ledger::Phase;
use sop::model::verdict::Judgment;

use crate::support::rig::Rig;

/// One WP on two lenses; `more` is put into the tier of the reviewers.
fn plan(block_from: &str, more: &str) -> String {
    format!(
        r#"version = 1
[plan]
name = "review"
goal = "Be judged."
base = "main"
tier = "standard"
[tiers.standard]
worker = "script"
[tiers.reviewers]
worker = "judge"
{more}
[tiers.others]
worker = "other"
[workers.script]
command = ["sh", "worker.sh"]
[workers.judge]
command = ["sh", "judge.sh"]
[workers.other]
command = ["sh", "other.sh"]
[review]
tier = "reviewers"
lenses = ["quality", "tests"]
block_from = "{block_from}"
[[wp]]
id = "a"
whitelist = ["a.txt"]
dod = ["test -s a.txt"]
brief_text = "Make a.txt, and make it good."
"#
    )
}

const WORKER: &str = r#"
echo "$SOP_ROUND" >> "$MARKS/rounds"
cp "$SOP_BRIEF" "$MARKS/brief.$SOP_ROUND"
echo "round $SOP_ROUND" > a.txt
"#;

const OTHER: &str = r#"
echo "other $SOP_LENS" >> "$MARKS/asked"
echo '{"verdict": "approve"}'
"#;

/// A rig whose reviewers do as `judge` says; each leaves a mark first.
fn rig(block_from: &str, more: &str, judge: &str) -> Rig {
    let judge = format!("echo \"$SOP_LENS/$SOP_ROUND\" >> \"$MARKS/asked\"\n{judge}\n");
    let files = [("worker.sh", WORKER), ("judge.sh", &judge), ("other.sh", OTHER)];
    Rig::new(&plan(block_from, more), &files)
}

fn asked(rig: &Rig) -> Vec<String> {
    let mut lines = rig.lines("asked");
    lines.sort();
    lines
}

const APPROVES: &str = r#"echo '{"verdict": "approve", "summary": "fine"}'"#;

#[test]
fn everybody_approves_and_the_work_is_committed() {
    let rig = rig("minor", "", &format!("cat > \"$MARKS/told.$SOP_LENS\"\n{APPROVES}"));
    rig.apply(0);
    assert_eq!(asked(&rig), ["quality/1", "tests/1"]);
    let wp = rig.wp("a");
    assert_eq!(wp.phase, Phase::Passed);
    assert_eq!(wp.reviewed_by.as_deref(), Some("reviewers (quality, tests)"));
    let verdict = wp.verdict.expect("a verdict");
    assert_eq!(
        (verdict.verdict, verdict.summary.as_str()),
        (Judgment::Approve, "quality: fine\ntests: fine")
    );
    let told = rig.lines("told.quality").join("\n");
    for part in [
        "# Review contract",
        "is it right, and is it good work?",
        "Make a.txt, and make it good.",
        "+round 1",
        "`test -s a.txt`: exit 0",
        "\"verdict\": \"request_changes\"",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(rig.lines("told.tests").join("\n").contains("would the checks notice?"));
    assert_eq!(rig.of_run("verdicts/a-1.quality.md").trim_end(), told);
    for file in ["verdicts/a-1.quality.json", "verdicts/a-1.tests.json", "verdicts/a-1.json"] {
        assert!(rig.of_run(file).contains("\"approve\""), "{file}");
    }
    rig.until_quiet();
    // What they used is told as reviews.
    let costs = rig.wp("a").costs;
    let reviews = costs.iter().find(|cost| cost.tier.as_str() == "reviewers").expect("a line");
    assert_eq!((reviews.sessions, reviews.spoilt), (2, 0));
}
