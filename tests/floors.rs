//! Holds the house to its plan: which room may import which, and which outside crate lives where.
//!
//! Read from the source itself, so that the drawing in the README cannot drift from the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every room and its floor; a room imports only from floors below its own.
const FLOORS: &[(&str, u8)] = &[
    ("main", 8),
    ("cli", 7),
    ("audit", 6),
    ("critic", 6),
    ("upkeep", 6),
    ("preflight", 6),
    ("schemas", 6),
    ("report", 5),
    ("run", 5),
    ("forge", 4),
    ("launch", 4),
    ("worker", 4),
    ("git", 3),
    ("journal", 3),
    ("brief", 3),
    ("process", 2),
    ("plan", 2),
    ("ledger", 2),
    ("graph", 2),
    ("whitelist", 2),
    ("event", 1),
    ("model", 1),
    ("finding", 1),
    ("plain_file", 1),
    ("quick", 1),
];

/// Pairs on one floor of which the first may know the second.
const NEIGHBOURS: &[(&str, &str)] = &[("event", "model"), ("finding", "model")];

/// Crates that are data alone: any room may use them.
const ANYWHERE: &[&str] = &["bstr", "jiff", "schemars", "serde", "serde_json", "thiserror"];

/// The other outside crates, and the rooms that may use them.
const HOMES: &[(&str, &[&str])] = &[
    ("git2", &["git"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("minijinja", &["brief"]),
    ("toml", &["plan"]),
    ("jsonschema", &["plan"]),
    ("petgraph", &["graph"]),
    ("annotate_snippets", &["report"]),
    ("anstyle_svg", &["report"]),
    ("quick_junit", &["report"]),
    ("unicode_width", &["report"]),
    ("anstream", &["cli", "report"]),
    ("anstyle", &["cli", "report"]),
    ("tokio", &["cli", "launch", "run"]),
    ("tracing", &["run"]),
    ("tracing_subscriber", &["cli"]),
    ("signal_hook", &["launch", "process", "worker"]),
    ("strsim", &["brief", "plan"]),
    (
        "rustix",
        &[
            "cli",
            "git",
            "journal",
            "launch",
            "plain_file",
            "process",
            "quick",
            "report",
            "run",
            "upkeep",
            "worker",
        ],
    ),
    ("sha2", &["git", "run"]),
    ("shlex", &["audit", "cli", "git", "plan", "preflight", "report", "run", "upkeep", "worker"]),
    ("tempfile", &["cli", "git", "run", "worker"]),
];

/// Rooms that are pure: no runtime, no repository, no file system, no process, no clock.
const PURE: &[&str] = &["model", "finding", "event", "graph", "whitelist", "ledger"];

/// What a pure room never says.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::process",
    "std::env",
    "std::net",
    "std::thread",
    "std::time::Instant",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "tempfile::",
    "rustix::",
];

#[test]
fn rooms_import_only_from_floors_below() {
    let floors: BTreeMap<&str, u8> = FLOORS.iter().copied().collect();
    let mut wrong = Vec::new();
    for file in files() {
        let floor = floors.get(file.room.as_str()).copied();
        let floor = floor.unwrap_or_else(|| panic!("{} is in no room of FLOORS", file.name));
        for (line, to) in file.imports() {
            if to == file.room {
                continue;
            }
            let Some(below) = floors.get(to.as_str()) else {
                panic!("{}:{line} imports `{to}`, which is in no room of FLOORS", file.name);
            };
            let allowed = *below < floor || NEIGHBOURS.contains(&(file.room.as_str(), to.as_str()));
            if !allowed {
                wrong.push(format!(
                    "{}:{line}: `{}` (floor {floor}) imports `{to}` (floor {below})",
                    file.name, file.room
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "imports that go up or sideways:\n{}", wrong.join("\n"));
}

#[test]
fn outside_crates_stay_at_home() {
    let mut wrong = Vec::new();
    for file in files() {
        for (n, line) in file.code() {
            for (name, rooms) in HOMES {
                if says(line, &format!("{name}::")) && !rooms.contains(&file.room.as_str()) {
                    wrong.push(format!(
                        "{}:{n}: `{name}` lives in {}",
                        file.name,
                        rooms.join(", ")
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "crates away from home:\n{}", wrong.join("\n"));
}

#[test]
fn every_crate_has_a_home() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let crates: BTreeSet<String> = manifest["dependencies"]
        .as_table()
        .unwrap()
        .keys()
        .map(|name| name.replace('-', "_"))
        .collect();
    let homes = HOMES.iter().map(|(name, _)| *name);
    let listed: BTreeSet<String> =
        homes.chain(ANYWHERE.iter().copied()).map(str::to_owned).collect();
    assert_eq!(crates, listed, "Cargo.toml on the left, HOMES and ANYWHERE on the right");
    // And lives there: a room that has let go of a crate is no home any more.
    let files = files();
    for (name, rooms) in HOMES {
        for room in *rooms {
            let uses = |file: &File| {
                file.room == *room && file.code().any(|(_, line)| says(line, &format!("{name}::")))
            };
            assert!(files.iter().any(uses), "`{room}` no longer uses `{name}`");
        }
    }
}

#[test]
fn pure_rooms_see_no_world() {
    let mut wrong = Vec::new();
    for file in files().into_iter().filter(|file| PURE.contains(&file.room.as_str())) {
        for (n, line) in file.code() {
            for word in IMPURE {
                if line.contains(word) {
                    wrong.push(format!("{}:{n}: `{word}`", file.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "pure rooms that see the world:\n{}", wrong.join("\n"));
}

/// Rooms whose words people read, on a terminal. Below them, paths are in errors, which these show escaped.
const TOLD: &[&str] = &[
    "cli",
    "report",
    "audit",
    "critic",
    "preflight",
    "upkeep",
    "run",
    "launch",
    "worker",
    "git",
    "journal",
];

#[test]
fn no_path_reaches_a_terminal_as_it_is() {
    // A pattern for a program, which takes it literally.
    let exempt = "outside.insert(format!(";
    let mut wrong = Vec::new();
    for file in files().iter().filter(|file| TOLD.contains(&file.room.as_str())) {
        for (n, line) in file.code() {
            if line.contains(".display()") && !line.contains(exempt) {
                wrong.push(format!("{}:{n}: {}", file.name, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "say it by `process::escape_path`:\n{}", wrong.join("\n"));
}

#[test]
fn no_room_is_a_heap() {
    let bad: BTreeSet<String> = files()
        .into_iter()
        .map(|file| file.name)
        .filter(|name| {
            ["utils", "util", "common", "helpers", "misc"].iter().any(|heap| {
                Path::new(name)
                    .components()
                    .any(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs") == *heap)
            })
        })
        .collect();
    assert!(bad.is_empty(), "a file is named after what it holds: {bad:?}");
    for file in files() {
        for (n, line) in file.code() {
            assert!(!line.contains("use super::*"), "{}:{n} hides what it imports", file.name);
        }
    }
}

/// Everything at the top of the repository.
const TOP: &[&str] = &[
    ".ci",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "benches",
    "deny.toml",
    "docs",
    "engine",
    "plans-examples",
    "rustfmt.toml",
    "schemas",
    "templates",
    "tests",
];

#[test]
fn the_top_level_is_closed() {
    assert!(root().join("Cargo.toml").is_file() && root().join(".ci/run").is_file());
    // What is not tracked is nobody's business; what is added to git, is.
    let mut git = Command::new("git");
    git.args(["ls-files", "-z"]).current_dir(root());
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(name);
    }
    let said = git.output().expect("git");
    assert!(said.status.success(), "the tests run in a clone, where git knows what belongs to it");
    let names = String::from_utf8_lossy(&said.stdout).into_owned();
    let top = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let mut found: BTreeSet<String> = names.split_terminator('\0').map(top).collect();
    found.retain(|name| root().join(name).exists());
    let meant: BTreeSet<String> = TOP.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, meant, "what is there on the left, what belongs there on the right");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One source file.
struct File {
    name: String,
    room: String,
    text: String,
}

impl File {
    /// Lines that are code, from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(n, line)| (n + 1, line.trim()))
            .filter(|(_, line)| !line.starts_with("//"))
    }

    /// Rooms that the file names, each with the line.
    fn imports(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (n, line) in self.code() {
            for start in ["crate::", "sop::"] {
                for (at, _) in line.match_indices(start) {
                    let before = line[..at].chars().next_back();
                    if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                        continue;
                    }
                    let rest = &line[at + start.len()..];
                    let name: String =
                        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    assert!(
                        !name.is_empty(),
                        "{}:{n}: write one `use crate::room::…` for each room",
                        self.name
                    );
                    found.push((n, name));
                }
            }
        }
        found
    }
}

fn says(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    })
}

fn files() -> Vec<File> {
    let engine = root().join("engine");
    let mut found = Vec::new();
    let mut folders = vec![engine.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(&engine).unwrap().to_string_lossy().into_owned();
                let room = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
                if room == "lib" {
                    continue;
                }
                found.push(File { name, room, text: fs::read_to_string(path).unwrap() });
            }
        }
    }
    assert!(found.len() > 50, "only {} files were looked at", found.len());
    found
}
