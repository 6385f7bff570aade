//! Removal: only what is safe elsewhere, and nothing while somebody works in it.

use std::process::Stdio;

use sop::git::in_use;
use sop::git::{GitError, Refusal, Removal, SnapshotSpec};
use sop::model::ids::{RunId, WpId};

use crate::support::git_repo::{GitRepo, WHEN, command, sh, snapshot};
use crate::support::tricks::SETUP;

#[test]
fn a_clean_worktree_goes_with_what_is_ignored_and_its_registration() {
    let repo = GitRepo::new(SETUP);
    let before = repo.checkout_state();
    let worktree = repo.worktree("a");
    sh(
        worktree.path(),
        "echo x > a.log; mkdir -p build/ro; echo y > build/ro/f; chmod 555 build/ro; echo s > .env",
    );
    let tree = snapshot(&repo.worktree("b")).tree;
    assert_eq!(worktree.remove(&tree, &[".env".into()]).expect("removed"), Removal::Gone);
    assert!(!worktree.path().exists() && !worktree.git_dir().exists() && !worktree.seed().exists());
    assert_eq!(worktree.remove(&tree, &[]).expect("again"), Removal::Gone, "twice is once");
    repo.repo().delete_branch("sop/run-1/a", &repo.head()).expect("deleted");
    assert_eq!(
        repo.sh("git branch --list 'sop/*' --format '%(refname:short)'; git worktree list | wc -l"),
        "sop/run-1/b\n2"
    );
    assert_eq!(repo.checkout_state(), before);
}

#[test]
fn anything_that_is_nowhere_else_is_refused_by_name() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let tree = snapshot(&worktree).tree;
    sh(
        worktree.path(),
        "echo x >> top.txt; echo y > 'new one'; git update-index --assume-unchanged top.txt",
    );
    let refused = worktree.remove(&tree, &[]).expect("a look");
    assert_eq!(refused, Removal::Refused(Refusal::Dirty(vec!["new one".into(), "top.txt".into()])));
    sh(
        worktree.path(),
        "printf 'top\\n' > top.txt; rm 'new one'; git init -q n; git -C n commit -q --allow-empty -m x",
    );
    let refused = worktree.remove(&tree, &[]).expect("a look");
    assert!(matches!(refused, Removal::Refused(Refusal::Irregular(odd)) if odd[0].path == "n"));
    sh(worktree.path(), "rm -rf n; git worktree lock --reason 'I look at it' .");
    assert_eq!(
        worktree.remove(&tree, &[]).expect("a look"),
        Removal::Refused(Refusal::Locked("I look at it".to_owned()))
    );
    assert!(worktree.path().join("top.txt").exists());
}

/// Case 3.
#[test]
fn a_process_in_it_is_named_and_the_worktree_left_alone() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let tree = snapshot(&worktree).tree;
    let mut cat = command("cat", &worktree.path().join("src"));
    let mut child = cat.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
    let refused = worktree.remove(&tree, &[]).expect("a look");
    let Removal::Refused(refusal @ Refusal::InUse(users)) = &refused else { panic!("{refused:?}") };
    assert_eq!(users.iter().map(|user| user.pid).collect::<Vec<_>>(), [child.id()]);
    assert!(refusal.to_string().contains(&child.id().to_string()), "{refusal}");
    assert!(worktree.path().join("top.txt").exists());
    drop(child.stdin.take());
    child.wait().expect("ended");
    assert_eq!(in_use::users_of(worktree.path()), []);
    assert_eq!(worktree.remove(&tree, &[]).expect("removed"), Removal::Gone);
}

