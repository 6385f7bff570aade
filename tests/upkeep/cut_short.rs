//! A migration that was cut short: whose journal counts, who is at work on it, and a disk that has no room.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use sop::git::Repo;
use sop::upkeep::bare::journal::Journal;
use sop::upkeep::bare::workshop::Workshop;
use sop::upkeep::bare::{Migration, Way, plan, take_up};

use crate::support::git_repo::{command, sh};
use crate::support::scratch::{Said, Scratch, run};

fn repo() -> Scratch {
    Scratch::repo(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("dir/c.txt", "c\n")])
}

fn migrate(folder: &Path, with: &[&str]) -> Said {
    run(command(env!("CARGO_BIN_EXE_sop"), folder).arg("migrate-to-bare").args(with), "")
}

/// As under a limit of `kib` for each file that is written: a disk without room, for whoever asks.
fn cramped(folder: &Path, kib: u32, with: &str) -> Said {
    let sop = env!("CARGO_BIN_EXE_sop");
    let line = format!("trap '' XFSZ; ulimit -f {kib}; exec '{sop}' migrate-to-bare {with}");
    run(command("bash", folder).args(["-c", &line]), "")
}

fn ends(code: i32, said: Said) -> Said {
    assert_eq!(said.code, code, "{}\n{}", said.out, said.err);
    said
}

fn migration(folder: &Path) -> Migration {
    plan(&Repo::discover(folder).expect("a repository"), None).expect("it can be moved")
}

/// The same, with the journal on disk and `done` steps made.
fn cut_short(folder: &Path, done: usize) -> Journal {
    let journal = migration(folder).journal;
    journal.begin().expect("it is written down");
    journal.make_up_to(done).expect("the steps");
    journal
}

fn files(folder: &Path) -> String {
    sh(folder, "find . -path ./.git -prune -o -type f -print | sort; git status --porcelain")
}

fn bytes(path: &Path) -> Value {
    json!(path.as_os_str().as_encoded_bytes())
}

/// A journal that would write to `victim`.
fn planted(top: &Path, victim: &Path) -> String {
    let write = json!({ "path": bytes(victim), "was": null, "now": b"owned\n" });
    json!({ "top": bytes(top), "folder": bytes(top), "steps": [{ "write": write }] }).to_string()
}

fn write_journal(workshop: &Path, text: &str) {
    DirBuilder::new().mode(0o700).recursive(true).create(workshop).expect("a folder");
    fs::write(workshop.join("journal.json"), text).expect("a journal");
    fs::write(workshop.join("done"), "0").expect("a note");
}

#[test]
fn a_journal_that_lies_in_the_tree_is_never_carried_out() {
    let origin = repo();
    let root = origin.path().parent().expect("a folder around it").to_path_buf();
    let (clone, victim) = (root.join("clone"), root.join("victim"));
    let text = planted(&clone, &victim);
    write_journal(&origin.path().join(".sop-migrating"), &text);
    write_journal(&origin.path().join("dir/.sop-migrating"), &planted(&clone.join("dir"), &victim));
    // Below a folder called `.git`, where it would count, git takes nothing.
    write_journal(&origin.path().join(".sop-migrating/.git"), &text);
    origin.commit("planted");
    sh(&root, "git clone -q work clone");
    assert!(clone.join(".sop-migrating/journal.json").is_file());
    assert!(!clone.join(".sop-migrating/.git").exists());
    for folder in [clone.clone(), clone.join("dir")] {
        for (with, code) in [("--apply", 3), ("--json", 3), ("--undo", 2)] {
            let said = ends(code, migrate(&folder, &[with]));
            assert!(!victim.exists(), "{with}");
            if code == 3 {
                assert!(said.err.contains(".sop-migrating is there already"), "{}", said.err);
            }
        }
    }
}

