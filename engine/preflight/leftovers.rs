//! What runs from before have left: worktrees, branches, run directories, salvage commits; each with the
//! command that clears it. What belongs to a run that is not over is no leftover, and neither is what the lead has
//! made for their own hands.

use std::collections::BTreeSet;
use std::path::Path;

use bstr::ByteSlice;

use super::{Ask, LIMIT};
use crate::journal;
use crate::model::preflight::{Leftover, LeftoverCount, Leftovers, Part, Word};
use crate::process::{escape, escape_path};
use crate::run::checkpoint;
use crate::run::directory::RunDir;
use crate::run::site::{OF_LEAD, worktrees_root};

/// Of each kind, how many are listed.
const MOST: usize = 50;

pub(super) fn look(ask: &Ask) -> Part<Leftovers> {
    let repo = &ask.repo;
    let mut words = Vec::new();
    let root = RunDir::root_in(repo.common_dir());
    let dirs = RunDir::list(&root).unwrap_or_default();
    let known: BTreeSet<String> = dirs.iter().map(|dir| dir.run().to_string()).collect();
    let archived = RunDir::list(&RunDir::archive_in(repo.common_dir())).unwrap_or_default();
    let archived: BTreeSet<String> = archived.iter().map(|dir| dir.run().to_string()).collect();
    let over: BTreeSet<String> = dirs
        .iter()
        .filter(|dir| journal::is_over(&dir.journal()) && !dir.held())
        .map(|dir| dir.run().to_string())
        .collect();
    // Of a run that is not over: its own, and still in use.
    let open = |run: &str| known.contains(run) && !over.contains(run);
    let clear = |run: &str| match known.contains(run) {
        true => Some(format!("sop run clean {run}")),
        false => Some("sop worktree gc".to_owned()),
    };
    let runs = over
        .iter()
        .map(|run| Leftover {
            name: run.clone(),
            run: Some(run.clone()),
            clear: Some(format!("sop run archive {run}")),
        })
        .collect();

    let mut worktrees: Vec<Leftover> = Vec::new();
    let place = worktrees_root(repo.common_dir());
    let mut add = |path: &Path, run: Option<String>| {
        let name = escape_path(path);
        let checks = |run: &str| !known.contains(run) && checkpoint::is_of_dry_run(run);
        let in_use = |run: &str| run == OF_LEAD || open(run) || checks(run);
        if run.as_deref().is_some_and(in_use) || worktrees.iter().any(|it| it.name == name) {
            return;
        }
        let clear = clear(run.as_deref().unwrap_or_default());
        worktrees.push(Leftover { name, run, clear });
    };
    for folder in place.iter().flat_map(|place| folders(place)) {
        let run = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        for tree in folders(&folder) {
            add(&tree, run.clone());
        }
    }
    match repo.worktrees() {
        Ok(registered) => {
            for tree in registered.iter().filter(|tree| tree.ours) {
                let Some(path) = &tree.path else { continue };
                let run = path.parent().and_then(Path::file_name);
                add(path, run.map(|name| name.to_string_lossy().into_owned()));
            }
        }
        Err(error) => words.push(Word::warn(
            format!("the worktrees could not be listed: {error}"),
            "look at `git worktree list`",
        )),
    }

    let (mut branches, mut salvage) = (Vec::new(), Vec::new());
    let rooms = ["refs/heads/sop/", "refs/heads/sop-stage/", "refs/sop/salvage/"];
    match repo.refs_below(&rooms, LIMIT) {
        Ok(names) => {
            for name in names {
                let shown = escape(&name);
                if let Some(rest) = name.strip_prefix(b"refs/sop/salvage/") {
                    let run = first(rest);
                    let clear = Some(format!("git update-ref -d {shown}"));
                    salvage.push(Leftover { name: shown, run: Some(run), clear });
                    continue;
                }
                let short = name.strip_prefix(b"refs/heads/").unwrap_or(&name);
                let run = first(short.split_once_str("/").map_or(&b""[..], |(_, rest)| rest));
                if open(&run) {
                    continue;
                }
                let clear = clear(&run);
                branches.push(Leftover { name: escape(short), run: Some(run), clear });
            }
        }
        Err(error) => words.push(Word::warn(
            format!("the branches of runs could not be listed: {error}"),
            "look at `git for-each-ref`",
        )),
    }

    // A run of a plan does not mind them.
    if ask.depth.all() {
        words.extend(left_of_runs(&worktrees, &branches, &known, &archived));
    }
    let total = LeftoverCount {
        worktrees: worktrees.len() as u64,
        branches: branches.len() as u64,
        runs: over.len() as u64,
        salvage: salvage.len() as u64,
    };
    let mut facts = Leftovers { worktrees, branches, runs, salvage, total };
    for list in [&mut facts.worktrees, &mut facts.branches, &mut facts.runs, &mut facts.salvage] {
        list.truncate(MOST);
    }
    let fine = told(&facts.total);
    Part::new(facts, fine, words)
}

/// What somebody should look at of what is left. `known`: runs that are there; `archived`: those that were put away.
fn left_of_runs(
    worktrees: &[Leftover],
    branches: &[Leftover],
    known: &BTreeSet<String>,
    archived: &BTreeSet<String>,
) -> Vec<Word> {
    let mut words = Vec::new();
    if !worktrees.is_empty() {
        let what = format!("{} of runs that are over", count(worktrees.len(), "worktree"));
        words.push(Word::warn(what, clearing(worktrees)));
    }
    let is_in = |runs: &BTreeSet<String>, it: &Leftover| {
        it.run.as_deref().is_some_and(|run| runs.contains(run))
    };
    let unknown = branches.iter().filter(|it| !is_in(known, it));
    let (put_away, gone): (Vec<_>, Vec<_>) = unknown.partition(|it| is_in(archived, it));
    for (branches, of) in [(gone, "not there any more"), (put_away, "archived")] {
        if !branches.is_empty() {
            let what = format!("{} of runs that are {of}", count_es(branches.len(), "branch"));
            let help = "`sop worktree gc` shows which are merged and may go, and what the others still hold";
            words.push(Word::warn(what, help));
        }
    }
    words
}

/// What there is to say where nobody has to look.
fn told(total: &LeftoverCount) -> String {
    let parts = [
        (total.runs, "run", "runs"),
        (total.worktrees, "worktree", "worktrees"),
        (total.branches, "branch", "branches"),
        (total.salvage, "salvage commit", "salvage commits"),
    ];
    let parts = parts.iter().filter(|(n, ..)| *n > 0);
    let parts: Vec<String> =
        parts.map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many })).collect();
    match (parts.is_empty(), total.worktrees) {
        (true, _) => "nothing is left".to_owned(),
        (false, 0) => format!("{} from before; no worktree is left", parts.join(", ")),
        (false, _) => format!("{} from before", parts.join(", ")),
    }
}

/// What clears these: one command where they are of one run.
fn clearing(left: &[Leftover]) -> String {
    let commands: BTreeSet<&str> = left.iter().filter_map(|it| it.clear.as_deref()).collect();
    match commands.iter().collect::<Vec<_>>().as_slice() {
        [only] => format!("`{only}` looks at them, and clears what is safe"),
        _ => "`sop worktree gc` looks at them, and clears what is safe".to_owned(),
    }
}

fn first(path: &[u8]) -> String {
    escape(path.split(|byte| *byte == b'/').next().unwrap_or_default())
}

fn folders(of: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<_> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing} is left") } else { format!("{n} {thing}s are left") }
}

fn count_es(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing} is left") } else { format!("{n} {thing}es are left") }
}
