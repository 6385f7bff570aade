//! How a step ends by itself, and what is said about it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

use sop::launch::{Capture, EndedBy, Exit, Found, Launcher, SpawnErrorKind, Stdin};

use crate::support::steps::{Bench, key};

#[tokio::test]
async fn a_command_runs_and_leaves_its_result() {
    let bench = Bench::new();
    let outcome = bench.run(&bench.shell("pwd; echo oops >&2; printf end")).await;
    assert!(outcome.succeeded(), "{outcome:?}");
    assert_eq!((outcome.lines, outcome.dropped_bytes, outcome.left_behind), (3, 0, 0));
    let tree = bench.tree().canonicalize().unwrap();
    assert_eq!(bench.log(), format!("{}\noops\nend", tree.display()));
    assert_eq!(outcome.bytes, bench.log().len() as u64);
    let Found::Ended(again) = bench.local.find(&key("worker")).await.unwrap() else {
        panic!("it ended")
    };
    assert_eq!(again, outcome);
}

#[tokio::test]
async fn codes_and_signals_are_told_apart() {
    let bench = Bench::new();
    for (n, (script, exit)) in [
        ("exit 3", Exit::Code(3)),
        ("exit 126", Exit::Code(126)),
        ("exit 127", Exit::Code(127)),
        ("kill -9 $$", Exit::Signal(9)),
        ("kill -15 $$", Exit::Signal(15)),
    ]
    .into_iter()
    .enumerate()
    {
        let outcome = bench.run_as(&key(&format!("dod-{n}")), &bench.shell(script)).await;
        assert_eq!((outcome.exit, outcome.ended_by), (exit, EndedBy::Itself), "{script}");
    }
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let bench = Bench::new();
    let plain = bench.tree().join("plain");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    let no_interpreter = bench.tree().join("no-interpreter");
    std::fs::write(&no_interpreter, "#!/nowhere/at-all\n").unwrap();
    std::fs::set_permissions(&no_interpreter, PermissionsExt::from_mode(0o755)).unwrap();

    let mut no_cwd = bench.command(["true"]);
    no_cwd.cwd = bench.path("gone");
    let mut file_cwd = bench.command(["true"]);
    file_cwd.cwd = plain;
    let mut no_stdin = bench.command(["cat"]);
    no_stdin.stdin = Stdin::File(bench.path("gone"));
    let mut no_log = bench.command(["true"]);
    no_log.log = bench.tree();
    for (n, (spec, kind, code)) in [
        (bench.command(["no-such-program-at-all"]), SpawnErrorKind::NotFound, Some(127)),
        (bench.command(["./no-interpreter"]), SpawnErrorKind::NotFound, Some(127)),
        (bench.command(["./plain"]), SpawnErrorKind::NotExecutable, Some(126)),
        (bench.command(["/"]), SpawnErrorKind::NotExecutable, Some(126)),
        (no_cwd, SpawnErrorKind::NoCwd, None),
        (file_cwd, SpawnErrorKind::NoCwd, None),
        (no_stdin, SpawnErrorKind::NoStdin, None),
        (no_log, SpawnErrorKind::NoLog, None),
    ]
    .into_iter()
    .enumerate()
    {
        let outcome = bench.run_as(&key(&format!("dod-{n}")), &spec).await;
        let Exit::NotSpawned(error) = &outcome.exit else { panic!("{spec:?} → {outcome:?}") };
        assert_eq!((error.kind, outcome.exit.shell_code()), (kind, code), "{error}");
        assert!(!outcome.succeeded());
    }
}

#[tokio::test]
async fn input_environment_and_capture_arrive() {
    let bench = Bench::new();
    std::fs::write(bench.path("brief"), "the brief\n").unwrap();
    let mut spec = bench.shell(r#"cat; echo "$NEW"; echo "${HOME-none}"; echo to-err >&2"#);
    spec.stdin = Stdin::File(bench.path("brief"));
    spec.env.push(("NEW".into(), "with 'quotes'\n$HOME".into()));
    spec.env_remove.push("HOME".into());
    spec.capture = Some(Capture { path: bench.path("out/stdout"), limit: 1 << 20 });
    let outcome = bench.run(&spec).await;
    assert!(outcome.succeeded(), "{outcome:?}");
    let captured = std::fs::read_to_string(bench.path("out/stdout")).unwrap();
    assert_eq!(captured, "the brief\nwith 'quotes'\n$HOME\nnone\n");
    assert_eq!(bench.log().len(), captured.len() + "to-err\n".len());
    assert!(bench.log().contains("to-err\n"));
}

#[tokio::test]
async fn bytes_that_are_not_text_pass_unharmed() {
    let bench = Bench::new();
    let odd = OsString::from_vec(b"-n \xff\n$(touch pwned) `x`".to_vec());
    let mut spec = bench.command([OsString::from("printf"), "%s|".into(), odd.clone()]);
    spec.cwd = bench.path("tree").join(&odd);
    std::fs::create_dir(&spec.cwd).unwrap();
    let outcome = bench.run(&spec).await;
    assert!(outcome.succeeded(), "{outcome:?}");
    let mut wanted = odd.into_vec();
    wanted.push(b'|');
    assert_eq!(std::fs::read(bench.path("log")).unwrap(), wanted);
}

#[tokio::test]
async fn the_step_folder_is_left_tidy() {
    let bench = Bench::new();
    bench.run(&bench.command(["true"])).await;
    let mut names: Vec<_> = std::fs::read_dir(bench.local.step_dir(&key("worker")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["lock", "result.json", "spec.json", "started"]);
}
