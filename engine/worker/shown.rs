//! What agents do, in the same few words for all of them: `run cargo test`, `edit src/a.rs`.

use std::path::Path;

use crate::process::escape_path;

/// A command that is run. A shell around it (`/bin/bash -lc '…'`) is left out.
pub(super) fn run(command: &str) -> String {
    let inner = shlex::split(command).filter(|words| {
        let shell = words.first().and_then(|word| Path::new(word).file_name());
        words.len() == 3
            && shell.is_some_and(|name| name == "sh" || name == "bash" || name == "zsh")
            && words[1].starts_with('-')
            && words[1].ends_with('c')
    });
    match inner {
        Some(words) => format!("run {}", words[2]),
        None => format!("run {command}"),
    }
}

/// A file that something is done to, from the worktree on if it lies there.
pub(super) fn file(verb: &str, path: &str, cwd: &Path) -> String {
    let path = Path::new(path);
    format!("{verb} {}", escape_path(path.strip_prefix(cwd).unwrap_or(path)))
}

/// The session, which a person may want to open with the agent itself.
pub(super) fn session(agent: &str, session: &str) -> String {
    format!("{agent}: session {session}")
}
