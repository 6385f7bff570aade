//! `deny.toml` without `cargo deny`: what every crate of the tree is licensed under, where it comes from,
//! and that none of those is in it that must not be. (Advisories need the network, and stay with that tool.)

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The crates of the tree, for every platform and with every feature.
fn crates() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version=1", "--locked", "--offline", "--all-features"]);
    // Only what is built here has been fetched.
    let host = Command::new("rustc").arg("-vV").output().expect("rustc");
    let host = String::from_utf8_lossy(&host.stdout).into_owned();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let said = command.args(["--filter-platform", host]).current_dir(root).output().expect("cargo");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let metadata: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn rules() -> toml::Table {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml"));
    text.expect("deny.toml").parse().expect("TOML")
}

/// Whether an SPDX expression can be met by licences that are allowed. `A/B` is how crates said
/// `A OR B` once.
fn met(expression: &str, allowed: &[&str]) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    let met = any(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "not an expression: {expression}");
    met
}

fn any(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let word = words[*at];
    *at += 1;
    if word == "(" {
        let met = any(words, at, allowed);
        assert_eq!(words.get(*at), Some(&")"));
        *at += 1;
        return met;
    }
    let exception = words.get(*at) == Some(&"WITH");
    let licence = if exception { format!("{word} WITH {}", words[*at + 1]) } else { word.into() };
    *at += if exception { 2 } else { 0 };
    allowed.contains(&licence.as_str())
}

#[test]
fn every_crate_may_be_used() {
    let rules = rules();
    let names = |value: &toml::Value| -> Vec<String> {
        let list = value.as_array().expect("a list").iter();
        list.map(|item| item.get("name").unwrap_or(item).as_str().expect("text").to_owned())
            .collect()
    };
    let allowed = names(&rules["licenses"]["allow"]);
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let denied = names(&rules["bans"]["deny"]);
    let crates = crates();
    assert!(crates.len() > 50, "only {} crates", crates.len());
    let mut wrong = Vec::new();
    for it in &crates {
        let name = it["name"].as_str().expect("a name");
        if !it["license"].as_str().is_some_and(|licence| met(licence, &allowed)) {
            wrong.push(format!("{name}: {}", it["license"]));
        }
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        if name != "sop" && it["source"] != registry {
            wrong.push(format!("{name}: from {}", it["source"]));
        }
        if denied.iter().any(|denied| denied == name) {
            wrong.push(format!("{name}: must not be in the tree"));
        }
    }
    assert!(wrong.is_empty(), "against deny.toml:\n{}", wrong.join("\n"));
}

#[test]
fn an_expression_is_met_by_what_it_needs() {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Zlib"];
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "MIT AND (GPL-3.0 OR Zlib)",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "GPL-3.0 AND GPL-2.0 OR MIT",
    ] {
        assert!(met(good, &allowed), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(GPL-3.0 OR ISC) AND MIT"] {
        assert!(!met(bad, &allowed), "{bad}");
    }
}
