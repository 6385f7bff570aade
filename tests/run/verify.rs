//! The last look at the whole: both legs, what they come to, and that each is done once.

use sop::event::{Event, Outcome};
use sop::ledger::Phase;

use crate::support::rig::Rig;

/// Two WPs with a DoD that both have, and `verify` as the plan's table.
fn plan(verify: &str) -> String {
    format!(
        r#"version = 1
[plan]
name = "whole"
goal = "Hold together."
base = "main"
tier = "standard"
[tiers.standard]
worker = "script"
[tiers.lead]
worker = "judge"
[workers.script]
command = ["sh", "worker.sh"]
[workers.judge]
command = ["sh", "judge.sh"]
{verify}
[[stage]]
name = "one"
[[stage]]
name = "two"
[[wp]]
id = "a"
stage = "one"
whitelist = ["a.txt"]
dod = ["sh check.sh a", "sh check.sh both"]
brief_text = "Make a.txt."
[[wp]]
id = "b"
stage = "two"
whitelist = ["b.txt"]
dod = ["sh check.sh b", "sh check.sh both"]
brief_text = "Make b.txt."
"#
    )
}

const BOTH: &str = "[verify]\nreview_tier = \"lead\"\nlive = [\"sh live.sh\"]";
const WORKER: &str = "echo \"$SOP_WP\" >> \"$MARKS/starts\"\necho good > \"$SOP_WP.txt\"\n";
const APPROVES: &str = "echo '{\"verdict\": \"approve\", \"summary\": \"all there\"}'";

/// `live` and `judge` are what they do; both leave a mark first, and so does every check.
fn rig(verify: &str, live: &str, judge: &str) -> Rig {
    let live = format!("pwd >> \"$MARKS/live\"\n{live}\n");
    let judge = format!(
        "echo \"$SOP_LENS/$SOP_ROUND/$SOP_WP\" >> \"$MARKS/asked\"\ncat > \"$MARKS/told\"\n{judge}\n"
    );
    let check = "echo \"$1 $(pwd)\" >> \"$MARKS/checked\"\n";
    let files =
        [("worker.sh", WORKER), ("live.sh", &live), ("judge.sh", &judge), ("check.sh", check)];
    Rig::new(&plan(verify), &files)
}

