//! From a checkout to a bare repository: in every state of the table, killed after every step, and back.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use sop::git::Repo;
use sop::upkeep::bare::journal::Journal;
use sop::upkeep::bare::{Migration, plan};
use sop::upkeep::error::UpkeepError;
use sop::upkeep::fresh::{self, New};

use super::bytes::{self, Files};
use super::place::Place;
use super::states::{Ends, STATES, State};
use super::verbs::{each, ended};
use crate::support::git_repo::{command, sh};

/// What git says of a worktree, and what the repository holds beside it.
const SAID: &str = "export GIT_OPTIONAL_LOCKS=0
    git status --porcelain=v1 -z --untracked-files=all --ignored | tr '\\0' '\\n' | sort
    git stash list; git for-each-ref; git rev-parse HEAD
    git reflog --format='%H %gD %gs'; git reflog --format='%H %gD %gs' refs/stash 2>/dev/null || true
    git reflog --format='%H %gD %gs' main
    cat \"$(git rev-parse --git-path hooks)/post-merge\" 2>/dev/null || true
    git ls-files -v -s; git config --get-regexp '^(branch|remote|user|filter|submodule)[.]' || true
    test ! -e sub/.git || { git submodule status; git -C sub status --porcelain; git -C sub log -1 --format=%s; }
    test ! -e nested/.git || git -C nested log -1 --format=%s";

fn migration(place: &Place) -> Result<Migration, UpkeepError> {
    plan(&place.repo(), None)
}

/// Everything in the folder, `.git` too, byte for byte.
fn whole(folder: &Path) -> Files {
    let list = sh(folder, "find . -type f -o -type l | sort");
    let file = |name: &str| {
        let path = folder.join(name);
        let bytes = match fs::read_link(&path) {
            Ok(target) => target.into_os_string().into_encoded_bytes(),
            Err(_) => fs::read(&path).expect("a file"),
        };
        (path, (0, bytes))
    };
    // Names that end lines are in the table, and seen by the other look.
    list.lines().filter(|name| folder.join(name).symlink_metadata().is_ok()).map(file).collect()
}

#[test]
fn all_of_a_checkout_moves_or_none_of_it_does() {
    each(|state| {
        if state.migrate == Ends::Not {
            return;
        }
        let mut place = Place::with_main(state);
        let main = place.main();
        sh(&main, "mkdir -p .git/hooks; echo 'exit 0' > .git/hooks/post-merge");
        let other = beside(&place, "other");
        let inside = main.join("build/inside");
        sh(&main, "git worktree add -q -b inside build/inside; echo i > build/inside/i.txt");
        place.prepared();
        let (said, other_said) = (sh(&main, SAID), sh(&other, SAID));
        let (before, index) = (bytes::on_disk(&main), fs::read(main.join(".git/index")).ok());
        let result = migration(&place).and_then(|migration| migration.apply().map(|()| migration));
        if !ended(state, state.migrate, &result) {
            assert_eq!(bytes::on_disk(&main), before, "{}: it was to stay", state.name);
            assert_eq!(sh(&main, SAID), said, "{}", state.name);
            return;
        }
        place.moved("it is a worktree of a bare repository");
        let folder = result.expect("it is done").folder;
        let name = if state.name.starts_with("detached") { "checkout" } else { "main" };
        assert_eq!(folder, main.join(name), "{}", state.name);
        assert_eq!(bytes::on_disk(&folder), before, "{}: file by file", state.name);
        let admin = sh(&folder, "git rev-parse --absolute-git-dir");
        assert_eq!(fs::read(Path::new(&admin).join("index")).ok(), index, "{}", state.name);
        assert_eq!(sh(&folder, SAID), said, "{}", state.name);
        assert_eq!(sh(&other, SAID), other_said, "{}", state.name);
        let moved = inside.strip_prefix(&main).expect("inside");
        assert_eq!(
            sh(&folder.join(moved), "git status --porcelain; git branch --show-current"),
            "?? i.txt\ninside"
        );
        let top = fs::read_dir(&main)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name());
        let mut top: Vec<_> = top.map(|name| name.into_string().expect("a name")).collect();
        top.sort();
        assert_eq!(top, [".bare", ".git", name], "{}", state.name);
        assert_eq!(
            sh(
                &main,
                "git rev-parse --is-bare-repository; git worktree prune -n -v; git fsck --connectivity-only 2>&1 | grep -v dangling || true"
            ),
            "true",
            "{}",
            state.name
        );
    });
}

fn clean() -> &'static State {
    STATES.iter().find(|state| state.name == "clean").expect("it is in the table")
}

