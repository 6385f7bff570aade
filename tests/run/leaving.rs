//! Worktrees that leave together: one look at who works where, and to each its own answer.

use std::process::Stdio;
use std::sync::Arc;

use sop::run::leaving::Leaving;

use crate::support::git_repo::command;

#[test]
fn each_is_told_of_its_own_users() {
    let place = tempfile::tempdir().expect("a folder");
    let folders: Vec<_> = (0..20).map(|n| place.path().join(format!("w{n}"))).collect();
    folders.iter().for_each(|folder| std::fs::create_dir(folder).expect("a folder"));
    // Whose path begins as another's does.
    let mut cat = command("cat", &folders[1]);
    let mut child = cat.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
    for others in [true, false] {
        let leaving = Arc::new(Leaving::default());
        leaving.others_at_work(others);
        let asked = folders.iter().cloned().map(|folder| {
            let leaving = Arc::clone(&leaving);
            std::thread::spawn(move || leaving.users_of(&folder))
        });
        let asked: Vec<_> = asked.collect();
        let users: Vec<Vec<u32>> = asked
            .into_iter()
            .map(|asked| asked.join().expect("an answer").iter().map(|user| user.pid).collect())
            .collect();
        for (n, users) in users.iter().enumerate() {
            let expected: &[u32] = if n == 1 { &[child.id()] } else { &[] };
            assert_eq!(users, expected, "w{n}");
        }
    }
    drop(child.stdin.take());
    child.wait().expect("ended");
}
