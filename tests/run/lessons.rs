//! What runs have taught: kept in the user's notes, read back, put into briefs, offered by a summary.

use std::process::Command;

use sop::run::lessons::{line, parse, wellformed};

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp, wp_proven_by};

/// A repository whose notes `sop lesson` may write, and nothing else of the user's.
fn notes(plan: &str, files: &[(&str, &str)]) -> Rig {
    let rig = Rig::new(plan, files);
    rig.touches(&[".sop"], "lessons are kept there");
    rig
}

#[test]
fn a_lesson_is_appended_and_nothing_else_is_touched() {
    let rig = notes(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    rig.sop_ends(
        0,
        &["lesson", "add", "Run tests with `--offline`.", "--for", "src/**", "--for", "a.txt"],
    );
    rig.sop_ends(0, &["lesson", "add", "Two\n\n  lines, and \u{1b}[31mno colour"]);
    let text = std::fs::read_to_string(rig.repo().join(".sop/notes.md")).expect("it is there");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(['-', ' '])).collect();
    assert!(lines[0].ends_with(" for `src/**`, `a.txt`: Run tests with `--offline`."), "{text}");
    assert!(lines[1].ends_with(": Two"), "{text}");
    assert_eq!(lines[2], "  lines, and \\x1b[31mno colour");
    let said = rig.sop_ends(0, &["lesson", "list", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(all["lessons"][0]["paths"], serde_json::json!(["src/**", "a.txt"]));
    assert_eq!(all["lessons"][1]["text"], "Two\nlines, and \\x1b[31mno colour");
    // The same is not kept twice.
    let said = rig.sop_ends(0, &["lesson", "add", "Two\nlines, and \u{1b}[31mno colour"]);
    assert!(said.out.contains("has that already"), "{}", said.out);
    assert_eq!(rig.git(&["status", "--porcelain"]).trim(), "?? .sop/");
}

#[test]
fn what_people_wrote_stays_as_it_is_and_what_is_no_lesson_is_named() {
    let rig = notes(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    let own = "Our notes.\n\n* 2026-01-02: Kept.\n- yesterday: it broke\n- 2026-01-03 for src: no ticks\n\
               - 2026-01-04 for `a/[`: odd\n\n  not of a lesson";
    rig.write(".sop/notes.md", own);
    let said = rig.sop_ends(1, &["lesson", "list"]);
    assert_eq!(said.out, "- 2026-01-02: Kept.\n");
    for (line, what) in [(4, "the day it was learned"), (5, "backticks"), (6, "no patterns")] {
        let place = format!(".sop/notes.md:{line}: ");
        let named = said.err.lines().any(|it| it.starts_with(&place) && it.contains(what));
        assert!(named, "{line}: {}", said.err);
    }
    rig.sop_ends(0, &["lesson", "add", "New."]);
    let text = std::fs::read_to_string(rig.repo().join(".sop/notes.md")).expect("it is there");
    assert!(text.starts_with(own) && text.ends_with(": New.\n"), "{text}");
    // Whoever checks a plan is told, and it runs all the same.
    let said = rig.sop_ends(0, &["validate"]);
    assert!((said.out + &said.err).contains(".sop/notes.md:4:1"), "where it is");
    rig.apply(0);
}

#[test]
fn what_is_no_lesson_is_refused_with_what_to_do() {
    let rig = notes(&plan(&wp("a", "")), &[]);
    let long = "x".repeat(2001);
    for (args, why) in [
        (&["lesson", "add", "  "][..], "says nothing"),
        (&["lesson", "add", &long], "longer than 2000 bytes"),
        (&["lesson", "add", "x", "--for", "a`b"], "is no pattern that can be kept"),
        (&["lesson", "add", "x", "--for", "a/["], "no patterns"),
        (&["lesson", "add", "x", "--for", ""], "is no pattern"),
    ] {
        let said = rig.sop_ends(2, args);
        assert!(said.err.contains(why), "{args:?}: {}", said.err);
    }
    // A worker keeps nothing in a person's name.
    let said = rig.sop_with(&[("SOP_RUN", "o-1")], &["lesson", "add", "x"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("are not a worker's"), "{}", said.err);
    assert!(!rig.repo().join(".sop").exists());
    // Nothing is written through a link.
    std::os::unix::fs::symlink(rig.root().join("marks"), rig.repo().join(".sop")).expect("a link");
    let said = rig.sop_ends(5, &["lesson", "add", "x"]);
    assert!(said.err.contains("no folder"), "{}", said.err);
    assert!(!rig.mark("notes.md").exists());
    std::fs::remove_file(rig.repo().join(".sop")).expect("it goes");
    std::fs::create_dir(rig.repo().join(".sop")).expect("a folder");
    std::os::unix::fs::symlink(rig.mark("theirs"), rig.repo().join(".sop/notes.md"))
        .expect("a link");
    rig.sop_ends(5, &["lesson", "add", "x"]);
    assert!(!rig.mark("theirs").exists());
}

#[test]
fn lessons_that_are_added_at_once_are_all_kept() {
    let rig = notes(&plan(&wp("a", "")), &[]);
    std::thread::scope(|scope| {
        for n in 0..6 {
            let rig = &rig;
            scope.spawn(move || rig.sop_ends(0, &["lesson", "add", &format!("Lesson {n}.")]));
        }
    });
    let said = rig.sop_ends(0, &["lesson", "list"]);
    assert_eq!(said.out.lines().count(), 6, "{}", said.out);
}

#[test]
fn briefs_carry_what_meets_their_paths_and_a_run_keeps_what_it_began_with() {
    let wide = "\n[[wp]]\nid = \"b\"\nwhitelist = [\"src/**\", \"!src/old/**\"]\ndod = [\"true\"]\n\
                brief_text = \"Do it.\"\nallow_empty = true\nneeds = [\"a\"]\n";
    let rig = notes(
        &plan(&(wp("a", "review = \"human\"") + wide)),
        &[("worker.sh", &worker("if [ $SOP_WP = a ]; then done_well; fi"))],
    );
    for (text, paths) in [
        ("For everybody.", &[][..]),
        ("For a.", &["--for", "a.txt"]),
        ("For the sources.", &["--for", "**/*.rs"]),
        ("For what is old.", &["--for", "src/old/*"]),
    ] {
        rig.sop_ends(0, &[&["lesson", "add", text], paths].concat());
    }
    let told = |text: &str| {
        let all = ["For everybody.", "For a.", "For the sources.", "For what is old.", "Later."];
        all.into_iter().filter(|it| text.contains(it)).collect::<Vec<_>>()
    };
    assert_eq!(told(&rig.sop_ends(0, &["brief", "a"]).out), ["For everybody.", "For a."]);
    assert_eq!(told(&rig.sop_ends(0, &["brief", "b"]).out), ["For everybody.", "For the sources."]);
    rig.apply(4);
    assert_eq!(told(&rig.of_run("briefs/a-1.md")), ["For everybody.", "For a."]);
    rig.sop_ends(0, &["lesson", "add", "Later."]);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(told(&rig.of_run("briefs/b-1.md")), ["For everybody.", "For the sources."]);
}

#[test]
fn lessons_of_a_run_that_somebody_changed_are_not_believed() {
    let rig = notes(&plan(&wp("a", "review = \"human\"")), &[("worker.sh", &worker("done_well"))]);
    rig.sop_ends(0, &["lesson", "add", "True."]);
    rig.apply(4);
    let kept = rig.run_dir().join("lessons.json");
    let text = std::fs::read_to_string(&kept).expect("it is there");
    std::fs::write(&kept, text.replace("True.", "False.")).expect("a file");
    rig.sop_ends(5, &["resume"]);
}

#[test]
fn a_summary_offers_what_its_failures_teach_as_commands_that_a_shell_can_run() {
    let script = worker(
        "if [ $SOP_ATTEMPT = 1 ] && [ $SOP_WP = q ]; then\n\
         printf '```question\\nWhich \\047port\\047 is $free?\\n```\\n' > \"$SOP_REPORT\"; exit 0; fi\n\
         case $SOP_WP in x|y) echo 1 > \"shared lib.txt\" ;; esac\n\
         case $SOP_WP in s) echo good > s.txt ;; *) done_well ;; esac",
    );
    let text = with_head(
        "rounds = 1",
        &(wp("q", "")
            + &wp("x", "")
            + &wp("y", "")
            + &wp_proven_by("s", "[{ run = \"sleep 60\", timeout = \"1s\" }]", "")),
    );
    let rig = notes(&text, &[("worker.sh", &script)]);
    rig.apply(4);
    rig.sop_ends(0, &["answer", "q1", "8080; rm -rf $HOME"]);
    let said = rig.sop_ends(3, &["resume"]);
    let offered: Vec<&str> =
        said.out.lines().filter_map(|it| it.trim().strip_prefix("sop lesson add ")).collect();
    assert_eq!(offered.len(), 3, "{}", said.out);
    assert!(offered.iter().any(|it| it.contains("shared lib.txt")), "{offered:?}");
    assert!(
        offered.iter().any(|it| it.contains("sleep 60") && it.contains("timeout")),
        "{offered:?}"
    );
    assert!(!rig.repo().join(".sop").exists(), "never added by itself");
    for command in offered {
        let mut shell = Command::new("sh");
        let line = format!("{} lesson add {command}", env!("CARGO_BIN_EXE_sop"));
        shell.args(["-c", &line]).current_dir(rig.repo()).env_remove("SOP_RUN");
        let ran = shell.output().expect("sh");
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    let kept = rig.sop_ends(0, &["lesson", "list"]).out;
    assert!(kept.contains("Which 'port' is $free? 8080; rm -rf $HOME"), "{kept}");
}

/// What a summary offers to keep, as it is typed.
fn offered(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.trim().starts_with("sop lesson add ")).map(str::trim).collect()
}

/// The same check fails, and passes on the very same files.
#[test]
fn a_check_that_cannot_make_up_its_mind_is_offered_as_flaky() {
    let check =
        "[ -e a.txt ] || exit 1\necho x >> $MARKS/checks\n[ $(wc -l < $MARKS/checks) -gt 1 ]\n";
    let text = plan(&wp_proven_by("a", "[\"sh check.sh\"]", ""));
    let files = [("worker.sh", worker("done_well")), ("check.sh", check.to_owned())];
    let rig = Rig::new(&text, &files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let said = rig.apply(0);
    assert_eq!(rig.wp("a").round, 2);
    let flaky = "'`sh check.sh` is flaky: it has failed and passed on the same files.'";
    assert_eq!(offered(&said.out), [format!("sop lesson add {flaky}")], "{}", said.out);
    assert!(said.out.contains("# it did so in a\n"), "{}", said.out);

    // One that fails on other files is none.
    let honest = "echo \"$SOP_ROUND\" > a.txt";
    let text = plan(&wp_proven_by("a", "[\"grep -q 2 a.txt\"]", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(honest))]);
    let said = rig.apply(0);
    assert_eq!((rig.wp("a").round, offered(&said.out)), (2, Vec::new()), "{}", said.out);
}

/// What a check or a setup command needs is not in a fresh worktree.
#[test]
fn what_a_fresh_worktree_lacks_is_offered() {
    // On the base all is well, before anybody works.
    let once = "echo x >> $MARKS/ran; [ $(wc -l < $MARKS/ran) = 1 ]";
    let check = "[ -e a.txt ] && exit 127; exit 1";
    let setup = "[provision]\nsetup = [\"sh setup.sh\"]\n";
    for (plan, says) in [
        (
            plan(&wp_proven_by("a", "[\"sh check.sh\"]", "")),
            "A fresh worktree does not have what `sh check.sh` needs: plans need a `[provision] setup` for it.",
        ),
        (
            plan(&format!("{setup}{}", wp("a", ""))),
            "`sh setup.sh` in `[provision]`: setup failed: exit 1.",
        ),
    ] {
        let files = [("worker.sh", &*worker("done_well")), ("check.sh", check), ("setup.sh", once)];
        let rig = Rig::new(&plan, &files);
        let said = rig.apply(5);
        assert_eq!(offered(&said.out), [format!("sop lesson add '{says}'")], "{}", said.out);
        assert!(said.out.contains("# a was blocked by it\n"), "{}", said.out);
    }
}

/// A correction of the plan's facts is worth keeping for the next plan.
#[test]
fn a_correction_is_offered() {
    let rig =
        Rig::new(&plan(&wp("a", "review = \"human\"")), &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    rig.sop_ends(0, &["note", "The port is 8080; `mine` is\nnot theirs."]);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    let said = rig.sop_ends(0, &["resume"]);
    let kept = "sop lesson add 'The port is 8080; `mine` is not theirs.'";
    assert_eq!(offered(&said.out), [kept], "{}", said.out);
    assert!(said.out.contains("# corrected by sop\n"), "{}", said.out);
}

#[test]
fn plans_and_run_directories_are_never_committed() {
    let rig = notes(
        &plan(&(wp("a", "") + &wp("b", "needs = [\"a\"]"))),
        &[("worker.sh", &worker("done_well"))],
    );
    rig.write("other.toml", &plan(&wp("a", "")).replace("\"o\"", "\"other\""));
    rig.sop_ends(0, &["lesson", "add", "Mine."]);
    rig.apply(0);
    rig.sop_ends(0, &["apply", "other.toml", "--yes"]);
    let trees = rig.trees();
    assert!(trees.len() >= 4, "{trees:?}");
    for branch in trees.keys() {
        let files = rig.git(&["ls-tree", "-r", "--name-only", branch]);
        let made: Vec<&str> = files.lines().filter(|it| !["a.txt", "b.txt"].contains(it)).collect();
        assert_eq!(
            made,
            ["plan.toml", "worker.sh"],
            "{branch}: what was there before, and no more"
        );
        assert_eq!(rig.git(&["diff", "--name-only", "main", branch, "--", "plan.toml"]), "");
    }
    assert_eq!(rig.git(&["status", "--porcelain"]).lines().count(), 2, "both are as they were");
}

#[test]
fn whatever_is_written_is_read_again_as_the_same() {
    for (paths, text) in [
        (&[][..], "One."),
        (&["a, b: c/**"], "Colons: `ticks`, for `x`: more"),
        (&["src/**", "!src/x"], "- a list\n* of lines\n# and a heading"),
    ] {
        let lesson = sop::model::lesson::Lesson {
            date: "2026-02-28".to_owned(),
            paths: paths.iter().map(|it| (*it).to_owned()).collect(),
            text: text.to_owned(),
        };
        wellformed(&lesson).expect("it can be kept");
        let notes = parse(&format!("# Notes\n\n{}\nWords.\n", line(&lesson)));
        assert_eq!(notes.faults, []);
        assert_eq!(notes.lessons, [(3, lesson)]);
    }
    assert_eq!(parse("- 2026-02-30: no such day").faults.len(), 1);
}
