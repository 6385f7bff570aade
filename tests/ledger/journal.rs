//! The journal: what was written is read, a torn end is cut off, and whatever else does not parse
//! stops the reading by its line.

use std::fs;
use std::io::Write;
use std::path::Path;

use sop::event::{Event, Record, VERSION};
use sop::journal::{Journal, JournalError, read};
use sop::ledger::Ledger;
use sop::model::plan::Mode;

use crate::support::story::{Story, level, shape};

fn story() -> Story {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.pass("a").finished();
    run
}

fn write(path: &Path, records: &[Record]) {
    Journal::create(path).unwrap().append(records).unwrap();
}

#[test]
fn what_was_appended_is_read_and_folds_to_the_same_state() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let run = story();
    let mut journal = Journal::create(&path).unwrap();
    for some in run.records.chunks(3) {
        journal.append(some).unwrap();
    }
    let contents = read(&path).unwrap();
    assert_eq!(contents.records, run.records);
    assert_eq!(contents.good, fs::metadata(&path).unwrap().len());
    assert_eq!(Ledger::fold(&contents.records).unwrap(), run.ledger);
}

#[test]
fn a_journal_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    write(&path, &story().records);
    let before = fs::read(&path).unwrap();
    let error = Journal::create(&path).unwrap_err();
    assert!(error.to_string().starts_with(path.to_str().unwrap()), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_last_line_torn_at_any_byte_is_dropped_and_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let run = story();
    write(&path, &run.records);
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    let kept = &run.records[..run.records.len() - 1];
    for end in last..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let contents = read(&path).unwrap();
        assert_eq!(contents.records, kept, "torn at {end}");
        assert_eq!(contents.good, last as u64);
        assert_eq!(fs::metadata(&path).unwrap().len(), end as u64, "reading changes nothing");
    }
    let (mut journal, records) = Journal::resume(&path).unwrap();
    assert_eq!(records, kept);
    assert_eq!(fs::metadata(&path).unwrap().len(), last as u64);
    journal.append(&run.records[kept.len()..]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole, "as if nothing had happened");
}

#[test]
fn a_line_that_is_no_record_stops_the_reading_by_its_number() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let run = story();
    let lines: Vec<Vec<u8>> =
        run.records.iter().map(|record| serde_json::to_vec(record).unwrap()).collect();
    let garbage: [&[u8]; 6] =
        [b"", b"{", b"null", b"\xff\xfe", b"{\"seq\":3}", b"{\"seq\":3,\"event\":\"party\"}"];
    for bad in garbage {
        // In the middle and at the end: a whole line was announced, so it is never dropped.
        for at in [0, 2, lines.len()] {
            let mut file = fs::File::create(&path).unwrap();
            for (n, line) in lines.iter().enumerate() {
                if n == at {
                    file.write_all(&[bad, b"\n"].concat()).unwrap();
                }
                file.write_all(&[line, &b"\n"[..]].concat()).unwrap();
            }
            if at == lines.len() {
                file.write_all(&[bad, b"\n"].concat()).unwrap();
            }
            let error = read(&path).unwrap_err();
            assert!(matches!(error, JournalError::Line { line, .. } if line == at + 1), "{error}");
            let said = error.to_string();
            assert!(said.contains(&format!("journal.jsonl:{}: not a record", at + 1)), "{said}");
            let before = fs::read(&path).unwrap();
            Journal::resume(&path).unwrap_err();
            assert_eq!(fs::read(&path).unwrap(), before, "and nothing is mended in silence");
        }
    }
}

#[test]
fn bytes_flipped_inside_a_record_never_pass_for_another_history() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let run = story();
    write(&path, &run.records);
    let mut bytes = fs::read(&path).unwrap();
    // Record 5 says it is record 6.
    let text = String::from_utf8(bytes.clone()).unwrap();
    let at = text.find("{\"seq\":5,").unwrap() + 7;
    bytes[at] = b'6';
    fs::write(&path, &bytes).unwrap();
    let contents = read(&path).unwrap();
    let error = Ledger::fold(&contents.records).unwrap_err();
    assert!(error.to_string().contains("record 6 follows record 4"), "{error}");
}

#[test]
fn a_journal_of_another_version_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut records = story().records;
    if let Event::RunCreated { version, .. } = &mut records[0].event {
        *version = VERSION + 1;
    }
    write(&path, &records);
    let error = read(&path).unwrap_err();
    assert!(matches!(error, JournalError::Version { found, .. } if found == VERSION + 1));
    assert!(error.to_string().contains("use the sop that made the run"), "{error}");
}

#[test]
fn an_empty_journal_reads_as_nothing_and_a_missing_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let error = read(&path).unwrap_err();
    assert!(error.to_string().contains("journal.jsonl"), "{error}");
    fs::write(&path, b"").unwrap();
    assert!(read(&path).unwrap().records.is_empty());
    fs::write(&path, b"{\"seq\":1").unwrap();
    let (_, records) = Journal::resume(&path).unwrap();
    assert!(records.is_empty());
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}