/// Case 4, and what must not be lost with it.
#[test]
fn an_initialised_submodule_does_not_stop_removal_and_its_own_commits_do() {
    let repo = GitRepo::new(SETUP);
    sh(
        &repo.at("outside"),
        "git init -q -b main lib; cd lib; git config user.name T; git config user.email t@example.com; echo '*.o' > .gitignore; echo x > f; git add -A; git commit -qm lib",
    );
    repo.sh("git -c protocol.file.allow=always submodule --quiet add ../outside/lib sub; git commit -qm sub");
    let worktree = repo.worktree("a");
    let tree = snapshot(&worktree).tree;
    let init =
        "git -c protocol.file.allow=always submodule --quiet update --init; echo o > sub/x.o";
    sh(worktree.path(), init);
    assert_eq!(snapshot(&worktree).changes, []);

    sh(worktree.path(), "echo dirty >> sub/f; echo new > sub/n");
    let odd: Vec<_> = snapshot(&worktree).irregular.into_iter().map(|odd| odd.path).collect();
    assert_eq!(odd, ["sub/f", "sub/n"]);
    assert!(matches!(
        worktree.remove(&tree, &[]).expect("a look"),
        Removal::Refused(Refusal::Irregular(_))
    ));

    sh(
        worktree.path(),
        "cd sub; git add -A; git -c user.name=T -c user.email=t@example.com commit -qm own",
    );
    let moved = snapshot(&worktree);
    assert_eq!((moved.changes.len(), moved.irregular.len()), (1, 0));
    assert!(moved.changes[0].is_gitlink() && moved.changes[0].path == "sub");
    let refused = worktree.remove(&moved.tree, &[]).expect("a look");
    assert_eq!(refused, Removal::Refused(Refusal::SubmoduleCommits(vec!["sub".into()])));

    let only_here = Removal::Refused(Refusal::SubmoduleCommits(vec!["sub".into()]));
    for (make, undo) in [
        ("git reset -q --hard HEAD~", "git reflog expire --expire=now --all"),
        ("echo s >> f; git stash -q", "git stash drop -q"),
        ("git tag t $(echo t | git hash-object -w --stdin)", "git tag -d t"),
        ("echo s >> f; git add f; echo x > f", "git reset -q"),
    ] {
        let git = "cd sub; git config user.name T; git config user.email t@example.com; ";
        sh(worktree.path(), &format!("{git}{make}"));
        assert_eq!(worktree.remove(&tree, &[]).expect("a look"), only_here, "{make}");
        sh(worktree.path(), &format!("{git}{undo}"));
    }
    assert_eq!(worktree.remove(&tree, &[]).expect("removed"), Removal::Gone);
    assert_eq!(repo.sh("git worktree list | wc -l"), "1");
}

#[test]
fn salvage_keeps_everything_and_then_the_worktree_may_go() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let (run, wp) = (RunId::new("run-1").expect("an id"), WpId::new("a").expect("an id"));
    let spec = SnapshotSpec { keep_out: vec![".env".into()], ..SnapshotSpec::at(worktree.base()) };
    sh(
        worktree.path(),
        "echo c >> top.txt; git commit -qam own; echo u > new; rm lib/x.c; echo i > a.log; echo s > .env; mkfifo p",
    );
    let first = worktree.salvage(&run, &wp, &spec, WHEN).expect("salvaged");
    assert_eq!(first.left_out.len(), 1);
    assert_eq!(
        worktree.salvage(&run, &wp, &spec, WHEN + 9).expect("again"),
        first,
        "the same thing is kept once"
    );
    let held = repo.sh("git ls-tree -r --name-only refs/sop/salvage/run-1/a; git log --format=%s refs/sop/salvage/run-1/a | head -n 2");
    assert!(
        held.contains("new\n")
            && !held.contains("x.c")
            && !held.contains(".log")
            && !held.contains(".env"),
        "{held}"
    );
    assert!(held.ends_with("Salvaged from run-1/a\nown"), "{held}");

    sh(worktree.path(), "echo later > later");
    assert!(matches!(
        worktree.remove(&first.tree, &spec.keep_out).expect("a look"),
        Removal::Refused(_)
    ));
    let second = worktree.salvage(&run, &wp, &spec, WHEN).expect("salvaged");
    assert!(
        repo.repo().is_ancestor(&first.commit, &second.commit).expect("a look"),
        "the first is not lost"
    );
    assert_eq!(worktree.remove(&second.tree, &spec.keep_out).expect("removed"), Removal::Gone);
}

/// Histories that are nowhere else: on a detached HEAD, or in a repository put in place of the link.
#[test]
fn commits_that_only_the_worktree_holds_are_not_lost_with_it() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let (run, wp) = (RunId::new("run-1").expect("an id"), WpId::new("a").expect("an id"));
    let tree = snapshot(&worktree).tree;
    sh(
        worktree.path(),
        "git checkout -q --detach; echo x > new; git add -A; git commit -qm lost; git revert --no-edit HEAD >/dev/null",
    );
    let lost = sh(worktree.path(), "git rev-parse HEAD");
    let refused = worktree.remove(&tree, &[]).expect("a look");
    assert!(
        matches!(&refused, Removal::Refused(Refusal::DetachedCommits(at)) if at.as_str() == lost),
        "{refused:?}"
    );
    let spec = SnapshotSpec::at(worktree.base());
    let kept = worktree.salvage(&run, &wp, &spec, WHEN).expect("salvaged");
    assert_eq!(worktree.salvage(&run, &wp, &spec, WHEN).expect("again"), kept);
    assert_eq!(
        repo.sh(&format!(
            "git merge-base --is-ancestor {lost} refs/sop/salvage/run-1/a && echo kept"
        )),
        "kept"
    );
    sh(
        worktree.path(),
        "rm .git; git init -q; git -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m mine",
    );
    let refused = worktree.remove(&kept.tree, &[]).expect("a look");
    assert!(
        matches!(&refused, Removal::Refused(Refusal::Irregular(odd)) if odd[0].path == ".git"),
        "{refused:?}"
    );
    sh(worktree.path(), "rm -r .git");
    assert_eq!(worktree.remove(&kept.tree, &[]).expect("removed"), Removal::Gone);
}

