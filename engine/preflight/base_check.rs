//! The local base against its upstream, as far as the last fetch knows; or the fetch that was asked for.

use super::{Ask, Depth, FETCH, LIMIT};
use crate::model::preflight::{BaseCheck, Part, Word};

pub(super) fn look(ask: &Ask) -> Part<BaseCheck> {
    let repo = &ask.repo;
    let base = &ask.plan.base;
    let mut facts = BaseCheck { base: base.clone(), ..BaseCheck::default() };
    let Ok(commit) = repo.resolve(base) else {
        let what = match base.as_str() {
            "HEAD" => "there is no commit yet that a run could start from".to_owned(),
            base => format!("the base `{base}` names no commit here"),
        };
        let help = match base.as_str() {
            "HEAD" => "make a first commit",
            _ => "fetch it, or name another `base` under `[plan]`",
        };
        return Part::new(facts, "", vec![Word::stop(what, help)]);
    };
    facts.commit = Some(commit.clone());
    let Some(branch) = repo.branch_of(base) else {
        let fine = match base.as_str() {
            "HEAD" => "HEAD is on no branch, so there is nothing to compare it with".to_owned(),
            base => format!("`{base}` is no local branch, so there is nothing to compare it with"),
        };
        return Part::new(facts, fine, Vec::new());
    };
    facts.branch = Some(branch.clone());
    let Some(upstream) = repo.upstream_of(&branch) else {
        let fine = format!("`{branch}` follows no other branch");
        return Part::new(facts, fine, Vec::new());
    };
    let short = upstream.short().to_owned();
    let mut words = Vec::new();
    if ask.depth == (Depth::All { fetch: true }) {
        match repo.fetch_upstream(&upstream, FETCH) {
            Ok(()) => facts.fetched = true,
            Err(error) => words.push(Word::warn(
                format!("`{short}` could not be fetched: {}", first_line(&error.to_string())),
                "look at the remote and at your login to it, and try again",
            )),
        }
    }
    let there = repo.resolve(&upstream.local);
    facts.upstream = Some(short.clone());
    let Ok(there) = there else {
        // A branch that was never pushed has none either.
        let fine = format!("`{branch}` has no `{short}` here that it could be compared with");
        return Part::new(facts, fine, words);
    };
    let (ahead, behind) = match repo.apart(&commit, &there, LIMIT) {
        Ok(apart) => apart,
        Err(error) => {
            words.push(Word::warn(
                format!("`{branch}` could not be compared with `{short}`: {error}"),
                "look at both with `git log`",
            ));
            return Part::new(facts, "", words);
        }
    };
    (facts.ahead, facts.behind) = (Some(ahead), Some(behind));
    let fine = match (ahead, behind) {
        (0, 0) => format!("`{branch}` is where `{short}` is"),
        (n, _) => format!("`{branch}` is {} ahead of `{short}`", commits(n)),
    };
    match (ahead, behind) {
        (_, 0) => {}
        (0, n) => {
            // Only the worktree that `sync` brings forward, and only what it is on.
            let by_sync = repo.main_branch().ok().flatten().is_some_and(|main| main == branch)
                && repo.all_worktrees().is_ok_and(|all| {
                    all.iter().any(|tree| tree.head().branch() == Some(branch.as_str()))
                });
            let how = match by_sync {
                true => "`sop worktree sync`".to_owned(),
                false => format!("`git merge --ff-only {short}` on it"),
            };
            words.push(Word::warn(
                format!("`{branch}` is {} behind `{short}`", commits(n)),
                format!("bring it up to date ({how}), or set `base = \"{short}\"`"),
            ));
        }
        (a, b) => words.push(Word::warn(
            format!(
                "`{branch}` and `{short}` have gone apart: {} here, {} there",
                commits(a),
                commits(b)
            ),
            format!("merge or rebase it, or set `base = \"{short}\"`"),
        )),
    }
    Part::new(facts, fine, words)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn commits(n: u64) -> String {
    if n == 1 { "1 commit".to_owned() } else { format!("{n} commits") }
}
