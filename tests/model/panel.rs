//! Several reviewers' verdicts as one.

use sop::model::panel::{Opinion, consolidate};
use sop::model::verdict::{Judgment, ReviewFinding, ReviewSeverity, Verdict};

use Judgment::{Approve, RequestChanges};
use ReviewSeverity::{Major, Minor, Note};

fn at(file: &str, line: u32, severity: ReviewSeverity, message: &str) -> ReviewFinding {
    ReviewFinding {
        file: (!file.is_empty()).then(|| file.to_owned()),
        line: (line > 0).then_some(line),
        severity,
        message: message.to_owned(),
    }
}

fn says(verdict: Judgment, summary: &str, findings: Vec<ReviewFinding>) -> Verdict {
    Verdict { verdict, summary: summary.to_owned(), findings }
}

fn panel(block_from: ReviewSeverity, all: &[(&str, Verdict)]) -> Verdict {
    let opinions: Vec<Opinion<'_>> =
        all.iter().map(|(lens, verdict)| Opinion { lens, verdict }).collect();
    consolidate(&opinions, block_from, |file| file.starts_with("src/"))
}

fn lines(verdict: &Verdict) -> Vec<String> {
    let line = |f: &ReviewFinding| {
        let place = f.file.as_deref().unwrap_or("-");
        let line = f.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{place}{line} {}: {}", f.severity.name(), f.message)
    };
    verdict.findings.iter().map(line).collect()
}

#[test]
fn any_finding_that_blocks_blocks_whatever_is_said_of_the_whole() {
    let one = |severity| vec![at("src/a", 1, severity, "x")];
    for (block_from, first, second, wanted) in [
        (Minor, says(Approve, "", vec![]), says(Approve, "", vec![]), Approve),
        (Minor, says(Approve, "", one(Minor)), says(Approve, "", vec![]), RequestChanges),
        (Minor, says(Approve, "", vec![]), says(RequestChanges, "", one(Major)), RequestChanges),
        (Minor, says(RequestChanges, "", one(Note)), says(Approve, "", vec![]), Approve),
        (Major, says(RequestChanges, "", one(Minor)), says(Approve, "", vec![]), Approve),
        (Note, says(Approve, "", one(Note)), says(Approve, "", vec![]), RequestChanges),
    ] {
        let all = [("quality", first), ("tests", second)];
        let verdict = panel(block_from, &all);
        assert_eq!(verdict.verdict, wanted, "{block_from:?} {all:?}");
        let said: usize = all.iter().map(|(_, verdict)| verdict.findings.len()).sum();
        assert_eq!(verdict.findings.len(), said, "nothing is dropped");
        let unfounded = all.iter().any(|(_, v)| v.verdict == RequestChanges) && wanted == Approve;
        assert_eq!(verdict.summary.contains("finds nothing that blocks"), unfounded);
    }
}

#[test]
fn to_ask_for_changes_and_name_none_blocks_with_what_is_said() {
    for (block_from, said, wanted) in [
        (Note, "rename it", "- major: quality: rename it"),
        (Minor, " rename it\n", "- major: quality: rename it"),
        (Major, "rename it", "- major: quality: rename it"),
        (Major, " ", "- major: quality: asks for changes and does not say which"),
    ] {
        let all =
            [("quality", says(RequestChanges, said, vec![])), ("tests", says(Approve, "", vec![]))];
        let verdict = panel(block_from, &all);
        assert_eq!(verdict.verdict, RequestChanges, "{block_from:?} {said:?}");
        assert_eq!(lines(&verdict), [wanted]);
        assert!(!verdict.summary.contains("finds nothing that blocks"), "{}", verdict.summary);
    }
}

#[test]
fn what_is_said_of_one_line_becomes_one_finding() {
    let all = [
        (
            "quality",
            says(
                RequestChanges,
                "not yet",
                vec![
                    at("src/a", 7, Minor, "wrong"),
                    at("./src/a", 7, Note, "odd"),
                    at("src/a", 0, Note, "long"),
                ],
            ),
        ),
        (
            "tests",
            says(
                Approve,
                "",
                vec![
                    at("src/a", 7, Major, "wrong"),
                    at("src/a", 8, Note, "odd"),
                    at("src/a", 0, Note, "short"),
                    at("src/a", 0, Minor, "long"),
                    at("", 0, Note, "long"),
                ],
            ),
        ),
    ];
    let verdict = panel(Minor, &all);
    assert_eq!(
        lines(&verdict),
        [
            "src/a:7 major: quality, tests: wrong\nquality: odd",
            "src/a minor: quality, tests: long",
            "src/a:8 note: tests: odd",
            "src/a note: tests: short",
            "- note: tests: long",
        ]
    );
    assert_eq!(verdict.summary, "quality: not yet");
}

#[test]
fn a_file_that_is_not_there_is_no_place() {
    let findings = vec![at("lib/x\n", 3, Major, "gone"), at("src/a", 3, Note, "here")];
    let verdict = panel(Minor, &[("quality", says(RequestChanges, "", findings))]);
    assert_eq!(
        lines(&verdict),
        [
            "- major: quality: gone (unlocated: there is no file \"lib/x\\n\" here)",
            "src/a:3 note: quality: here"
        ]
    );
}
