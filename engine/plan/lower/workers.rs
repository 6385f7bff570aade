//! Workers: any command, or a coding agent behind its adapter.

use std::collections::BTreeMap;

use super::{Notes, commands, id};
use crate::model::ids::WorkerId;
use crate::model::plan::{self as model, Adapter, Does};
use crate::plan::document::Worker;
use crate::plan::pointer;
use crate::plan::scalar::Name;
use crate::plan::shape::{Named, Table};
use crate::plan::stand_in::is_nameless;
use crate::plan::wording::quoted;

/// The workers as resolved.
pub fn lower(
    workers: Named<Name, Table<Worker>>,
    notes: &mut Notes,
) -> BTreeMap<WorkerId, model::Worker> {
    let lower = |(name, worker): (Name, Table<Worker>)| {
        let one =
            One { at: pointer::join("/workers", &name.0), name: who(&name), notes: &mut *notes };
        (id(name.0), one.lower(worker.0))
    };
    workers.0.into_iter().map(lower).collect()
}

/// A worker, for a sentence.
fn who(name: &str) -> String {
    match is_nameless(name) {
        true => "this worker".to_owned(),
        false => format!("worker {}", quoted(name)),
    }
}

/// One worker, as it is looked at.
struct One<'a> {
    at: String,
    name: String,
    notes: &'a mut Notes,
}

impl One<'_> {
    fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.at)
    }

    fn lower(mut self, worker: Worker) -> model::Worker {
        let Worker { command, brief, agent, program, args, env } = worker;
        for (variable, value) in &env.0 {
            if value.contains('\0') {
                let message = "this value holds a NUL character, which no environment can";
                self.notes.error(self.at(&format!("env/{}", variable.0)), "nul", message);
            }
        }
        let mut argv = |key: &str, argv| {
            let at = self.at(key);
            commands::words(argv, || at.clone(), self.notes).unwrap_or_default()
        };
        let command = command.map(|words| argv("command", words));
        let has_program = program.is_some();
        let program = program.map(|words| argv("program", words)).unwrap_or_default();
        for (i, arg) in args.iter().enumerate().filter(|(_, arg)| arg.contains('\0')) {
            let message =
                format!("{} holds a NUL character, which no command line can", quoted(arg));
            self.notes.error(self.at(&format!("args/{i}")), "nul", message);
        }
        match (&command, agent) {
            (Some(_), Some(_)) => self.both(),
            (None, None) => self.neither(),
            (Some(_), None) => {
                for key in [("program", has_program), ("args", !args.is_empty())] {
                    self.misplaced(key, "agent", "put it into `command`");
                }
            }
            (None, Some(agent)) => {
                self.misplaced(
                    ("brief", brief.is_some()),
                    "command",
                    "an adapter hands the brief over in the agent's own way: leave it out",
                );
                if agent.0 == Adapter::Acp && !has_program {
                    let at = self.at("agent");
                    self.notes
                        .error(at, "no-program", "`acp` is a protocol that many agents speak: it is not said which program")
                        .help("add `program`, for example `program = [\"gemini\", \"--acp\"]`");
                }
            }
        }
        let does = match (command, agent) {
            (None, Some(agent)) => Does::Agent { agent: agent.0, program, args },
            (command, _) => Does::Command {
                command: command.unwrap_or_else(|| vec!["true".to_owned()]),
                brief: brief.map(|word| word.0).unwrap_or_default(),
            },
        };
        model::Worker {
            does,
            env: env.0.into_iter().map(|(name, value)| (name.0, value)).collect(),
        }
    }

    fn both(&mut self) {
        let message = format!("{} is both a command and an agent", self.name);
        let (at, first) = (self.at("agent"), self.at("command"));
        self.notes
            .error(at, "unclear-worker", message)
            .key()
            .related("the command", first)
            .help("leave out `command` or `agent`");
    }

    fn neither(&mut self) {
        let message = format!("it is not said what {} is", self.name);
        self.notes.error(self.at.clone(), "unclear-worker", message).help(
            "add `command`, the program and its arguments, or `agent`, one of \"codex\", \"claude\", \"gemini\", \
             \"opencode\", \"aider\" and \"acp\"",
        );
    }

    /// Notes a key that workers of this kind do not have.
    fn misplaced(&mut self, (key, there): (&str, bool), of: &str, help: &str) {
        if there {
            let message = format!("`{key}` is for a worker with `{of}`");
            let at = self.at(key);
            self.notes.error(at, "misplaced-key", message).key().help(help);
        }
    }
}
