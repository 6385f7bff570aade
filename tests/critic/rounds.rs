//! Where a round stands: one reading, and whoever changes the plan for it is not read again.

use sop::model::critic::{Answer, Answered, Reading, Remark, Round};
use sop::model::time::Timestamp;
use sop::model::verdict::ReviewSeverity;

/// A reading of the plan `read`, with an answer for each remark: `t`aken, `r`efused, or none (`-`).
fn reading(answers: Option<&str>) -> Reading {
    let at = Timestamp(jiff::Timestamp::UNIX_EPOCH);
    let by = || "L".to_owned();
    let answered = |(number, answer): (u32, char)| Answered {
        number,
        remark: Remark {
            wp: None,
            severity: ReviewSeverity::Minor,
            text: "t".to_owned(),
            proposal: "p".to_owned(),
        },
        answer: match answer {
            't' => Some(Answer::Taken { by: by(), at }),
            'r' => Some(Answer::Refused { reason: "no".to_owned(), by: by(), at }),
            _ => None,
        },
    };
    Reading {
        version: Reading::VERSION,
        plan: sop::model::ids::RunId::new("o").unwrap(),
        plan_sha256: "read".to_owned(),
        run: sop::model::ids::RunId::new("critic-1").unwrap(),
        tier: sop::model::ids::TierId::new("lead").unwrap(),
        worker: sop::model::ids::WorkerId::new("w").unwrap(),
        at,
        remarks: answers.map(|answers| (1..).zip(answers.chars()).map(answered).collect()),
        approved_sha256: None,
    }
}

#[test]
fn a_round_is_over_when_each_remark_is_answered_and_the_plan_is_as_the_answers_have_it() {
    use Round::{Open, Over, Reading, Unchanged, Unread};
    // The answers; the round of the plan that was read; the round of a changed one.
    for (answers, same, changed) in [
        (None, Reading, Unread),
        (Some(""), Over, Unread),
        (Some("-"), Open, Open),
        (Some("t-"), Open, Open),
        (Some("r-"), Open, Open),
        (Some("r"), Over, Unread),
        (Some("rr"), Over, Unread),
        (Some("t"), Unchanged, Over),
        (Some("tr"), Unchanged, Over),
    ] {
        let reading = reading(answers);
        assert_eq!(reading.round("read"), same, "{answers:?}, the plan that was read");
        assert_eq!(reading.round("changed"), changed, "{answers:?}, a changed plan");
    }
}

#[test]
fn once_a_run_was_made_every_other_plan_is_another_round() {
    for (answers, approved) in [("r", "read"), ("tr", "changed")] {
        let reading =
            Reading { approved_sha256: Some(approved.to_owned()), ..reading(Some(answers)) };
        assert_eq!(reading.round(approved), Round::Over);
        assert_eq!(reading.round("changed once more"), Round::Unread);
    }
    // The plan before the change is the one whose remarks were taken.
    let reading = Reading { approved_sha256: Some("changed".to_owned()), ..reading(Some("tr")) };
    assert_eq!(reading.round("read"), Round::Unchanged);
}
