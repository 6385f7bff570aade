//! Which files are read, and what becomes of those that cannot be.

use crate::support::plan_text::two;
use crate::support::scratch::{Scratch, run};

const HERE: &[(&str, &str)] = &[("README.md", "a\n")];

#[test]
fn a_good_plan_is_praised_with_what_was_understood() {
    let scratch = Scratch::repo(HERE);
    scratch.write("plan.toml", two());
    let said = scratch.sop(&["validate"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "plan.toml: no findings; 2 WPs, independent\n");
}

#[test]
fn several_files_are_checked_and_summed_up_together() {
    let scratch = Scratch::repo(HERE);
    scratch.write("one.toml", two().replace("standard]", "light]"));
    scratch.write("plans/two.toml", two().replace("version = 1", "version = 2"));
    scratch.write("three.toml", two().replace("goal", "gaol"));
    let said = scratch.sop(&["validate", "one.toml", "plans/two.toml", "three.toml"]);
    assert_eq!(said.code, 1);
    let last = said.out.lines().last().unwrap_or_default();
    assert!(last.ends_with("errors in 2 files"), "{}", said.out);
    assert!(said.out.contains("--> plans/two.toml:1:11"), "{}", said.out);
    assert!(said.out.contains("--> three.toml:5:1"), "{}", said.out);
}

#[test]
fn standard_input_is_a_file_named_dash() {
    let scratch = Scratch::repo(HERE);
    let said = scratch.sop_reads(&["validate", "-"], &two());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "<stdin>: no findings; 2 WPs, independent\n");
    let said = scratch.sop_reads(&["validate", "-"], "version = ");
    assert_eq!(said.code, 1);
    assert!(said.out.contains("--> <stdin>:1:"), "{}", said.out);
}

#[test]
fn a_missing_file_is_a_mistake_in_the_command_line_and_the_others_are_checked() {
    let scratch = Scratch::repo(HERE);
    let said = scratch.sop(&["validate"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(
        said.err,
        "error: there is no plan.toml\nhelp: name the plan file, or start one with `sop init`\n"
    );
    scratch.write("bad.toml", "version = ");
    let said = scratch.sop(&["validate", "gone\u{1b}[31m.toml", "bad.toml", "."]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains(r"there is no gone\u{1b}[31m.toml"), "{}", said.err);
    assert!(said.err.contains("error: . is a folder"), "{}", said.err);
    assert!(said.out.contains("bad.toml:1:"), "{}", said.out);
}

#[test]
fn bytes_that_are_not_utf_8_are_pointed_at() {
    let scratch = Scratch::repo(HERE);
    scratch.write("plan.toml", b"version = 1\n# gr\xfc\xdfe\n");
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!(said.out, @r#"
    error[not-utf8]: the file is not UTF-8
     --> plan.toml:2:5
      |
    2 | # gr��e
      |     ^ byte 0xfc
      |
      = help: save it as UTF-8; TOML allows no other encoding

    1 error in plan.toml
    "#);
}

#[test]
fn an_empty_file_is_a_plan_that_lacks_everything() {
    let scratch = Scratch::repo(HERE);
    scratch.write("plan.toml", "");
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("plan.toml:1:1"), "{}", said.out);
}

#[test]
fn a_reader_who_has_seen_enough_changes_nothing() {
    let scratch = Scratch::repo(HERE);
    scratch.write("plan.toml", two().replace("goal", "gaol"));
    let line = format!("{} validate | true; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_sop"));
    let said = run(scratch.command("bash").args(["-c", &line]), "");
    assert_eq!((said.out.as_str(), said.err.as_str()), ("1\n", ""));
}
