//! One answer, whoever is asked: the types that decide, the schema in this process, and a checker that
//! someone else wrote, reading the published file. For plans written by hand (`corpus/`) and for plans
//! that are made up, right and wrong.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sop::plan::document::{Config as ConfigFile, Document};
use sop::plan::{Layer, Layers, Source, Whose, schema, schema_json};
use toml::Value;
use toml::de::DeTable;

const EVERYTHING: &str = include_str!("corpus/good/everything.toml");
const CONFIG: &str = include_str!("corpus/config/everything.toml");

fn corpus(kind: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan/corpus").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
    files.sort();
    assert!(files.len() >= 5, "the corpus of {kind} plans is not where it was");
    files
}

/// The answers of the types and of the schema, in this process.
fn answers<D: schema::Root>(text: &str) -> (bool, bool) {
    let table = DeTable::parse(text).expect("what is made up is TOML");
    (schema::types_accept::<D>(text), schema::accepts::<D>(&schema::entries(table.get_ref())))
}

#[test]
fn plans_written_by_hand_get_one_answer() {
    for (kind, wanted) in [("good", true), ("bad", false)] {
        for (path, text) in corpus(kind) {
            assert_eq!(
                answers::<Document>(&text),
                (wanted, wanted),
                "(types, schema) on {}",
                path.display()
            );
        }
    }
}

/// Everything that may stand where something else is wanted.
fn junk() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        " ",
        "\n",
        "\u{85}",
        "\u{feff}",
        "\u{a0}",
        "a",
        "A-b_c.1",
        "a.lock",
        "a.LOCK",
        "x.lock.y",
        "a..b",
        "a.",
        ".a",
        "-a",
        "a.-b",
        "a/b",
        "é",
        "a\n",
        "a b",
        "_x",
        "X1",
        "1x",
        "x-y",
        "none",
        "human",
        "None",
        "ask",
        "auto",
        "red",
        "green",
        "broken",
        "low",
        "5m",
        "5",
        "0s",
        "00h01m",
        "1h30m",
        "1m1h",
        "5ms",
        "5 m",
        "1.5h",
        "1h 30m",
        "1234567890s",
        "999999999h",
        "5m\n",
        "+5m",
        "64MB",
        "64 MB",
        "64  MB",
        "0MB",
        "1kb",
        "1KiB",
        "1 B",
        "1234567890GB",
        "64MB\n",
        "999999999GiB",
        "true",
        "1",
        "\0",
        "\u{2028}",
        "５m",
    ];
    let long = [47, 48, 49, 63, 64, 65].map(|n| "a".repeat(n));
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).chain(long).collect();
    let numbers =
        vec![0, 1, 2, 3, 4, 7, 1000, 1001, -1, i64::MAX, i64::MIN, 1 << 60, (1 << 60) + 1];
    let floats = vec![1.0, 0.0, -0.0, 2.0, 4.0, 2.5, 1000.0, 1e18, 1e300, f64::INFINITY, f64::NAN];
    let dates = ["1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "1979-05-27T07:32:00.5"];
    let dates: Vec<Value> =
        dates.iter().map(|date| Value::Datetime(date.parse().unwrap())).collect();
    let leaf = prop_oneof![
        6 => prop::sample::select(texts.clone()).prop_map(Value::String),
        2 => prop::sample::select(numbers).prop_map(Value::Integer),
        1 => prop::sample::select(floats).prop_map(Value::Float),
        1 => any::<bool>().prop_map(Value::Boolean),
        1 => prop::sample::select(dates),
        1 => "[ -~]{0,6}".prop_map(Value::String),
    ];
    let keys = prop::sample::select(vec![
        "run", "timeout", "expect", "command", "question", "default", "x", "id", "name", "worker",
        "a b", "",
    ]);
    leaf.prop_recursive(2, 6, 3, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..3)
                .prop_map(|entries| Value::Table(entries.into_iter().collect())),
        ]
    })
}

/// One change to one part of a plan, which the number chooses.
#[derive(Debug, Clone)]
enum Change {
    Replace(usize, Value),
    Remove(usize),
    Add(usize, String, Value),
}

