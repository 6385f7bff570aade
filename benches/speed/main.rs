//! How fast `sop` is, as ratios measured in one run: each figure stands beside its floor or its peer.
//!
//! `cargo bench` runs every measure, `cargo bench -- apply scope` some. What each one is and what it
//! should come to: `benches/README.md`.

#![allow(clippy::print_stdout, reason = "a bench prints what it found")]

mod apply;
mod bare;
mod batch;
mod journal;
mod machine;
mod memory;
mod parse;
mod peers;
mod plans;
mod provision;
mod race;
mod resume;
mod scope;
mod scratch;
mod table;
mod validate;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Set in the process that measures: its environment is nobody's but ours.
const MARK: &str = "SOP_BENCH_CLEAN";

type Measure = (&'static str, fn(&scratch::Place));

const MEASURES: [Measure; 7] = [
    ("validate", validate::run),
    ("apply", apply::run),
    ("scope", scope::run),
    ("resume", resume::run),
    ("memory", memory::run),
    ("batch", batch::run),
    ("provision", provision::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("__parse") => return parse::main(&args[1..]),
        Some("__journal") => return journal::main(&args[1..]),
        _ => {}
    }
    if std::env::var_os(MARK).is_none() {
        return start_clean(&args);
    }
    // `cargo bench` adds `--bench`.
    let chosen: Vec<&str> =
        args.iter().map(String::as_str).filter(|arg| !arg.starts_with('-')).collect();
    let names: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = chosen.iter().find(|name| !names.contains(name)) {
        println!("there is no measure `{unknown}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let place = scratch::Place::find();
    machine::describe(&place);
    for (name, measure) in MEASURES {
        if chosen.is_empty() || chosen.contains(&name) {
            measure(&place);
        }
    }
    ExitCode::SUCCESS
}

/// Starts this program over without the caller's git settings, and with an author of its own, so that
/// `sop`, its peers and the floors all see the same.
fn start_clean(args: &[String]) -> ExitCode {
    let mut again = Command::new(std::env::current_exe().expect("this program has a path"));
    // Nor is the user's config read.
    again.env("XDG_CONFIG_HOME", "/nonexistent");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("GIT_") || text.starts_with("SOP_") {
            again.env_remove(name);
        }
    }
    again.args(args).env(MARK, "1");
    again.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    for role in ["AUTHOR", "COMMITTER"] {
        again.env(format!("GIT_{role}_NAME"), "Bench");
        again.env(format!("GIT_{role}_EMAIL"), "bench@example.com");
    }
    let error = again.exec();
    println!("cannot start over: {error}");
    ExitCode::FAILURE
}
