//! What a critic hands in, and what is none.

use sop::model::critic::{MOST_REMARKS, Remarks};
use sop::model::verdict::ReviewSeverity;

#[test]
fn the_last_block_of_an_answer_counts() {
    let answer = "First:\n```json\n{\"remarks\": []}\n```\nNo:\n```json\n{\"remarks\": [{\"wp\": null, \
                  \"text\": \"t\", \"proposal\": \"p\"}]}\n```\nThat is all.";
    let remarks = Remarks::in_answer(answer).unwrap();
    assert_eq!(remarks.len(), 1);
    assert_eq!((remarks[0].wp.as_deref(), remarks[0].severity), (None, ReviewSeverity::Major));
    assert_eq!(Remarks::in_answer("{\"remarks\": []}").unwrap(), []);
}

#[test]
fn what_is_no_answer_is_told_to_the_critic() {
    let many: Vec<_> = vec![r#"{"text": "t", "proposal": "p"}"#; MOST_REMARKS + 1];
    let many = format!("{{\"remarks\": [{}]}}", many.join(", "));
    for (answer, why) in [
        (" \n", "the answer is empty"),
        ("I like it.", "there is no fenced block of JSON"),
        ("```json\n{\"remarks\": [\n```", "the last block of JSON cannot be read"),
        ("```json\n{\"remarks\": [}\n```", "the last block of JSON cannot be read"),
        ("{\"findings\": []}", "it has no list `remarks`"),
        (r#"{"remarks": [{"text": "t"}]}"#, "remark 1 is none: missing field `proposal`"),
        (r#"{"remarks": [{"text": " ", "proposal": "p"}]}"#, "remark 1 says nothing"),
        (
            r#"{"remarks": [{"text": "t", "proposal": "p"}, {"text": "t", "proposal": "p", "severity": "huge"}]}"#,
            "remark 2 is none: unknown variant `huge`",
        ),
        (&many, "it has 51 remarks; at most 50"),
    ] {
        let said = Remarks::in_answer(answer).unwrap_err();
        assert!(said.starts_with(why), "{answer}: {said}");
    }
}
