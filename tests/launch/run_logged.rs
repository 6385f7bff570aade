//! `run-logged`: the whole output in a file, the end of it in sight, the exit code untouched.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use rustix::process::Signal;
use sop::launch::run_logged;

use crate::support::steps::{Bench, line_of, send, stand_in};

#[test]
#[ignore = "runs a command and exits with its code; other tests start it"]
fn verb() {
    let dir = std::env::var_os("SOP_TEST_DIR").expect("started by a test");
    let dir = Path::new(&dir);
    std::env::set_current_dir(dir).unwrap();
    let argv: Vec<OsString> =
        std::fs::read_to_string("argv").unwrap().split('\0').map(OsString::from).collect();
    let mut out = std::fs::File::create("out").unwrap();
    let code = run_logged(Path::new("the log"), &argv, &mut out).unwrap();
    out.flush().unwrap();
    std::process::exit(code.into());
}

fn start(bench: &Bench, argv: &[&str]) -> std::process::Child {
    std::fs::write(bench.path("argv"), argv.join("\0")).unwrap();
    stand_in("launch::run_logged::verb", &bench.path("")).spawn().unwrap()
}

fn run(bench: &Bench, argv: &[&str]) -> (i32, String) {
    let status = start(bench, argv).wait().unwrap();
    assert_eq!(status.signal(), None);
    (status.code().unwrap(), std::fs::read_to_string(bench.path("out")).unwrap())
}

#[test]
fn one_line_when_it_passes() {
    let bench = Bench::new();
    assert_eq!(run(&bench, &["seq", "1000"]), (0, "exit=0 lines=1000 log=the log\n".into()));
    assert_eq!(std::fs::read(bench.path("the log")).unwrap().len(), 3893);
}

#[test]
fn the_end_of_the_log_when_it_fails() {
    let bench = Bench::new();
    let (code, out) =
        run(&bench, &["sh", "-c", "seq 100; printf '\\033[31mred\\033[0m \\007\\n' >&2; exit 3"]);
    let mut wanted = String::from("exit=3 lines=101 log=the log\n");
    (62..=100).for_each(|n| wanted.push_str(&format!("{n}\n")));
    wanted.push_str("red \\x07\n");
    assert_eq!((code, out), (3, wanted));
}

#[test]
fn codes_are_the_commands_own() {
    let bench = Bench::new();
    std::fs::write(bench.path("plain"), "").unwrap();
    for (argv, code, said) in [
        (&["sh", "-c", "kill -9 $$"][..], 137, ""),
        (&["no-such-program-at-all"], 127, "no-such-program-at-all: No such file"),
        (&["./plain"], 126, "./plain: Permission denied"),
    ] {
        let (found, out) = run(&bench, argv);
        assert_eq!(found, code, "{argv:?}");
        assert!(out.starts_with(&format!("exit={code} ")) && out.contains(said), "{out}");
    }
}

#[tokio::test]
async fn signals_are_passed_on() {
    let bench = Bench::new();
    let script = "trap 'echo told; exit 9' TERM; echo up > up; while :; do sleep 0.02; done";
    let mut child = start(&bench, &["sh", "-c", script]);
    line_of(&bench.path("up")).await;
    send(child.id().cast_signed(), Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert_eq!(
        std::fs::read_to_string(bench.path("out")).unwrap(),
        "exit=9 lines=1 log=the log\ntold\n"
    );
}
