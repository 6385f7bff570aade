//! Git, and what is special about the repository: whether a run works with it, and how; or why not.

use std::collections::BTreeMap;

use super::{Ask, LIMIT};
use crate::git::ObstacleKind;
use crate::model::preflight::{Git, Lfs, Means, Part, Submodules, Word};
use crate::worker::Home;

pub(super) fn look(ask: &Ask) -> Part<Git> {
    let repo = &ask.repo;
    let version = ask.version.clone().map_or_else(|| repo.git_version(LIMIT), Ok);
    let version = match version {
        Ok(version) => version,
        Err(error) => {
            let help = "install git, and see that it is on the search path";
            return Part::unknown(Word::stop(error.to_string(), help));
        }
    };
    let special = repo.special();
    let mut words = Vec::new();
    let installed = special.lfs.then(|| Home::here(&BTreeMap::new()).find("git-lfs").is_some());
    let mut means = Vec::new();
    let mut say = |feature: &str, works: bool, why: &str| {
        means.push(Means { feature: feature.to_owned(), works, why: why.to_owned() });
    };
    if special.object_format == "sha256" {
        say("sha256", true, "libgit2 does not open it, so that every step starts `git`");
    }
    if special.ref_format != "files" {
        say(&special.ref_format, true, "libgit2 does not open it, so that every step starts `git`");
    } else if !special.in_process && special.object_format != "sha256" {
        say("libgit2", true, "it does not open the repository, so that every step starts `git`");
    }
    if special.sparse {
        say("sparse", true, "your checkout is sparse and stays so; worktrees of a run are whole");
    }
    if !special.submodules.is_empty() {
        let why = "worktrees start without them; a `setup` command can fetch them, and a package may \
                   move the commit that one is at, but nothing inside it";
        say("submodules", true, why);
    }
    match installed {
        Some(true) => say("lfs", true, "large files pass through git's own filters"),
        Some(false) => {
            say("lfs", false, "`git-lfs` is not here: worktrees cannot be checked out whole");
            words.push(Word::warn(
                "attributes send files through LFS, and `git-lfs` is not here",
                "install git-lfs, and run `git lfs install`",
            ));
        }
        None => {}
    }
    if special.shallow {
        say("shallow", true, "what was merged may not be provable, and then stays");
        words.push(Word::warn(
            "the history is shallow: what was merged may not be provable, and is kept then",
            "`git fetch --unshallow` brings the rest",
        ));
    }
    if special.partial {
        say("partial", true, "objects that are not here are fetched when a worktree needs them");
    }
    if special.worktree_config {
        say("worktree_config", true, "settings of one worktree are compared with the others");
    }
    if special.ignore_case {
        say(
            "ignore_case",
            true,
            "names that differ only in case are one file here, and two in a commit",
        );
    }
    if special.bare {
        match repo.top() {
            Some(_) => say("bare", true, "runs start from the worktree that you are in"),
            None => {
                say("bare", true, "runs start from here without a checkout of yours");
                words.push(Word::warn(
                    "this is the bare repository itself: there is no checkout to read `.sop/config.toml` in, or to \
                     copy from what `[provision]` names",
                    "start sop in a worktree beside it, where that is wanted (`git worktree add`)",
                ));
            }
        }
    }
    for obstacle in repo.obstacles(&version) {
        match obstacle.kind {
            kind if kind.blocks() => words.push(Word::stop(obstacle.text, help(kind))),
            ObstacleKind::InProgress => {
                words.push(Word::warn(
                    obstacle.text,
                    "end it first, if a run should start from its result",
                ));
            }
            // What is told above.
            _ => {}
        }
    }
    let fine = match means.is_empty() {
        true => format!("git {version}, and nothing special about the repository"),
        false => {
            let names: Vec<&str> = means.iter().map(|it| it.feature.as_str()).collect();
            format!("git {version}; {}: works", names.join(", "))
        }
    };
    let facts = Git {
        version,
        libgit2: special.libgit2,
        in_process: special.in_process,
        object_format: special.object_format.to_owned(),
        ref_format: special.ref_format,
        sparse: special.sparse,
        submodules: Submodules {
            count: special.submodules.len() as u64,
            initialised: special.initialised as u64,
        },
        lfs: Lfs { used: special.lfs, installed },
        shallow: special.shallow,
        partial: special.partial,
        worktree_config: special.worktree_config,
        ignore_case: special.ignore_case,
        means,
    };
    Part::new(facts, fine, words)
}

fn help(kind: ObstacleKind) -> &'static str {
    match kind {
        ObstacleKind::GitTooOld => "install a newer git",
        ObstacleKind::UnbornHead => "make a first commit",
        _ => "make room for it: its owner and permissions are in the way",
    }
}
