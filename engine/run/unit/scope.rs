//! What the WP leaves behind against its whitelist, and the rest of the repository against what it
//! was before the worker came.

use crate::event::Event;
use crate::git::scope::{self, What};
use crate::git::{GitError, GuardSpec, SnapshotSpec};
use crate::model::critic::Remarks;
use crate::model::gap::Leads;
use crate::model::outcome::{Check, Problem, Ran};
use crate::model::plan::{Checkout, Kind, ReportForm};
use crate::plain_file;

use super::brief::REPORT_LIMIT;
use super::{Unit, hands, pushes};
use crate::ledger::Phase;
use crate::run::beside;
use crate::run::meanwhile;
use crate::run::provision::snapshot_spec;
use crate::run::site::Halt;

/// Of a path that only the Definition of Done has made.
const BY_CHECKS: &str = "is outside the whitelist, and was made by the checks (DoD), not by the worker: have the base \
                         ignore it (.gitignore), or widen the whitelist";

impl Unit {
    /// Takes down the rest of the repository before attempt `attempt`, on disk: the engine that looks
    /// afterwards may be another. Its SHA-256 goes into the journal, so that what is compared later is
    /// what was taken down.
    pub(super) async fn take_guard(&mut self, attempt: u32) -> Result<String, Halt> {
        let worktree = self.worktree().await?;
        self.entered = Some(worktree.clone());
        beside::take_down(&self.site, &worktree, &self.site.dir.guard(&self.state.id, attempt))
            .await
    }

