//! `sop audit` and `sop draft` where something is in the way: answers nobody can read, a scout that cannot
//! run, an engine that is killed, places that are taken.

use std::fs;

use serde_json::Value;
use sop::model::gap::{GapReport, GroundKind};
use sop::model::outcome::DodClass;

use crate::support::rig::{Rig, until};
use crate::support::scratch::Said;

const CONFIG: &str =
    "[tiers.scout]\nworker = \"scout\"\n[workers.scout]\ncommand = [\"sh\", \"scout.sh\"]\n";

/// An answer with one finding that stands in the file that a scout was given, and one that does not.
const FOUND: &str = r#"
cat > /dev/null
printf '```json\n{"findings": [
{"path": "%s", "line": 1, "quote": "let x = 1;", "severity": "low", "concern": "debt", "title": "unused", "evidence": "It is never read.", "fix": "Take it out."},
{"path": "src/a\\u001b[31m.rs", "line": 1, "quote": "x", "severity": "low", "concern": "debt", "evidence": "e", "fix": "f"}]}\n```\n' "$1"
"#;

/// A repository of two files, each so large that it is a slice of its own, and this scout.
fn rig(scout: &str) -> Rig {
    let large = format!(
        "let x = 1;\n{}",
        "// a long line, so that there is much to read here\n".repeat(2000)
    );
    let found = format!("found() {{\n{FOUND}\n}}\n{scout}");
    Rig::new(
        "",
        &[
            ("src/a.rs", &large),
            ("src/b.rs", &large),
            ("scout.sh", &found),
            (".sop/config.toml", CONFIG),
        ],
    )
}

/// `sop audit` of the two files, its report outside of the checkout.
fn audit(rig: &Rig, code: i32, more: &[&str]) -> (Said, Option<GapReport>) {
    let at = rig.root().join("gap.json");
    let args = [&["audit", "-o", at.to_str().expect("text")], more].concat();
    let said = rig.sop_ends(code, &args);
    let report = fs::read(&at).ok().map(|bytes| serde_json::from_slice(&bytes).expect("a report"));
    (said, report)
}

const SRC: [&str; 2] = ["--scope", "src"];

const BOTH: &str = r#"case $SOP_WP in s1-*) found src/a.rs;; *) found src/b.rs;; esac"#;

#[test]
fn a_report_keeps_to_its_schema_and_shows_nothing_a_terminal_obeys() {
    let rig = rig(BOTH);
    let before = rig.users();
    let (said, report) = audit(&rig, 0, &["--scope", "src", "--no-run"]);
    let report = report.expect("it is written");
    assert_eq!(report.findings.len(), 2, "{report:#?}");
    assert_eq!((report.rejected.len(), report.slices.len()), (2, 2));
    assert_eq!(report.rejected[0].place, "src/a\\x1b[31m.rs:1");
    assert!(!said.out.contains('\u{1b}'), "{}", said.out);
    assert!(
        said.out.contains("src/a\\x1b[31m.rs:1  there is no such file in the commit, 2 times"),
        "{}",
        said.out
    );
    let schema = rig.sop_ends(0, &["schema", "gap-report"]).out;
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let written = fs::read(rig.root().join("gap.json")).expect("it is there");
    let document: Value = serde_json::from_slice(&written).expect("JSON");
    assert!(schema.is_valid(&document), "{document:#}");
    assert_eq!(rig.users(), before);
    assert!(rig.worktrees().is_empty());
    // A report in the place of a report.
    audit(&rig, 0, &["--scope", "src/a.rs", "--no-run"]);
}

#[test]
fn an_answer_nobody_can_read_is_asked_for_once_more_and_then_told_as_not_read() {
    let rig = rig(
        "echo x >> \"$MARKS/$SOP_WP\"; case $SOP_WP in s1-*) cat >/dev/null; echo no;; *) found src/b.rs;; esac",
    );
    let before = rig.users();
    let (said, report) = audit(&rig, 3, &["--scope", "src", "--no-run"]);
    let report = report.expect("it is written");
    assert_eq!(rig.lines("s1-src-a-rs").len(), 2);
    let unread: Vec<_> = report.unread().collect();
    assert_eq!(unread.len(), 1);
    assert_eq!(unread[0].wp.as_str(), "s1-src-a-rs");
    let why = unread[0].unread.as_deref().expect("a reason");
    assert!(why.starts_with("the report holds no findings that a program can read"), "{why}");
    assert_eq!(report.findings.len(), 1, "the other slice was read");
    assert!(said.out.contains("1 of 2 parts not read"), "{}", said.out);
    let brief = rig.of_run("briefs/s1-src-a-rs-2.md");
    assert!(
        brief.contains("What was wrong with your last answer")
            && brief.contains("there is no fenced block of JSON")
    );
    assert_eq!(rig.users(), before);
}

/// A scout that failed is told from one that wrote prose.
#[test]
fn a_scout_that_fails_is_said_to_have_failed() {
    let rig = rig("cat > /dev/null; echo 'no network'; exit 1");
    let (said, report) = audit(&rig, 3, &["--scope", "src/a.rs", "--no-run"]);
    let report = report.expect("it is written");
    let why = report.slices[0].unread.as_deref().expect("a reason");
    assert!(
        why.starts_with("the scout failed (exit 1), and the report holds no findings"),
        "{why}"
    );
    assert!(!said.out.contains("scope: "), "{}", said.out);
    let status = rig.sop_ends(0, &["status", "--summary"]).out;
    assert!(status.contains("the scout failed (exit 1)"), "{status}");
}

#[test]
fn what_infrastructure_spoils_is_not_read_until_it_is_mended() {
    let rig = rig(&format!("test -e \"$MARKS/ready\" || exit 127\n{BOTH}"));
    let (_, report) = audit(&rig, 5, &["--scope", "src", "--no-run"]);
    let report = report.expect("it is written");
    assert_eq!((report.findings.len(), report.unread().count()), (0, 2));
    fs::write(rig.mark("ready"), "").expect("a mark");
    let (_, report) = audit(&rig, 0, &["--resume", "audit-1"]);
    let report = report.expect("it is written");
    assert_eq!((report.findings.len(), report.unread().count()), (2, 0));
    // It is over: asked again, it is only written again.
    let (_, again) = audit(&rig, 0, &["--resume", "audit-1"]);
    assert_eq!(again, Some(report));
}

/// What a scout got wrong is read once more only where somebody asks for that, and the report follows.
#[test]
fn a_part_that_was_not_read_is_retried_and_the_report_written_again() {
    let rig =
        rig(&format!("test -e \"$MARKS/ready\" || {{ cat > /dev/null; echo no; exit; }}\n{BOTH}"));
    rig.touches(&["gap-report.json"], "the report is written there");
    let said = rig.sop_ends(3, &["audit", "--scope", "src", "--no-run"]);
    let retry = "next: `sop retry s1-src-a-rs --run audit-1` has that part read once more, by \
                 `sop audit --resume audit-1`\n";
    assert!(said.out.contains(retry), "{}", said.out);
    assert!(!said.out.contains("infrastructure spoilt"), "{}", said.out);
    let report = || -> GapReport {
        let bytes = fs::read(rig.repo().join("gap-report.json")).expect("it is there");
        serde_json::from_slice(&bytes).expect("a report")
    };
    assert_eq!((report().findings.len(), report().unread().count()), (0, 2));
    fs::write(rig.mark("ready"), "").expect("a mark");
    rig.sop_ends(0, &["retry", "s1-src-a-rs", "--run", "audit-1"]);
    rig.sop_ends(3, &["audit", "--resume", "audit-1"]);
    assert_eq!((report().findings.len(), report().unread().count()), (1, 1));
    // Whoever resumes the run by the verb for all runs gets the report as well, wherever it went.
    rig.sop_ends(0, &["retry", "s2-src-b-rs"]);
    let said = rig.sop_ends(0, &["resume"]);
    assert!(said.out.contains("wrote gap-report.json"), "{}", said.out);
    assert_eq!((report().findings.len(), report().unread().count()), (2, 0));
    // And nobody is blamed for the report.
    let summary = rig.sop_ends(0, &["status", "--summary"]).out;
    assert!(summary.contains("checkout   as it was when the run was made"), "{summary}");
}

/// What somebody else changed beside the report is named, and the report is not.
#[test]
fn a_report_is_no_change_of_the_checkout_and_anything_else_is() {
    let rig = rig(&format!("test -e \"$MARKS/ready\" || exit 127\n{BOTH}"));
    rig.touches(&["gap-report.json"], "the report is written there");
    rig.sop_ends(5, &["audit", "--scope", "src", "--no-run"]);
    fs::write(rig.mark("ready"), "").expect("a mark");
    rig.write("mine.txt", "new\n");
    rig.sop_ends(0, &["resume"]);
    let summary = rig.sop_ends(0, &["status", "--summary"]).out;
    assert!(summary.contains("mine.txt (was clean, is untracked)"), "{summary}");
    assert!(!summary.contains("gap-report.json"), "{summary}");
}

#[test]
fn an_audit_whose_engine_is_killed_goes_on_where_it_was() {
    let rig = rig(&format!(
        "echo x >> \"$MARKS/began\"; while ! test -e \"$MARKS/go\"; do sleep 0.02; done\n{BOTH}"
    ));
    let before = rig.users();
    let at = rig.root().join("gap.json");
    let at = at.to_str().expect("text");
    let engine = rig.start(&["audit", "--scope", "src", "--run", "true", "-o", at]);
    rig.until_lines("began", 2);
    engine.signal(rustix::process::Signal::KILL);
    engine.wait();
    assert!(!rig.root().join("gap.json").exists());
    fs::write(rig.mark("go"), "").expect("a mark");
    let (_, report) = audit(&rig, 0, &["--resume", "audit-1"]);
    let report = report.expect("it is written");
    assert_eq!((report.findings.len(), report.unread().count()), (2, 0));
    assert_eq!(report.ground.len(), 1, "what was run before is known");
    assert_eq!(rig.lines("began").len(), 2, "no scout was started twice");
    assert_eq!(rig.users(), before);
}

#[test]
fn an_interrupted_audit_writes_no_report_and_says_how_to_go_on() {
    let rig = rig(&format!(
        "echo x >> \"$MARKS/began\"; while ! test -e \"$MARKS/go\"; do sleep 0.02; done\n{BOTH}"
    ));
    let engine = rig.start(&["audit", "--scope", "src", "--no-run", "-o", "../gap.json"]);
    rig.until_lines("began", 2);
    engine.signal_group(rustix::process::Signal::INT);
    assert_eq!(engine.wait(), 130);
    rig.until_quiet();
    assert!(!rig.root().join("gap.json").exists());
    until(|| match rig.engine_said() {
        said if said.contains("`sop audit --resume audit-1` goes on") => Ok(()),
        said => Err(said),
    });
}

#[test]
fn the_projects_commands_run_in_a_worktree_of_their_own() {
    let rig = rig(BOTH);
    let before = rig.users();
    let run = "pwd >> $MARKS/where; ls > left.txt; echo some; echo words >&2; exit 7";
    let (said, report) =
        audit(&rig, 0, &["--scope", "src", "--run", run, "--run", "nothing-of-that-name"]);
    let report = report.expect("it is written");
    let told: Vec<_> = report.ground.iter().map(|it| (it.kind, it.class, it.tail.len())).collect();
    assert_eq!(
        told,
        [(GroundKind::Named, DodClass::Red, 2), (GroundKind::Named, DodClass::Broken, 0)]
    );
    assert_eq!(report.ground[0].ran.end.to_string(), "exit 7");
    let log = rig.of_run(&report.ground[0].ran.log);
    assert_eq!(log, "some\nwords\n");
    assert_eq!(report.left_behind.as_deref(), Some("left.txt"));
    let place = &rig.lines("where")[0];
    assert!(place.starts_with(rig.root().join("trees").to_str().expect("text")), "{place}");
    assert!(said.err.contains("2 scouts on scout (scout) read 2 files"), "{}", said.err);
    // The scouts were told.
    let brief = rig.of_run("briefs/s1-src-a-rs-1.md");
    assert!(
        brief.contains("fails (exit 7)") && brief.contains("nothing-of-that-name: cannot run here"),
        "{brief}"
    );
    assert_eq!(rig.users(), before);
    assert!(rig.worktrees().is_empty());
}

#[test]
fn what_would_be_done_can_be_seen_without_doing_it() {
    let rig = rig(BOTH);
    let before = rig.users();
    let said = rig.sop_ends(0, &["audit", "--dry-run", "--scope", "src", "--run", "make lint"]);
    assert!(said.out.contains("2 scouts of plan `audit` on scout (scout)"), "{}", said.out);
    assert!(said.out.contains("s1-src-a-rs  1 file, 2001 lines"), "{}", said.out);
    assert!(said.out.contains("make lint  # named, --run"), "{}", said.out);
    assert!(!rig.repo().join("gap-report.json").exists());
    assert_eq!(rig.users(), before);
}

#[test]
fn an_audit_that_cannot_be_is_refused_before_anybody_is_paid() {
    let rig = rig("echo x >> \"$MARKS/began\"");
    rig.write("notes.txt", "mine\n");
    let before = rig.users();
    for (args, said) in [
        (
            &["audit", "-o", "notes.txt"][..],
            "notes.txt is there, and is no gap report; it stays as it is",
        ),
        (&["audit", "-o", "nowhere/x.json"], "there is no folder for nowhere/x.json"),
        (&["audit", "--scope", "nowhere"], "has nothing at nowhere"),
        (&["audit", "--scope", "notes.txt"], "has nothing at notes.txt"),
        (&["audit", "--scope", "../.."], "is not in the repository"),
        (&["audit", "--tier", "gone"], "no tier `gone` is configured"),
        (&["audit", "--base", "gone"], "gone"),
        (&["audit", "--for", "style"], "there are security, performance, debt, spec-gaps"),
        (&["audit", "--run", "'", "--scope", "src"], "is not closed"),
        (&["audit", "--resume", "audit-1"], "there is no run `audit-1`"),
        (&["draft", "notes.txt"], "notes.txt is no gap report"),
        (&["draft", "gone.json"], "could not read gone.json"),
    ] {
        let found = rig.sop_ends(2, args);
        assert!(found.err.contains(said), "{args:?}: {}", found.err);
    }
    let found = rig.sop_with(&[("SOP_RUN", "x-1")], &["audit", "--scope", "src"]);
    assert_eq!(found.code, 2, "{}", found.err);
    assert!(rig.lines("began").is_empty());
    assert_eq!(rig.users(), before);
}

#[test]
fn a_scope_may_be_named_with_commas_and_from_a_folder() {
    let rig = rig(BOTH);
    let said = rig.sop_ends(
        0,
        &["audit", "--dry-run", "--no-run", "--scope", "src/a.rs,src/b.rs", "./scout.sh"],
    );
    assert!(said.out.starts_with("2 scouts") || said.out.starts_with("3 scouts"), "{}", said.out);
    assert!(!said.out.contains("config"), "{}", said.out);
}

#[test]
fn a_draft_overwrites_nothing() {
    let rig = rig(BOTH);
    rig.touches(&["plan-2.toml", "plan-3.toml"], "drafts are written there");
    audit(&rig, 0, &[&SRC[..], &["--run", "true"]].concat());
    let report = "../gap.json";
    let said = rig.sop_ends(2, &["draft", report, "-o", "scout.sh"]);
    assert!(said.err.contains("scout.sh exists already; it was left as it is"), "{}", said.err);
    // The checkout has a plan.toml.
    let said = rig.sop_ends(0, &["draft", report]);
    assert!(said.out.contains("wrote plan-2.toml"), "{}", said.out);
    assert!(rig.sop_ends(0, &["draft", report]).out.contains("wrote plan-3.toml"));
    let printed = rig.sop_ends(0, &["draft", report, "-o", "-"]).out;
    let written = fs::read_to_string(rig.repo().join("plan-2.toml")).expect("it is there");
    assert_eq!(printed, written);
    assert!(
        printed.contains("worker = \"codex\"") || printed.contains("tier = \"scout\""),
        "{printed}"
    );
    assert!(rig.sop_ends(0, &["validate", "plan-2.toml"]).out.contains("no findings"));
}
