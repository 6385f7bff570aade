//! Where a run delivers to: pinned when it is made.

use crate::git::refs::Target;
use crate::git::{GitError, Repo};
use crate::model::approval::{Cover, Covers};
use crate::model::delivery::{DeliveryShape, Destination};
use crate::model::plan::Plan;

/// The remote of a plan's delivery and the branch that its requests ask to be merged into; nothing where it
/// delivers nothing.
///
/// # Errors
/// Git cannot answer.
pub fn shape(repo: &Repo, plan: &Plan) -> Result<Option<DeliveryShape>, GitError> {
    let Some(delivery) = plan.delivery.as_ref().filter(|delivery| delivery.push) else {
        return Ok(None);
    };
    let into = branch(repo, &plan.base, &delivery.remote)?;
    let after = u32::try_from(delivery.after_merge.len()).unwrap_or(u32::MAX);
    Ok(Some(DeliveryShape { remote: delivery.remote.clone(), into, after }))
}

/// Where a yes that covers `covers` lets branches be pushed to; nothing where it covers no push, or there is no such
/// remote yet.
///
/// # Errors
/// Git cannot answer.
pub fn destination(
    repo: &Repo,
    plan: &Plan,
    covers: &Covers,
) -> Result<Option<Destination>, GitError> {
    let Some(delivery) = plan.delivery.as_ref().filter(|_| covers.has(Cover::Push)) else {
        return Ok(None);
    };
    Ok(repo.remote(&delivery.remote)?.map(|remote| remote.destination()))
}

/// The branch at the remote that a plan's base means: a branch here, one of the remote's, or the one that the
/// checkout is on.
fn branch(repo: &Repo, base: &str, remote: &str) -> Result<Option<String>, GitError> {
    if base == "HEAD" {
        return repo.current_branch();
    }
    let there = |name: &str| Ok::<_, GitError>(repo.read_ref(name)?.is_some());
    let own = base.strip_prefix("refs/heads/").unwrap_or(base);
    if there(&format!("refs/heads/{own}"))? {
        return Ok(Some(own.to_owned()));
    }
    let theirs = base.strip_prefix("refs/remotes/").unwrap_or(base);
    let Some(name) = theirs.strip_prefix(&format!("{remote}/")) else { return Ok(None) };
    let full = format!("refs/remotes/{remote}/{name}");
    if name == "HEAD" {
        let to = match repo.read_ref(&full)? {
            Some(Target::Symbolic(to)) => to,
            _ => return Ok(None),
        };
        return Ok(to.strip_prefix(&format!("refs/remotes/{remote}/")).map(str::to_owned));
    }
    Ok(there(&full)?.then(|| name.to_owned()))
}

/// That a plan's base is no branch, and what to do.
pub(super) fn no_base() -> String {
    "the plan's base is no branch, so there is none to ask to be merged into: name one as `base`"
        .to_owned()
}