fn change() -> impl Strategy<Value = Change> {
    let keys = vec![
        "run",
        "timeout",
        "worker",
        "whitelist",
        "x",
        "id",
        "name",
        "review",
        "version",
        "vars",
        "a b",
        "a.lock",
        "",
        "tier",
        "stage",
        "é",
        "_a",
        "default",
        "title",
        "command",
    ];
    prop_oneof![
        6 => (any::<usize>(), junk()).prop_map(|(n, value)| Change::Replace(n, value)),
        1 => any::<usize>().prop_map(Change::Remove),
        2 => (any::<usize>(), prop::sample::select(keys), junk()).prop_map(|(n, key, value)| Change::Add(n, key.to_owned(), value)),
    ]
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Table(entries) => entries.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// Does `act` to part `n` of `value`, counted from the root down.
fn at(value: &mut Value, n: &mut usize, act: &mut dyn FnMut(&mut Value)) {
    if *n == 0 {
        act(value);
        *n = usize::MAX;
        return;
    }
    *n -= 1;
    let parts: Vec<&mut Value> = match value {
        Value::Table(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    for part in parts {
        at(part, n, act);
        if *n == usize::MAX {
            return;
        }
    }
}

/// A file that has everything in it, changed. Its root stays a table, as TOML has it.
fn changed(everything: &str, changes: &[Change]) -> String {
    let mut plan: Value = toml::from_str::<toml::Table>(everything).unwrap().into();
    for change in changes {
        let parts = count(&plan);
        let (Change::Replace(n, _) | Change::Remove(n) | Change::Add(n, ..)) = change;
        let mut n = n % parts;
        if n == 0 && !matches!(change, Change::Add(..)) {
            n = 1.min(parts - 1);
        }
        at(&mut plan, &mut n, &mut |part| match change {
            Change::Replace(_, value) => *part = value.clone(),
            Change::Remove(_) => match part {
                Value::Table(entries) => entries.clear(),
                Value::Array(items) => items.clear(),
                _ => *part = Value::Array(Vec::new()),
            },
            Change::Add(_, key, value) => match part {
                Value::Table(entries) => {
                    entries.insert(key.clone(), value.clone());
                }
                Value::Array(items) => items.push(value.clone()),
                other => *other = value.clone(),
            },
        });
    }
    toml::to_string(&plan).unwrap()
}

fn plans() -> impl Strategy<Value = String> {
    prop::collection::vec(change(), 0..3).prop_map(|changes| changed(EVERYTHING, &changes))
}

fn configs() -> impl Strategy<Value = String> {
    prop::collection::vec(change(), 0..3).prop_map(|changes| changed(CONFIG, &changes))
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]
    #[test]
    fn plans_made_up_get_one_answer(text in plans()) {
        let (types, schema) = answers::<Document>(&text);
        prop_assert_eq!(types, schema, "(types, schema) on\n{}", text);
    }

    /// A config file gets one answer too, and what is wrong with it is said at a place in it.
    #[test]
    fn configs_made_up_get_one_answer(text in configs()) {
        let (types, schema) = answers::<ConfigFile>(&text);
        prop_assert_eq!(types, schema, "(types, schema) on\n{}", text);
        let config = Source::new("config.toml", text);
        let layers = Layers::new(vec![Layer::read(Whose::Repository, config.clone())]);
        let plan = Source::new("plan.toml", super::GOOD);
        let found = sop::plan::read(&plan, Path::new("/nowhere"), &layers).findings;
        prop_assert!(types || sop::finding::any_error(&found));
        for finding in found.iter().chain(&layers.look()) {
            prop_assert_eq!(&finding.file, "config.toml", "{:?}", finding);
            let span = finding.span.clone().expect("a place");
            prop_assert!(config.text.get(span).is_some());
            prop_assert!(finding.code != "schema", "not in our own words: {:?}", finding);
            let said = format!("{} {:?} {:?}", finding.message, finding.help, finding.suggestion);
            prop_assert!(!said.contains("unnamed--"), "{}", said);
        }
    }

    /// Whatever is wrong, it is said, at a place in the file, and no plan comes of it.
    #[test]
    fn every_refusal_has_a_reason_and_a_place(text in plans()) {
        let (source, read) = super::reading(&text);
        prop_assert_eq!(read.plan.is_some(), !sop::finding::any_error(&read.findings));
        prop_assert!(read.readable().is_some(), "nothing is left of\n{}", text);
        if !schema::types_accept::<Document>(&text) {
            prop_assert!(sop::finding::any_error(&read.findings));
        }
        for finding in &read.findings {
            let span = finding.span.clone().expect("a place");
            prop_assert!(source.text.get(span).is_some());
            prop_assert!(finding.code != "schema", "not in our own words: {:?}", finding);
            prop_assert!(!finding.message.chars().any(char::is_control), "{:?}", finding.message);
            let said = format!("{} {:?} {:?}", finding.message, finding.help, finding.suggestion);
            prop_assert!(!said.contains("unnamed--"), "{}", said);
        }
    }
}

/// As many plans from the same seed every time, with both answers among them.
fn drawn(n: usize) -> Vec<String> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = plans();
    (0..n).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn plans_made_up_are_good_and_bad() {
    let good = drawn(300).iter().filter(|text| schema::types_accept::<Document>(text)).count();
    assert!((60..240).contains(&good), "{good} of 300 are good");
}

/// check-jsonschema, from PyPI, reads the published schema and gives the same answer, plan by plan.
#[test]
fn another_checker_gives_the_same_answer() {
    let Ok(version) = Command::new("check-jsonschema").arg("--version").output() else {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "check-jsonschema is not on PATH, and CI is to have it"
        );
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped: check-jsonschema is not on PATH (pip install check-jsonschema)");
        }
        return;
    };
    assert!(version.status.success());
    let dir = tempfile::tempdir().unwrap();
    let schema_file = dir.path().join("plan.schema.json");
    fs::write(&schema_file, schema_json()).unwrap();
    let mut plans: Vec<String> = drawn(400);
    plans.extend(corpus("good").into_iter().chain(corpus("bad")).map(|(_, text)| text));
    let mut files = Vec::new();
    for (i, text) in plans.iter().enumerate() {
        let file = dir.path().join(format!("{i}.toml"));
        fs::write(&file, text).unwrap();
        files.push(file);
    }
    let output = Command::new("check-jsonschema")
        .args(["--output-format", "json", "--schemafile"])
        .arg(&schema_file)
        .args(&files)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|_| {
        panic!("no answer: {said}{}", String::from_utf8_lossy(&output.stderr));
    });
    assert_eq!(said["parse_errors"].as_array().map(Vec::len), Some(0), "{}", said["parse_errors"]);
    let refused = said["errors"].as_array().unwrap().iter();
    let refused: BTreeSet<&str> = refused.filter_map(|error| error["filename"].as_str()).collect();
    let mut differ = Vec::new();
    for (file, text) in files.iter().zip(&plans) {
        let accepted = !refused.contains(file.to_str().unwrap());
        if schema::types_accept::<Document>(text) != accepted {
            differ.push(format!("check-jsonschema says {accepted} to\n{text}"));
        }
    }
    assert!(!refused.is_empty() && refused.len() < files.len());
    assert_eq!(differ, [""; 0], "{}", differ.join("\n"));
}
