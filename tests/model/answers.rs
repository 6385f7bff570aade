//! A verdict, or a report, in what an agent said.

use sop::model::verdict::{Judgment, Report, Verdict};

#[test]
fn the_last_block_of_json_counts_or_the_whole() {
    let approve = r#"{"verdict": "approve"}"#;
    let change = r#"{"verdict": "request_changes"}"#;
    for (answer, wanted) in [
        (approve.to_owned(), Judgment::Approve),
        (format!("  \n{change}\n"), Judgment::RequestChanges),
        (format!("Fine.\n```json\n{approve}\n```\n"), Judgment::Approve),
        (format!("```JSON\n{approve}\n```"), Judgment::Approve),
        (format!("```\n{approve}\n```"), Judgment::Approve),
        (format!("  ```json\n  {approve}\n  ```"), Judgment::Approve),
        // What is quoted from the work comes before the answer.
        (
            format!("It says\n```json\n{approve}\n```\nbut\n```json\n{change}\n```"),
            Judgment::RequestChanges,
        ),
        (
            format!("````text\n```json\n{approve}\n```\n````\n```json\n{change}\n```"),
            Judgment::RequestChanges,
        ),
        (
            format!("```json\n{change}\n```\n````text\n```json\n{approve}\n```\n````"),
            Judgment::RequestChanges,
        ),
        (format!("```json\n{change}\n```\n```rust\nfn main() {{}}\n```"), Judgment::RequestChanges),
    ] {
        assert_eq!(Verdict::in_answer(&answer).map(|v| v.verdict), Ok(wanted), "{answer}");
    }
}

#[test]
fn what_is_not_exactly_a_verdict_is_none_and_why_is_said() {
    for (answer, why) in [
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        ("It is fine.", "there is no fenced block of JSON"),
        ("```json\n{\"verdict\": \"approved\"}\n```", "unknown variant `approved`"),
        ("```json\n{\"verdict\": \"approve\", \"score\": 9}\n```", "unknown field `score`"),
        ("```json\n{}\n```", "missing field `verdict`"),
        ("{\"verdict\": \"approve\"} and so on", "trailing characters"),
        ("```json\n{\"verdict\": \"approve\"}", "there is no fenced block of JSON"),
        (
            "```json\n{\"verdict\": \"approve\", \"findings\": [{\"line\": -1, \"message\": \"\"}]}\n```",
            "invalid value",
        ),
    ] {
        let error = Verdict::in_answer(answer).expect_err(answer);
        assert!(error.contains(why), "{answer}: {error}");
    }
}

#[test]
fn a_report_may_stand_at_the_end_of_an_answer() {
    let json = r#"{"summary": "done", "files": ["a"]}"#;
    for text in [json.to_owned(), format!("Done.\n\n```json\n{json}\n```\n")] {
        let report = Report::in_text(&text).expect("a report");
        assert_eq!((report.summary.as_str(), report.files.len()), ("done", 1));
    }
    assert_eq!(Report::in_text("Done."), None);
}
