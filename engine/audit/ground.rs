//! Ground truth: the project's own lint, type and test commands, found by rule from what the commit holds.
//!
//! | file | commands |
//! | --- | --- |
//! | `Cargo.toml` | `cargo clippy`, `cargo check`, `cargo test`; all members of a workspace |
//! | `package.json` | its scripts `lint`, `typecheck` (or `type-check`, `types`, `tsc`) and `test`, by the package manager whose lock file is there, after an install from that lock file |
//! | `pyproject.toml`, `ruff.toml`, `mypy.ini`, `pytest.ini` | `ruff check`, `mypy`, `pytest`, each if it is configured |
//! | `Makefile` | its targets `lint`, `typecheck` (or `check`) and `test`, for what nothing above gives |
//!
//! They are looked for at the top; where nothing is there, in the nearest folder above each path of the scope.

use std::collections::BTreeSet;

use bstr::{BStr, BString, ByteSlice};
use serde::{Deserialize, Serialize};

use super::scope::Scope;
use crate::model::gap::GroundKind;

/// A command that says how things stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What it is for.
    pub kind: GroundKind,
    /// How it was found.
    pub from: String,
    /// The command line.
    pub run: String,
}

/// The text of a file of the commit, by its path; `None` where there is none.
pub type Read<'a> = dyn Fn(&BStr) -> Option<String> + 'a;

/// The commands of the project whose files `read` gives.
#[must_use]
pub fn find(scope: &Scope, read: &Read<'_>) -> Vec<Asked> {
    let top = in_folder(b"".as_bstr(), read);
    if !top.is_empty() {
        return top;
    }
    let nearest = |path: &BString| {
        let cuts = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let ends: Vec<usize> = cuts.chain([path.len()]).collect();
        ends.into_iter().rev().find_map(|end| {
            let folder = path[..end].as_bstr();
            Some(in_folder(folder, read))
                .filter(|found| !found.is_empty())
                .map(|_| folder.to_owned())
        })
    };
    let folders: BTreeSet<BString> = scope.paths().iter().filter_map(nearest).collect();
    folders.iter().flat_map(|folder| in_folder(folder.as_bstr(), read)).collect()
}

fn in_folder(folder: &BStr, read: &Read<'_>) -> Vec<Asked> {
    let place = Place { folder, read };
    let mut found = place.cargo();
    found.extend(place.npm());
    found.extend(place.python());
    let make = place.make();
    let fresh = |asked: &Asked| !found.iter().any(|known| known.kind == asked.kind);
    let make: Vec<Asked> = make.into_iter().filter(fresh).collect();
    found.extend(make);
    found
}

struct Place<'a> {
    folder: &'a BStr,
    read: &'a Read<'a>,
}

impl Place<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let mut path = self.folder.to_owned();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        (self.read)(path.as_bstr())
    }

    /// A command of this folder. Nothing where the folder's name is no text: no line could name it.
    fn asked(&self, kind: GroundKind, from: &str, run: impl Into<String>) -> Option<Asked> {
        let run = run.into();
        if self.folder.is_empty() {
            return Some(Asked { kind, from: from.to_owned(), run });
        }
        let folder = self.folder.to_str().ok()?;
        let quoted = shlex::try_quote(folder).ok()?;
        Some(Asked { kind, from: format!("{folder}/{from}"), run: format!("cd {quoted} && {run}") })
    }

    fn cargo(&self) -> Vec<Asked> {
        let Some(manifest) = self.text("Cargo.toml") else { return Vec::new() };
        let all = match manifest.lines().any(|line| line.trim().starts_with("[workspace")) {
            true => " --workspace",
            false => "",
        };
        let asked = |kind, run: String| self.asked(kind, "Cargo.toml", run);
        [
            asked(GroundKind::Lint, format!("cargo clippy{all} --all-targets -- -D warnings")),
            asked(GroundKind::Types, format!("cargo check{all} --all-targets")),
            asked(GroundKind::Test, format!("cargo test{all}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn npm(&self) -> Vec<Asked> {
        let file = "package.json";
        let Some(package) = self.text(file) else { return Vec::new() };
        let Ok(package) = serde_json::from_str::<serde_json::Value>(&package) else {
            return Vec::new();
        };
        let has = |name: &str| self.text(name).is_some();
        let (program, install) = if has("pnpm-lock.yaml") {
            ("pnpm", Some("pnpm install --frozen-lockfile"))
        } else if has("yarn.lock") {
            ("yarn", Some("yarn install --frozen-lockfile"))
        } else {
            ("npm", has("package-lock.json").then_some("npm ci"))
        };
        let script = |names: &[&str]| {
            names.iter().find_map(|name| {
                let line = package["scripts"][*name].as_str()?;
                // What `npm init` puts there is no test.
                (!line.contains("no test specified")).then(|| (*name).to_owned())
            })
        };
        let kinds = [
            (GroundKind::Lint, &["lint"][..]),
            (GroundKind::Types, &["typecheck", "type-check", "types", "tsc"]),
            (GroundKind::Test, &["test"]),
        ];
        let runs = kinds.into_iter().filter_map(|(kind, names)| {
            self.asked(kind, file, format!("{program} run {}", script(names)?))
        });
        let runs: Vec<Asked> = runs.collect();
        let setup = install.filter(|_| !runs.is_empty());
        let setup = setup.and_then(|run| self.asked(GroundKind::Setup, file, run));
        setup.into_iter().chain(runs).collect()
    }

    fn python(&self) -> Vec<Asked> {
        let project = self.text("pyproject.toml").unwrap_or_default();
        let table = |name: &str| {
            let starts = [format!("[tool.{name}]"), format!("[tool.{name}.")];
            project.lines().any(|line| starts.iter().any(|it| line.trim().starts_with(it.as_str())))
        };
        let tools = [
            (GroundKind::Lint, "ruff", "ruff check .", &["ruff.toml", ".ruff.toml"][..]),
            (GroundKind::Types, "mypy", "mypy .", &["mypy.ini", ".mypy.ini"]),
            (GroundKind::Test, "pytest", "pytest -q", &["pytest.ini"]),
        ];
        let found = tools.into_iter().filter_map(|(kind, tool, run, files)| {
            let file = files.iter().find(|file| self.text(file).is_some());
            let from = match file {
                Some(file) => file,
                None if table(tool) => "pyproject.toml",
                None => return None,
            };
            self.asked(kind, from, run)
        });
        found.collect()
    }

    fn make(&self) -> Vec<Asked> {
        let names = ["GNUmakefile", "makefile", "Makefile"];
        let found = names.iter().find_map(|name| Some((*name, self.text(name)?)));
        let Some((file, text)) = found else { return Vec::new() };
        let is_target = |name: &str| {
            text.lines().any(|line| {
                let rest = line.strip_prefix(name).map(str::trim_start);
                // `test := …` is a variable; `test::` is a target too.
                rest.is_some_and(|rest| {
                    rest.starts_with(':') && !rest.trim_start_matches(':').starts_with('=')
                })
            })
        };
        let kinds = [
            (GroundKind::Lint, &["lint"][..]),
            (GroundKind::Types, &["typecheck", "check"]),
            (GroundKind::Test, &["test"]),
        ];
        let runs = kinds.into_iter().filter_map(|(kind, names)| {
            let target = names.iter().find(|name| is_target(name))?;
            self.asked(kind, file, format!("make {target}"))
        });
        runs.collect()
    }
}
