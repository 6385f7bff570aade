//! Command lines of a plan: setup, Definition of Done, reviewers.

use super::{COMMAND_TIMEOUT, Notes, WORK_TIMEOUT};
use crate::model::outcome::DodClass;
use crate::model::plan as model;
use crate::plan::command::{self, CommandError};
use crate::plan::document::{Argv, Dod, Expect, Review, ReviewWord, Run};
use crate::plan::shape::Either;
use crate::plan::wording::quoted;

/// The command at `at`, with its text for people. `None` when it is no command, which is noted.
pub fn run(
    run: Run,
    at: impl Fn() -> String,
    notes: &mut Notes,
) -> Option<(String, model::Command)> {
    match run {
        Either::Short(line) => {
            let command = line_command(&line.0, at, notes)?;
            Some((line.0.trim().to_owned(), command))
        }
        Either::Long(argv) => {
            let words = words(argv, at, notes)?;
            let text = shlex::try_join(words.iter().map(String::as_str))
                .unwrap_or_else(|_| words.join(" "));
            Some((text, model::Command::Argv(words)))
        }
    }
}

fn line_command(line: &str, at: impl Fn() -> String, notes: &mut Notes) -> Option<model::Command> {
    let error = match command::parse(line) {
        Ok(command) => return Some(command),
        Err(error) => error,
    };
    let message = format!("{} {error}", quoted(line.trim()));
    let at = at();
    match error {
        CommandError::Empty => notes
            .error(at, "empty-command", message)
            .help("write a command, or leave the entry out"),
        CommandError::Quote { at: range, .. } => {
            notes.error(at, "open-quote", message).inside(range).label("opens here")
        }
        CommandError::Backslash { at: range } => {
            notes.error(at, "open-quote", message).inside(range)
        }
        CommandError::Nul => notes.error(at, "nul", message),
    };
    None
}

/// An argument vector that can be run. `None` when it cannot, which is noted.
pub fn words(argv: Argv, at: impl Fn() -> String, notes: &mut Notes) -> Option<Vec<String>> {
    if argv.0[0].trim().is_empty() {
        notes
            .error(format!("{}/0", at()), "empty-command", "the name of the program is blank")
            .help("the first entry is the program, the others are its arguments");
        return None;
    }
    if let Some(i) = argv.0.iter().position(|word| word.contains('\0')) {
        let message = "this argument holds a NUL character, which no command line can";
        notes.error(format!("{}/{i}", at()), "nul", message);
        return None;
    }
    Some(argv.0)
}

/// A Definition-of-Done entry. `None` when it is no command, which is noted.
pub fn dod(entry: Dod, at: impl Fn() -> String, notes: &mut Notes) -> Option<model::Dod> {
    let (command, timeout, expect) = match entry {
        Either::Short(line) => (run(Either::Short(line), at, notes)?, None, None),
        Either::Long(table) => {
            let table = table.0;
            let command = run(table.run, || format!("{}/run", at()), notes)?;
            (command, table.timeout, table.expect)
        }
    };
    Some(model::Dod {
        text: command.0,
        command: command.1,
        timeout: timeout.map_or(COMMAND_TIMEOUT, |time| time.0),
        expect: expect.map(|expect| match expect.0 {
            Expect::Red => DodClass::Red,
            Expect::Green => DodClass::Green,
        }),
    })
}

/// Who judges. A reviewer whose command cannot be run is noted, and so is a worker's review of which
/// nothing more is said: `worker` is what `[review]` says.
pub fn review(
    review: Review,
    at: impl Fn() -> String,
    worker: Option<&model::Review>,
    notes: &mut Notes,
) -> model::Review {
    match review {
        Either::Short(word) => match word.0 {
            ReviewWord::None => model::Review::None,
            ReviewWord::Human => model::Review::Human,
            ReviewWord::Worker => worker.cloned().unwrap_or_else(|| {
                notes
                    .error(at(), "no-review-table", "it is not said which worker reviews")
                    .looked_in("/review")
                    .help("add a `[review]` table with at least a `tier`");
                model::Review::None
            }),
        },
        Either::Long(reviewer) => {
            let reviewer = reviewer.0;
            let command = words(reviewer.command, || format!("{}/command", at()), notes);
            model::Review::Command {
                command: command.unwrap_or_default(),
                timeout: reviewer.timeout.map_or(WORK_TIMEOUT, |time| time.0),
            }
        }
    }
}
