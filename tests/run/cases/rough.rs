//! Rough handling: races, files that others changed under the engine, and odd places to run from.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::case::Case;
use crate::support::scratch::{Scratch, has_right, run};

fn simple(files: &[(&str, &str)]) -> Case {
    Case::new(files).wp("a", "src/**", "mkdir -p src; echo a > src/x", "")
}

#[test]
fn four_at_once_of_one_plan_are_four_runs() {
    let case = simple(&[("README", "r\n")]);
    let mut commands: Vec<_> = (0..4).map(|_| case.command(&[])).collect();
    let said: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = commands.iter_mut().map(|c| scope.spawn(|| run(c, ""))).collect();
        started.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    for one in &said {
        assert_eq!(one.code, 0, "{}\n{}", one.out, one.err);
    }
    for n in 1..=4 {
        assert_eq!(case.changed_on(&format!("sop/case-{n}/a")), ["src/x"]);
    }
    assert_eq!(case.scratch.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_line_in_the_journal_that_is_none_is_named_by_its_number() {
    let case = simple(&[("README", "r\n")]);
    case.apply().expect(0);
    let journal = case.run_dir().expect("a run").join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).expect("the journal");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(4, "{\"seq\":garbage \u{1b}[2J");
    std::fs::write(&journal, lines.join("\n") + "\n").expect("a file");
    for args in [&["resume"][..], &["status"], &["retry", "a"], &["wait"], &["cancel", "a"]] {
        let said = case.scratch.sop(args);
        assert_eq!(said.code, 5, "{args:?}: {}{}", said.out, said.err);
        assert!(said.err.contains("journal.jsonl:5: not a record"), "{args:?}: {}", said.err);
        assert!(!said.err.contains('\u{1b}'), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_record_that_does_not_follow_is_refused() {
    let case = simple(&[("README", "r\n")]);
    case.apply().expect(0);
    let journal = case.run_dir().expect("a run").join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).expect("the journal");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(5);
    std::fs::write(&journal, lines.join("\n") + "\n").expect("a file");
    for verb in ["resume", "status"] {
        let said = case.scratch.sop(&[verb]);
        assert_eq!(said.code, 5, "{verb}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_plan_edited_after_its_approval_is_refused() {
    let case = simple(&[("README", "r\n")]).wp("b", "b/**", "exit 0", "");
    case.apply().expect(3);
    let frozen = case.run_dir().expect("a run").join("resolved.json");
    let text = std::fs::read_to_string(&frozen).expect("the plan");
    std::fs::write(&frozen, text.replace("src/**", "**")).expect("a file");
    case.scratch.sop(&["retry", "b"]);
    let said = case.scratch.sop(&["resume"]);
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    assert!(said.err.contains("is not the plan that was approved"), "{}", said.err);
}

#[test]
fn the_plan_file_may_go_once_the_run_is_made() {
    let case = simple(&[("README", "r\n")]).wp(
        "b",
        "b/**",
        "rm \"$OUT/plan.toml\"; mkdir b; echo x > b/x",
        "needs = [\"a\"]",
    );
    case.apply().expect(0);
    assert_eq!(case.changed_on("sop-stage/case-1/2"), ["b/x", "src/x"]);
}

#[test]
fn a_worktree_that_its_worker_or_a_user_deletes() {
    let script = "mkdir -p src; echo a > src/x; cd /; rm -rf \"$OLDPWD\"";
    let case = Case::new(&[("README", "r\n")]).wp("a", "src/**", script, "").wp(
        "b",
        "b/**",
        "mkdir b; echo x > b/x",
        "",
    );
    let before = case.checkout();
    let ran = case.apply();
    assert!(matches!(ran.said.code, 3 | 5), "{}: {}{}", ran.said.code, ran.said.out, ran.said.err);
    assert_eq!(ran.about("wp_committed", "a").len(), 0);
    assert_eq!(case.changed_on("sop/case-1/b"), ["b/x"]);
    assert_eq!(case.checkout(), before);
}

#[test]
fn a_branch_that_a_user_deletes_while_its_worker_works_is_named() {
    let script =
        "mkdir -p src; echo a > src/x; git -C \"$OUT/work\" update-ref -d refs/heads/sop/case-1/a";
    let case = Case::new(&[("README", "r\n")]).wp("a", "src/**", script, "");
    let ran = case.apply().expect(3);
    assert!(ran.problems().contains("refs/heads/sop/case-1/a"), "{}", ran.problems());
    assert_eq!(ran.about("wp_committed", "a").len(), 0);
}

#[test]
fn a_repository_that_moved_between_two_engines() {
    let case = simple(&[("README", "r\n")]).head("review = \"human\"");
    case.apply().expect(4);
    let moved = case.outside().join("moved");
    std::fs::rename(case.scratch.path(), &moved).expect("a move");
    let mut sop = case.scratch.command(env!("CARGO_BIN_EXE_sop"));
    let said = run(sop.current_dir(&moved).args(["review", "a", "--approve"]), "");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let mut sop = case.scratch.command(env!("CARGO_BIN_EXE_sop"));
    let said = run(sop.current_dir(&moved).args(["resume"]), "");
    // The worktree's link names the old place; whatever is made of it, no work is lost and it is said.
    std::fs::rename(&moved, case.scratch.path()).expect("a move");
    assert!(matches!(said.code, 0 | 5), "{}: {}{}", said.code, said.out, said.err);
    if said.code == 5 {
        case.scratch.sop(&["review", "a", "--approve"]);
        let said = case.scratch.sop(&["resume"]);
        assert_eq!(said.code, 0, "back in its place: {}{}", said.out, said.err);
    }
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/x"]);
}

#[test]
fn a_wp_that_is_called_like_a_gate_is_refused() {
    for id in ["gate-1", "Gate-22"] {
        let case = Case::new(&[("README", "r\n")]).wp(id, "src/**", "exit 0", "");
        let ran = case.apply().expect(1);
        assert!(ran.said.err.contains("reserved-id"), "{}", ran.said.err);
    }
    for id in ["gate-x", "gate", "gate-1a"] {
        let script = "mkdir src; echo x > src/x";
        Case::new(&[("README", "r\n")]).wp(id, "src/**", script, "").apply().expect(0);
    }
}

#[test]
fn the_longest_names_there_are() {
    let id = "w".repeat(64);
    let script = "mkdir src; echo x > src/x";
    let case = Case::new(&[("README", "r\n")])
        .wp(&id, "src/**", script, "stage = \"s\"")
        .tables("[[stage]]\nname = \"s\"\n");
    let plan = case.written();
    let name = "n".repeat(48);
    let text = std::fs::read_to_string(&plan)
        .expect("the plan")
        .replace("name = \"case\"", &format!("name = \"{name}\""));
    std::fs::write(&plan, text).expect("the plan");
    let said = case.scratch.sop(&["apply", plan.to_str().expect("a path"), "--yes"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(case.changed_on(&format!("sop-stage/{name}-1/1")), ["src/x"]);
}

#[test]
fn a_scout_alone_without_a_dod() {
    let case = Case::new(&[("README", "r\n")]);
    std::fs::write(case.outside().join("look.sh"), "echo what I saw\n").expect("a file");
    let plan = case.written();
    let mut text = std::fs::read_to_string(&plan).expect("the plan");
    text.push_str("[[wp]]\nid = \"look\"\nkind = \"scout\"\nbrief_text = \"b\"\n");
    std::fs::write(&plan, text).expect("the plan");
    let said = case.scratch.sop(&["apply", plan.to_str().expect("a path"), "--yes"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let ran = case.ran(said);
    let report = ran.about("wp_reported", "look")[0]["report"].as_str().expect("a name").to_owned();
    let text = std::fs::read_to_string(case.run_dir().expect("a run").join(report));
    assert_eq!(text.expect("the report"), "what I saw\n");
    assert_eq!(case.scratch.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(case.scratch.git(&["for-each-ref", "refs/heads/sop-stage"]), "");
}

#[test]
fn a_scout_that_changes_something_is_refused() {
    let case = Case::new(&[("README", "r\n")]);
    std::fs::write(case.outside().join("look.sh"), "echo seen; echo x >> README\n")
        .expect("a file");
    let plan = case.written();
    let mut text = std::fs::read_to_string(&plan).expect("the plan");
    text.push_str("[[wp]]\nid = \"look\"\nkind = \"scout\"\nbrief_text = \"b\"\n");
    std::fs::write(&plan, text).expect("the plan");
    let said = case.scratch.sop(&["apply", plan.to_str().expect("a path"), "--yes"]);
    let ran = case.ran(said).expect(3);
    assert!(ran.problems().contains("\"README\""), "{}", ran.problems());
}

#[test]
fn from_a_folder_below_and_from_a_linked_worktree() {
    let case = simple(&[("README", "r\n"), ("deep/er/file", "f\n")]);
    let mut sop = case.command(&[]);
    sop.current_dir(case.scratch.path().join("deep/er"));
    case.ran(run(&mut sop, "")).expect(0);
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/x"]);
    case.scratch.git(&["worktree", "add", "--quiet", "-b", "mine", "../linked"]);
    let linked = case.outside().join("linked");
    std::fs::write(linked.join("mine.txt"), "mine\n").expect("a file");
    let mut sop = case.command(&[]);
    case.ran(run(sop.current_dir(&linked), "")).expect(0);
    assert_eq!(case.changed_on("sop/case-2/a"), ["src/x"]);
    // One common directory, so one list of runs.
    let mut status = case.scratch.command(env!("CARGO_BIN_EXE_sop"));
    let said = run(status.current_dir(&linked).args(["status", "case-1"]), "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(std::fs::read_to_string(linked.join("mine.txt")).expect("mine"), "mine\n");
}

#[test]
fn without_a_home_there_is_a_sentence_and_with_a_place_there_is_a_run() {
    let case = simple(&[("README", "r\n")]);
    let mut sop = case.command(&[]);
    let said = run(sop.env_remove("HOME"), "");
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    assert!(said.err.contains("SOP_WORKTREES"), "{}", said.err);
    assert!(case.run_dir().is_none());
    let mut sop = case.command(&[]);
    sop.env_remove("HOME").env("SOP_WORKTREES", case.outside().join("wt"));
    case.ran(run(&mut sop, "")).expect(0);
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/x"]);
}

#[test]
fn worktrees_that_would_lie_in_the_repository_are_refused() {
    let case = simple(&[("README", "r\n")]);
    let before = case.checkout();
    for place in ["wt", ".", "../work/x"] {
        let mut sop = case.command(&[]);
        let said = run(sop.env("SOP_WORKTREES", place), "");
        assert_eq!(said.code, 5, "{place}: {}{}", said.out, said.err);
        assert!(said.err.contains("inside the repository"), "{place}: {}", said.err);
        assert_eq!(case.checkout(), before, "{place}: nothing may be left in the checkout");
    }
}

#[test]
fn a_repository_whose_path_is_not_text() {
    let case = simple(&[("README", "r\n")]);
    let odd = case.outside().join(std::ffi::OsStr::from_bytes(b"odd \xff\x1b[2J\n'name"));
    std::fs::rename(case.scratch.path(), &odd).expect("a move");
    let mut sop = case.command(&[]);
    sop.current_dir(&odd).env(
        "SOP_WORKTREES",
        odd.parent().expect("above").join(std::ffi::OsStr::from_bytes(b"w\xfe t")),
    );
    let said = run(&mut sop, "");
    std::fs::rename(&odd, case.scratch.path()).expect("a move");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(!said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'), "{:?}", said.out);
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/x"]);
}

#[test]
fn a_check_that_is_not_in_the_whitelist_of_anyone_may_not_change_it() {
    // The check itself is outside: a worker that edits it is refused before the check is run.
    let case = Case::new(&[("check.sh", "#!/bin/sh\nexit 1\n")]);
    std::fs::set_permissions(
        case.scratch.path().join("check.sh"),
        PermissionsExt::from_mode(0o755),
    )
    .expect("a mode");
    case.scratch.commit("executable");
    let case = case.wp(
        "a",
        "src/**",
        "printf '#!/bin/sh\\n' > check.sh; mkdir src; echo x > src/x",
        "dod = [\"./check.sh\"]",
    );
    let ran = case.apply().expect(3);
    assert!(ran.problems().contains("\"check.sh\""), "{}", ran.problems());
    assert_eq!(ran.about("dod_ran", "a").len(), 0);
}

#[test]
fn a_full_disk_is_infrastructure_and_the_run_goes_on_with_room() {
    let case = simple(&[("README", "r\n")]);
    let small = case.outside().join("small");
    std::fs::create_dir(&small).expect("a folder");
    let mut mount = case.scratch.command("mount");
    let mounted = mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&small).output();
    if !has_right("mount a small disk", mounted.is_ok_and(|output| output.status.success())) {
        return;
    }
    let filled = std::fs::write(small.join("fill"), vec![0_u8; 200_000]);
    let mut sop = case.command(&[]);
    let said = run(sop.env("SOP_WORKTREES", &small), "");
    let _ = std::fs::remove_file(small.join("fill"));
    let mut again = case.command(&[]);
    let later = run(again.env("SOP_WORKTREES", &small), "");
    let gone = case.scratch.command("umount").arg(&small).status();
    assert!(gone.is_ok_and(|status| status.success()), "unmounted");
    assert!(filled.is_err(), "the disk was full");
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    assert!(said.err.contains("space"), "{}", said.err);
    assert_eq!(later.code, 0, "{}{}", later.out, later.err);
    let list = case.scratch.git(&["worktree", "list"]);
    assert_eq!(list.lines().count(), 1, "nothing half-made is left: {list}");
}

#[test]
fn outside_of_any_repository_it_is_said() {
    let scratch = Scratch::folder();
    scratch.write("plan.toml", "version = 1\n");
    for args in [&["apply"][..], &["plan"], &["status"], &["resume"], &["logs", "a"]] {
        let said = scratch.sop(args);
        assert_eq!(said.code, 5, "{args:?}: {}", said.err);
        assert!(said.err.contains("not inside a git repository"), "{args:?}: {}", said.err);
    }
}
