//! What in a report is a question, and which questions are the same.

use sop::model::question::{MOST_QUESTIONS, Question, questions_in};

fn asked(report: &str) -> Vec<(String, Option<String>)> {
    questions_in(report).into_iter().map(|it| (it.question, it.default)).collect()
}

fn one(question: &str, default: Option<&str>) -> Vec<(String, Option<String>)> {
    vec![(question.to_owned(), default.map(str::to_owned))]
}

#[test]
fn a_block_at_the_end_is_a_question_and_its_last_line_may_be_the_default() {
    let report = "Began.\n\n```question\nKeep it?\nA or B.\ndefault: A\n```\n";
    assert_eq!(asked(report), one("Keep it?\nA or B.", Some("A")));
    assert_eq!(asked("```question\nKeep it?\n```"), one("Keep it?", None));
    assert_eq!(
        asked("````  Question\nUse ``` here?\nDefault:\n````\n\n \n"),
        one("Use ``` here?", None)
    );
    // Only the last line is one: before it, the word is part of the question.
    let report = "```question\ndefault: keep or change?\nSay which.\n```";
    assert_eq!(asked(report), one("default: keep or change?\nSay which.", None));
    assert_eq!(
        asked("```question\r\nKeep it?\r\ndefault: yes\r\n```\r\n"),
        one("Keep it?", Some("yes"))
    );
}

#[test]
fn several_at_the_end_come_in_their_order() {
    let block = |n: usize| format!("```question\nWhat of {n}?\n```\n\n");
    let names = |report: &str| asked(report).into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(names(&(block(1) + &block(2))), ["What of 1?", "What of 2?"]);
    let many: String = (0..MOST_QUESTIONS + 3).map(block).collect();
    let found = names(&many);
    assert_eq!((found.len(), found[0].as_str()), (MOST_QUESTIONS, "What of 0?"));
}

#[test]
fn what_its_writer_settled_or_never_asked_is_none() {
    for report in [
        "",
        "```",
        "```\n```",
        "``````",
        "```question\nKeep it?\n```\nI kept it.",
        "```question\nKeep it?",
        "```text\nKeep it?\n```",
        "```questions\nKeep it?\n```",
        "```question\n\n  \n```",
        "```question\ndefault: yes\n```",
        "Keep it?\n~~~question\nKeep it?\n~~~",
        // The brief's own example, sent back.
        "```question\na choice that is not yours, with the options you see\ndefault: what you would do\n```",
    ] {
        assert_eq!(asked(report), [], "{report:?}");
    }
    // A settled one does not hide the open one after it, nor the other way round.
    let report = "```question\nFirst?\n```\nSettled.\n```question\nSecond?\n```\n";
    assert_eq!(asked(report), one("Second?", None));
}

#[test]
fn the_same_words_are_the_same_question() {
    let question = Question::new("  Keep the *v1* endpoint,\n or not?", None).unwrap();
    assert_eq!(question.question, "Keep the *v1* endpoint,\n or not?");
    for same in ["keep the v1 endpoint or not", "Keep the v1 endpoint: or NOT"] {
        assert!(question.is(same), "{same}");
    }
    for other in [
        "",
        "?!",
        "Keep the v2 endpoint or not",
        "Keep the v1 endpoint",
        "Keepthe v1 endpoint or not",
    ] {
        assert!(!question.is(other), "{other}");
    }
    assert!(!Question::new("???", None).unwrap().is("!!!"), "no words are the same as no words");
}

#[test]
fn what_is_longer_than_a_person_would_read_is_cut() {
    let question = Question::new(&"ä".repeat(5000), Some(&"ö".repeat(5000))).unwrap();
    assert_eq!(question.question.chars().count(), 2000);
    assert_eq!(question.default.unwrap().chars().count(), 2000);
    assert_eq!(Question::new("x", Some("  ")).unwrap().default, None);
    assert_eq!(Question::new(" \n ", Some("yes")), None);
}
