//! What git's words about a remote mean.

use crate::git::GitError;

use super::error::{ForgeError, Kind};

/// Signs in what git and the remote say, in lower case, and what each means: the first that is found counts.
const SIGNS: [(&str, Kind); 33] = [
    ("stale info", Kind::HeadMoved),
    ("fetch first", Kind::HeadMoved),
    ("non-fast-forward", Kind::HeadMoved),
    ("remote ref updated since checkout", Kind::HeadMoved),
    ("protected branch", Kind::Protected),
    ("gh006", Kind::Protected),
    ("gh013", Kind::Protected),
    ("hook declined", Kind::Protected),
    ("authentication failed", Kind::NoToken),
    ("could not read username", Kind::NoToken),
    ("could not read password", Kind::NoToken),
    ("permission denied", Kind::NoToken),
    ("terminal prompts disabled", Kind::NoToken),
    ("returned error: 401", Kind::NoToken),
    ("returned error: 403", Kind::NoToken),
    ("returned error: 404", Kind::NotFound),
    ("repository not found", Kind::NotFound),
    ("does not appear to be a git repository", Kind::NotFound),
    ("returned error: 5", Kind::Unreachable),
    ("returned error: 429", Kind::Unreachable),
    ("could not resolve host", Kind::Unreachable),
    ("connection refused", Kind::Unreachable),
    ("connection reset", Kind::Unreachable),
    ("connection timed out", Kind::Unreachable),
    ("failed to connect", Kind::Unreachable),
    ("couldn't connect", Kind::Unreachable),
    ("empty reply", Kind::Unreachable),
    ("early eof", Kind::Unreachable),
    ("unexpected disconnect", Kind::Unreachable),
    ("hung up", Kind::Unreachable),
    ("operation timed out", Kind::Unreachable),
    ("network is unreachable", Kind::Unreachable),
    ("no answer within", Kind::Unreachable),
];

/// Characters of it that are shown.
const SHOWN: usize = 800;

/// What kind of failure git's is.
#[must_use]
pub fn of_git(error: &GitError) -> ForgeError {
    let said = match error {
        GitError::Failed { stderr, .. } => stderr.to_lowercase(),
        _ => String::new(),
    };
    let kind = SIGNS.iter().find(|(sign, _)| said.contains(sign)).map(|(_, kind)| *kind);
    let text = error.to_string().lines().collect::<Vec<_>>().join("; ");
    let cut: String = text.chars().take(SHOWN).collect();
    ForgeError::new(kind.unwrap_or(Kind::Refused), cut)
}
