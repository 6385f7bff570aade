//! What a look sees, whatever git is told to show, and through whichever path a folder is in use.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use sop::git::{in_use, irregular};

use crate::support::git_repo::{GitRepo, WHEN, command, sh, snapshot, tester};
use crate::support::scratch::has_right;
use crate::support::tricks::SETUP;

const LIMIT: Duration = Duration::from_secs(60);

/// Settings that hide something, end git, or print it in another form.
const SETTINGS: &[(&str, &str)] = &[
    ("status.showUntrackedFiles", "no"),
    ("status.showUntrackedFiles", "normal"),
    ("status.relativePaths", "true"),
    ("status.renames", "true"),
    ("status.showStash", "true"),
    ("status.branch", "true"),
    ("diff.orderFile", "/nonexistent"),
    ("diff.noprefix", "true"),
    ("diff.renames", "copies"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.external", "false"),
    ("core.quotePath", "false"),
    ("core.trustctime", "false"),
    ("core.checkStat", "minimal"),
    ("core.ignoreStat", "true"),
    ("core.ignoreCase", "true"),
    ("core.fsmonitor", "true"),
    ("core.untrackedCache", "true"),
    ("color.ui", "always"),
    ("color.status", "always"),
    ("add.ignoreErrors", "true"),
    ("log.showSignature", "true"),
    ("column.ui", "always"),
];

#[test]
fn no_setting_changes_what_a_look_sees() {
    let repo = GitRepo::new(SETUP);
    sh(&repo.main(), "git worktree add -q -b own ../wt/own; echo own > ../wt/own/own.txt");
    // As long, and as old: only the time of its last change tells.
    sh(
        &repo.at("wt/own"),
        "git status > /dev/null; touch -r top.txt ../stamp; printf 'pot\\n' > top.txt; touch -r ../stamp top.txt
         mkdir deep .GIT; echo x > deep/a; echo x > .GIT/x; mv src/a.txt src/moved",
    );
    let look = || {
        let trees = repo.repo().all_worktrees().expect("worktrees");
        let own = trees.iter().find(|tree| !tree.is_main()).expect("it");
        own.condition(&[]).expect("a look")
    };
    let plain = look();
    assert_eq!(plain.modified, ["src/a.txt", "top.txt"]);
    assert_eq!(plain.untracked, [".GIT/x", "deep/a", "own.txt", "src/moved"]);
    let kept = |what: &str| {
        repo.repo().baseline(LIMIT).unwrap_or_else(|error| panic!("{what}: {error}")).expect("one")
    };
    repo.sh("mkdir new; echo x > new/first; echo y >> top.txt; mv docs/guide.md docs/moved.md");
    let before = kept("plain");
    for (key, value) in SETTINGS {
        let what = format!("{key}={value}");
        repo.sh(&format!("git config {key} {value}"));
        assert_eq!(look(), plain, "{what}");
        assert_eq!(kept(&what), before, "{what}");
        repo.sh("echo x > new/planted; echo x > planted.txt");
        let after = kept(&what);
        assert_ne!(after.baseline.status_sha256, before.baseline.status_sha256, "{what}");
        for path in ["new/planted", "planted.txt"] {
            assert!(after.paths.contains_key(path), "{what}: {path}");
        }
        repo.sh(&format!("rm new/planted planted.txt; git config --unset {key}"));
    }
}

/// A process that sits where a script leads it, until it is let go.
fn sitting(script: &str) -> Option<Child> {
    let mut child = command("unshare", std::path::Path::new("/"));
    let child =
        child.args(["-m", "sh", "-euc", &format!("{script}; echo up; exec cat > /dev/null")]);
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.ok()?;
    let mut line = String::new();
    let out = child.stdout.take()?;
    BufReader::new(out).read_line(&mut line).ok()?;
    match line.trim() {
        "up" => Some(child),
        _ => {
            let _ = child.wait();
            None
        }
    }
}

#[test]
fn who_is_in_it_by_another_path_is_found() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let beside = repo.worktree("b");
    let (path, other) = (worktree.path().display(), repo.at("outside"));
    let other = other.display();
    for (script, inside) in [
        (format!("mount --bind {path} {other}; cd {other}/src"), true),
        (format!("mount --bind {path}/src {other}; cd {other}"), true),
        (
            format!(
                "mkdir '{other}/a b'; mount --bind {path} '{other}/a b'; exec 3< '{other}/a b/top.txt'"
            ),
            true,
        ),
        (format!("mount --bind {} {other}; cd {other}", beside.path().display()), false),
    ] {
        let Some(mut child) = sitting(&script) else {
            has_right("mount a folder", false);
            return;
        };
        let users = in_use::users_of(worktree.path());
        assert_eq!(users.iter().any(|user| user.pid == child.id()), inside, "{script}: {users:?}");
        drop(child.stdin.take());
        child.wait().expect("ended");
        assert_eq!(in_use::users_of(worktree.path()), [], "{script}");
    }
}

#[test]
fn a_full_disk_is_named_where_an_object_cannot_be_stored() {
    let repo = GitRepo::new(SETUP);
    let tree = snapshot(&repo.worktree("a")).tree;
    let objects = repo.main().join(".git/objects");
    let script = "cp -a .git/objects ../kept; mount -t tmpfs -o size=512k tmpfs .git/objects; cp -a ../kept/. .git/objects";
    let mounted = command("sh", &repo.main()).args(["-ec", script]).output();
    if !has_right("mount a small disk", mounted.is_ok_and(|output| output.status.success())) {
        return;
    }
    let opened = repo.repo();
    let filled = std::fs::write(objects.join("fill"), vec![0_u8; 2_000_000]);
    let made = opened.commit_tree(&tree, &[], "no room", &tester(), WHEN);
    let gone = command("umount", &repo.main()).arg(&objects).status();
    assert!(gone.is_ok_and(|status| status.success()), "unmounted");
    assert!(filled.is_err(), "the disk was full");
    let error = made.expect_err("there is no room").to_string();
    assert!(error.contains("space"), "{error}");
}

/// As git itself refuses them.
#[test]
fn names_that_git_refuses_are_known() {
    let repo = GitRepo::new(SETUP);
    for name in [
        ".git",
        ".GIT",
        ".git ",
        ".git.",
        ".git. .",
        "git~1",
        "GIT~1",
        "git~1 ",
        "git~1.",
        ".git:x",
        "git~1::$x",
        ".git\\x",
        "git~2",
        ".gitx",
        ".git-",
        "x.git",
        "git~10",
        ".git~1",
        ".gi",
        "git",
        ".git_",
        ". git",
    ] {
        let script = format!(
            "printf '100644 {}\\td/%s/f\\0' '{name}' | GIT_INDEX_FILE=../i git update-index -z --index-info 2> /dev/null
             GIT_INDEX_FILE=../i git ls-files | wc -l; rm -f ../i",
            "1".repeat(40)
        );
        let refuses = repo.sh(&script) == "0";
        assert_eq!(irregular::names_git(name.as_bytes()), refuses, "{name}");
    }
}