fn beside(place: &Place, name: &str) -> std::path::PathBuf {
    let new = New { name: name.to_owned(), ..New::default() };
    fresh::make_in(&place.repo(), &new, &place.root().join("trees")).expect("a worktree").path
}

#[test]
fn killed_after_any_step_it_is_finished_or_undone() {
    let place = rich();
    let main = place.main();
    let (said, before) = (sh(&main, SAID), whole(&main));
    let made = migration(&place).expect("it can be moved");
    let steps = made.journal.steps.len();
    assert!(steps > 20, "{steps} are few");
    for after in 0..=steps {
        for finish in [true, false] {
            made.journal.begin().expect("it is written down");
            made.journal.make_up_to(after).expect("the steps");
            if !finish && after > 0 {
                // Made, and killed before that was noted.
                let noted = (after - 1).to_string();
                fs::write(main.join(".sop-migrating/done"), noted).expect("the note");
            }
            // From here on as another process: nothing is known but what is on disk.
            let left = Journal::left_in(&main).expect("it can be read").expect("it is there");
            assert_eq!((left.done(), &left), (after, &made.journal));
            if finish {
                left.finish().expect("finished");
                // What git says of it is asked now and then: it takes its time.
                if after % 8 == 0 || after == steps {
                    assert_eq!(sh(&main.join("main"), SAID), said, "killed after {after}");
                    let tree = place.root().join("trees/lead/other");
                    assert_eq!(sh(&tree, "git branch --show-current"), "other");
                }
            }
            left.undo().expect("undone");
            assert!(!main.join(".sop-migrating").exists());
            assert_eq!(whole(&main), before, "killed after {after}");
        }
    }
    assert_eq!(sh(&main, SAID), said);
    let tree = place.root().join("trees/lead/other");
    assert_eq!(sh(&tree, "git status --porcelain; git branch --show-current"), "other");
}

/// A checkout with all that a migration has a step for.
fn rich() -> Place {
    let mut place = Place::with_main(clean());
    sh(
        &place.main(),
        "git -c protocol.file.allow=always submodule --quiet add \"${PWD%/*}/sub.git\" sub; git commit -q -m sub
         echo stashed > tracked.txt; git stash -q; echo mine > mine.txt; echo staged > other.txt; git add other.txt
         git sparse-checkout set --no-cone '/*' 2>/dev/null; git update-ref refs/worktree/own HEAD",
    );
    beside(&place, "other");
    sh(&place.main(), "git worktree add -q -b inside build/inside");
    place.prepared();
    place
}

#[test]
fn a_step_that_fails_undoes_all() {
    let place = rich();
    let main = place.main();
    let (said, before) = (sh(&main, SAID), whole(&main));
    let made = migration(&place).expect("it can be moved");
    // Between the look and the move somebody takes the place of what is to come.
    fs::create_dir(main.join("main")).expect("a folder");
    fs::write(main.join("main/here"), "first").expect("a file");
    let why = made.apply().expect_err("it is in the way").to_string();
    assert!(why.contains("something else is in its place") && !why.contains("undoing"), "{why}");
    fs::remove_dir_all(main.join("main")).expect("away");
    assert_eq!(whole(&main), before);
    assert_eq!(sh(&main, SAID), said);
}

/// All steps are made, and then something is not as it was: all is undone.
#[test]
fn a_last_look_that_fails_undoes_all() {
    for (change, says) in [
        ("git branch late", "a ref changed"),
        ("git update-ref -d refs/heads/other; git checkout -q -B main", "changed"),
        ("echo later > tracked.txt; git stash -q", "changed"),
        ("echo late > late.txt", "the checkout changed"),
        ("echo late > ../trees/lead/other/late.txt", "a worktree changed"),
    ] {
        let mut place = rich();
        place.moved("something in it changes meanwhile");
        let main = place.main();
        let made = migration(&place).expect("it can be moved");
        sh(&main, change);
        let (said, before) = (sh(&main, SAID), whole(&main));
        let why = made.apply().expect_err(change).to_string();
        assert!(why.contains(says) && !why.contains("undoing"), "{change}: {why}");
        assert_eq!(whole(&main), before, "{change}");
        assert_eq!(sh(&main, SAID), said, "{change}");
        assert!(!main.join(".sop-migrating").exists(), "{change}");
    }
}

