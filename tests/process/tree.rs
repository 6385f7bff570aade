//! Identities and trees, as `/proc` tells them.

use std::process::{Command, Stdio};

use sop::process::Identity;
use sop::process::identity::Stat;
use sop::process::tree::{below, descendants, has_env};

use crate::support::steps::until;

#[test]
fn a_name_made_to_deceive_is_parsed() {
    let line = b"42 (a) R 1 (b)) S 7 42 42 0 -1 4194304 28 0 0 0 1 2 3 4 20 0 1 0 191122 425984 0";
    let stat = Stat::parse(42, line).unwrap();
    assert_eq!((stat.ppid, stat.state, stat.start), (7, 'S', 191_122));
    assert_eq!(Stat::parse(42, b"42 (cut) S 7 42"), None);
    assert_eq!(Stat::parse(42, b""), None);
}

#[test]
fn descendants_are_found_through_any_depth_and_zombies_are_not() {
    let stat = |pid, ppid, state| Stat { pid, ppid, state, start: 1 };
    let all = [
        stat(1, 0, 'S'),
        stat(5, 4, 'R'),
        stat(4, 3, 'Z'),
        stat(3, 2, 'S'),
        stat(2, 1, 'S'),
        stat(9, 1, 'S'),
        // A picture taken while the world moved can hold a circle.
        stat(20, 21, 'S'),
        stat(21, 20, 'S'),
    ];
    let pids =
        |roots: &[i32]| descendants(&all, roots).iter().map(|stat| stat.pid).collect::<Vec<_>>();
    assert_eq!(pids(&[2]), [3, 5]);
    assert!(pids(&[9]).is_empty());
    assert_eq!(pids(&[20]), [21]);
    assert_eq!(pids(&[3, 2]), [5]);
}

#[tokio::test]
async fn a_living_process_is_itself_and_a_dead_one_is_not() {
    let mut child = Command::new("sh")
        .args(["-c", "sleep 1000 & wait"])
        .env("SOP_TEST_MARK", "this one")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id().cast_signed();
    let grandchild = until("the grandchild", || below(pid).first().copied()).await;
    let identity = Identity::of(pid).unwrap();
    assert!(identity.is_alive());
    assert!(!Identity { start: identity.start + 1, ..identity.clone() }.is_alive());
    assert!(!Identity { boot: "another".into(), ..identity.clone() }.is_alive());
    assert!(has_env(grandchild.pid, "SOP_TEST_MARK", "this one"));
    assert!(!has_env(grandchild.pid, "SOP_TEST_MARK", "this"));
    let stale = Stat { start: grandchild.start + 1, ..grandchild };
    assert!(!sop::process::identity::signal(&stale, rustix::process::Signal::KILL));
    assert!(sop::process::identity::signal(&grandchild, rustix::process::Signal::KILL));
    child.wait().unwrap();
    assert!(!identity.is_alive());
}
