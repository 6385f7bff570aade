//! The branch at the remote: of this run, or the one that an earlier run's request is of. It is only ever moved
//! from where a run here is on record as having put it.

use std::sync::Arc;

use crate::event::Event;
use crate::forge::{ForgeError, Request, of_git};
use crate::git::{Remote, Repo};
use crate::model::approval::Cover;
use crate::model::delivery::{DeliveryStep, Hold};
use crate::model::ids::CommitId;

use super::Stop;
use super::course::Course;
use super::earlier;
use super::reach::Reach;
use super::request::marker;

impl Course {
    /// Sees to it that the branch is at the commit. Gives the branch, and whether it was moved.
    pub(super) async fn push(&mut self, reach: &Arc<Reach>) -> Result<(String, bool), Stop> {
        let branch = self.branch(reach).await?;
        let asked = branch.clone();
        let stands = self.ask(reach, move |reach| at(&reach.repo, &reach.remote, &asked)).await?;
        let commit = self.what.commit.clone();
        if stands.as_ref() == Some(&commit) {
            // Pushed by an engine that died before it could say so.
            if self.item.as_ref().and_then(|item| item.pushed.as_ref()) != Some(&commit) {
                self.pushed(&branch).await?;
            }
            return Ok((branch, false));
        }
        if let Some(at) = &stands
            && !self.is_ours(&branch, at)
        {
            let text = format!(
                "{branch} is at {} there, which no run here pushed: somebody else did, and nothing of \
                 theirs is overwritten; take it over by hand, or delete the branch there",
                at.short()
            );
            return Err(Stop::Held(Hold::HeadMoved, text));
        }
        self.announce(DeliveryStep::Push, &branch).await?;
        let name = branch.clone();
        self.ask(reach, move |reach| {
            let pushed = reach.repo.push(&reach.remote.push, &commit, &name, stands.as_ref());
            pushed.map_err(|error| of_git(&error)).or_else(|error| {
                // What went wrong on the way back need not have gone wrong on the way there.
                match at(&reach.repo, &reach.remote, &name) {
                    Ok(Some(at)) if at == commit => Ok(()),
                    _ => Err(error),
                }
            })
        })
        .await?;
        self.pushed(&branch).await?;
        Ok((branch, true))
    }

    async fn pushed(&self, branch: &str) -> Result<(), Stop> {
        let (wp, commit) = (self.what.wp.clone(), self.what.commit.clone());
        self.record(Event::BranchPushed { wp, branch: branch.to_owned(), commit }).await
    }

    /// The branch at the remote.
    async fn branch(&mut self, reach: &Arc<Reach>) -> Result<String, Stop> {
        if let Some(known) = self.item.as_ref().and_then(|item| item.branch.clone()) {
            return Ok(known);
        }
        let requests = self.delivery().pull_request && self.site.covers.has(Cover::PullRequest);
        if !requests {
            return Ok(self.what.branch.clone());
        }
        let earlier = self.earlier_request(reach).await?;
        Ok(earlier.map_or_else(|| self.what.branch.clone(), |request| request.head))
    }

    /// The open request that an earlier run of the plan opened for the same WP, or this one before a crash.
    async fn earlier_request(&mut self, reach: &Arc<Reach>) -> Result<Option<Request>, Stop> {
        let marker = marker(&self.site.plan.name, self.what.wp.as_ref());
        let open = self.ask(reach, |reach| reach.forge()?.open_requests(None)).await?;
        let ours = |request: &Request| {
            let of_sop = ["sop/", "sop-stage/"].iter().any(|room| request.head.starts_with(room));
            of_sop && request.body.lines().any(|line| line.trim() == marker)
        };
        let mut found: Vec<Request> = open.into_iter().filter(ours).collect();
        let own = found.iter().position(|request| request.head == self.what.branch);
        let newest = own.or_else(|| (!found.is_empty()).then_some(0));
        Ok(newest.map(|at| found.swap_remove(at)))
    }

    /// Whether a run of this repository is on record as having put the branch there.
    fn is_ours(&self, branch: &str, at: &CommitId) -> bool {
        let own = self.item.iter().flat_map(|item| item.pushed.iter().chain(&item.pushing));
        own.into_iter().any(|known| known == at) || earlier::pushed(&self.site.dir, branch, at)
    }
}

/// Where a branch stands at the remote.
fn at(repo: &Repo, remote: &Remote, branch: &str) -> Result<Option<CommitId>, ForgeError> {
    repo.remote_head(&remote.push, branch).map_err(|error| of_git(&error))
}
