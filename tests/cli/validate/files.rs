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

/// A file that is something else altogether is said to be that, once, and not line by line.
#[test]
fn what_is_no_toml_at_all_is_said_to_be_none_in_a_few_findings() {
    let scratch = Scratch::repo(HERE);
    let text: String = (0..50).map(|n| format!("- *item* {n}: see `x`\n")).collect();
    scratch.write("notes.md", &text);
    let said = scratch.sop(&["validate", "notes.md"]);
    assert_eq!(said.code, 1);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.last(), Some(&"3 errors in notes.md"), "{}", said.out);
    assert!(
        said.out.contains("47 more places in this file are not TOML; is it a plan?"),
        "{}",
        said.out
    );
    // A few mistakes are each told.
    let wrong = (0..8).map(|n| format!("a{n} = \n")).collect::<String>();
    scratch.write("plan.toml", wrong);
    assert!(scratch.sop(&["validate"]).out.ends_with("8 errors in plan.toml\n"));
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
fn a_brief_is_a_file_of_the_repository_whatever_links_to_it() {
    let scratch = Scratch::repo(HERE);
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret.md");
    std::fs::write(&secret, "a secret\n").expect("a file");
    let linked = |to: &std::path::Path| {
        let link = scratch.path().join("plans/brief.md");
        let _first_time = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(to, &link).expect("a link");
        scratch.sop(&["validate", "plans/plan.toml"])
    };
    let plan = two().replacen("brief_text = \"Do a.\"", "brief = \"brief.md\"", 1);
    scratch.write("plans/plan.toml", &plan);
    scratch.write("docs/shared.md", "Do it.\n");
    let said = linked("../docs/shared.md".as_ref());
    assert_eq!(said.code, 0, "{}", said.out);

    let said = linked(&secret);
    assert_eq!(said.code, 1);
    let real = secret.canonicalize().expect("a file");
    let told = format!(
        "the brief `brief.md` is a link that leads out of the repository, to {}",
        real.display()
    );
    assert!(said.out.contains(&told) && !said.out.contains("a secret"), "{}", said.out);
    assert!(said.out.contains("error[escaping-brief]"), "{}", said.out);
    // A folder that is a link is no way out either.
    scratch.write("plans/plan.toml", plan.replace("brief.md", "away/secret.md"));
    std::os::unix::fs::symlink(outside.path(), scratch.path().join("plans/away")).expect("a link");
    let said = scratch.sop(&["validate", "plans/plan.toml"]);
    assert!(said.code == 1 && said.out.contains("error[escaping-brief]"), "{}", said.out);
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
