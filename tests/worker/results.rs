//! What a driver leaves lies where a worker can reach it.

use std::fs;
use std::os::unix::fs::symlink;

use sop::model::turn::Turn;
use sop::worker::{read_answer, read_turn};

#[test]
fn nothing_but_a_file_of_a_turns_size_is_a_turn() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(read_turn(&at("none")).unwrap().is_none());

    fs::write(at("turn"), r#"{"session":"s","turns":2,"answered":true}"#).unwrap();
    let turn = read_turn(&at("turn")).unwrap().unwrap();
    assert_eq!(
        turn,
        Turn { session: Some("s".into()), turns: 2, answered: true, ..Turn::default() }
    );

    symlink(at("turn"), at("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), rustix::fs::Mode::RUSR).unwrap();
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("long"), " ".repeat(300 * 1024)).unwrap();
    fs::write(at("else"), "done!").unwrap();
    for name in ["link", "fifo", "folder", "long", "else"] {
        assert!(read_turn(&at(name)).is_err(), "{name}");
    }
}

#[test]
fn an_answer_is_text_whatever_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.md");
    assert!(read_answer(&path).unwrap().is_none());
    fs::write(&path, b"caf\xe9").unwrap();
    assert_eq!(read_answer(&path).unwrap().as_deref(), Some("caf\u{fffd}"));
}
