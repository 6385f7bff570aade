//! What a run would deliver, for the checkpoint report: found out without changing anything anywhere.

use bstr::ByteSlice;

use crate::forge::{self, Kind, Place};
use crate::git::Repo;
use crate::graph::Sealed;
use crate::model::delivery::{PlannedDelivery, PlannedRequest};
use crate::model::ids::{CommitId, RunId};
use crate::model::plan::{Kind as WpKind, Mode, Plan};

use super::reach::{no_forge, no_remote};
use super::target::{no_base, shape};

/// What a run named `run` would deliver; nothing where the plan has it deliver nothing. `ask`: whether the forge
/// may be asked over the network.
#[must_use]
pub fn outlook(
    repo: &Repo,
    plan: &Plan,
    graph: &Sealed,
    run: &RunId,
    base: &CommitId,
    ask: bool,
) -> Option<PlannedDelivery> {
    let delivery = plan.delivery.as_ref().filter(|delivery| delivery.push)?;
    let changes = || plan.wps.iter().filter(|wp| wp.kind == WpKind::Change);
    let branches: Vec<_> = match plan.mode {
        Mode::Independent => changes()
            .map(|wp| (Some(wp.id.clone()), format!("sop/{run}/{}", wp.id), wp.risk))
            .collect(),
        Mode::Staged => {
            let made = |level: &&crate::graph::Level| {
                level.wps.iter().any(|wp| plan.wps[*wp].kind == WpKind::Change)
            };
            let gates = graph.levels().iter().filter(made).count();
            let risk = changes().map(|wp| wp.risk).max();
            risk.map(|risk| (None, format!("sop-stage/{run}/{gates}"), risk)).into_iter().collect()
        }
    };
    let requests = branches.iter().filter(|_| delivery.pull_request);
    let requests = requests.map(|(wp, branch, risk)| {
        let (merges, why) = delivery.merges(*risk);
        PlannedRequest { wp: wp.clone(), branch: branch.clone(), merges, why }
    });
    let mut planned = PlannedDelivery {
        forge: delivery.forge,
        remote: delivery.remote.clone(),
        url: None,
        into: shape(repo, plan).ok().flatten().and_then(|shape| shape.into),
        protected: None,
        requests: requests.collect(),
        branches: branches.into_iter().map(|(_, branch, _)| branch).collect(),
        merge_method: delivery.merge_method,
        after_merge: delivery.after_merge.iter().map(|after| after.text.clone()).collect(),
        stops: Vec::new(),
        unknown: Vec::new(),
    };
    if has_large_files(repo, base) {
        planned.unknown.push(format!(
            "whether large files (LFS) are there: the hook that uploads them is not run; `git lfs push {} BRANCH` does",
            planned.remote
        ));
    }
    look(repo, &mut planned, delivery.pull_request, ask);
    Some(planned)
}

/// Whether the base has files that only a hook of the user's would upload.
fn has_large_files(repo: &Repo, base: &CommitId) -> bool {
    let attributes = repo.blob_at(base, ".gitattributes".into());
    attributes.is_ok_and(|text| text.is_some_and(|text| text.contains_str("filter=lfs")))
}

/// Looks whether it can be delivered: the remote, the forge, and the branch there.
fn look(repo: &Repo, planned: &mut PlannedDelivery, requests: bool, ask: bool) {
    let remote = match repo.remote(&planned.remote) {
        Ok(Some(remote)) => remote,
        Ok(None) => return planned.stops.push(no_remote(&planned.remote)),
        Err(error) => return planned.stops.push(error.to_string()),
    };
    planned.url = Some(remote.shown());
    if !requests {
        return;
    }
    let Some(into) = planned.into.clone() else { return planned.stops.push(no_base()) };
    let Some(place) = Place::of(&remote.fetch) else {
        return planned.stops.push(no_forge(&planned.remote, &remote));
    };
    let forge = forge::at(planned.forge, place);
    if let Err(error) = forge.ready() {
        let program = planned.forge.name();
        return planned.stops.push(match error.kind {
            Kind::NoProgram => {
                format!("{error}: install it, and log in with `{program} auth login`")
            }
            _ => error.text,
        });
    }
    if !ask {
        return;
    }
    match forge.base(&into) {
        Ok(base) => planned.protected = Some(base.protected),
        Err(error) if matches!(error.kind, Kind::NotFound | Kind::NoToken) => {
            planned.stops.push(format!("the branch `{into}` cannot be found there: {error}"));
        }
        Err(error) => planned.unknown.push(format!("how `{into}` is protected there: {error}")),
    }
}
