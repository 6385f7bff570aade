//! How an engine lets a run go: what is not needed any more is taken away, and the run says how it stands.

use std::sync::Arc;

use super::closing;
use super::dispatcher::{Engine, EngineError};
use super::site::{Halt, Site};
use super::step::Order;
use super::verify;
use std::os::unix::fs::MetadataExt as _;

use super::{clean, since};
use crate::event::{Event, Outcome, StopReason};
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::approval::Cover;
use crate::model::outcome::Check;
use crate::model::plan::{Kind, Mode};

/// Seconds by which clocks that tell of one moment may be apart.
const CLOCKS: i64 = 2;

/// How an engine let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left to do.
    Finished(Outcome),
    /// Something is, but not now.
    Stopped(StopReason),
}

impl Engine<'_> {
    /// Nothing runs any more: takes away what is not needed, and says how the run stands.
    pub(super) async fn let_go(mut self) -> Result<(Ending, Ledger), EngineError> {
        if self.only.is_some() {
            return self.let_lead_go().await;
        }
        self.remove_landed().await?;
        self.look_at_branches().await?;
        self.look_at_repository().await?;
        let standing = self.ledger.standing();
        let awaited = self.ledger.wps.iter().any(|wp| wp.phase.awaits_person());
        let over = self.ledger.wps.iter().all(|wp| wp.phase.settled())
            && !self.ledger.gates.last().is_some_and(|gate| gate.phase.open())
            && self.ledger.next_gate().is_none()
            && self.ledger.verify.as_ref().is_none_or(|verify| verify.ended)
            && !self.ledger.uncovered_gate()
            && !(self.ledger.standing_here() == Outcome::Done && standing != Outcome::Done);
        let ending = if over || (standing == Outcome::Failed && !awaited && self.order == Order::Go)
        {
            Ending::Finished(standing)
        } else if self.order != Order::Go {
            Ending::Stopped(StopReason::Interrupted)
        } else if standing == Outcome::Blocked {
            Ending::Stopped(StopReason::Halted)
        } else {
            Ending::Stopped(StopReason::Waiting)
        };
        if let Ending::Finished(_) = ending {
            // Beside the rest: neither touches what the other looks at.
            let site = Arc::clone(&self.site);
            let compared = tokio::task::spawn_blocking(move || closing::compare(&site));
            self.is_whole().await?;
            self.sweep().await?;
            if let Ok(Some(compared)) = compared.await {
                self.record(vec![Event::CheckoutCompared { compared }])?;
            }
            // Those that a worktree was still on.
            self.remove_landed().await?;
        }
        let event = match ending {
            Ending::Finished(outcome) => Event::RunFinished { outcome },
            Ending::Stopped(why) => Event::EngineStopped { why },
        };
        self.record(vec![event])?;
        self.write_state(true);
        Ok((ending, self.ledger))
    }

    /// Nobody is offered a result whose objects are not on disk. The run is not over then: with what is
    /// lost put back, another engine finishes it.
    async fn is_whole(&mut self) -> Result<(), EngineError> {
        let mut commits: Vec<_> = self
            .ledger
            .wps
            .iter()
            .filter(|wp| wp.phase.got_through() && !self.ledger.has_landed(&wp.id))
            .filter_map(|wp| wp.commit.clone())
            .collect();
        if commits.is_empty() {
            return Ok(());
        }
        commits.extend([self.ledger.base.clone(), self.ledger.trunk.clone()]);
        let begun = self.ledger.created_at.0.as_second();
        let look = move |site: &Site| {
            site.repo.are_whole(&commits)?;
            // By the clock of the file system, which may be behind; and a worker may touch the file.
            let made = std::fs::metadata(site.dir.plan_file()).map_or(begun, |stat| stat.ctime());
            site.repo.hold_what_they_say(&commits, begun.min(made) - CLOCKS)
        };
        match self.site.blocking(Check::Merge, look).await {
            Ok(()) | Err(Halt::Stopped) => Ok(()),
            Err(Halt::Blocked { problem, .. }) => {
                self.record(vec![Event::EngineStopped { why: StopReason::Halted }])?;
                self.write_state(true);
                Err(EngineError::Lost(problem.message))
            }
        }
    }

    /// Whoever takes the result takes what was checked, or is told that the branch holds something else.
    async fn look_at_branches(&mut self) -> Result<(), EngineError> {
        let look = |site: &Site| site.settled.moved(&site.repo, site.dir.run());
        let moved = match self.site.blocking(Check::Scope, look).await {
            Ok(moved) => moved,
            Err(Halt::Stopped) => return Ok(()),
            Err(Halt::Blocked { problem, .. }) => self.site.settled.all_in_doubt(&problem.message),
        };
        if moved != self.ledger.moved {
            self.record(vec![Event::BranchesMoved { moved }])?;
        }
        Ok(())
    }

    /// What somebody did to the rest of the repository is told as long as it stands, whatever came between.
    async fn look_at_repository(&mut self) -> Result<(), EngineError> {
        let since::Look { standing, left } = since::look(&self.site, &self.ledger).await;
        let changed = standing != self.ledger.tampering;
        let changed = changed.then_some(Event::RepositoryChanged { standing });
        let left = left.map(|guard| Event::RepositoryLeft { guard });
        self.record(changed.into_iter().chain(left).collect())
    }

    /// Worktrees that a crash kept from being removed when their time was.
    async fn sweep(&mut self) -> Result<(), EngineError> {
        let over = |wp: &&WpState| match wp.phase {
            Phase::Integrated => true,
            // A gate is yet to come, and may send it back to work.
            Phase::Passed => wp.kind == Kind::Scout || self.ledger.mode == Mode::Independent,
            _ => false,
        };
        let left: Vec<WpState> = self
            .ledger
            .wps
            .iter()
            .filter(|wp| wp.worktree.is_some() && wp.kept.is_none())
            .filter(over)
            .cloned()
            .collect();
        for wp in left {
            if let Some(event) = clean::clean(&self.site, &wp).await {
                self.record(vec![event])?;
            }
        }
        let gates: Vec<_> = self
            .ledger
            .gates
            .iter()
            .filter(|gate| !gate.phase.open())
            .filter_map(|gate| Some((format!("gate-{}", gate.gate), gate.commit.clone()?)))
            .collect();
        for (unit, commit) in gates {
            // It holds nothing that is not on the gate's branch; the next engine tries again.
            let _ = self
                .site
                .blocking(Check::Merge, move |site: &Site| site.discard(&unit, &commit))
                .await;
        }
        self.drop_scouts_branches().await;
        // What is blocked goes on from its checked tree one day.
        let over = self.ledger.wps.iter().filter(|wp| wp.phase != Phase::Blocked);
        let over: Vec<_> = over.map(|wp| wp.id.clone()).collect();
        let let_go = move |site: &Site| {
            let run = site.dir.run();
            over.iter().try_for_each(|wp| site.repo.let_checked_go(run, wp))?;
            site.repo.tidy_checked(run);
            Ok(())
        };
        // A ref that stays keeps a few objects, and is in nobody's way.
        let _ = self.site.blocking(Check::Scope, let_go).await;
        if let Some(look) = self.ledger.verify.clone().filter(|look| look.ended) {
            verify::discard(&self.site, &look).await;
        }
        // Folders go when nothing is left in them; if one is, it is somebody's.
        let root = &self.site.worktrees;
        if std::fs::remove_dir(root).is_ok() {
            let _ = root.parent().map(std::fs::remove_dir);
        }
        Ok(())
    }

    /// A scout leaves a report: its branch holds nothing but the base. One that somebody moved stays.
    async fn drop_scouts_branches(&self) {
        if !self.site.covers.has(Cover::Cleanup) {
            return;
        }
        let scouts =
            self.ledger.wps.iter().filter(|wp| {
                wp.kind == Kind::Scout && wp.phase.got_through() && wp.worktree.is_none()
            });
        let branches: Vec<_> =
            scouts.filter_map(|wp| Some((wp.branch.clone()?, wp.base.clone()?))).collect();
        let drop = move |site: &Site| {
            for (branch, base) in &branches {
                // It is in nobody's way where it stays.
                let _ = site.repo.delete_branch(branch, base);
            }
            Ok(())
        };
        let _ = self.site.blocking(Check::Merge, drop).await;
    }
}
