//! Audit → draft → validate → apply on a real code base (two rooms of this one), with scripted scouts and
//! workers, and no hand on anything between.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;
use sop::model::gap::{GapReport, GroundKind};
use sop::model::outcome::DodClass;

use crate::support::rig::Rig;

/// A scout that reads what its brief lists and reports each first `saturating_sub(` of a file: every second
/// one some lines off, each of the second file on as waiting for the first; and beside them what is not
/// there. Its first answer in the first slice is no JSON.
const SCOUT: &str = r#"#!/bin/sh
set -eu
echo "$SOP_WP" >> "$MARKS/scouts"
brief=$(cat)
case "$SOP_WP.$SOP_ROUND" in s1-*.1) echo 'I looked at it, and all is well.'; exit 0;; esac
echo 'What I found:'
echo '```json'
echo '{"findings": ['
printf '%s\n' "$brief" | grep '^engine/.*\.rs$' | while read -r path; do
    awk -v path="$path" '
        function said(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/\t/, " ", text); return text }
        index($0, "saturating_sub(") && !found++ {
            printf "{\"path\": \"%s\", \"line\": %d, \"quote\": \"%s\", \"severity\": \"medium\", \"concern\": \"debt\", ", \
                path, NR + (length(path) % 2) * 3, said($0)
            printf "\"title\": \"Silent floor\", \"evidence\": \"The subtraction stops at zero without a word.\", "
            printf "\"fix\": \"Let it wrap.\", \"id\": \"%s\", \"depends_on\": [\"first\"]},\n", path
        }' "$path"
done | awk 'NR == 1 { sub(/"id": "[^"]*", "depends_on": \["first"\]/, "\"id\": \"first\"") } { print }'
echo '{"path": "engine/none.rs", "line": 1, "quote": "fn none() {}", "severity": "high", "concern": "debt", "evidence": "x", "fix": "y"},'
echo '{"path": "engine/launch/mod.rs", "line": 1, "quote": "no such words", "severity": "high", "concern": "debt", "evidence": "x", "fix": "y"},'
echo '{"path": "engine/launch/mod.rs"}'
echo ']}'
echo '```'
"#;

/// A worker that mends what its brief names: `path:line`.
const MEND: &str = r#"#!/bin/sh
set -eu
grep -E '^engine/[^ ]*\.rs:[0-9]+$' | while IFS=: read -r path line; do
    sed -i "${line}s/saturating_sub(/wrapping_sub(/" "$path"
    echo "$path:$line" >> "$MARKS/mended"
done
"#;

const CONFIG: &str = r#"
[tiers.scout]
worker = "scout"
[tiers.standard]
worker = "mend"
[workers.scout]
command = ["tools/scout.sh"]
[workers.mend]
command = ["tools/mend.sh"]
"#;

/// The files of some rooms of this repository, by name.
fn rooms(rooms: &[&str]) -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut folders) = (Vec::new(), Vec::new());
    folders.extend(rooms.iter().map(|room| top.join("engine").join(room)));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a room") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name =
                        path.strip_prefix(top).expect("below").to_str().expect("text").to_owned();
                    found.push((name, fs::read_to_string(&path).expect("a text")));
                }
            }
        }
    }
    found
}

