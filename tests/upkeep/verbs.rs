//! Each verb against each state: what goes, what stays, and that no byte of work is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sop::git::Repo;
use sop::model::upkeep::{Class, Done, LeftoverKind};
use sop::upkeep::archive::{How, archive};
use sop::upkeep::error::UpkeepError;
use sop::upkeep::forward::sync;
use sop::upkeep::leave::{Discard, remove};
use sop::upkeep::tidy::{Order, tidy};

use super::bytes::{self, Files, lost};
use super::place::Place;
use super::states::{Ends, Gc, STATES, State};
use crate::support::git_repo::sh;
use crate::support::scratch::has_right;

/// Runs `test` on every state it is about, a few at a time, and names those that fail.
pub fn each(test: impl Fn(&State) + Sync) {
    let root = rustix::process::geteuid().is_root();
    let states: Vec<&State> =
        STATES.iter().filter(|state| !state.root || has_right("give files away", root)).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(state) =
                    states.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let run = std::panic::AssertUnwindSafe(|| test(state));
                    if std::panic::catch_unwind(run).is_err() {
                        failed.lock().expect("the list").push(state.name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("the list");
    assert!(failed.is_empty(), "these states fail, see above: {failed:?}");
}

/// That a verb ended as it should; whether it did what it is for.
pub fn ended<T: std::fmt::Debug>(
    state: &State,
    wanted: Ends,
    result: &Result<T, UpkeepError>,
) -> bool {
    match (wanted, result) {
        (Ends::Done, Ok(_)) => true,
        (Ends::Stays(why), Err(error)) => {
            let text = error.to_string();
            assert!(text.contains(why), "{}: `{text}` does not say `{why}`", state.name);
            false
        }
        (wanted, result) => panic!("{}: {wanted:?} was wanted, and came {result:?}", state.name),
    }
}

/// Runs `verb` in a place with a worktree in this state. Nothing that was there may be lost, but for what is ignored,
/// and the main checkout stays as it was. Where nothing is to be done, the worktree stays byte for byte.
fn kept<T: std::fmt::Debug>(
    state: &State,
    wanted: Ends,
    verb: impl FnOnce(&Repo) -> Result<T, UpkeepError>,
) -> (Place, Option<T>, Files) {
    let place = Place::with_tree(state);
    let (work, _) = place.work();
    let tree = bytes::on_disk(&place.tree());
    let result = verb(&place.repo());
    let done = ended(state, wanted, &result);
    place.main_is_as_it_was(state.name);
    assert_eq!(
        place.tree().exists() && !state.script.contains("-r w"),
        !done && !gone_before(state),
        "{}",
        state.name
    );
    if !done {
        assert_eq!(bytes::on_disk(&place.tree()), tree, "{}: it was to stay as it is", state.name);
    }
    let (now, _) = place.work();
    assert!(
        lost(&work, std::slice::from_ref(&now)).is_empty(),
        "{}: lost {:?}",
        state.name,
        lost(&work, &[now])
    );
    (place, result.ok(), tree)
}

fn gone_before(state: &State) -> bool {
    matches!(state.name, "missing folder" | "missing folder, staged work" | "moved")
}

#[test]
fn rm_takes_only_what_is_merged_and_clean() {
    each(|state| {
        let (place, gone, _) = kept(state, state.rm, |repo| remove(repo, "w", Discard::default()));
        if let Some(gone) = gone {
            let branches = sh(
                &place.main(),
                "git branch --list w --format='%(refname:short)'; git worktree list | wc -l",
            );
            let on_branch = gone.branch.is_some();
            assert_eq!(branches.trim(), if on_branch { "1" } else { "w\n1" }, "{}", state.name);
        }
    });
}

#[test]
fn rm_gives_up_what_is_named_and_nothing_else() {
    each(|state| {
        let place = Place::with_tree(state);
        let before = bytes::by_refs(&place.main().join(".git"));
        let result = remove(&place.repo(), "w", Discard { modified: true, untracked: true });
        ended(state, state.discard, &result);
        place.main_is_as_it_was(state.name);
        let after = [bytes::by_refs(&place.main().join(".git"))];
        assert!(
            lost(&before, &after).is_empty(),
            "{}: lost {:?}",
            state.name,
            lost(&before, &after)
        );
        if let Err(UpkeepError::Stays { .. }) = result
            && !gone_before(state)
        {
            assert!(place.tree().exists(), "{}", state.name);
        }
    });
}

#[test]
fn what_is_archived_comes_back_by_the_command_that_is_printed() {
    each(|state| {
        let state = &State {
            archive: if state.name == "moved" { Ends::Done } else { state.archive },
            ..*state
        };
        let status = "git status --porcelain=v1 --untracked-files=all | sort; git rev-parse HEAD";
        let before = std::cell::RefCell::new(None);
        let (place, kept, mut tree) = kept(state, state.archive, |repo| {
            let folder = repo.top().expect("a checkout").join("../trees/lead/w");
            if state.archive == Ends::Done && folder.exists() {
                *before.borrow_mut() = Some(sh(&folder, status));
            }
            archive(repo, "w", How { ignored: false })
        });
        let (Some(kept), Some(before)) = (kept, before.into_inner()) else { return };
        sh(&place.main(), &kept.restore);
        let now = bytes::on_disk(&place.tree());
        tree.retain(|path, _| {
            let name = path.as_os_str().to_string_lossy().into_owned();
            // Ignored files were named as not kept; a submodule is fetched anew.
            let left =
                name.ends_with(".log") || name.starts_with("build/") || name.starts_with("sub/");
            if left && !name.starts_with("sub/") {
                assert!(kept.not_kept.iter().any(|it| it.contains("ignored")), "{}", state.name);
            }
            !left
        });
        // A filter that gives other bytes back has its own place in the commit.
        if let Some((_, raw)) = tree.remove(&PathBuf::from("file.up")) {
            let held = sh(&place.main(), &format!("git cat-file blob {}^4:file.up", kept.salvage));
            assert_eq!(held.trim_end().as_bytes(), raw.trim_ascii_end(), "{}", state.name);
            return;
        }
        // What a sparse checkout leaves out is there again, since the new one is whole.
        let now: BTreeMap<_, _> = match state.name.starts_with("sparse") {
            true => now.into_iter().filter(|(path, _)| tree.contains_key(path)).collect(),
            false => now,
        };
        let modes = |files: &Files| -> BTreeMap<PathBuf, (bool, Vec<u8>)> {
            files
                .iter()
                .map(|(path, (mode, bytes))| (path.clone(), (mode & 0o100 != 0, bytes.clone())))
                .collect()
        };
        assert_eq!(modes(&now), modes(&tree), "{}: it did not come back as it was", state.name);
        let hidden = ["assume-unchanged", "skip-worktree", "sparse", "conflict", "intent to add"];
        if !hidden.contains(&state.name) {
            assert_eq!(sh(&place.tree(), status), before, "{}", state.name);
        }
    });
}

#[test]
fn ignored_files_are_kept_where_that_is_asked_for() {
    let state = STATES.iter().find(|state| state.name == "ignored").expect("it is in the table");
    let place = Place::with_tree(state);
    let tree = bytes::on_disk(&place.tree());
    let kept = archive(&place.repo(), "w", How { ignored: true }).expect("archived");
    assert_eq!(kept.not_kept, [""; 0]);
    sh(&place.main(), &kept.restore);
    assert_eq!(bytes::on_disk(&place.tree()), tree);
}

#[test]
fn gc_shows_each_class_with_its_reason_and_does_just_that() {
    each(|state| {
        let place = Place::with_tree(state);
        let (work, _) = place.work();
        let tree = bytes::on_disk(&place.tree());
        let shown = tidy(&place.repo(), &Order::default()).expect("a look");
        let of = |left: &[sop::model::upkeep::Leftover]| {
            let found = left.iter().find(|it| it.kind == LeftoverKind::Worktree && it.name == "w");
            found.expect("the worktree is in the list").clone()
        };
        let item = of(&shown);
        let why = item.why.join("; ");
        let (class, says) = match state.gc {
            Gc::Reclaim => (Class::Reclaim, "merged into main"),
            Gc::Salvage(says) => (Class::Salvage, says),
            Gc::Hold(says) => (Class::Hold, says),
        };
        assert_eq!(
            (item.class, why.contains(says)),
            (class, true),
            "{}: {:?} {why}",
            state.name,
            item.class
        );
        assert_eq!(bytes::on_disk(&place.tree()), tree, "{}: only shown", state.name);
        let done =
            of(&tidy(&place.repo(), &Order { apply: true, ..Order::default() }).expect("done"))
                .done;
        match class {
            Class::Hold => assert_eq!(done, None, "{}", state.name),
            Class::Reclaim => assert_eq!(done, Some(Done::Removed), "{}", state.name),
            Class::Salvage => {
                assert!(matches!(done, Some(Done::Archived(_))), "{}: {done:?}", state.name)
            }
        }
        assert_eq!(
            place.tree().exists(),
            class == Class::Hold && !gone_before(state),
            "{}",
            state.name
        );
        place.main_is_as_it_was(state.name);
        let now = [place.work().0];
        assert!(lost(&work, &now).is_empty(), "{}: lost {:?}", state.name, lost(&work, &now));
    });
}

/// A branch that goes on from `main`: it changes `tracked.txt`, and adds `new.txt`, `new.log` and `folder/in`.
const AHEAD: &str = r"
    export GIT_INDEX_FILE=$(mktemp -u); git read-tree main
    put() { git update-index --add --cacheinfo 100644,$(echo ahead | git hash-object -w --stdin),$1; }
    put tracked.txt; put new.txt; put new.log; put folder/in
    git update-ref refs/heads/ahead $(git commit-tree -p main -m ahead $(git write-tree)); rm $GIT_INDEX_FILE";

#[test]
fn sync_moves_the_paths_that_changed_and_no_other() {
    each(|state| {
        if state.sync == Ends::Not {
            return;
        }
        let mut place = Place::with_main(state);
        let extra = if state.name == "undone by itself" { "main~2" } else { "main" };
        sh(&place.main(), &AHEAD.replace("main", extra));
        let files = ["tracked.txt", "new.txt", "new.log", "folder/in"].map(PathBuf::from);
        let staged = "git ls-files -s -- ':!tracked.txt' ':!new.txt' ':!new.log' ':!folder/in'";
        let staged_before = sh(&place.main(), staged);
        let result = sync(&place.repo(), Some("ahead"), false);
        if !ended(state, state.sync, &result) {
            return place.main_is_as_it_was(state.name);
        }
        place.moved("it is brought up to date");
        let mut now = bytes::on_disk(&place.main());
        for path in &files {
            place.main_before.remove(path);
            let (_, text) =
                now.remove(path).unwrap_or_else(|| panic!("{}: no {path:?}", state.name));
            assert_eq!(text, b"ahead\n", "{}", state.name);
        }
        assert_eq!(now, place.main_before, "{}: beside the paths that changed", state.name);
        assert_eq!(sh(&place.main(), staged), staged_before, "{}", state.name);
        let at = sh(&place.main(), "git rev-parse main ahead; git symbolic-ref HEAD");
        let at: Vec<&str> = at.lines().collect();
        assert_eq!((at[0] == at[1], at[2]), (true, "refs/heads/main"), "{}", state.name);
    });
}
