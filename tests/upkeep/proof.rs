//! What proves nothing: a branch by another of its names, and a mark of a removal that did not come to pass.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use sop::model::upkeep::{Class, Done, Leftover, LeftoverKind};
use sop::upkeep::fresh::{self, New};
use sop::upkeep::leave::{Discard, remove};
use sop::upkeep::tidy::{Order, tidy};

use super::place::Place;
use super::states::{STATES, State};
use crate::support::git_repo::sh;

fn state(name: &str) -> &'static State {
    STATES.iter().find(|state| state.name == name).expect("it is in the table")
}

/// Whether `rm` takes it, and whether `gc` would; the branch is asked for after both.
fn goes(place: &Place) -> (bool, bool) {
    let order = Order { apply: true, ..Order::default() };
    let gone = remove(&place.repo(), "w", Discard::default()).is_ok();
    let left = tidy(&place.repo(), &order).expect("a look");
    let reclaimed = left.iter().any(|it| it.done == Some(Done::Removed));
    (gone, reclaimed)
}

#[test]
fn a_branch_is_no_proof_of_itself_by_any_of_its_names() {
    const REMOTE: &str = "git config remote.origin.url /nowhere
        git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
        git update-ref refs/remotes/origin/w w; git update-ref refs/remotes/origin/lead/x w
        git update-ref refs/remotes/origin/main main; ";
    for (script, proven) in [
        ("git checkout -q -b review --track w", false),
        ("git branch -q -u w main", false),
        ("git branch -q -u origin/w main", false),
        ("git branch -q -u origin/lead/x main; git branch -q -u origin/lead/x w", false),
        ("git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/w", false),
        ("git config remote.pushdefault origin; git config push.default current
          git config remote.origin.push refs/heads/w:refs/heads/lead/x; git branch -q -u origin/lead/x main", false),
        // Another branch of the repository holds what it has.
        ("git branch -q other w; git branch -q -u other main", true),
        ("git update-ref refs/remotes/origin/main w; git branch -q -u origin/main main", true),
        ("git update-ref refs/remotes/origin/main w; git branch -q -u origin/main main; git branch -q -u origin/main w", true),
    ] {
        let script = format!("cd \"$MAIN\"; {REMOTE}{script}").leak();
        let place = Place::with_tree(&State { script, ..*state("unmerged") });
        let tip = sh(&place.tree(), "git rev-parse HEAD");
        if script.contains("review") {
            sh(&place.tree(), "echo more >> more.txt; git commit -q -a -m more");
        }
        assert_eq!(goes(&place).0, proven, "{script}");
        assert_eq!(place.tree().exists(), !proven, "{script}");
        let held = sh(&place.main(), &format!("git for-each-ref --contains {tip} refs/heads | wc -l"));
        assert_ne!((proven, &*held), (false, "0"), "{script}");
    }
}

#[test]
fn what_a_tree_was_made_from_is_no_proof_where_that_is_what_it_is_pushed_to() {
    let place = Place::with_tree(state("unmerged"));
    sh(&place.main(), "git update-ref refs/remotes/origin/w2 main");
    let new = New { name: "w2".to_owned(), base: Some("origin/w2".to_owned()), ..New::default() };
    let made = fresh::make_in(&place.repo(), &new, &place.root().join("trees")).expect("made");
    sh(
        &made.path,
        "echo own > own.txt; git add -A; git commit -q -m own; git update-ref refs/remotes/origin/w2 HEAD",
    );
    let error = remove(&place.repo(), "w2", Discard::default()).expect_err("only pushed");
    assert!(error.to_string().contains("`w2` is not merged"), "{error}");
}

#[test]
fn a_removal_that_failed_leaves_no_mark_and_all_is_looked_at_again() {
    if rustix::process::geteuid().is_root() {
        // The one who may write everywhere.
        return;
    }
    let place = Place::with_tree(state("clean"));
    let beside: PathBuf = place.tree().parent().expect("a folder").to_path_buf();
    let may =
        |mode| fs::set_permissions(&beside, fs::Permissions::from_mode(mode)).expect("a mode");
    may(0o555);
    let error = remove(&place.repo(), "w", Discard::default()).expect_err("it cannot be moved");
    may(0o755);
    assert!(error.to_string().contains("cannot move away"), "{error}");
    worked_in_since(&place);
}

#[test]
fn a_removal_that_was_killed_before_the_move_is_as_if_it_had_not_been_begun() {
    let place = Place::with_tree(state("clean"));
    let admin = place.main().join(".git/worktrees/w");
    sh(
        &place.tree(),
        &format!(
            "printf '%s\\0%s\\0%s\\0\\0' \"$PWD/../.sop-removing-w\" $(stat -c '%d %i' . | tr ' ' '\\n') > '{}'",
            admin.join("sop-removing").display()
        ),
    );
    worked_in_since(&place);
}

/// Work that nobody has looked at when the removal was begun.
fn worked_in_since(place: &Place) {
    sh(
        &place.tree(),
        "echo precious > precious.txt; echo more >> work.txt; git commit -q -a -m more",
    );
    let left = tidy(&place.repo(), &Order { apply: true, ..Order::default() }).expect("a look");
    let is_it = |it: &&Leftover| it.kind == LeftoverKind::Worktree && it.name == "w";
    let w = left.iter().find(is_it).expect("it");
    assert_eq!((w.class, &w.done), (Class::Hold, &None), "{:?}", w.why);
    assert!(place.tree().join("precious.txt").exists());
}
