//! What holds before a run, part by part, on a table of repositories. Whatever is looked at, nothing is
//! written: every byte and every date around the repository is compared, the index among them, before and
//! after everything that is run here.

mod agents;
mod docker;
mod repositories;
mod runs;
mod schema;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::checkout::Checkout;
use crate::support::git_repo::{GitRepo, QUIET_GIT, sh};
use crate::support::scratch::{Said, run};

/// A repository, a home and a search path of its own.
struct Desk {
    repo: GitRepo,
    /// Where `sop` is started, from the temporary folder.
    within: &'static str,
    env: Vec<(String, String)>,
}

/// What `sop preflight` said.
struct Found {
    code: i32,
    all: Value,
}

impl Desk {
    fn new(script: &str) -> Self {
        Self::of(GitRepo::new(script))
    }

    fn of(repo: GitRepo) -> Self {
        let desk = Self { repo, within: "main", env: Vec::new() };
        for folder in ["home", "bin"] {
            fs::create_dir(desk.at(folder)).unwrap();
        }
        for tool in ["git", "sh", "cat", "sleep", "true"] {
            let found = sh(Path::new("/"), &format!("which {tool}"));
            std::os::unix::fs::symlink(found, desk.at("bin").join(tool)).unwrap();
        }
        desk
    }

    fn at(&self, name: &str) -> PathBuf {
        self.repo.at(name)
    }

    /// Sets a variable for everything that is run here.
    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A program on the search path.
    fn program(self, name: &str, script: &str) -> Self {
        let path = self.at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn file(self, name: &str, text: &str) -> Self {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Started in another folder than the checkout.
    fn within(mut self, folder: &'static str) -> Self {
        self.within = folder;
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sop"));
        command
            .current_dir(self.at(self.within))
            .env_clear()
            .env("PATH", self.at("bin"))
            .env("HOME", self.at("home"))
            .env("SOP_WORKTREES", self.at("wt"))
            .env("GIT_CONFIG_GLOBAL", QUIET_GIT)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `sop`, which writes nothing.
    fn sop(&self, args: &[&str]) -> Said {
        let before = self.everything();
        let said = self.sop_and_write(args);
        assert_eq!(self.everything(), before, "sop {args:?} has written something");
        said
    }

    /// Runs `sop` where it may write: what is the user's stays all the same, but for these places.
    fn sop_but(&self, places: &[&str], args: &[&str]) -> Said {
        let checkout = Checkout::new(self.at("main"), ".git");
        checkout.touched(places, "as the test says");
        checkout.sop_runs();
        self.sop_and_write(args)
    }

    fn sop_and_write(&self, args: &[&str]) -> Said {
        run(self.command().args(args), "")
    }

    /// Everything around the repository: names, modes, dates, links, contents.
    fn everything(&self) -> String {
        let all = "find . -printf '%P %y %m %T@ %C@ %l\\n' -type f -exec sha256sum {} + | sort";
        sh(&self.at("."), all)
    }

    /// Looks, and sees that nothing was written.
    fn look(&self, args: &[&str]) -> Found {
        self.found(&self.sop(&[&["preflight"], args].concat()))
    }

    /// Looks where a fetch may write.
    fn look_and_write(&self, args: &[&str]) -> Found {
        let fetched = [".git/refs/remotes", ".git/logs/refs/remotes"];
        self.found(&self.sop_but(&fetched, &[&["preflight"], args].concat()))
    }

    fn found(&self, said: &Said) -> Found {
        assert_eq!(said.err, "", "{}", said.out);
        assert_eq!(said.out.lines().count(), 1, "one line: {}", said.out);
        let main = self.at("main");
        let root = main.parent().expect("a folder above").display().to_string();
        let text = said.out.replace(&root, "ROOT");
        Found { code: said.code, all: serde_json::from_str(&text).expect("JSON") }
    }
}

impl Found {
    /// A part without what differs from machine to machine: ids of commits are `ID`.
    #[track_caller]
    fn is(&self, part: &str, expected: &Value) {
        let found = named(self.all[part].clone());
        assert_eq!(found, *expected, "{part}: {found:#}");
    }

    fn part(&self, part: &str) -> &Value {
        &self.all[part]
    }

    /// State, sentence and advice of a part.
    #[track_caller]
    fn says(&self, part: &str, state: &str, what: &str, help: Option<&str>) {
        let found = &self.all[part];
        let said = (found["state"].as_str(), found["what"].as_str(), found["do"].as_str());
        assert_eq!(said, (Some(state), Some(what), help), "{part}: {found:#}");
    }
}

/// Ids of objects by one name.
fn named(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let is_id =
                [40, 64].contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
            Value::String(if is_id { "ID".to_owned() } else { text })
        }
        Value::Array(values) => values.into_iter().map(named).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, named(value))).collect(),
        other => other,
    }
}
