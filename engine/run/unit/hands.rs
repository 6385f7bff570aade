//! A WP in the lead's own hands: handing its worktree over, taking it back, and what a check makes of the
//! lead's work. No worker is started here, and none is blamed.

use std::collections::HashSet;

use crate::event::{Event, MovedBranch};
use crate::git::scope::{ScopeFinding, What};
use crate::git::{Change, GitError, Snapshot, SnapshotSpec};
use crate::launch::{Found, Key, LaunchError, Launcher};
use crate::ledger::LeadAsks;
use crate::model::ids::TreeId;
use crate::model::outcome::{Check, End, Problem, Ran};
use crate::model::time::Length;
use crate::process;

use super::Unit;
use crate::run::directory::RunDir;
use crate::run::provision::snapshot_spec;
use crate::run::site::{Halt, Site};

/// In the sentence that says so.
const BY_LEAD: &str = "that the lead changed, where the plan allows";

/// What was found in the lead's worktree, and beside it.
pub(super) struct Checked {
    pub snapshot: Snapshot,
    pub judged: Vec<ScopeFinding>,
    pub seen: Vec<ScopeFinding>,
    pub moved: Vec<MovedBranch>,
    pub by_lead: Vec<String>,
}

impl Unit {
    /// Does what the lead asks for.
    pub(super) async fn for_the_lead(&mut self, asked: LeadAsks) -> Result<Event, Halt> {
        match asked {
            LeadAsks::Take => self.hand_over().await,
            LeadAsks::Back => self.release().await,
        }
    }

    /// Takes down what the lead finds in the worktree. One that is gone is made again.
    async fn hand_over(&self) -> Result<Event, Halt> {
        let (wp, branch, base) = (self.state.id.clone(), self.state.branch.clone(), self.base()?);
        let began_at = self.state.began_at.clone().unwrap_or_else(|| base.clone());
        let found = self
            .site
            .blocking(Check::Scope, move |site| {
                let worktree = site.standing(wp.as_str(), branch.as_deref(), &base)?;
                let Some(worktree) = worktree else { return Ok(None) };
                let spec = SnapshotSpec { began_at, ..snapshot_spec(site, &base) };
                let snapshot = worktree.snapshot(&spec)?;
                site.repo.keep_checked(site.dir.run(), &wp, &snapshot.tree)?;
                Ok(Some((snapshot.tree, snapshot.branch_at)))
            })
            .await?;
        let wp = self.state.id.clone();
        Ok(match found {
            Some((tree, branch_at)) => Event::WpHandedOver { wp, tree, branch_at },
            None => Event::WorktreeRemoved { wp, salvage: None },
        })
    }

    /// Looks at what the lead leaves to whoever goes on. What it committed is folded back into changes: it would be
    /// blamed on the next worker.
    async fn release(&self) -> Result<Event, Halt> {
        let base = self.base()?;
        let began_at = self.state.began_at.clone().unwrap_or_else(|| base.clone());
        let worktree = self.worktree().await?;
        let hands = self.state.hands.as_ref();
        let left = hands.and_then(|hands| hands.left.clone());
        let branch_at = hands.and_then(|hands| hands.branch_at.clone());
        let by_lead = self
            .site
            .blocking(Check::Scope, move |site| {
                let spec = SnapshotSpec { began_at, ..snapshot_spec(site, &base) };
                let snapshot = worktree.snapshot(&spec)?;
                if snapshot.branch_at != branch_at {
                    worktree.settle(&spec.began_at, snapshot.branch_at.as_ref())?;
                }
                match &left {
                    Some(left) => changed(site, left, &snapshot.tree),
                    None => Ok(Vec::new()),
                }
            })
            .await?;
        Ok(Event::WpReleased { wp: self.state.id.clone(), by_lead })
    }

    /// What the lead began with, where it is the lead's work that is looked at.
    pub(super) fn lead_left(&self) -> Option<TreeId> {
        let hands = self.state.hands.as_ref().filter(|_| self.state.rechecks())?;
        hands.left.clone()
    }