#[test]
fn refs_that_only_the_worktree_has_stop_its_removal() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let tree = snapshot(&worktree).tree;
    sh(
        worktree.path(),
        "git update-ref refs/worktree/base HEAD; git commit -q --allow-empty -m mine; git update-ref refs/worktree/mine HEAD
         git reset -q --hard HEAD~",
    );
    let refused = worktree.remove(&tree, &[]).expect("a look");
    let mine = sh(worktree.path(), "git rev-parse refs/worktree/mine");
    let Removal::Refused(refusal @ Refusal::OwnRefs(held)) = &refused else {
        panic!("{refused:?}")
    };
    assert_eq!(held.iter().map(|id| id.as_str()).collect::<Vec<_>>(), [mine.as_str()]);
    assert!(refusal.to_string().contains(&mine[..8]), "{refusal}");
    sh(worktree.path(), "git update-ref refs/worktree/mine $(echo x | git hash-object -w --stdin)");
    let refused = worktree.remove(&tree, &[]).expect("a look");
    let names = vec!["refs/worktree/mine".into()];
    assert_eq!(refused, Removal::Refused(Refusal::OwnObjects(names)));
    repo.sh(&format!("git branch mine {mine}"));
    sh(worktree.path(), "git update-ref refs/worktree/mine mine");
    assert_eq!(worktree.remove(&tree, &[]).expect("removed"), Removal::Gone);
}

#[test]
fn a_branch_goes_by_compare_and_swap_only() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(worktree.path(), "git commit -q --allow-empty -m more");
    let error = repo.repo().delete_branch("sop/run-1/a", worktree.base()).expect_err("it moved");
    assert!(matches!(error, GitError::RefMoved { .. }), "{error}");
    assert!(repo.repo().branch("sop/run-1/a").expect("a look").is_some());
    sh(worktree.path(), "git symbolic-ref refs/heads/sop/run-1/a refs/heads/main");
    repo.repo()
        .delete_branch("sop/run-1/a", &repo.head())
        .expect_err("an alias of the user's branch");
    repo.repo()
        .set_branch("sop/run-1/a", &repo.head(), Some(&repo.head()))
        .expect_err("an alias of the user's branch");
    assert_eq!(repo.sh("git rev-parse main"), repo.head().to_string());
}

/// What a removal notes before it moves the folder, and after.
const MARK: &str = r#"
    mark() { printf '%s\0%s\0%s\0%s\0' "$ASIDE" $(stat -c '%d %i' "$1" | tr ' ' '\n') "$2" > $ADMIN/sop-removing; }
    ADMIN=$(git rev-parse --absolute-git-dir); ASIDE=$(dirname "$PWD")/.sop-removing-a
"#;

#[test]
fn a_removal_that_was_killed_goes_on_and_takes_nothing_that_came_since() {
    let template = GitRepo::new(SETUP);
    let moved = "mark . ''; mv ../a $ASIDE";
    for (name, script, gone, left) in [
        ("marked", "mark . ''".to_owned(), true, ""),
        ("marked, then worked in", "mark . ''; echo x > new".to_owned(), false, "a"),
        ("moved", moved.to_owned(), true, ""),
        ("moved, and noted", "mv ../a $ASIDE; cd $ASIDE; mark . moved".to_owned(), true, ""),
        ("half deleted", format!("{moved}; rm -r $ASIDE/lib"), true, ""),
        ("deleted", "mark . moved; rm -r ../a".to_owned(), true, ""),
        ("linked twice", format!("ln top.txt twin; {moved}; rm $ASIDE/twin"), true, ""),
        (
            "written in since",
            format!("{moved}; sleep 0.02; echo precious > $ASIDE/new"),
            false,
            ".sop-removing-a",
        ),
        (
            "somebody else's of that name",
            "mkdir $ASIDE; echo precious > $ASIDE/new".to_owned(),
            true,
            ".sop-removing-a",
        ),
        (
            "somebody else's in its place",
            format!(
                "{moved}; rm -r $ASIDE; mkdir $ASIDE ../keep; echo x > $ASIDE/new; rmdir ../keep"
            ),
            true,
            ".sop-removing-a",
        ),
    ] {
        let repo = template.copy();
        let worktree = repo.worktree("a");
        let tree = snapshot(&worktree).tree;
        sh(worktree.path(), &format!("{MARK}{script}"));
        let found =
            repo.repo().find_worktree(&repo.spec("a")).expect("a look").expect("still registered");
        let removed = matches!(found.remove(&tree, &[]), Ok(Removal::Gone));
        assert_eq!(removed, gone, "{name}");
        let there = repo.sh("git worktree list | wc -l; ls -A ../wt");
        let kept = if left.is_empty() { String::new() } else { format!("\n{left}") };
        let trees = if gone { "1" } else { "2" };
        assert_eq!(there, format!("{trees}{kept}"), "{name}");
        if left.starts_with(".sop") {
            assert!(repo.at("wt").join(left).join("new").exists(), "{name}");
        }
    }
}