#[test]
fn a_journal_counts_only_where_nobody_else_could_have_put_it() {
    let scratch = repo();
    let top = scratch.path();
    let (root, desk) = (top.parent().expect("a folder"), top.join(".sop-migrating/.git"));
    let victim = root.join("victim");
    let counts = || Journal::at(top);
    write_journal(&desk, &planted(top, &top.join("new.txt")));
    assert!(counts().expect("it is whole").is_some(), "a folder of our own, and a step below it");

    // Another could have written to the folder.
    for folder in [top.join(".sop-migrating"), desk.clone()] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("its own");
        assert!(counts().expect("passed over").is_none(), "{}", folder.display());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("its own");
    }
    // A link leads to it.
    fs::rename(top.join(".sop-migrating"), root.join("elsewhere")).expect("a folder");
    symlink("../elsewhere", top.join(".sop-migrating")).expect("a link");
    assert!(counts().expect("passed over").is_none());
    fs::remove_file(top.join(".sop-migrating")).expect("the link");
    fs::rename(root.join("elsewhere"), top.join(".sop-migrating")).expect("back");

    // It is about another folder, or about what is not below its own.
    let said = |text: &str| {
        write_journal(&desk, text);
        counts().expect_err("it is refused").to_string()
    };
    assert!(said(&planted(root, &root.join("x"))).contains("it is about"));
    for path in [victim.clone(), top.join("../victim"), top.to_path_buf(), "victim".into()] {
        let why = said(&planted(top, &path));
        assert!(why.contains("a step leads out of it"), "{why}");
    }
    // The file by which another worktree is told of its repository is the one exception, and only as such.
    let elsewhere = |was: &[u8], now: &[u8]| {
        let write = json!({ "path": bytes(&root.join("tree/.git")), "was": was, "now": now });
        let steps = json!([{ "write": write }]);
        json!({ "top": bytes(top), "folder": bytes(top), "steps": steps }).to_string()
    };
    write_journal(&desk, &elsewhere(b"gitdir: a\n", b"gitdir: b\n"));
    assert!(counts().expect("it is whole").is_some());
    assert!(said(&elsewhere(b"gitdir: a\n", b"[core]\n")).contains("leads out"));
    assert!(said(&elsewhere(b"x\n", b"gitdir: b\n")).contains("leads out"));

    // Below the folder by its words, and out of it by a link.
    symlink(root, top.join("out")).expect("a link");
    write_journal(&desk, &planted(top, &top.join("out/victim")));
    let journal = counts().expect("it is whole").expect("it is there");
    let why = take_up(&journal, Way::Finish).expect_err("it leads out").to_string();
    assert!(why.contains("a link leads out") && !victim.exists(), "{why}");
    assert!(take_up(&journal, Way::Undo).is_err());
}

#[test]
fn a_journal_of_a_repository_around_is_no_matter_of_the_one_inside() {
    let scratch = repo();
    let inner = scratch.path().join("inner");
    sh(scratch.path(), "git init -q -b main inner; git -C inner commit -q --allow-empty -m first");
    cut_short(scratch.path(), 1);
    let from = |folder: &Path| Journal::left_in(folder).expect("read").is_some();
    assert!(from(scratch.path()) && from(&scratch.path().join("dir")) && !from(&inner));
    ends(0, migrate(&inner, &["--apply"]));
    assert!(inner.join("main/.git").is_file() && scratch.path().join("a.txt").is_file());
}

#[test]
fn the_steps_that_are_left_are_shown_before_they_are_made() {
    let scratch = repo();
    let journal = cut_short(scratch.path(), 2);
    let said = ends(4, migrate(scratch.path(), &[]));
    let all = journal.steps.len();
    assert!(said.out.contains(&format!("cut short after 2 of {all} steps")), "{}", said.out);
    let left: Vec<String> =
        journal.steps[2..].iter().map(|step| step.told(&journal.top.path())).collect();
    let at = left.iter().map(|step| said.out.find(step.as_str()).expect("it is shown"));
    assert!(at.is_sorted(), "{}", said.out);
    assert!(said.out.contains(&scratch.path().display().to_string()));
    let said = ends(4, migrate(scratch.path(), &["--json"]));
    let value: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(value["left"], json!(left));
    ends(0, migrate(scratch.path(), &["--apply"]));
    assert_eq!(fs::read(scratch.path().join("main/a.txt")).expect("a file"), b"a\n");
}

#[test]
fn one_migration_is_at_work_at_a_time() {
    let scratch = repo();
    let top = scratch.path().canonicalize().expect("the folder");
    let made = migration(&top);
    for begun in [false, true] {
        if begun {
            made.journal.begin().expect("it is written down");
        }
        let held = Workshop::enter(&top).expect("nobody is there");
        for with in [&[][..], &["--apply"]] {
            let said = ends(3, migrate(&top, with));
            assert!(said.err.contains("another `sop migrate-to-bare` is at work"), "{}", said.err);
        }
        drop(held);
    }
    ends(0, migrate(&top, &["--undo"]));
    assert!(!top.join(".sop-migrating").exists());

    // As many as like at once: one does it.
    let before = files(&top);
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut sop = command(env!("CARGO_BIN_EXE_sop"), &top);
            sop.args(["migrate-to-bare", "--apply"]).stdin(Stdio::null());
            sop.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sop")
        })
        .collect();
    let done = children.into_iter().map(|child| child.wait_with_output().expect("ended"));
    assert_eq!(done.filter(|said| said.status.success()).count(), 1);
    assert!(!top.join(".sop-migrating").exists());
    assert_eq!(files(&top.join("main")), before);
    assert_eq!(sh(&top, "git rev-parse --is-bare-repository"), "true");
}

