//! What an archive keeps is every byte, or it stays and says why.

use std::collections::BTreeSet;
use std::fs;

use sop::git::Repo;
use sop::model::upkeep::{Class, Done, Leftover, LeftoverKind};
use sop::upkeep::archive::{How, archive};
use sop::upkeep::tidy::{Order, tidy};

use super::bytes::{self, lost};
use super::place::Place;
use super::states::{STATES, State};
use crate::support::git_repo::sh;

fn state(name: &str) -> &'static State {
    STATES.iter().find(|state| state.name == name).expect("it is in the table")
}

fn place(script: &str) -> Place {
    let script = script.to_owned().leak();
    Place::with_tree(&State { script, ..*state("clean") })
}

fn gc(repo: &Repo, apply: bool) -> Leftover {
    let left = tidy(repo, &Order { apply, ..Order::default() }).expect("a look");
    let is_it = |it: &Leftover| it.kind == LeftoverKind::Worktree && it.name == "w";
    left.into_iter().find(is_it).expect("it")
}

/// What was on disk and no ref holds, once `act` took the folder.
fn lost_by(script: &str, act: impl Fn(&Repo)) -> BTreeSet<String> {
    let place = place(script);
    let before = bytes::contents(&bytes::on_disk(&place.tree()));
    act(&place.repo());
    assert!(!place.tree().exists(), "{script}");
    lost(&before, &[bytes::by_refs(&place.main().join(".git"))])
}

#[test]
fn what_a_filter_takes_out_is_kept_as_it_was() {
    const NB: &str =
        "git config filter.strip.clean 'grep -v OUTPUT'; echo '*.nb filter=strip' > .gitattributes
        printf 'cell\\n' > n.nb; git add -A; git commit -q -m notebook;
        ";
    for script in [
        format!("{NB}printf 'cell\\nOUTPUT 42\\n' > n.nb"),
        format!("{NB}printf 'cell\\nOUTPUT 42\\n' > n.nb; git status > /dev/null"),
        format!("{NB}printf 'cell\\nOUTPUT 42\\n' > n.nb; printf 'OUTPUT 43\\nx\\n' > new.nb; git add -N new.nb"),
        format!("{NB}printf 'cell two\\nOUTPUT 42\\n' > n.nb; git add n.nb; printf 'cell\\nOUTPUT 44\\n' > n.nb"),
        "git config core.autocrlf input; printf 'a\\r\\nb\\n' > tracked.txt; printf 'c\\r\\nd\\n' > mixed.txt".to_owned(),
        // Longer than what fits into a small piece of memory.
        "git config core.autocrlf input; yes 'one\r' | head -c 68000000 > long.txt; echo two >> long.txt".to_owned(),
    ] {
        let archived = lost_by(&script, |repo| drop(archive(repo, "w", How::default()).expect("archived")));
        assert_eq!(archived, BTreeSet::new(), "{script}");
    }
    let script = format!(
        "{NB}git -C \"$MAIN\" merge -q --ff-only \"$(git rev-parse HEAD)\"
        printf 'cell\\nOUTPUT 42\\n' > n.nb"
    );
    let tidied =
        lost_by(&script, |repo| assert!(matches!(gc(repo, true).done, Some(Done::Archived(_)))));
    assert_eq!(tidied, BTreeSet::new());
}

#[test]
fn names_that_git_refuses_stay_and_are_named() {
    for (script, named) in [
        ("echo x > 'git~1'", "git~1"),
        ("echo y > .GIT", ".GIT"),
        ("mkdir '.git '; echo z > '.git /f'", ".git /f"),
        ("mkdir -p a/b; echo z > a/b/git~1; echo fine > fine", "a/b/git~1"),
        // Which names are refused is git's own to say.
        ("git config core.protectHFS true; printf x > \"$(printf '.g\\342\\200\\214it')\"", "git"),
    ] {
        let place = place(script);
        let before = bytes::on_disk(&place.tree());
        let error = archive(&place.repo(), "w", How::default()).expect_err(script).to_string();
        let says =
            |text: &str| text.contains("no file of such a name") || text.contains("Invalid path");
        assert!(says(&error), "{script}: {error}");
        if named != "git" {
            assert!(error.contains(named), "{script}: {error}");
            let left = gc(&place.repo(), false);
            assert!(
                left.class == Class::Hold && says(&left.why.join("; ")),
                "{script}: {:?}",
                left.why
            );
        }
        let done = gc(&place.repo(), true).done;
        assert!(matches!(done, None | Some(Done::Left { .. })), "{script}: {done:?}");
        assert_eq!(bytes::on_disk(&place.tree()), before, "{script}");
    }
}

#[test]
fn one_tree_that_cannot_be_looked_at_stops_no_other() {
    let place = place("");
    sh(
        &place.main(),
        "git worktree add -q -b broken ../trees/broken; echo nonsense > .git/worktrees/broken/index
         git worktree add -q -b mine ../trees/alias; git symbolic-ref refs/heads/mine refs/heads/w
         git -C ../trees/alias reset -q --hard",
    );
    let left = tidy(&place.repo(), &Order { apply: true, ..Order::default() }).expect("a look");
    let of = |name: &str| -> Leftover {
        let is_it = |it: &&Leftover| it.kind == LeftoverKind::Worktree && it.name == name;
        left.iter().find(is_it).expect("it").clone()
    };
    assert_eq!(of("w").done, Some(Done::Removed));
    assert_eq!(
        sh(&place.main(), "git -C ../trees/alias status --porcelain; git branch --list w"),
        "+ w"
    );
    let broken = of("broken");
    assert!(
        broken.class == Class::Hold && broken.why[0].contains("cannot be looked at"),
        "{:?}",
        broken.why
    );
    assert!(fs::exists(place.root().join("trees/broken/tracked.txt")).expect("a look"));
}