/// As it is typed, after a kill in the middle of it.
#[test]
fn the_verb_takes_up_what_was_cut_short() {
    for after in [0, 3, 12, usize::MAX] {
        let mut place = rich();
        place.moved("it is a bare repository in the end");
        let main = place.main();
        let (said, before) = (sh(&main, SAID), whole(&main));
        let made = migration(&place).expect("it can be moved");
        let after = after.min(made.journal.steps.len());
        let sop = |code: i32, args: &[&str]| {
            let mut sop = command(env!("CARGO_BIN_EXE_sop"), &main);
            let sop = sop.arg("migrate-to-bare").args(args).env_remove("SOP_RUN");
            let said = crate::support::scratch::run(sop.env("HOME", place.root()), "");
            assert_eq!(said.code, code, "{args:?} after {after}: {}{}", said.out, said.err);
            said.out + &said.err
        };
        assert!(sop(2, &["--undo"]).contains("nothing was cut short here"));
        let cut = || {
            made.journal.begin().expect("it is written down");
            made.journal.make_up_to(after).expect("the steps");
        };
        cut();
        let told = sop(4, &[]);
        for command in ["sop migrate-to-bare --apply", "sop migrate-to-bare --undo"] {
            assert!(told.contains(command), "{told}");
        }
        assert!(told.contains(&format!("after {after} of")), "{told}");
        assert!(sop(0, &["--undo"]).contains("It is undone"));
        assert_eq!(whole(&main), before, "undone after {after}");
        cut();
        assert!(sop(0, &["--apply"]).contains("It is finished"));
        assert_eq!(sh(&main.join("main"), SAID), said, "finished after {after}");
        assert!(!main.join(".sop-migrating").exists());
    }
}

fn refused(place: &Place) -> String {
    migration(place).expect_err("it is refused").to_string()
}

#[test]
fn what_cannot_be_moved_is_refused_by_name() {
    let place = Place::with_main(clean());
    let (main, root) = (place.main(), place.root());
    let script = |line: &str| sh(&main, line);
    let try_it = |make: &str, says: &str, undo: &str| {
        script(make);
        let why = refused(&place);
        assert!(why.contains(says), "{make}: {why}");
        script(undo);
    };
    let hooks = format!("git config core.hooksPath '{}'", main.join(".husky").display());
    try_it(
        &hooks,
        "`core.hookspath` names a place in the checkout",
        "git config --unset core.hooksPath",
    );
    try_it(
        "git config include.path ../more",
        "`include.path` names a file",
        "git config --unset include.path",
    );
    sh(&root, "git clone -q --bare main up.git; cp -r up.git main/dir/up.git");
    for (key, path) in [
        ("remote.origin.url", "../up.git"),
        ("remote.origin.pushurl", "./dir/../../up.git"),
        ("branch.main.remote", "../up.git"),
        ("core.excludesFile", ".git/own-ignores"),
        ("core.hooksPath", "../hooks"),
    ] {
        let says = format!("`{}` is {path}", key.to_ascii_lowercase());
        try_it(&format!("git config {key} {path}"), &says, &format!("git config --unset {key}"));
    }
    // What it says to type instead is enough, and what is in the checkout moves along with it.
    script("git config remote.origin.url ../up.git");
    let why = refused(&place);
    let typed = why.split('`').find(|part| part.starts_with("git config ")).expect("a command");
    script(typed);
    script(
        "git ls-remote -q origin > /dev/null; git config remote.inner.url ./dir/up.git; git config branch.main.remote .",
    );
    migration(&place).expect("nothing is in the way");
    script(
        "git config --remove-section remote.origin; git config --remove-section remote.inner; git config --remove-section branch.main; rm -r dir/up.git",
    );
    try_it("touch .git/packed-refs.lock", "packed-refs.lock", "rm .git/packed-refs.lock");
    try_it("ln -s \"$PWD/dir\" absolute", "absolute", "rm absolute");
    try_it("mkdir .bare", ".bare is there already", "rmdir .bare");
    try_it(
        "git init -q n; git -C n -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; git -C n worktree add -q ../../far",
        "n cannot be moved: it has worktrees of its own",
        "rm -rf n ../far",
    );
    try_it(
        "git clone -q --shared . n 2>/dev/null",
        "n cannot be moved: it borrows objects",
        "rm -rf n",
    );
    try_it(
        "git worktree add -q --detach ../gone; mv ../gone ../elsewhere",
        "gone is not there",
        "git worktree prune; rm -r ../elsewhere",
    );
    let other = beside(&place, "other");
    let mut cat = command("cat", &other);
    let mut child: Child =
        cat.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
    assert!(refused(&place).contains("a process is in the worktree"), "{}", refused(&place));
    drop(child.stdin.take());
    child.wait().expect("ended");
    migration(&place).expect("nothing is in the way any more");
    let bare = root.join("sub.git");
    let why = plan(&Repo::discover(&bare).expect("a repository"), None).expect_err("it is bare");
    assert!(why.to_string().contains("a bare repository already"), "{why}");
}
