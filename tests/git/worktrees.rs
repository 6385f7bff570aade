//! Worktrees: made, found again, refused, removed.

use crate::support::git_repo::{GitRepo, changed, snapshot};
use crate::support::tricks::SETUP;

#[test]
fn a_fresh_worktree_is_clean_and_whole() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    assert_eq!(changed(&snapshot(&worktree)), Vec::<bstr::BString>::new());
}
