//! The repository's own files for agents: whether workers, who start from the base, see what the checkout
//! has.

use bstr::BStr;

use super::Ask;
use crate::model::preflight::{InCheckout, InstructionFile, Instructions, Part, Word};

/// Files that agents, or people who tell them what to do, read by themselves.
const FILES: [&str; 10] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "CONVENTIONS.md",
    "CONTRIBUTING.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
    "opencode.json",
];

/// Folders of such files.
const FOLDERS: [&str; 3] = [".cursor/rules", ".claude", ".github/instructions"];

pub(super) fn look(ask: &Ask) -> Part<Instructions> {
    let repo = &ask.repo;
    let Ok(base) = repo.resolve(&ask.plan.base) else {
        let facts = Instructions { base: None, files: Vec::new() };
        // That there is no base is said by the part that is about it.
        return Part::new(facts, "there is no base yet to look at", Vec::new());
    };
    let named = &ask.plan.instructions;
    let mut paths: Vec<&str> = FILES.to_vec();
    paths.extend(named.iter().map(String::as_str).filter(|path| !FILES.contains(path)));
    let (mut files, mut words) = (Vec::new(), Vec::new());
    for path in paths {
        let is_named = named.iter().any(|name| name == path);
        let found = match repo.against(&base, BStr::new(path)) {
            Ok(found) => found,
            Err(error) => {
                words.push(Word::warn(
                    format!("{path} could not be compared with the base: {error}"),
                    "look at `git fsck`",
                ));
                continue;
            }
        };
        let checkout = match (found.present, found.same) {
            (false, _) => InCheckout::Missing,
            (true, true) => InCheckout::Same,
            (true, false) => InCheckout::Differs,
        };
        if !found.tracked && !found.present && !is_named {
            continue;
        }
        let file =
            |tracked| InstructionFile { path: path.to_owned(), tracked, checkout, named: is_named };
        match (found.tracked, checkout) {
            (true, InCheckout::Differs) => words.push(Word::warn(
                format!(
                    "{path} in your checkout is not what the base has: workers read the base's"
                ),
                "commit it to the base, if they should read this one",
            )),
            (false, InCheckout::Missing) => words.push(Word::warn(
                format!(
                    "{path}, which the plan points to, is neither at the base nor in your checkout"
                ),
                "write and commit it, or leave it out of `instructions`",
            )),
            (false, _) => words.push(Word::warn(
                format!("{path} is in your checkout and not at the base: workers do not see it"),
                "commit it to the base, if they should",
            )),
            (true, _) => {}
        }
        files.push(file(found.tracked));
    }
    for folder in FOLDERS {
        let tracked = repo.has_folder(&base, folder);
        let present = repo.top().is_some_and(|top| top.join(folder).is_dir());
        let concerns = tracked || (present && folder.ends_with("rules"));
        if !concerns {
            continue;
        }
        if !tracked {
            words.push(Word::warn(
                format!("{folder} is in your checkout and not at the base: workers do not see it"),
                "commit it to the base, if they should",
            ));
        }
        // What is in it is not compared file by file.
        let checkout = if present { InCheckout::Same } else { InCheckout::Missing };
        let checkout = if present && !tracked { InCheckout::Differs } else { checkout };
        files.push(InstructionFile { path: folder.to_owned(), tracked, checkout, named: false });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let fine = match files.len() {
        0 => "the repository has no files for agents".to_owned(),
        _ => {
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            format!("workers see {}", names.join(", "))
        }
    };
    Part::new(Instructions { base: Some(base), files }, fine, words)
}