#[test]
fn what_cannot_be_written_down_is_not_begun_and_leaves_nothing() {
    let scratch = repo();
    let (top, before) = (scratch.path(), files(scratch.path()));
    let said = ends(5, cramped(top, 8, "--apply"));
    assert!(said.err.contains("cannot write") && said.err.contains("journal.json"), "{}", said.err);
    assert!(!top.join(".sop-migrating").exists());
    assert_eq!(files(top), before);

    // Killed while it was being written down: the next call clears that away, whichever it is.
    let desk = top.join(".sop-migrating/.git");
    for (with, code) in [(&["--undo"][..], 2), (&[], 0), (&["--apply"], 0)] {
        DirBuilder::new().mode(0o700).recursive(true).create(&desk).expect("a folder");
        for name in ["journal.new", "done", "spare", "lock"] {
            fs::write(desk.join(name), "half").expect("a file");
        }
        ends(code, migrate(top, with));
        assert!(!top.join(".sop-migrating").exists(), "{with:?}");
    }
    assert_eq!(fs::read(top.join("main/a.txt")).expect("a file"), b"a\n");
}

#[test]
fn undoing_goes_on_when_it_cannot_be_noted() {
    let scratch = repo();
    let (top, before) = (scratch.path(), files(scratch.path()));
    let moved = |top: &Path| top.join(".sop-migrating/tree/a.txt").exists();
    let journal = cut_short(top, 4);
    assert!(moved(top));
    let desk = top.join(".sop-migrating/.git");
    let (noted, spare) = (desk.join("done"), desk.join("spare").metadata().expect("room"));
    assert!(spare.size() >= 64 << 10 && spare.blocks() * 512 >= 64 << 10);
    // Notes are written in place.
    let node = noted.metadata().expect("a note").ino();
    journal.make_up_to(5).expect("one more");
    assert_eq!(noted.metadata().expect("a note").ino(), node);
    ends(0, cramped(top, 0, "--undo"));
    assert_eq!(files(top), before);
    assert!(!top.join(".sop-migrating").exists());

    // It stops half-way as well: then it is known that the note is too high, and nothing is made by it.
    let journal = cut_short(top, 5);
    fs::write(top.join("a.txt"), "in the way\n").expect("a file");
    let said = ends(5, cramped(top, 0, "--undo"));
    assert!(said.err.contains("something else is in its place"), "{}", said.err);
    let said = ends(3, migrate(top, &["--apply"]));
    assert!(said.err.contains("it was being undone"), "{}", said.err);
    fs::remove_file(top.join("a.txt")).expect("away");
    ends(0, migrate(top, &["--undo"]));
    assert_eq!(files(top), before);
    assert!(journal.done() <= 1);
}

#[test]
fn undoing_is_cut_short_at_any_step_and_finished_or_undone() {
    let scratch = repo();
    let (top, before) = (scratch.path(), files(scratch.path()));
    let steps = migration(top).journal.steps.len();
    for stop in 1..steps {
        let journal = cut_short(top, steps);
        let noted = top.join(".sop-migrating/.git/done");
        // Killed between the note and the step, with every step above undone.
        for at in (stop..steps).rev() {
            fs::write(&noted, at.to_string()).expect("the note");
            if at > stop {
                journal.steps[at].undo(true).expect("undone");
            }
        }
        assert_eq!(journal.done(), stop + 1);
        match stop % 2 {
            0 => ends(0, migrate(top, &["--undo"])),
            _ => {
                ends(0, migrate(top, &["--apply"]));
                assert_eq!(sh(&top.join("main"), "git status --porcelain; cat a.txt"), "a");
                // Back by the same steps, which are known here.
                journal.begin().expect("again");
                fs::write(&noted, steps.to_string()).expect("the note");
                ends(0, migrate(top, &["--undo"]))
            }
        };
        assert_eq!(files(top), before, "{stop}");
    }
}
