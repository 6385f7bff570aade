//! Logs with a limit, and the end of them.

use std::io::Write;

use proptest::prelude::*;
use sop::process::limited_log::{MIN_LIMIT, Written, count, mend};
use sop::process::tail::WINDOW;
use sop::process::{LimitedLog, tail};

use crate::support::scratch::has;

/// Numbered bytes, so that head and tail can be told by what they hold.
fn flood(length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    (0..)
        .take_while(|n| {
            writeln!(bytes, "line {n}").unwrap();
            bytes.len() < length
        })
        .for_each(drop);
    bytes.truncate(length);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn whatever_the_sizes_head_and_tail_are_kept(
        length in 0usize..40_000,
        chunk in 1usize..9_000,
        limit in 0u64..20_000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let bytes = flood(length);
        let mut log = LimitedLog::create(&path, limit).unwrap();
        bytes.chunks(chunk).for_each(|chunk| log.write(chunk));
        let written = log.finish();
        let kept = std::fs::read(&path).unwrap();

        let limit = limit.max(MIN_LIMIT);
        prop_assert!(kept.len() as u64 <= limit);
        prop_assert_eq!(written.bytes, length as u64);
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        prop_assert_eq!((written.lines, written.error), (lines, None));
        if written.dropped == 0 {
            prop_assert_eq!(kept, bytes);
        } else {
            prop_assert!(length as u64 > limit * 3 / 5);
            let note = format!("\n[sop: {} bytes left out here, the log reached its limit]\n", written.dropped);
            let text = String::from_utf8(kept).unwrap();
            let (head, end) = text.split_once(&note).unwrap();
            prop_assert!(bytes.starts_with(head.as_bytes()) && bytes.ends_with(end.as_bytes()));
            prop_assert_eq!((head.len() + end.len()) as u64 + written.dropped, written.bytes);
            prop_assert!(head.len() as u64 >= limit / 2 - 160 && end.len() as u64 >= limit / 4);
        }
        let beside = std::fs::read_dir(dir.path()).unwrap().count();
        prop_assert_eq!(beside, 1, "no piece is left beside the log");
    }
}

#[test]
fn a_log_whose_writer_was_killed_keeps_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = LimitedLog::create(&path, MIN_LIMIT).unwrap();
    flood(30_000).chunks(500).for_each(|chunk| log.write(chunk));
    log.write(b"\nthe end\n");
    drop(log);
    assert_eq!(tail(&path, 1).unwrap(), ["the end"], "while it is still in pieces");
    mend(&path).unwrap();
    assert_eq!(tail(&path, 1).unwrap(), ["the end"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("line 0\nline 1\n"));
    assert!(text.contains("\n[sop: an unknown number of bytes left out here"));
    mend(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "a second time changes nothing");
}

#[test]
fn a_full_disk_is_reported_and_stops_nothing() {
    if !has("/dev/full", std::path::Path::new("/dev/full").exists()) {
        return;
    }
    let mut log = LimitedLog::create("/dev/full".as_ref(), MIN_LIMIT).unwrap();
    log.write(b"one\n");
    log.write(b"two\n");
    let Written { lines, bytes, dropped, error } = log.finish();
    assert_eq!((lines, bytes, dropped), (2, 8, 0));
    assert!(error.unwrap().contains("No space left"));
}

#[test]
fn the_tail_is_the_last_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    assert!(tail(&path, 40).unwrap().is_empty(), "no log yet");
    let cases: [(&[u8], usize, &[&str]); 6] = [
        (b"", 3, &[]),
        (b"one", 3, &["one"]),
        (b"one\ntwo\n", 3, &["one", "two"]),
        (b"one\ntwo\nthree\nfour", 2, &["three", "four"]),
        (b"one\n\n", 3, &["one", ""]),
        (b"\n", 3, &[""]),
    ];
    for (bytes, lines, shown) in cases {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(tail(&path, lines).unwrap(), shown, "{bytes:?}");
        let newlines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        assert_eq!(count(&path).unwrap(), (newlines, bytes.len() as u64));
    }
}

#[test]
fn a_line_without_end_is_cut_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let window = usize::try_from(WINDOW).unwrap();
    std::fs::write(&path, [&vec![b'x'; 3 * window][..], b"\nend\n"].concat()).unwrap();
    let shown = tail(&path, 40).unwrap();
    assert_eq!(shown.len(), 2);
    assert!(shown[0].starts_with("…xxx") && shown[0].chars().count() <= window);
    assert_eq!(shown[1], "end");
    assert_eq!(tail(&path, 1).unwrap(), ["end"]);
}