    /// Looks at everything and says what of it is not allowed.
    pub(super) async fn scope(&mut self) -> Result<Event, Halt> {
        let pass = self.state.pass + 1;
        let base = self.base()?;
        let guard = self.site.dir.guard(&self.state.id, self.state.attempt);
        let kept = beside::kept(&self.site, &guard, self.state.guard.as_deref());
        // The lead needs no guard: it may do in the repository what it likes. What there is of one is told.
        let lead = self.lead_left();
        let before = match &lead {
            Some(_) => kept.ok(),
            None => Some(kept?),
        };
        let worktree = match (self.worktree().await, &self.entered) {
            // The worker took its registration away: what it did in the folder is still there to see.
            (Err(_), Some(entered)) if entered.path().is_dir() => entered.clone(),
            (found, _) => found?,
        };
        let began_at = self.state.began_at.clone().unwrap_or_else(|| base.clone());
        let (wp, taken_before) = (self.state.id.clone(), self.state.taken_before);
        let (snapshot, judged, seen, moved, pushed, by_lead) = self
            .site
            .blocking(Check::Scope, move |site| {
                let guarded =
                    GuardSpec { run: site.dir.run(), worktree: Some(&worktree), checkout: true };
                let before = match before {
                    Some(before) => meanwhile::brought_up(site, before, taken_before),
                    None => site.repo.guard(guarded)?,
                };
                // What was on the base's branch before the worker came is nobody's change, should it
                // merge that. What came there since may be its own doing.
                let upstream = before.tip(&site.plan.base).filter(|tip| *tip != base);
                let spec = SnapshotSpec { began_at, upstream, ..snapshot_spec(site, &base) };
                let snapshot = worktree.snapshot(&spec)?;
                let after = site.repo.guard(guarded)?;
                let diff = site.compare(&before, &after)?;
                if !snapshot.changes.is_empty() {
                    site.repo.keep_checked(site.dir.run(), &wp, &snapshot.tree)?;
                }
                let pushed = site.repo.pushed(&diff, &after, &worktree, &spec.began_at)?;
                let whitelist = site.whitelist(&wp);
                let moved = site.settled.moved(&site.repo, site.dir.run())?;
                let judged = scope::check(&snapshot, &diff, |path| whitelist.matches(path));
                // What the worker committed or staged is folded back into changes on disk: a finding
                // names it once, and the next round starts clean.
                let to_settle = judged.iter().any(|finding| finding.what.is_of_git_state());
                // Where the registration is gone there is nothing left to set right.
                if to_settle && worktree.git_dir().is_dir() {
                    match worktree.settle(&spec.began_at, snapshot.branch_at.as_ref()) {
                        // Moved again, or made an alias of another branch: left alone, and the finding
                        // stands whatever becomes of the branch.
                        Ok(()) | Err(GitError::RefMoved { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                let seen = scope::notes(&snapshot, &diff);
                let by_lead = match &lead {
                    Some(left) => hands::changed(site, left, &snapshot.tree)?,
                    None => Vec::new(),
                };
                Ok((snapshot, judged, seen, moved, pushed, by_lead))
            })
            .await?;
        if self.state.rechecks() {
            let checked = hands::Checked { snapshot, judged, seen, moved, by_lead };
            return Ok(self.lead_checked(pass, checked));
        }
        let frozen = self.site.plan.checkout == Checkout::Frozen;
        let (held, notes): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|note| frozen && matches!(note.what, What::Person(_)));
        let mut problems: Vec<Problem> = judged
            .into_iter()
            .chain(held)
            .map(|finding| {
                let place = finding.place.to_string();
                let text = match finding.what {
                    What::OutsideWhitelist(_) if self.by_checks(&place) => BY_CHECKS.to_owned(),
                    what => what.to_string(),
                };
                Problem::new(Check::Scope, text).about(place)
            })
            .collect();
        problems.extend(pushes::attempted(&self.site.dir, &self.state.id, self.state.attempt));
        problems.extend(pushes::got_through(&pushed));
        let (_, notes): (Vec<_>, Vec<_>) = notes
            .into_iter()
            .partition(|note| pushed.iter().any(|push| push.name == note.place.name()));
        let mut notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        let (blamed, seen) = beside::judge_moved(&moved, &guard, "the worker");
        problems.extend(blamed);
        notes.extend(seen);
        notes.extend(self.stray_wiring());
        if self.state.phase == Phase::Scoping {
            problems.extend(self.left_nothing(snapshot.changes.len()));
            problems.extend(self.unreadable_report());
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
            by_lead,
        })
    }

    /// What an attempt did to the rest of the repository that is not followed by a look at its own
    /// worktree: the next one begins with what it left, and would be blamed for it, or no one.
    pub(super) async fn beside(&self) -> Result<Vec<Problem>, Halt> {
        let guard = self.site.dir.guard(&self.state.id, self.state.attempt);
        let worktree = match (self.worktree().await, &self.entered) {
            (Err(_), Some(entered)) if entered.path().is_dir() => entered.clone(),
            (found, _) => found?,
        };
        let began_at = self.state.began_at.clone().map_or_else(|| self.base(), Ok)?;
        let taken_down = (self.state.guard.as_deref(), self.state.taken_before);
        let (problems, pushed) = beside::touched(
            &self.site,
            &worktree,
            &guard,
            taken_down,
            Some(began_at),
            "the worker",
        )
        .await?;
        let tried = pushes::attempted(&self.site.dir, &self.state.id, self.state.attempt);
        Ok(problems.into_iter().chain(tried).chain(pushes::got_through(&pushed)).collect())
    }

    /// Whether a path outside the whitelist came to be while the checks ran: the worker had been judged then, and
    /// nothing was amiss. What it finds there in a later round is not its own either.
    fn by_checks(&self, place: &str) -> bool {
        let named = |problem: &Problem| {
            problem.message == BY_CHECKS && problem.subject.as_deref() == Some(place)
        };
        self.state.phase == Phase::Rechecking
            || self.state.rounds.last().is_some_and(|last| last.problems.iter().any(named))
    }

    /// A report that is not what the plan says it must be.
    fn unreadable_report(&self) -> Option<Problem> {
        let (who, what, read): (_, _, fn(&str) -> Option<String>) = match self.wp().report {
            ReportForm::Text => return None,
            ReportForm::Leads => ("scout", "findings", |text| Leads::in_answer(text).err()),
            ReportForm::Remarks => ("critic", "remarks", |text| Remarks::in_answer(text).err()),
        };
        let name = self.state.report.as_ref()?;
        let why = match plain_file::read(&self.site.dir.named(name), REPORT_LIMIT) {
            Ok(bytes) => read(&String::from_utf8_lossy(&bytes))?,
            Err(error) => error.to_string(),
        };
        let unread = format!("the report holds no {what} that a program can read: {why}");
        // How it ended says more than what is wrong with what it had written by then.
        let failed = self.state.worked.as_ref().filter(|ran| !ran.end.success());
        let text = match failed {
            Some(ran) => format!("the {who} failed ({}), and {unread}", ran.end),
            None => unread,
        };
        let problem = Problem::new(Check::Worker, text);
        Some(match failed {
            Some(ran) => self.with_log(problem, ran),
            None => problem,
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
            Kind::Change if changes == 0 && !wp.allow_empty => match &self.state.worked {
                Some(ran) if !ran.end.success() => "failed, and changed nothing",
                _ => {
                    "changed nothing; if there was nothing to do, the plan must say \
                     `allow_empty = true`"
                }
            },
            _ => return None,
        };
        let problem = Problem::new(Check::Worker, format!("the worker ({end}) {text}"));
        Some(match &self.state.worked {
            Some(ran) => self.with_log(problem, ran),
            None => problem,
        })
    }

    /// The same, with the end of what the worker printed.
    fn with_log(&self, problem: Problem, ran: &Ran) -> Problem {
        let tail = crate::process::tail(&self.site.dir.named(&ran.log), 40);
        problem.logged(&ran.log, tail.unwrap_or_default().join("\n"))
    }
}
