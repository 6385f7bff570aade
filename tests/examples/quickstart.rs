//! Four independent packages, one of which needs what its check said in the round before.

use super::{Example, next};

#[test]
fn four_reports_are_written_and_the_check_that_failed_is_what_mends_the_third() {
    let example = Example::new("quickstart");
    let said = example.apply();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    for task in ["sizes", "rooms", "verbs", "longest"] {
        let branch = format!("sop/quickstart-1/{task}");
        let report = format!("plans-examples/quickstart/out/{task}.md");
        assert_eq!(example.changed(&branch), [report.as_str()]);
        assert!(example.on(&branch, &report).starts_with("# "), "{task}");
    }
    assert!(said.out.contains("passed · 2 rounds"), "{}", said.out);
    let first = example.recorded("quickstart-1", "briefs/rooms-1.md");
    let second = example.recorded("quickstart-1", "briefs/rooms-2.md");
    assert!(!first.contains("missing: "), "{first}");
    assert!(second.contains("\nmissing: whitelist\n"), "{second}");
    example.undisturbed();
}

#[test]
fn what_the_summary_says_to_type_next_can_be_typed() {
    let example = Example::new("quickstart");
    let said = example.apply();
    let next = next(&said);
    assert_eq!(next.len(), 4, "{next:?}");
    for command in next {
        let words: Vec<&str> = command.split(' ').collect();
        let [git, args @ ..] = words.as_slice() else { panic!("{command}") };
        assert_eq!(*git, "git");
        example.scratch.git(args);
    }
    let tour = example.scratch.git(&["ls-files", "plans-examples/quickstart/out"]);
    assert_eq!(tour.lines().count(), 4, "{tour}");
}
