//! What git said, as people are told it.

use crate::support::git_repo::GitRepo;

#[test]
fn it_is_one_line_with_its_own_quotes_and_nothing_that_a_terminal_obeys() {
    let scratch = GitRepo::new("");
    let nowhere = scratch.at("no\u{1b}[31mwhere");
    let error = scratch.repo().remote_head(nowhere.to_str().unwrap(), "main").expect_err("nothing");
    let text = error.to_string();
    assert!(text.contains("where' does not appear to be a git repository; fatal: "), "{text}");
    assert!(!text.contains(['\n', '\u{1b}']) && !text.contains("\\'"), "{text}");
}
