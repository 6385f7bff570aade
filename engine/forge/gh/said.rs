//! What gh's words mean when it fails. It has one exit code for all failures but one.

use crate::forge::error::Kind;

/// Signs in what it says, in lower case, and what each means: the first that is found counts.
const SIGNS: [(&str, Kind); 45] = [
    ("gh auth login", Kind::NoToken),
    ("not logged", Kind::NoToken),
    ("http 401", Kind::NoToken),
    ("bad credentials", Kind::NoToken),
    ("requires authentication", Kind::NoToken),
    ("head sha", Kind::HeadMoved),
    ("head branch was modified", Kind::HeadMoved),
    ("expected head", Kind::HeadMoved),
    ("already exists", Kind::Exists),
    ("not mergeable: the base branch policy", Kind::Protected),
    ("not mergeable: the head branch is not up to date", Kind::Protected),
    ("protected branch", Kind::Protected),
    ("required status check", Kind::Protected),
    ("review is required", Kind::Protected),
    ("repository rule", Kind::Protected),
    ("not allowed to merge", Kind::Protected),
    ("the merge commit cannot be cleanly created", Kind::Conflict),
    ("merge conflict", Kind::Conflict),
    ("not mergeable", Kind::Conflict),
    ("http 409", Kind::Conflict),
    ("could not resolve to a", Kind::NotFound),
    ("no default remote", Kind::NotFound),
    ("http 404", Kind::NotFound),
    ("http 5", Kind::Unreachable),
    ("http 429", Kind::Unreachable),
    ("rate limit", Kind::Unreachable),
    ("status code 5", Kind::Unreachable),
    ("502 bad gateway", Kind::Unreachable),
    ("503 service", Kind::Unreachable),
    ("504 gateway", Kind::Unreachable),
    ("something went wrong", Kind::Unreachable),
    ("error connecting", Kind::Unreachable),
    ("connection refused", Kind::Unreachable),
    ("connection reset", Kind::Unreachable),
    ("connect: ", Kind::Unreachable),
    ("no such host", Kind::Unreachable),
    ("broken pipe", Kind::Unreachable),
    ("dial tcp", Kind::Unreachable),
    ("dial unix", Kind::Unreachable),
    ("timeout", Kind::Unreachable),
    ("deadline exceeded", Kind::Unreachable),
    ("eof", Kind::Unreachable),
    ("network is unreachable", Kind::Unreachable),
    ("http 403", Kind::NoToken),
    ("must have push access", Kind::NoToken),
];

/// What kind of failure it is, from what it said on standard error and, for `gh api`, answered.
pub(super) fn kind(err: &str, out: &str) -> Kind {
    let said = format!("{}\n{}", err.to_lowercase(), out.to_lowercase());
    let found = SIGNS.iter().find(|(sign, _)| said.contains(sign));
    found.map_or(Kind::Refused, |(_, kind)| *kind)
}
