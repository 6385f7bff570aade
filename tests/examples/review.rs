//! Work that is judged: by a command at once, by a person when one comes.

use super::{Example, next};

const NOTICE: &str = "plans-examples/review/out/notice.txt";

#[test]
fn the_run_waits_for_a_person_and_says_what_to_type() {
    let example = Example::new("review");
    let said = example.apply();
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    let judge = "approved by plans-examples/review/judge.sh";
    assert!(said.out.contains(judge), "{}", said.out);
    let index = example.on("sop/review-1/index", "plans-examples/review/out/index.txt");
    assert!(index.lines().is_sorted(), "{index}");

    let typed = next(&said);
    let [look, approve, resume, _merge] = typed.as_slice() else { panic!("{typed:?}") };
    let diff = example.scratch.git(words(look, "git").as_slice());
    assert!(diff.contains("+CLOSED AT SIX. OUT."), "{look}: {diff}");
    let answer = example.scratch.sop(words(approve, "sop").as_slice());
    assert_eq!(answer.code, 0, "{approve}: {}", answer.err);
    let resumed = example.scratch.sop(words(resume, "sop").as_slice());
    assert_eq!(resumed.code, 0, "{}{}", resumed.out, resumed.err);
    assert_eq!(example.on("sop/review-1/notice", NOTICE), "CLOSED AT SIX. OUT.\n");
    example.undisturbed();
}

#[test]
fn what_a_person_asks_for_reaches_the_next_round() {
    let example = Example::new("review");
    assert_eq!(example.apply().code, 4);
    let asked = "Say it more kindly.\n";
    let answer = example.scratch.sop_reads(&["review", "notice", "--request-changes", "-"], asked);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let resumed = example.scratch.sop(&["resume"]);
    assert_eq!(resumed.code, 4, "{}{}", resumed.out, resumed.err);
    let brief = example.recorded("review-1", "briefs/notice-2.md");
    assert!(brief.contains(asked.trim()), "{brief}");

    assert_eq!(example.scratch.sop(&["review", "notice", "--approve"]).code, 0);
    assert_eq!(example.scratch.sop(&["resume"]).code, 0);
    assert!(example.on("sop/review-1/notice", NOTICE).starts_with("Dear readers"));
    example.undisturbed();
}

/// The arguments of a command that starts with `program`.
fn words<'a>(command: &'a str, program: &str) -> Vec<&'a str> {
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some(program), "{command}");
    words.collect()
}
