//! NDJSON: the journal's records, as the schema has them.

use std::io::{self, Write};

use sop::event::Record;
use sop::report::Reporter;
use sop::report::json::Json;

use super::scene::{evil, mixed, replay};
use crate::support::samples;
use crate::support::story::Story;
use crate::support::terminal::Pipe;

fn lines(run: &Story) -> String {
    let mut out = Vec::new();
    replay(run, &mut Json::new(&mut out));
    String::from_utf8(out).unwrap()
}

#[test]
fn each_line_is_the_record() {
    for run in [mixed(), evil()] {
        let text = lines(&run);
        let read: Vec<Record> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, run.records);
    }
}

#[test]
fn every_sort_of_event_is_as_the_schema_says_and_reads_back() {
    let schema = schemars::schema_for!(Record);
    let schema = serde_json::to_value(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let run = mixed();
    let mut names = std::collections::BTreeSet::new();
    for event in samples::all(&run, "client") {
        names.insert(event.name());
        let record = run.next(event);
        let value = serde_json::to_value(&record).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{value}: {wrong:?}");
        assert_eq!(serde_json::from_value::<Record>(value).unwrap(), record);
    }
    let known = schema["oneOf"].as_array().expect("one schema for each sort").len();
    assert_eq!(names.len(), known, "a sort of event has no sample: {names:?}");
}

#[test]
fn a_line_is_there_as_soon_as_it_is_written() {
    /// Holds back what was not flushed.
    #[derive(Default)]
    struct Held {
        held: Vec<u8>,
        through: Vec<u8>,
    }
    impl Write for &mut Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.held.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            let held = std::mem::take(&mut self.held);
            self.through.extend(held);
            Ok(())
        }
    }
    let run = mixed();
    let mut held = Held::default();
    let mut json = Json::new(&mut held);
    json.event(&run.records[0], &run.ledger);
    assert_eq!(held.through.iter().filter(|b| **b == b'\n').count(), 1);
}

#[test]
fn a_reader_that_leaves_ends_nothing() {
    let pipe = Pipe::new(0);
    replay(&mixed(), &mut Json::new(pipe.clone()));
    assert_eq!(*pipe.tried.lock().unwrap(), 1, "it does not try again");
}