/// Checks that ran in a worktree of a last look.
fn looked(rig: &Rig) -> Vec<String> {
    let lines = rig.lines("checked");
    let looks = lines.iter().filter(|line| line.contains("/verify-"));
    looks.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn both_legs_pass_and_every_check_ran_once_more() {
    let rig = rig(BOTH, "test -e a.txt && test -e b.txt", APPROVES);
    let said = rig.apply(0);
    assert_eq!(looked(&rig), ["a", "both", "b"], "each command once");
    assert_eq!(rig.lines("asked"), ["whole/0/"]);
    assert_eq!(rig.lines("live").len(), 1);
    for part in ["last look the whole holds", "DoD 3/3", "live 1/1", "approved by lead"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let told = rig.lines("told").join("\n");
    for part in [
        "# Review contract",
        "Make a.txt.",
        "Make b.txt.",
        "+good",
        "`sh live.sh`: exit 0",
        "\"verdict\": \"request_changes\"",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    rig.until_quiet();
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
    assert!(rig.of_run("verdicts/verify/1.json").contains("approve"));
    let status = rig.sop_ends(0, &["status"]);
    assert!(status.out.contains("last look the whole holds"), "{}", status.out);
    let look = rig.ledger().verify.expect("there was one");
    assert_eq!((look.costs.len(), look.costs[0].sessions), (1, 1));
}

#[test]
fn a_leg_that_the_plan_does_not_have_is_said() {
    let live = "[verify]\nlive = [\"sh live.sh\"]";
    let reviewed = "[verify]\nreview_tier = \"lead\"";
    for (verify, checkpoint, parts) in [
        ("", "no review leg", &["not in this plan: no review leg and no live leg"][..]),
        (live, "no review leg", &["no review leg in this plan", "live 1/1"]),
        (reviewed, "no live leg", &["no live leg in this plan", "approved by lead"]),
    ] {
        let rig = rig(verify, "true", APPROVES);
        let planned = rig.sop_ends(0, &["plan"]);
        assert!(planned.out.contains(checkpoint), "{}", planned.out);
        let said = rig.apply(0);
        let status = rig.sop_ends(0, &["status"]);
        for part in parts {
            assert!(said.out.contains(part), "{part}: {}", said.out);
            assert!(status.out.contains(part), "{part}: {}", status.out);
        }
    }
    // One that was not reached is no leg that passed.
    let rig = rig(BOTH, "true", APPROVES);
    let plan = plan(BOTH).replace("sh check.sh b\"", "false\"");
    rig.write("plan.toml", &plan);
    rig.git(&["commit", "--quiet", "-am", "second"]);
    let said = rig.apply(3);
    assert!(
        said.out.contains("not reached: neither its review leg nor its live leg"),
        "{}",
        said.out
    );
    assert_eq!(rig.lines("asked"), [""; 0]);
}

#[test]
fn what_is_wrong_with_the_whole_fails_the_run_and_is_named() {
    let bad = r#"echo '{"verdict": "request_changes", "findings": [{"file": "a.txt", "line": 1, "message": "a and b differ"}, {"file": "b.txt", "severity": "note", "message": "a remark"}]}'"#;
    let late = "test -e \"$MARKS/once\" && exit 1; case \"$1 $(pwd)\" in \"a \"*/verify-*) exit 1;; esac\n";
    let live =
        "[verify]\nreview_tier = \"lead\"\nlive = [{ run = \"sh live.sh\", timeout = \"1s\" }]";
    for (verify, does, judge, wrong) in [
        (BOTH, "echo no >&2; exit 1", APPROVES, &["sh live.sh", "end to end", "exit 1"][..]),
        (live, "sleep 60", APPROVES, &["sh live.sh", "ended at its timeout"]),
        (BOTH, "true", bad, &["whole: a and b differ", "a.txt:1"]),
        (BOTH, "true", "CHECK", &["sh check.sh a", "of a", "exit 1"]),
    ] {
        let rig = rig(verify, does, if judge == "CHECK" { APPROVES } else { judge });
        if judge == "CHECK" {
            rig.write("check.sh", late);
            rig.git(&["commit", "--quiet", "-am", "second"]);
        }
        let said = rig.apply(3);
        for part in wrong {
            assert!(said.out.contains(part), "{part}: {}", said.out);
        }
        assert!(said.out.contains("does not hold"), "{}", said.out);
        assert!(!said.out.contains("a remark"), "{}", said.out);
        let ledger = rig.ledger();
        assert_eq!(ledger.outcome, Some(Outcome::Failed));
        assert_eq!(rig.wp("b").phase, Phase::Integrated, "the work is where it was");
        assert_eq!(ledger.verify.expect("a look").problems.len(), 1);
        // Both legs were there all the same.
        assert_eq!((rig.lines("live").len(), rig.lines("asked").len()), (1, 1));
        assert!(said.out.contains("sop resume whole-1"), "{}", said.out);
        assert!(said.out.contains("git merge sop-stage/whole-1/2"), "{}", said.out);
        rig.until_quiet();
        assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn findings_below_the_severity_that_blocks_are_told_and_block_nothing() {
    let finds = |severity: &str| {
        format!(
            "echo '{{\"verdict\": \"request_changes\", \"findings\": [{{\"file\": \"a.txt\", \"line\": 1, \
             \"severity\": \"{severity}\", \"message\": \"a and b differ\"}}]}}'"
        )
    };
    let reviewed = "[review]\ntier = \"lead\"\nblock_from = \"major\"\n";
    let own = "[verify]\nreview_tier = \"lead\"\nblock_from = \"major\"";
    let as_reviews = format!("{reviewed}[verify]\nreview_tier = \"lead\"");
    let all = "[verify]\nreview_tier = \"lead\"\nblock_from = \"note\"";
    for (verify, severity, blocks) in [
        (own, "minor", false),
        (own, "major", true),
        (as_reviews.as_str(), "minor", false),
        (all, "note", true),
        ("[verify]\nreview_tier = \"lead\"", "minor", true),
        ("[verify]\nreview_tier = \"lead\"", "note", false),
    ] {
        // Of packages nobody finds anything.
        let judge =
            format!("[ $SOP_LENS = whole ] || {{ {APPROVES}; exit; }}\n{}", finds(severity));
        let rig = rig(verify, "true", &judge);
        let said = rig.apply(if blocks { 3 } else { 0 });
        let look = rig.ledger().verify.expect("a look");
        assert_eq!(look.held(), !blocks, "{verify} {severity}");
        let found = &look.verdict.expect("a verdict").findings;
        assert_eq!(found.len(), 1, "{verify} {severity}: it is recorded");
        assert!(rig.of_run("verdicts/verify/1.json").contains("a and b differ"));
        let status = rig.sop_ends(0, &["status"]);
        let told = match blocks {
            true => "whole: a and b differ: a.txt:1".to_owned(),
            false => format!("noted: whole: a and b differ: a.txt:1 ({severity})"),
        };
        for text in [&said.out, &status.out] {
            assert!(text.contains(&told), "{told}: {text}");
            assert_eq!(text.contains("approved by lead, who noted 1 finding"), !blocks, "{text}");
        }
    }
}

#[test]
fn what_was_wrong_around_it_can_be_looked_at_once_more() {
    let rig = rig(BOTH, "test -e \"$MARKS/service\"", APPROVES);
    rig.apply(3);
    std::fs::write(rig.mark("service"), "").expect("a mark");
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("live").len(), 2);
    assert_eq!(rig.lines("asked").len(), 2, "the whole is looked at, not a part");
    assert_eq!(rig.lines("starts"), ["a", "b"]);
    let look = rig.ledger().verify.expect("a look");
    assert_eq!((look.look, look.held(), look.costs[0].sessions), (2, true, 2));
    // A run that is over and holds is not looked at again.
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("asked").len(), 2);
}

#[test]
fn what_failed_is_named_though_its_reviewer_is_out() {
    let rig = rig(BOTH, "echo no answer from the service; exit 1", "exit 127");
    let said = rig.apply(5);
    let status = rig.sop_ends(0, &["status"]);
    for part in
        ["sh live.sh", "fails on the integrated tree (end to end)", "no reviewer could do it"]
    {
        assert!(said.out.contains(part), "{part}: {}", said.out);
        assert!(status.out.contains(part), "{part}: {}", status.out);
    }
}

#[test]
fn infrastructure_halts_it_and_it_goes_on_where_it_was() {
    let judge = format!("test -e \"$MARKS/mended\" || exit 127\n{APPROVES}");
    let rig = rig(BOTH, "true", &judge);
    let said = rig.apply(5);
    assert!(said.out.contains("no reviewer could do it"), "{}", said.out);
    std::fs::write(rig.mark("mended"), "").expect("a mark");
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("live").len(), 1, "what ran stands");
    assert_eq!(looked(&rig).len(), 3);

    let rig = self::rig("[verify]\nlive = [\"sh live.sh\", \"no-such-command\"]", "true", "");
    let said = rig.apply(1);
    assert!(said.err.contains("missing-program"), "before anybody is paid: {}", said.err);
    let missing = "[verify]\nlive = [\"sh live.sh\", \"no-such-command && true\"]";
    let rig = self::rig(missing, "true", "");
    let said = rig.apply(5);
    assert!(said.out.contains("no-such-command"), "{}", said.out);
    assert_eq!(rig.count(|event| matches!(event, Event::VerifyHalted { .. })), 1);
}

#[test]
fn a_reviewer_of_the_whole_that_changes_a_file_is_refused() {
    let rig = rig(BOTH, "true", &format!("echo x > new\n{APPROVES}"));
    let said = rig.apply(5);
    assert!(said.out.contains("changed what it only reads"), "{}", said.out);
    assert!(said.out.contains("new was changed"), "{}", said.out);
}

/// KILL after each record of the last look: nothing is done twice, and nothing is left out.
#[test]
fn killed_after_any_record_the_last_look_ends_as_if_nobody_had_disturbed_it() {
    let template = rig(BOTH, "true", APPROVES);
    let undisturbed = Rig::copy_of(&template);
    undisturbed.apply(0);
    let records = undisturbed.records();
    let first = records.iter().position(|r| matches!(r.event, Event::VerifyStarted { .. }));
    for record in first.expect("a last look")..=records.len() {
        let rig = Rig::copy_of(&template);
        let fault = format!("kill:{record}");
        let said = rig.sop_with(&[("SOP_FAULT", &fault)], &["apply", "--yes"]);
        if said.code != 0 {
            rig.sop_ends(0, &["resume"]);
        }
        assert_eq!(rig.lines("asked"), ["whole/0/"], "{fault}");
        let look = rig.ledger().verify.expect("a look");
        assert!(look.held() && look.look == 1 && look.ran.len() == 4, "{fault}: {look:?}");
        assert_eq!(look.costs[0].sessions, 1, "{fault}");
        rig.until_quiet();
        assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new(), "{fault}");
    }
}

#[test]
fn its_reviewer_outlives_its_engine() {
    let judge = format!("until [ -e $MARKS/go ]; do sleep 0.02; done\n{APPROVES}");
    let rig = rig(BOTH, "true", &judge);
    let first = rig.start(&["apply", "--yes"]);
    rig.until_lines("asked", 1);
    first.signal(rustix::process::Signal::KILL);
    first.wait();
    let second = rig.start(&["resume"]);
    std::fs::write(rig.mark("go"), "").expect("a mark");
    assert_eq!(second.wait(), 0, "{}", rig.engine_said());
    assert_eq!(rig.lines("asked"), ["whole/0/"]);
    rig.until_quiet();
}

#[test]
fn a_run_without_money_for_it_does_not_hold() {
    let turn = r#"{"answered": true, "turns": 1, "cost_usd": 1.5, "usage": {"input": 10}}"#;
    let rig = rig(BOTH, "true", APPROVES);
    let plan = plan(BOTH).replace("goal =", "budget_usd = 3.0\ngoal =");
    rig.write("plan.toml", &plan);
    rig.write("worker.sh", &format!("{WORKER}echo '{turn}' > \"$SOP_TURN\"\n"));
    rig.git(&["commit", "--quiet", "-am", "second"]);
    let said = rig.apply(3);
    assert!(said.out.contains("nobody has read the whole"), "{}", said.out);
    assert_eq!(rig.lines("asked"), [""; 0]);
}
