//! Merges on objects alone, and what counts as merged.

use sop::git::{MergeOutcome, Merged, Repo};
use sop::model::ids::CommitId;

use crate::support::git_repo::{GitRepo, WHEN, tester};
use crate::support::tricks::SETUP;

fn merge(repo: &Repo, onto: &CommitId, commit: &CommitId) -> MergeOutcome {
    repo.merge(onto, commit, "merge", &tester(), WHEN).expect("a merge")
}

fn merged(outcome: MergeOutcome) -> Merged {
    match outcome {
        MergeOutcome::Merged(merged) => merged,
        MergeOutcome::Conflict { paths, messages } => panic!("{paths:?} {messages:?}"),
    }
}

#[test]
fn merges_are_made_without_a_checkout_and_are_the_same_every_time() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git checkout -q -b one; echo 1 >> src/a.txt; git commit -qam one; git checkout -q -b two main; echo 2 >> lib/x.c; git commit -qam two; git checkout -q main");
    let before = repo.checkout_state();
    let git = repo.repo();
    let [main, one, two] = ["main", "one", "two"].map(|name| git.resolve(name).expect("a commit"));
    let first = merged(merge(&git, &main, &one));
    assert_eq!(first.tree, git.tree_of(&one).expect("a tree"));
    assert_eq!(git.parents_of(&first.commit).expect("parents"), [main.clone(), one.clone()]);
    let both = merged(merge(&git, &first.commit, &two));
    assert_eq!(merged(merge(&git, &first.commit, &two)), both);
    assert_eq!(merged(merge(&git, &both.commit, &one)).commit, both.commit, "merged already");
    assert_eq!(
        repo.sh(&format!("git show {}:src/a.txt {0}:lib/x.c", both.commit)),
        "one\n1\nlib\n2"
    );
    assert_eq!(repo.checkout_state(), before);
}

#[test]
fn a_conflict_names_its_paths_and_makes_nothing() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git checkout -q -b one; echo 1 >> src/a.txt; printf 1 > 'a\nb'; git add -A; git commit -qm one; git checkout -q -b two main; echo 2 >> src/a.txt; printf 2 > 'a\nb'; git add -A; git commit -qm two; git checkout -q main");
    let git = repo.repo();
    let [one, two] = ["one", "two"].map(|name| git.resolve(name).expect("a commit"));
    let MergeOutcome::Conflict { paths, messages } = merge(&git, &one, &two) else {
        panic!("merged")
    };
    assert_eq!(paths, ["a\nb", "src/a.txt"]);
    assert!(messages.iter().any(|line| line.contains("src/a.txt")), "{messages:?}");
    assert!(messages.iter().all(|line| !line.contains('\n')));
}

#[test]
fn a_file_where_the_other_has_a_folder_is_named_as_it_was_written() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git checkout -q -b one; echo 1 > x; git add -A; git commit -qm one; git checkout -q -b two main; mkdir x; echo 2 > x/y; git add -A; git commit -qm two; git checkout -q main");
    let git = repo.repo();
    let [one, two] = ["one", "two"].map(|name| git.resolve(name).expect("a commit"));
    for (onto, commit) in [(&one, &two), (&two, &one)] {
        let MergeOutcome::Conflict { paths, .. } = merge(&git, onto, commit) else {
            panic!("merged")
        };
        assert_eq!(paths, ["x"]);
    }
    // With both of what git would call it in place.
    repo.sh(&format!("git checkout -q two; echo 3 > 'x~{}'; git add -A; git commit -qm three; git checkout -q main", one.as_str()));
    let two = git.resolve("two").expect("a commit");
    let MergeOutcome::Conflict { paths, .. } = merge(&git, &one, &two) else { panic!("merged") };
    assert_eq!(paths, ["x"]);
}

#[test]
fn merged_is_what_is_there_by_history_or_by_patch() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git checkout -q -b work; echo 1 >> src/a.txt; git commit -qam one; echo 2 >> src/b.txt; git commit -qam two");
    repo.sh("git checkout -q -b picked main; echo other >> top.txt; git commit -qam other; git cherry-pick work~1 work >/dev/null; echo 3 >> src/a.txt; git commit -qam later");
    repo.sh("git checkout -q -b squashed main; git merge -q --squash work; git commit -qm squash; echo 3 >> top.txt; git commit -qam later");
    repo.sh("git checkout -q -b half main; git cherry-pick work~1 >/dev/null");
    repo.sh("git checkout -q -b evil work; git merge -q --no-ff --no-commit half; echo evil >> lib/x.c; git add -A; git commit -qm evil; git checkout -q main");
    let git = repo.repo();
    let ask = |commit: &str, into: &str| {
        let [commit, into] = [commit, into].map(|name| git.resolve(name).expect("a commit"));
        git.is_merged(&commit, &into).expect("an answer")
    };
    assert!(ask("work", "work") && ask("work~1", "work"));
    assert!(ask("work", "picked"), "twins by patch");
    assert!(ask("work", "squashed"), "squashed into one");
    assert!(!ask("work", "main") && !ask("work", "half"), "not, or not all of it");
    assert!(!ask("evil", "picked"), "what a merge commit added by itself is nowhere else");
}
