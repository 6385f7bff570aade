//! `sop init`, through the binary: the first plan is right wherever it is written.

use crate::support::scratch::Scratch;

#[test]
fn the_first_plan_validates_with_no_finding_in_a_fresh_repository() {
    let scratch = Scratch::repo(&[("README.md", "a\n")]);
    let said = scratch.sop(&["init"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(
        said.out,
        "wrote plan.toml and .sop/plan.schema.json\nnext: `sop validate plan.toml`, then `sop apply plan.toml`\n"
    );
    let said = scratch.sop(&["validate", "--strict"]);
    assert_eq!(said.out, "plan.toml: no findings; 2 WPs, independent\n");
    assert_eq!(said.code, 0);
}

#[test]
fn a_name_with_an_escape_sequence_is_shown_and_not_obeyed() {
    let scratch = Scratch::repo(&[("README.md", "a\n")]);
    let said = scratch.sop(&["init", "a\u{1b}[31m.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("wrote a\\x1b[31m.toml"), "{}", said.out);
    assert!(!(said.out + &said.err).contains('\u{1b}'));
}

#[test]
fn it_runs_as_it_stands() {
    let scratch = Scratch::repo(&[("README.md", "a\n")]);
    scratch.sop(&["init"]);
    let said = scratch.sop(&["apply", "plan.toml", "--yes"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let branches = scratch.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let branches: Vec<&str> = branches.lines().filter(|b| b.starts_with("sop/")).collect();
    assert_eq!(branches.len(), 2, "{branches:?}");
    for branch in branches {
        let wp = branch.rsplit('/').next().unwrap_or_default();
        let changed = scratch.git(&["diff", "--name-only", "main", branch]);
        assert_eq!(changed, format!("notes/{wp}.md\n"));
    }
}

#[test]
fn it_validates_once_its_files_are_committed_and_merged_too() {
    let scratch = Scratch::repo(&[("README.md", "a\n")]);
    scratch.sop(&["init"]);
    scratch.write("notes/purpose.md", "a\n");
    scratch.write("notes/contents.md", "a\n");
    scratch.commit("second");
    assert_eq!(scratch.sop(&["validate", "--strict"]).code, 0);
}

#[test]
fn nothing_is_overwritten() {
    let scratch =
        Scratch::repo(&[("plan.toml", "mine\n"), (".sop/plan.schema.json", "mine too\n")]);
    let said = scratch.sop(&["init"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(
        said.err,
        "error: plan.toml exists already; it was left as it is\n\
         help: name another file, or see what would be written with `sop init --stdout`\n"
    );
    let said = scratch.sop(&["init", "other.toml"]);
    assert!(said.out.starts_with("wrote other.toml\n"), "{}", said.out);
    assert_eq!(scratch.read("plan.toml"), "mine\n");
    assert_eq!(scratch.read(".sop/plan.schema.json"), "mine too\n");
    // A link that leads nowhere is something too.
    std::os::unix::fs::symlink("gone.toml", scratch.path().join("link.toml")).expect("a link");
    assert_eq!(scratch.sop(&["init", "link.toml"]).code, 2);
    assert!(!scratch.path().join("gone.toml").exists());
}

#[test]
fn to_standard_output_it_writes_no_file() {
    let scratch = Scratch::repo(&[]);
    let said = scratch.sop(&["init", "--stdout"]);
    assert_eq!(said.code, 0);
    assert!(said.out.starts_with("#:schema .sop/plan.schema.json\n"), "{}", said.out);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(scratch.sop_reads(&["validate", "--strict", "-"], &said.out).code, 0);
}

#[test]
fn an_editor_finds_the_schema_from_a_folder_below() {
    let scratch = Scratch::repo(&[]);
    scratch.write("plans/2026/.keep", "");
    assert_eq!(scratch.sop(&["init", "plans/2026/plan.toml"]).code, 0);
    let first = scratch.read("plans/2026/plan.toml");
    let first = first.lines().next().unwrap_or_default().to_owned();
    assert_eq!(first, "#:schema ../../.sop/plan.schema.json");
    assert_eq!(scratch.read(".sop/plan.schema.json"), scratch.sop(&["schema", "plan"]).out);
    assert_eq!(scratch.sop(&["validate", "--strict", "plans/2026/plan.toml"]).code, 0);
}

fn base_of(scratch: &Scratch) -> String {
    let plan = scratch.sop(&["init", "--stdout"]).out;
    let line = plan.lines().find(|line| line.starts_with("base = ")).unwrap_or_default();
    line.split_once("   #").map_or(line, |(base, _)| base).to_owned()
}

#[test]
fn work_starts_from_the_default_branch_whatever_is_checked_out() {
    let scratch = Scratch::repo(&[]);
    assert_eq!(base_of(&scratch), "base = \"main\"");
    scratch.git(&["switch", "--quiet", "--create", "feature"]);
    assert_eq!(base_of(&scratch), "base = \"main\"");
    scratch.git(&["branch", "--quiet", "-M", "main", "odd\"name"]);
    assert_eq!(base_of(&scratch), "base = \"feature\"");
    scratch.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/odd\"name"]);
    assert_eq!(base_of(&scratch), r#"base = "odd\"name""#);
    scratch.git(&["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"]);
    scratch.git(&["switch", "--quiet", "--detach"]);
    scratch.git(&["branch", "--quiet", "-M", "feature", "f"]);
    assert_eq!(base_of(&scratch), "base = \"HEAD\"");
}

#[test]
fn the_plan_is_named_after_the_repository() {
    let scratch = Scratch::folder();
    for (folder, name) in [("My App_2", "my-app-2"), ("---", "first-plan"), ("größe", "gr-e")] {
        let inside = scratch.path().join(folder);
        std::fs::create_dir(&inside).expect("a folder");
        let mut command = scratch.command(env!("CARGO_BIN_EXE_sop"));
        command.current_dir(&inside).args(["init", "--stdout"]);
        let said = crate::support::scratch::run(&mut command, "");
        assert!(said.out.contains(&format!("name = \"{name}\"")), "{}", said.out);
    }
}

#[test]
fn what_comes_next_is_what_is_missing() {
    let scratch = Scratch::folder();
    assert!(scratch.sop(&["init"]).out.contains("next: `git init`"));
    let scratch = Scratch::folder();
    scratch.git(&["init", "--quiet"]);
    assert!(scratch.sop(&["init"]).out.contains("next: make a first commit"));
    let said = scratch.sop(&["init", "nowhere/plan.toml"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("there is no folder for nowhere/plan.toml"), "{}", said.err);
}