#[test]
fn from_an_audit_to_a_finished_run_without_a_hand_between() {
    let files = rooms(&["launch", "worker"]);
    let mut files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let check = "#!/bin/sh\ngrep -rq 'fn ' engine\n";
    files.extend([
        ("tools/scout.sh", SCOUT),
        ("tools/mend.sh", MEND),
        ("tools/check.sh", check),
        (".sop/config.toml", CONFIG),
    ]);
    let rig = Rig::new("", &files);
    for script in ["scout", "mend", "check"] {
        rig.git(&["update-index", "--chmod=+x", &format!("tools/{script}.sh")]);
    }
    rig.git(&["commit", "--quiet", "--message", "scripts"]);
    rig.git(&["checkout", "--quiet", "--", "tools"]);
    rig.touches(&["fixes.toml"], "the draft is written there");
    let before = rig.users();
    let gap = rig.root().join("gap.json");
    let gap = gap.to_str().expect("text");
    let plan = "fixes.toml";

    let audit = [
        "audit",
        "--scope",
        "engine/launch",
        "engine/worker",
        "--for",
        "debt",
        "--run",
        "tools/check.sh",
        "--run",
        "false",
        "-o",
        gap,
    ];
    let said = rig.sop_ends(0, &audit);
    assert!(said.out.contains("did not stand up to a look"), "{}", said.out);
    let written = fs::read(gap).expect("a report");
    let report: GapReport = serde_json::from_slice(&written).expect("a gap report");
    let found = report.findings.len();
    assert!(found >= 4, "{report:#?}");
    assert!(report.slices.len() >= 2 && report.unread().next().is_none(), "{:?}", report.slices);
    // The first slice was asked twice.
    let asked: Vec<String> = rig.lines("scouts");
    assert_eq!(asked.len(), report.slices.len() + 1, "{asked:?}");
    let why: Vec<&str> = report.rejected.iter().map(|rejected| rejected.why.as_str()).collect();
    assert_eq!(why.len(), 3 * report.slices.len(), "{why:?}");
    assert!(
        report
            .findings
            .iter()
            .any(|gap| gap.notes.iter().any(|it| it.starts_with("the scout said line")))
    );
    for gap in &report.findings {
        let text = rig.git(&["show", &format!("{}:{}", report.commit, gap.path)]);
        let line = text.lines().nth(gap.line as usize - 1).expect("the line is there");
        assert!(line.contains("saturating_sub(") && gap.quote == line, "{gap:?}");
    }
    let classes: Vec<(GroundKind, DodClass)> =
        report.ground.iter().map(|it| (it.kind, it.class)).collect();
    assert_eq!(classes, [(GroundKind::Named, DodClass::Green), (GroundKind::Named, DodClass::Red)]);
    assert_eq!(rig.users(), before);

    let said = rig.sop_ends(0, &["draft", gap, "-o", plan, "--name", "fixes"]);
    assert!(said.out.contains("after g"), "some wait for others: {}", said.out);
    let said = rig.sop_ends(0, &["validate", plan]);
    // What no rule decides is told wherever the plan is looked at, with its line.
    let text = fs::read_to_string(rig.repo().join(plan)).expect("the plan");
    let open = text.lines().enumerate().filter(|(_, line)| line.starts_with("# DECIDE:"));
    let open: Vec<usize> = open.map(|(n, _)| n + 1).collect();
    assert!(!open.is_empty(), "{text}");
    assert_eq!(said.out.matches("[undecided]").count(), open.len(), "{}", said.out);
    let seen = rig.sop_ends(0, &["plan", plan, "--no-dry-run"]);
    let applied = rig.sop_ends(0, &["apply", plan, "--yes"]);
    for said in [seen, applied] {
        assert!(said.out.contains("of the plan still say"), "{}", said.out);
        for line in &open {
            let place = format!("warning {plan}:{line}: still to be decided: ");
            assert!(said.out.contains(&place), "{place}{}", said.out);
        }
    }

    // The summary says what became of each finding, and what was cleared away.
    let said = rig.sop_ends(0, &["status", "--summary", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let end = &summary["closing"];
    let dealt: BTreeSet<&str> = end["findings"]["dealt_with"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["finding"].as_str())
        .collect();
    assert_eq!(dealt, report.findings.iter().map(|gap| gap.id.as_str()).collect());
    assert_eq!((&end["findings"]["deferred"], &end["findings"]["open"]), (&json!([]), &json!([])));
    for said in [said_by(&rig, &["run", "show"]), said_by(&rig, &["status", "--summary"])] {
        assert!(said.contains(&format!("findings   all {found} dealt with: G1")), "{said}");
        assert!(said.contains("\ncleaned    "), "{said}");
    }

    // All is dealt with, and nothing else is touched.
    let branches = rig.trees();
    let last = branches.keys().filter(|name| name.starts_with("sop-stage/fixes-1/")).max();
    let last = last.expect("an integrated branch");
    for gap in &report.findings {
        let line = rig.on(last, &gap.path).lines().nth(gap.line as usize - 1).map(str::to_owned);
        let mended = gap.quote.replacen("saturating_sub(", "wrapping_sub(", 1);
        assert_eq!(line, Some(mended), "{gap:?}");
    }
    let paths: BTreeSet<&str> = report.findings.iter().map(|gap| gap.path.as_str()).collect();
    let changed = rig.git(&["diff", "--name-only", &format!("main...{last}")]);
    assert_eq!(changed.lines().collect::<BTreeSet<_>>(), paths);
    assert_eq!(rig.lines("mended").len(), found);
    // Of the user's there is the plan more, and nothing else.
    let mut after = rig.users();
    assert!(after.remove(&rig.repo().join(plan)).is_some());
    assert_eq!(after, before);
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
}

fn said_by(rig: &Rig, args: &[&str]) -> String {
    rig.sop_ends(0, args).out
}