    /// What a look at the lead's worktree found: the whitelist counts for the lead as for a worker. What is of git's
    /// own was set right, and is told; the rest of the repository is the lead's.
    pub(super) fn lead_checked(&self, pass: u32, checked: Checked) -> Event {
        let Checked { snapshot, judged, seen, moved, by_lead } = checked;
        let mut problems: Vec<Problem> =
            self.too_many(&by_lead, &snapshot.changes).into_iter().collect();
        let mut notes = Vec::new();
        for finding in judged {
            let place = finding.place.to_string();
            match finding.what {
                what if what.is_of_git_state() => notes.push(format!(
                    "{place}: what the lead committed or staged was folded back into plain changes"
                )),
                What::Repository(_) => notes.push(format!(
                    "{place} is not as it was before the last worker; whoever did it, nothing was undone"
                )),
                what => problems.push(Problem::new(Check::Scope, what.to_string()).about(place)),
            }
        }
        notes.extend(seen.iter().map(ToString::to_string));
        notes.extend(moved.iter().map(|it| format!("refs/heads/{} {it}", it.branch)));
        if snapshot.changes.is_empty() && !self.wp().allow_empty {
            let text = "nothing differs from the base; if there was nothing to do, the plan must say \
                        `allow_empty = true`";
            problems.push(Problem::new(Check::Scope, text));
        }
        let known: HashSet<String> = notes.drain(..).collect();
        let mut notes: Vec<String> = known.into_iter().collect();
        notes.sort();
        Event::ScopeChecked {
            wp: self.state.id.clone(),
            round: self.state.round,
            pass,
            tree: snapshot.tree,
            against: snapshot.base,
            changed: snapshot.changes.len() as u64,
            problems,
            notes,
            by_lead,
        }
    }

    /// That the lead changed more by hand than the plan lets it. What is as in the base again is named, and does
    /// not count: nothing of it is left.
    fn too_many(&self, by_lead: &[String], changed: &[Change]) -> Option<Problem> {
        let changed: HashSet<String> =
            changed.iter().map(|change| process::escape(&change.path)).collect();
        let count: Vec<&str> =
            by_lead.iter().filter(|file| changed.contains(*file)).map(String::as_str).collect();
        let most = self.site.plan.lead_may_fix;
        if count.len() <= most as usize {
            return None;
        }
        let are = match count.len() {
            1 => "is a file".to_owned(),
            n => format!("are {n} files"),
        };
        let allowed = match most {
            0 => "none".to_owned(),
            1 => "one".to_owned(),
            most => most.to_string(),
        };
        let (run, wp) = (self.site.dir.run(), &self.state.id);
        let text = format!(
            "{are} {BY_LEAD} {allowed} (`lead_may_fix`): hand it to a worker (`sop take {wp} --back --run {run}`), undo \
             what is too much, or make a plan with a larger number"
        );
        Some(Problem::new(Check::Scope, text).about(count.join(", ")))
    }

    /// What the check of the lead's work came to. What is too much for the lead is not a worker's to mend.
    pub(super) fn recheck_ended(&self) -> Event {
        let problems = &self.state.problems;
        let too_many = problems.iter().any(|problem| problem.message.contains(BY_LEAD));
        let to_worker = self.state.hands.as_ref().is_some_and(|hands| hands.to_worker);
        Event::RecheckEnded {
            wp: self.state.id.clone(),
            problems: problems.clone(),
            to_worker: to_worker && !too_many,
        }
    }

    /// Lines of a commit's message that name what the lead changed.
    pub(super) fn named_by_lead(&self) -> String {
        let files = self.state.by_lead();
        let by = self.state.hands.as_ref().map_or("", |hands| hands.by.as_str());
        let by = process::escape(by.as_bytes());
        let mut lines: String =
            files.iter().map(|file| format!("Changed by the lead ({by}): {file}\n")).collect();
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines
    }

    /// Whether an attempt that is on record was never begun: an engine died in between.
    pub(super) async fn never_started(&self, key: &Key) -> Result<bool, LaunchError> {
        Ok(matches!(self.site.launcher.find(key).await?, Found::NeverStarted))
    }

    /// The end of such an attempt, which never will be.
    pub(super) fn not_started(&self, run: String) -> Event {
        let attempt = self.state.attempt;
        let ran = Ran {
            run,
            end: End::Cancelled,
            lines: 0,
            log: RunDir::log_name(self.state.id.as_str(), "work", attempt),
            log_error: None,
            took: Length::default(),
        };
        Event::AttemptEnded {
            wp: self.state.id.clone(),
            attempt,
            ran,
            left_behind: 0,
            report: None,
            turn: None,
            fault: None,
            asks: Vec::new(),
            problems: Vec::new(),
        }
    }
}

/// Paths that differ between what the lead found and what is there now, escaped.
pub(super) fn changed(site: &Site, left: &TreeId, now: &TreeId) -> Result<Vec<String>, GitError> {
    let changes = site.repo.diff_trees(left, now)?;
    Ok(changes.iter().map(|change| process::escape(&change.path)).collect())
}
