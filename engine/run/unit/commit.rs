//! What passed becomes a commit: exactly the checked tree, whatever is on the disk by now.

use crate::event::Event;
use crate::git::GitError;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::Kind;

use super::Unit;
use crate::run::site::Halt;

impl Unit {
    /// Commits the checked tree on the WP's branch or, for a scout, hands its report over.
    pub(super) async fn commit(&mut self) -> Result<Event, Halt> {
        let wp = self.state.id.clone();
        if self.wp().kind == Kind::Scout {
            let report = self.state.report.clone().ok_or_else(|| {
                Halt::blocked(Problem::new(
                    Check::Worker,
                    "its report is gone from the run directory",
                ))
            })?;
            return Ok(Event::WpReported { wp, report });
        }
        let tree = self
            .state
            .tree
            .clone()
            .ok_or_else(|| Halt::blocked(Problem::new(Check::Scope, "no tree was checked")))?;
        let base = self.base()?;
        let parent = self.state.against.clone().unwrap_or_else(|| base.clone());
        let by_lead = self.named_by_lead();
        let message = format!(
            "{}\n\n{by_lead}Sop-Run: {}\nSop-Wp: {wp}\n",
            self.wp().title,
            self.site.dir.run()
        );
        let when = self.state.judged_at.map_or(0, |at| at.0.as_second());
        let worktree = self.worktree().await?;
        let (id, wanted) = (wp.clone(), tree.clone());
        let commit = self
            .site
            .blocking(Check::Scope, move |site| {
                let commit = match site.repo.tree_of(&parent)? == wanted {
                    true => parent.clone(),
                    false => {
                        let parents = std::slice::from_ref(&parent);
                        site.repo.commit_tree(&wanted, parents, &message, &site.identity, when)?
                    }
                };
                site.repo.is_whole_since(&commit, &parent)?;
                let branch = worktree.branch().unwrap_or_default().to_owned();
                let stands = site.repo.branch(&branch)?;
                worktree.settle(&commit, stands.as_ref())?;
                site.repo.let_checked_go(site.dir.run(), &id)?;
                Ok::<_, GitError>(commit)
            })
            .await?;
        Ok(Event::WpCommitted { wp, commit, tree })
    }
}
