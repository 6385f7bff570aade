//! Something changes between the look and the deed: then the deed is not done. A `git` of the tests' own stands before
//! the real one and does it just before the worktree is looked at again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bytes;
use crate::support::git_repo::sh;
use crate::support::rig::Rig;

/// Does `$CHANGE` in `$TREE` between the look before the `$AT`th and that one, and is git otherwise. Of the two ends of that
/// time it takes the one that `$WHEN` says.
const GIT: &str = r#"#!/bin/sh
PATH="$REAL"
change() {
  (unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OPTIONAL_LOCKS; cd "$TREE"
   export GIT_AUTHOR_NAME=L GIT_AUTHOR_EMAIL=l@example.com GIT_COMMITTER_NAME=L GIT_COMMITTER_EMAIL=l@example.com
   sh -ec "$CHANGE") > /dev/null
}
case " $* " in *" status "*)
  if [ "$GIT_WORK_TREE" = "$TREE" ]; then
    echo look >> "$LOOKS"
    look=$(wc -l < "$LOOKS")
    [ "$WHEN $look" = "last $AT" ] && change
    if [ "$WHEN $((look + 1))" = "first $AT" ]; then
      git "$@"; code=$?
      change
      exit $code
    fi
  fi;;
esac
exec git "$@"
"#;

/// What happens meanwhile.
const CHANGES: [(&str, &str); 7] = [
    ("a file", "echo late > late.txt"),
    ("a change", "echo late >> mine.txt"),
    ("something staged", "echo late > late.txt; git add late.txt; rm late.txt"),
    ("a commit", "echo late > late.txt; git add late.txt; git commit -q -m late"),
    (
        "a commit on no branch",
        "git checkout -q --detach; echo late > late.txt; git add late.txt; git commit -q -m late",
    ),
    (
        "a ref of its own",
        "git update-ref refs/worktree/late $(git commit-tree -p HEAD -m late HEAD^{tree})",
    ),
    ("a lock", "git worktree lock --reason late ."),
];

/// A repository with the lead's worktree `mine`, whose branch is merged.
struct Lead {
    rig: Rig,
    tree: PathBuf,
}

impl Lead {
    fn new() -> Self {
        let rig = Rig::new("", &[(".gitignore", "*.log\n")]);
        let mine = [".git/refs/heads/mine", ".git/logs/refs/heads/mine"];
        rig.touches(&mine, "the lead has a worktree and a branch made");
        let tree = PathBuf::from(rig.sop_ends(0, &["worktree", "new", "mine"]).out.trim_end());
        sh(&tree, "echo mine > mine.txt; git add -A; git commit -q -m mine");
        rig.git(&["merge", "--quiet", "mine"]);
        let bin = rig.root().join("bin");
        fs::create_dir(&bin).expect("a folder");
        fs::write(bin.join("git"), GIT).expect("a script");
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("it is run");
        Self { rig, tree }
    }

    /// Runs `sop`, and `change` just before the worktree is looked at for the `at`th time. Its exit code, what it said,
    /// and what the worktree was like after the change.
    fn sop(&self, at: u32, change: &str, args: &[&str]) -> (i32, String, bytes::Files) {
        let looks = self.rig.root().join("looks");
        let after = self.rig.root().join("after");
        let _ = fs::remove_file(&looks);
        let _ = fs::remove_dir_all(&after);
        let change = format!("{change}; cp -R . '{}'", after.display());
        let real = std::env::var("PATH").expect("a path");
        let path = format!("{}:{real}", self.rig.root().join("bin").display());
        let (tree, at) = (self.tree.to_str().expect("text"), at.to_string());
        let env = [("PATH", path.as_str()), ("REAL", &real), ("TREE", tree), ("AT", &at)];
        // The index is the first that is looked at, refs are the last.
        let when = if change.contains("git add late.txt; rm") { "first" } else { "last" };
        let looks = looks.to_str().expect("text");
        let more = [("LOOKS", looks), ("CHANGE", change.as_str()), ("WHEN", when)];
        let said = self.rig.sop_with(&[&env[..], &more].concat(), args);
        assert!(after.exists(), "it was looked at {at} times: {}{}", said.out, said.err);
        (said.code, format!("{}{}", said.out, said.err), bytes::on_disk(&after))
    }

    /// All that the worktree and its branch hold.
    fn stands(&self, files: &bytes::Files, what: &str) {
        assert_eq!(&bytes::on_disk(&self.tree), files, "{what}: it was to stay");
        let listed = sh(&self.rig.repo(), "git worktree list --porcelain; git branch --list mine");
        assert!(listed.contains(self.tree.to_str().expect("text")), "{what}: {listed}");
        assert!(listed.ends_with("mine"), "{what}: {listed}");
    }
}

#[test]
fn rm_and_archive_leave_what_changed_since_they_looked() {
    for (what, change) in CHANGES {
        let lead = Lead::new();
        for verb in ["rm", "archive"] {
            let what = format!("{verb}, {what}");
            let at = 2;
            let (code, said, files) = lead.sop(at, change, &["worktree", verb, "mine"]);
            assert_eq!(code, 5, "{what}: {said}");
            assert!(said.contains("mine changed while it was being looked at"), "{what}: {said}");
            lead.stands(&files, &what);
            let undo = "git worktree unlock . 2>/dev/null || true; git update-ref -d refs/worktree/late; git checkout -q mine
                git reset -q --hard main; git clean -qfd; git reflog expire --expire=now HEAD";
            sh(&lead.tree, undo);
        }
        // Nothing is in the way any more.
        lead.rig.sop_ends(0, &["worktree", "rm", "mine"]);
    }
}

#[test]
fn gc_leaves_what_changed_since_it_looked_and_says_so() {
    for (what, change) in CHANGES {
        // Merged and clean, before it is looked at again; with something to keep, at each of two further looks.
        for (at, dirty) in [(2, false), (2, true), (3, true)] {
            let lead = Lead::new();
            if dirty {
                fs::write(lead.tree.join("kept.txt"), "kept\n").expect("a file");
            }
            let what = format!("{what}, look {at}, {}", if dirty { "salvage" } else { "reclaim" });
            let (code, said, files) =
                lead.sop(at, change, &["worktree", "gc", "--apply", "--json"]);
            assert_eq!(code, 0, "{what}: {said}");
            let found: Value = serde_json::from_str(&said).expect("JSON");
            let done = &found[0]["done"];
            assert_eq!(done["what"], "left", "{what}: {said}");
            let why = done["why"].as_str().expect("a reason");
            assert!(why.contains("changed while it was being looked at"), "{what}: {why}");
            lead.stands(&files, &what);
        }
    }
}

#[test]
fn without_a_change_all_three_do_what_they_are_for() {
    for verb in [&["rm", "mine"][..], &["archive", "mine"], &["gc", "--apply"]] {
        let lead = Lead::new();
        let args = [&["worktree"][..], verb].concat();
        let (code, said, _) = lead.sop(2, "true", &args);
        assert_eq!((code, Path::new(&lead.tree).exists()), (0, false), "{verb:?}: {said}");
    }
}
