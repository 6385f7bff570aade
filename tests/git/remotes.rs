//! A remote that is named by a path, which git looks for from the top of the checkout.

use std::time::Duration;

use sop::git::Repo;

use crate::support::git_repo::{GitRepo, sh};
use crate::support::tricks::SETUP;

#[test]
fn a_relative_path_is_looked_for_from_the_checkout_wherever_sop_was_started() {
    let repo = GitRepo::new(SETUP);
    sh(&repo.at("."), "git init -q -b main --bare up.git");
    repo.sh(
        "git remote add origin ../up.git; git push -q -u origin main 2>/dev/null; mkdir -p deep/er",
    );
    sh(
        &repo.at("outside"),
        "git clone -q ../up.git o; cd o; git commit -q --allow-empty -m theirs; git push -q",
    );
    let theirs = sh(&repo.at("outside/o"), "git rev-parse HEAD");
    for from in [repo.main(), repo.at("main/deep/er")] {
        let here = Repo::discover(&from).expect("a repository");
        let remote = here.remote("origin").expect("asked").expect("it is there");
        let stands = here.remote_head(&remote.fetch, "main").expect("asked").expect("it is there");
        assert_eq!(stands.as_str(), theirs);
        assert_eq!(here.fetch_head(&remote.fetch, "main").expect("fetched"), Some(stands.clone()));
        assert!(here.tree_of(&stands).is_ok(), "it is here by now");
        let upstream = here.upstream_of("main").expect("it follows one");
        here.fetch_upstream(&upstream, Duration::from_secs(60)).expect("fetched");
        let (head, branch) = (repo.head(), format!("sop/o-1/{}", from.components().count()));
        here.push(&remote.push, &head, &branch, None).expect("pushed");
        assert_eq!(here.remote_head(&remote.fetch, &branch).expect("asked"), Some(head));
    }
}

/// Where there is no checkout, it is looked for from the repository's own folder, as git does.
#[test]
fn in_a_bare_repository_it_is_looked_for_from_its_folder() {
    let repo = GitRepo::new(SETUP);
    sh(
        &repo.at("."),
        "git clone -q --bare main up.git; git clone -q --bare main own.git; git -C own.git remote set-url origin ../up.git",
    );
    let here = Repo::discover(&repo.at("own.git")).expect("a repository");
    let remote = here.remote("origin").expect("asked").expect("it is there");
    assert_eq!(here.remote_head(&remote.fetch, "main").expect("asked"), Some(repo.head()));
}
