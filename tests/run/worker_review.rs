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

/// Says `$1` unless this lens has been asked before; what it says then is `$2`.
const ONCE: &str = r#"
once() { if [ -e "$MARKS/before.$SOP_LENS" ]; then echo "$2"; else : > "$MARKS/before.$SOP_LENS"; echo "$1"; fi; }
"#;

fn finding(severity: &str, file: &str, message: &str) -> String {
    format!(r#"{{"file": "{file}", "line": 1, "severity": "{severity}", "message": "{message}"}}"#)
}

fn asks(findings: &[String]) -> String {
    format!(r#"{{"verdict": "request_changes", "findings": [{}]}}"#, findings.join(", "))
}

/// What one of two reviewers says in the first round (the other approves): what becomes of it.
#[test]
fn what_blocks_and_what_does_not() {
    let approves = |findings: &[String]| {
        format!(r#"{{"verdict": "approve", "findings": [{}]}}"#, findings.join(", "))
    };
    let unlocated = "meh (unlocated: there is no file \"nowhere.txt\" here)";
    // Least severity that blocks, what is said, rounds, what the verdict of the first round says of it.
    for (block_from, said, rounds, message) in [
        ("minor", asks(&[finding("major", "a.txt", "bad")]), 2, "quality: bad"),
        ("minor", asks(&[finding("minor", "a.txt", "meh")]), 2, "quality: meh"),
        ("minor", asks(&[finding("note", "a.txt", "hm")]), 1, "quality: hm"),
        ("major", asks(&[finding("minor", "a.txt", "meh")]), 1, "quality: meh"),
        ("note", approves(&[finding("note", "a.txt", "hm")]), 2, "quality: hm"),
        ("minor", approves(&[finding("major", "a.txt", "bad")]), 2, "quality: bad"),
        ("minor", asks(&[finding("minor", "nowhere.txt", "meh")]), 2, unlocated),
        ("minor", asks(&[]), 2, "asks for changes and does not say which"),
    ] {
        let approve = r#"{"verdict": "approve"}"#;
        let judge = format!(
            "{ONCE}\nif [ $SOP_LENS = quality ]; then once '{said}' '{approve}'; else echo '{approve}'; fi"
        );
        let rig = rig(block_from, "", &judge);
        rig.apply(0);
        let wp = rig.wp("a");
        assert_eq!(wp.round, rounds, "{block_from}: {said}");
        let first = rig.of_run("verdicts/a-1.json");
        let first: sop::model::verdict::Verdict = serde_json::from_str(&first).expect("a verdict");
        let judgment = if rounds == 2 { Judgment::RequestChanges } else { Judgment::Approve };
        assert_eq!(first.verdict, judgment, "{block_from}: {said}");
        match first.findings.first() {
            Some(found) => assert!(found.message.ends_with(message), "{found:?}"),
            None => assert!(first.summary.contains("finds nothing that blocks"), "{first:?}"),
        }
        if rounds == 2 {
            let told = rig.lines("brief.2").join("\n");
            assert!(told.contains("quality: "), "{told}");
        } else {
            assert_eq!(wp.notes.len(), 1, "{:?}", wp.notes);
        }
    }
}

#[test]
fn an_answer_that_is_no_verdict_is_asked_for_once_more() {
    let fenced = "Looked.\n\n```json\n{\"verdict\": \"approve\"}\n```\n";
    let judge = format!(
        "cat > \"$MARKS/told.$SOP_LENS.$(wc -l < $MARKS/asked)\"\n{ONCE}\nif [ $SOP_LENS = quality ]; then \
         once 'It is fine.' '{fenced}'; else echo '{fenced}'; fi"
    );
    let rig = rig("minor", "", &judge);
    rig.apply(0);
    assert_eq!(asked(&rig), ["quality/1", "quality/1", "tests/1"]);
    let again = rig.of_run("verdicts/a-1.quality-2/again.md");
    // A command has no session to go on with: it gets everything once more.
    assert!(again.contains("Make a.txt, and make it good."), "{again}");
    assert!(
        again.contains("could not be read as a verdict: there is no fenced block of JSON"),
        "{again}"
    );
    let wp = rig.wp("a");
    assert_eq!((wp.round, wp.phase), (1, Phase::Passed));
    let reviews = wp.costs.iter().find(|cost| cost.tier.as_str() == "reviewers").expect("a line");
    assert_eq!((reviews.sessions, reviews.spoilt), (3, 0));
}

#[test]
fn one_that_never_gives_a_verdict_is_infrastructure_and_the_others_answer_is_kept() {
    let judge = format!("if [ $SOP_LENS = quality ]; then echo no; else {APPROVES}; fi");
    let rig = rig("minor", "", &judge);
    rig.apply(5);
    assert_eq!(asked(&rig), ["quality/1", "quality/1", "tests/1"]);
    let wp = rig.wp("a");
    assert_eq!((wp.phase, wp.round), (Phase::Blocked, 1));
    let problem = wp.blocked_by.expect("it says why");
    assert!(problem.message.contains("it gave no verdict that can be read"), "{}", problem.message);
    assert!(
        problem.message.contains("as `sop schema verdict` says; see logs/a-review.1."),
        "{}",
        problem.message
    );
    // Another try asks nobody again who has answered.
    rig.sop_ends(5, &["resume"]);
    assert_eq!(asked(&rig), ["quality/1", "quality/1", "quality/1", "quality/1", "tests/1"]);
}

#[test]
fn one_that_cannot_do_it_gives_way_to_the_fallback_of_its_tier() {
    for fails in ["exit 127", "echo not now; exit 127", "echo 'no verdict'"] {
        let judge = format!("if [ $SOP_LENS = tests ]; then {fails}; else {APPROVES}; fi");
        let rig = rig("minor", "fallback = [\"others\"]", &judge);
        rig.apply(0);
        let asked = asked(&rig);
        assert_eq!(
            (asked.first().map(String::as_str), asked.last().map(String::as_str)),
            (Some("other tests"), Some("tests/1")),
            "{fails}: {asked:?}"
        );
        assert_eq!(asked.iter().filter(|line| line.starts_with("quality")).count(), 1);
        assert_eq!(rig.wp("a").round, 1, "no round is spent");
    }
}

#[test]
fn one_that_changes_a_file_is_refused_and_all_beside_it_are_named() {
    let config = "git config --file \"$(git rev-parse --git-common-dir)/config\" a.b c";
    for (does, named) in [("echo x >> a.txt", "a.txt"), ("echo x > new", "new"), (config, "config")]
    {
        // Both are in there when it happens.
        let both = "until [ $(wc -l < $MARKS/asked) -ge 2 ]; do sleep 0.01; done";
        let waits = "until [ -e $MARKS/done ]; do sleep 0.01; done";
        let judge = format!(
            "{both}\nif [ $SOP_LENS = quality ]; then {does}; : > $MARKS/done; fi\n{waits}\n{APPROVES}"
        );
        let rig = rig("minor", "", &judge);
        rig.touches(&[".git/config"], "a reviewer changes it");
        let said = rig.apply(5);
        let wp = rig.wp("a");
        assert_eq!((wp.phase, wp.round), (Phase::Blocked, 1), "{does}");
        let problem = wp.blocked_by.expect("it says why");
        for part in ["one of the reviewers who ran side by side", "quality", "tests", "only reads"]
        {
            assert!(problem.message.contains(part), "{does}: {}", problem.message);
        }
        assert!(problem.subject.expect("what").contains(named), "{does}: {}", said.out);
        assert!(wp.review.reviewers.iter().all(|reviewer| reviewer.verdict.is_none()), "{does}");
        rig.until_quiet();
    }
}

#[test]
fn a_worktree_that_is_not_as_it_was_is_shown_to_nobody() {
    let judge = format!("echo x >> a.txt\n{APPROVES}");
    let rig = rig("minor", "", &judge);
    rig.apply(5);
    let before = asked(&rig).len();
    let said = rig.sop_ends(5, &["resume"]);
    assert!(said.out.contains("is not as it was checked"), "{}", said.out);
    assert_eq!(asked(&rig).len(), before, "nobody is paid for it");
}

#[test]
fn a_dispute_ends_with_the_last_round() {
    let never = asks(&[finding("major", "a.txt", "still bad")]);
    let judge = format!("cat > \"$MARKS/told.$SOP_LENS.$SOP_ROUND\"\necho '{never}'");
    let rig = rig("minor", "", &judge);
    rig.apply(3);
    let wp = rig.wp("a");
    assert_eq!((wp.phase, wp.round), (Phase::Escalated, 3));
    assert_eq!(asked(&rig).len(), 6);
    assert_eq!(rig.lines("rounds"), ["1", "2", "3"]);
    let told = rig.lines("told.tests.3").join("\n");
    for round in ["Round 1 was sent back", "Round 2 was sent back", "quality, tests: still bad"] {
        assert!(told.contains(round), "{round}: {told}");
    }
    assert!(!rig.lines("told.tests.1").join("\n").contains("sent back"));
}

/// The engine is killed while both are at work; the next one finds them so, and hears them.
#[test]
fn reviewers_outlive_their_engine_and_are_paid_once() {
    let judge = format!("until [ -e $MARKS/go ]; do sleep 0.02; done\n{APPROVES}");
    let rig = rig("minor", "", &judge);
    let first = rig.start(&["apply", "--yes"]);
    rig.until_lines("asked", 2);
    first.signal(rustix::process::Signal::KILL);
    first.wait();
    let second = rig.start(&["resume"]);
    rig.until_wp("a", "taken up", |wp| wp.review.is_at_work());
    std::fs::write(rig.mark("go"), "").expect("a mark");
    assert_eq!(second.wait(), 0, "{}", rig.engine_said());
    assert_eq!(asked(&rig), ["quality/1", "tests/1"]);
    let reviews =
        rig.wp("a").costs.into_iter().find(|c| c.tier.as_str() == "reviewers").expect("one");
    assert_eq!(reviews.sessions, 2);
    rig.until_quiet();
}

/// What is done while they are at work and no engine is there is seen by the next one.
#[test]
fn a_change_is_seen_across_a_dead_engine() {
    let judge = format!(
        "until [ -e $MARKS/go ]; do sleep 0.02; done\nif [ $SOP_LENS = tests ]; then echo x > new; fi\n: > $MARKS/wrote.$SOP_LENS\n{APPROVES}"
    );
    let rig = rig("minor", "", &judge);
    let first = rig.start(&["apply", "--yes"]);
    rig.until_lines("asked", 2);
    first.signal(rustix::process::Signal::KILL);
    first.wait();
    std::fs::write(rig.mark("go"), "").expect("a mark");
    rig.until_quiet();
    let said = rig.sop_ends(5, &["resume"]);
    assert!(said.out.contains("only reads"), "{}", said.out);
    assert_eq!(asked(&rig), ["quality/1", "tests/1"]);
}

/// KILL after each record of a reviewed round: nobody is asked twice for what was answered.
#[test]
fn killed_after_any_record_a_review_ends_as_if_nobody_had_disturbed_it() {
    let template = rig("minor", "", APPROVES);
    let undisturbed = Rig::copy_of(&template);
    undisturbed.apply(0);
    let records = undisturbed.records().len();
    let first = undisturbed.records().iter().position(|r| r.event.name() == "review_started");
    for record in first.expect("a review") + 1..=records {
        let rig = Rig::copy_of(&template);
        let fault = format!("kill:{record}");
        let said = rig.sop_with(&[("SOP_FAULT", &fault)], &["apply", "--yes"]);
        if said.code != 0 {
            rig.sop_ends(0, &["resume"]);
        }
        assert_eq!(asked(&rig), ["quality/1", "tests/1"], "{fault}");
        let wp = rig.wp("a");
        let reviews = wp.costs.iter().find(|c| c.tier.as_str() == "reviewers").expect("one");
        assert_eq!((wp.phase, reviews.sessions), (Phase::Passed, 2), "{fault}");
        assert_eq!(rig.trees(), undisturbed.trees(), "{fault}");
        rig.until_quiet();
    }
}

/// A reviewer that says what it used leaves nothing for the next round's.
#[test]
fn a_budget_holds_for_reviewers_too() {
    let turn = r#"{"answered": true, "turns": 1, "cost_usd": 1.5, "usage": {"input": 10}}"#;
    let judge = format!(
        "echo '{turn}' > \"$SOP_TURN\"\necho '{}'",
        asks(&[finding("major", "a.txt", "bad")])
    );
    let plan = plan("minor", "").replace("goal =", "budget_usd = 2.0\ngoal =");
    let judge = format!("echo \"$SOP_LENS/$SOP_ROUND\" >> \"$MARKS/asked\"\n{judge}\n");
    let rig = Rig::new(&plan, &[("worker.sh", WORKER), ("judge.sh", &judge), ("other.sh", OTHER)]);
    let said = rig.apply(3);
    assert_eq!(asked(&rig), ["quality/1", "tests/1"]);
    assert!(said.out.contains("has used up its budget of $2.00"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Escalated);
}

/// An agent, as far as its adapter can tell: it says no verdict first, and one when it is asked again in
/// the same session.
const AGENT: &str = r#"
in=$(cat)
echo "$*" >> "$MARKS/argv"
echo "$in" > "$MARKS/told.$(wc -l < $MARKS/argv)"
case "$*" in
    *resume*) text='```json\n{\"verdict\": \"approve\", \"summary\": \"fine\"}\n```' ;;
    *) text='Looks fine to me.' ;;
esac
echo '{"type":"thread.started","thread_id":"01a228da-37b3-7d72-a0fe-37ddd976ef0b"}'
echo '{"type":"turn.started"}'
printf '{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"%s"}}\n' "$text"
echo '{"type":"turn.completed","usage":{"input_tokens":2003,"cached_input_tokens":0,"output_tokens":40}}'
"#;

#[test]
fn an_agent_is_asked_again_in_its_own_session_and_only_reads() {
    let plan = plan("minor", "")
        .replace(
            "[workers.judge]\ncommand = [\"sh\", \"judge.sh\"]",
            "[workers.judge]\nagent = \"codex\"\nprogram = [\"sh\", \"agent.sh\"]",
        )
        .replace("\"quality\", \"tests\"", "\"quality\"");
    let rig = Rig::new(&plan, &[("worker.sh", WORKER), ("agent.sh", AGENT), ("other.sh", OTHER)]);
    rig.apply(0);
    let argv = rig.lines("argv");
    assert_eq!(argv.len(), 2, "{argv:?}");
    assert!(argv.iter().all(|line| line.contains("--sandbox=read-only")), "{argv:?}");
    assert!(!argv[0].contains("resume"), "{argv:?}");
    assert!(argv[1].contains("resume -- 01a228da-37b3-7d72-a0fe-37ddd976ef0b"), "{argv:?}");
    let again = rig.lines("told.2").join("\n");
    assert!(again.contains("Your last answer could not be read as a verdict"), "{again}");
    assert!(!again.contains("Make a.txt"), "it has all that already: {again}");
    let wp = rig.wp("a");
    assert_eq!(wp.verdict.expect("a verdict").summary, "quality: fine");
    let cost = wp.costs.into_iter().find(|c| c.tier.as_str() == "reviewers").expect("a line");
    assert_eq!((cost.sessions, cost.usage.input), (2, 4006));
}
