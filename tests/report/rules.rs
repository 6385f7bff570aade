//! Every finding has a rule behind it that explains itself, and no rule is about nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sop::report::findings::rules::{RULES, find};

/// Rooms and files that make findings.
const ROOMS: &[&str] = &["plan", "brief", "run/compile", "run/lessons", "cli/plan_file.rs"];

/// Literals in them that look like codes and are none.
const OTHERS: &[&str] =
    &["sample-1", "x-taplo", "review-quality", "review-security", "review-tests"];

fn sources(path: PathBuf, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            sources(entry.expect("an entry").path(), into);
        }
    } else if path.extension().is_some_and(|e| e == "rs") {
        into.push(path);
    }
}

/// String literals of the rooms that are made of small letters, digits and dashes.
fn words() -> BTreeSet<String> {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("engine");
    let mut files = Vec::new();
    for room in ROOMS {
        sources(engine.join(room), &mut files);
    }
    let mut words = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("text");
        let code = text.lines().filter(|line| {
            let line = line.trim_start();
            // Examples in the schema hold names that a plan might have.
            !line.starts_with("//") && !line.contains("example")
        });
        for line in code {
            for word in line.split('"').skip(1).step_by(2) {
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                if !word.is_empty() && word.chars().all(plain) {
                    words.insert(word.to_owned());
                }
            }
        }
    }
    words
}

#[test]
fn every_code_has_a_rule() {
    let known = |word: &str| find(word).is_some() || OTHERS.contains(&word);
    let outer_dash = |word: &str| word.starts_with('-') || word.ends_with('-');
    let missing: Vec<String> = words()
        .into_iter()
        .filter(|word| word.contains('-') && !outer_dash(word) && !known(word))
        .collect();
    assert!(missing.is_empty(), "add these to report/findings/rules.rs: {missing:?}");
}

#[test]
fn every_rule_has_findings() {
    let words = words();
    let dead: Vec<&str> =
        RULES.iter().map(|r| r.code).filter(|code| !words.contains(*code)).collect();
    assert!(dead.is_empty(), "nothing makes findings of these: {dead:?}");
}

#[test]
fn rules_are_sorted_and_say_something() {
    assert!(RULES.is_sorted_by(|a, b| a.code < b.code));
    for rule in RULES {
        assert!(rule.about.ends_with('.') && rule.help.len() > 10, "{}", rule.code);
        assert!(find(rule.code).is_some_and(|found| found.code == rule.code));
    }
    assert!(find("no-such-rule").is_none());
}
