//! Programs that are heard to their end, whatever they leave behind.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use sop::quick::hear::{Heard, Most, Why, Wish, hear};
use sop::quick::{self, NoAnswer};

use crate::support::rig::until;

/// Longer than any of it takes, and than a test would wait.
const LONG: Duration = Duration::from_secs(600);

const ALL: Wish<'static> = Wish { input: b"", limit: Some(LONG), out: Most::All, err: Most::All };

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn started(script: &str) -> Child {
    shell(script).spawn().expect("it starts")
}

/// The number that a script said first.
fn number(said: &[u8]) -> Pid {
    let text = String::from_utf8_lossy(said);
    let number = text.lines().next().expect("a line").trim().parse().expect("a number");
    Pid::from_raw(number).expect("an id")
}

fn until_gone(pid: Pid) {
    // One that is dead and not collected is gone as well.
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        test_kill_process(pid).is_ok() && !stat.is_ok_and(|stat| stat.contains(") Z "))
    };
    until(|| if lives() { Err(format!("{pid:?} lives")) } else { Ok(()) });
}

#[test]
fn one_that_leaves_a_child_with_its_pipes_is_over_when_it_is_itself() {
    let Heard { status, why, out, err } =
        hear(started("sleep 5000 & echo $!; echo said >&2; exit 3"), &ALL).expect("heard");
    assert_eq!((status.code(), why, &err[..]), (Some(3), Why::Itself, &b"said\n"[..]));
    until_gone(number(&out));
}

#[test]
fn one_that_leaves_a_child_in_another_session_is_not_waited_for() {
    // Nothing of its own group is left, and yet its pipes are open.
    let script = "d=$(mktemp -d); mkfifo $d/f
        setsid sh -c \"echo \\$\\$; echo > $d/f; exec sleep 5000\" & read -r x < $d/f; rm -r $d";
    let heard = hear(started(script), &ALL).expect("heard");
    assert_eq!(heard.why, Why::Itself);
    kill_process(number(&heard.out), Signal::KILL).expect("it was let be");
}

#[test]
fn one_that_is_late_ends_with_all_of_its_group() {
    let wish = Wish { limit: Some(Duration::from_secs(2)), ..ALL };
    let heard = hear(started("sleep 5000 & echo $!; sleep 5000"), &wish).expect("heard");
    assert_eq!((heard.why, heard.status.code()), (Why::Late, None));
    until_gone(number(&heard.out));
}

#[test]
fn what_is_fed_and_what_is_said_do_not_wait_for_each_other() {
    let much: Vec<u8> = (0..2_000_000u32).map(|n| b'a' + (n % 26) as u8).collect();
    let wish = Wish { input: &much, ..ALL };
    let heard = hear(started("cat"), &wish).expect("heard");
    assert!(heard.out == much, "{} bytes of {}", heard.out.len(), much.len());
    // Nobody reads, and somebody holds the other end.
    let heard = hear(started("sleep 5000 <&0 & exit 0"), &wish).expect("heard");
    assert_eq!((heard.why, heard.status.code()), (Why::Itself, Some(0)));
}

#[test]
fn what_is_too_much_is_let_go_or_ends_it() {
    let wish = Wish { out: Most::First(3), ..ALL };
    let heard = hear(started("head -c 1000000 /dev/zero | tr '\\0' x"), &wish).expect("heard");
    assert_eq!((heard.why, &heard.out[..]), (Why::Itself, &b"xxx"[..]));
    let heard = hear(started("yes"), &Wish { out: Most::Within(1000), ..ALL }).expect("heard");
    assert_eq!((heard.why, heard.out.len()), (Why::TooMuch, 1000));
}

#[test]
fn an_answer_counts_though_somebody_holds_the_pipe() {
    let answer = quick::ask(shell("sleep 5000 & echo yes"), LONG, 100).expect("it answered");
    assert_eq!((answer.out, answer.status.code()), (b"yes\n".to_vec(), Some(0)));
    let late = quick::ask(shell("sleep 5000"), Duration::from_millis(100), 100);
    assert!(matches!(late, Err(NoAnswer::Late(_))), "{late:?}");
    let much = quick::ask(shell("yes"), LONG, 100);
    assert!(matches!(much, Err(NoAnswer::TooMuch(100))), "{much:?}");
}
