//! What the WP leaves behind against its whitelist, and the rest of the repository against what it
//! was before the worker came.

use crate::event::Event;
use crate::git::scope::{self, What};
use crate::git::{GuardSpec, Guarded, SnapshotSpec};
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{Checkout, Kind};

use super::Unit;
use crate::ledger::Phase;
use crate::run::directory::write_whole;
use crate::run::provision::snapshot_spec;
use crate::run::site::Halt;

impl Unit {
    /// Takes down the rest of the repository before attempt `attempt`, on disk: the engine that looks
    /// afterwards may be another.
    pub(super) async fn take_guard(&self, attempt: u32) -> Result<(), Halt> {
        let worktree = self.worktree().await?;
        let path = self.site.dir.guard(&self.state.id, attempt);
        let guarded = self
            .site
            .blocking(move |site| {
                site.repo.guard(GuardSpec {
                    run: site.dir.run(),
                    worktree: Some(&worktree),
                    checkout: true,
                })
            })
            .await?;
        write_whole(&path, &guarded.to_bytes())
            .map_err(|error| Halt::blocked(Problem::new(Check::Scope, error.to_string())))
    }

    /// Looks at everything and says what of it is not allowed.
    pub(super) async fn scope(&mut self) -> Result<Event, Halt> {
        let pass = self.state.pass + 1;
        let base = self.base()?;
        let guard = self.site.dir.guard(&self.state.id, self.state.attempt);
        let before = std::fs::read(&guard).ok().and_then(|bytes| Guarded::from_bytes(&bytes));
        let Some(before) = before else {
            let text =
                format!("cannot read {}, without which nothing can be compared", guard.display());
            return Err(Halt::blocked(Problem::new(Check::Scope, text)));
        };
        let worktree = self.worktree().await?;
        let began_at = self.state.began_at.clone().unwrap_or_else(|| base.clone());
        let wp = self.state.id.clone();
        let (snapshot, judged, seen) = self
            .site
            .blocking(move |site| {
                // What was on the base's branch before the worker came is nobody's change, should it
                // merge that. What came there since may be its own doing.
                let upstream = before.tip(&site.plan.base).filter(|tip| *tip != base);
                let spec = SnapshotSpec { began_at, upstream, ..snapshot_spec(site, &base) };
                let snapshot = worktree.snapshot(&spec)?;
                let after = site.repo.guard(GuardSpec {
                    run: site.dir.run(),
                    worktree: Some(&worktree),
                    checkout: true,
                })?;
                let diff = site.repo.compare(&before, &after)?;
                let whitelist = site.whitelist(&wp);
                let judged = scope::check(&snapshot, &diff, |path| whitelist.matches(path));
                // What the worker committed or staged is folded back into changes on disk: a finding
                // names it once, and the next round starts clean.
                if judged.iter().any(|finding| finding.what.is_of_git_state()) {
                    worktree.settle(&spec.began_at, snapshot.branch_at.as_ref())?;
                }
                let seen = scope::notes(&snapshot, &diff);
                Ok((snapshot, judged, seen))
            })
            .await?;
        let frozen = self.site.plan.checkout == Checkout::Frozen;
        let (held, notes): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|note| frozen && matches!(note.what, What::Person(_)));
        let mut problems: Vec<Problem> = judged
            .into_iter()
            .chain(held)
            .map(|finding| {
                let problem = Problem::new(Check::Scope, finding.what.to_string());
                problem.about(finding.place.to_string())
            })
            .collect();
        let notes = notes.iter().map(ToString::to_string).collect();
        if self.state.phase == Phase::Scoping {
            problems.extend(self.left_nothing(snapshot.changes.len()));
        }
        Ok(Event::ScopeChecked {
            wp: self.state.id.clone(),
            round: self.state.round,
            pass,
            tree: snapshot.tree,
            against: snapshot.base,
            changed: snapshot.changes.len() as u64,
            problems,
            notes,
        })
    }

    /// A worker that says it is done and left nothing.
    fn left_nothing(&self, changes: usize) -> Option<Problem> {
        let wp = self.wp();
        let end = self.state.worked.as_ref().map_or_else(String::new, |ran| ran.end.to_string());
        let text = match wp.kind {
            Kind::Scout if self.state.report.is_none() => {
                "left no report: write it to the file in SOP_REPORT, or print it"
            }
            Kind::Change if changes == 0 && !wp.allow_empty => {
                "changed nothing; if there was nothing to do, the plan must say `allow_empty = true`"
            }
            _ => return None,
        };
        let problem = Problem::new(Check::Worker, format!("the worker ({end}) {text}"));
        Some(match &self.state.worked {
            Some(ran) => {
                let tail = crate::process::tail(&self.site.dir.named(&ran.log), 40);
                problem.logged(&ran.log, tail.unwrap_or_default().join("\n"))
            }
            None => problem,
        })
    }
}
