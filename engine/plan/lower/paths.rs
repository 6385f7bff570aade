//! Paths that a plan names: from some root, and never out of it.

use super::Notes;
use crate::plan::scalar::Filled;
use crate::plan::wording::quoted;

/// Why a path cannot be one within a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// Starts at the root of the file system, or of a drive.
    Absolute,
    /// Climbs out with `..`.
    Escapes,
    /// Holds a NUL character.
    Nul,
}

/// What keeps `path` from being one within a root. Slashes separate, whatever the system.
pub fn fault(path: &str) -> Option<PathFault> {
    if path.contains('\0') {
        return Some(PathFault::Nul);
    }
    if path.starts_with(['/', '\\']) || path.starts_with("~/") || path.chars().nth(1) == Some(':') {
        return Some(PathFault::Absolute);
    }
    let mut depth = 0_usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(PathFault::Escapes),
            },
            _ => depth += 1,
        }
    }
    None
}

/// Notes every path of the array at `at` that is not within `root`, which is named for the sentence.
pub fn check(at: &str, paths: &[Filled], root: &str, notes: &mut Notes) {
    for (i, path) in paths.iter().enumerate() {
        if let Some(fault) = fault(path) {
            note(&format!("{at}/{i}"), path, fault, root, notes);
        }
    }
}

/// Notes that the path at `at` is not within `root`.
pub fn note(at: &str, path: &str, fault: PathFault, root: &str, notes: &mut Notes) {
    let path = quoted(path);
    match fault {
        PathFault::Absolute => {
            notes.error(at, "absolute-path", format!("{path} is an absolute path"))
        }
        PathFault::Escapes => {
            notes.error(at, "escaping-path", format!("{path} leads out of {root}"))
        }
        PathFault::Nul => {
            notes.error(at, "bad-path", format!("{path} holds a NUL character, which no path can"))
        }
    }
    .help(format!("name a path within {root}, from its top"));
}
