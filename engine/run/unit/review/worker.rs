//! Workers of a tier as the reviewers of a WP's round: one for each lens, and one verdict of them all.

use std::collections::HashSet;
use std::sync::Arc;

use bstr::BString;

use crate::brief::RanBefore;
use crate::event::Event;
use crate::model::ids::{CommitId, TierId, TreeId};
use crate::model::outcome::{Check, Problem, Ran};
use crate::model::panel::{Opinion, consolidate};
use crate::model::verdict::{ReviewSeverity, Verdict};
use crate::process;
use crate::run::directory::{RunDir, write_whole};
use crate::run::reviewer::{Bench, Heard, Subject};
use crate::run::site::{Halt, Site};
use crate::run::unit::Unit;

use super::blocked;

/// Lines of a command's output that reviewers are shown.
const TAIL: usize = 40;

impl Unit {
    /// Asks a worker for each lens, and makes one verdict of what they say.
    pub(super) async fn ask_workers(
        &mut self,
        tier: TierId,
        lenses: Vec<String>,
        block_from: ReviewSeverity,
    ) -> Result<Event, Halt> {
        let (wp, round) = (self.state.id.clone(), self.state.round);
        let by = format!("{tier} ({})", lenses.join(", "));
        let subject = self.under_review(tier, lenses, block_from).await?;
        let (base, tree) = (subject.base.clone(), subject.tree.clone());
        let bench = Bench::new(
            Arc::clone(&self.site),
            self.line.clone(),
            self.orders.clone(),
            subject,
            Some(self.state.clone()),
            self.state.review.clone(),
        );
        let verdicts = match bench.hear().await? {
            Heard::All(verdicts) => verdicts,
            Heard::Spent { limit, of_run, reviewer } => {
                return Ok(Event::BudgetSpent { wp, limit, of_run, reviewer });
            }
            // Whoever gives room out takes it up again when its time has come.
            Heard::Later => return Err(Halt::Stopped),
        };
        let known = known_files(&self.site, &verdicts, &base, &tree).await?;
        let opinions: Vec<Opinion<'_>> =
            verdicts.iter().map(|(lens, verdict)| Opinion { lens, verdict }).collect();
        let verdict = consolidate(&opinions, block_from, |file| known.contains(file));
        let path = self.site.dir.named(&RunDir::verdict_name(&wp, round));
        let bytes = serde_json::to_vec_pretty(&verdict).unwrap_or_default();
        write_whole(&path, &bytes).map_err(|error| blocked(error.to_string()))?;
        Ok(Event::Reviewed { wp, round, by, verdict })
    }

    async fn under_review(
        &self,
        tier: TierId,
        lenses: Vec<String>,
        block_from: ReviewSeverity,
    ) -> Result<Subject, Halt> {
        let (state, site) = (&self.state, &self.site);
        let (diff_file, diff) = self.write_diff().await?;
        let asked = |problem: &&Problem| problem.check == Check::Review;
        let earlier = state.rounds.iter().filter_map(|round| {
            let findings: Vec<Problem> = round.problems.iter().filter(asked).cloned().collect();
            (!findings.is_empty()).then_some((round.round, findings))
        });
        Ok(Subject {
            wp: Some(state.id.clone()),
            unit: state.id.to_string(),
            stem: RunDir::review_stem(&state.id, state.round),
            round: state.round,
            tier,
            lenses,
            block_from,
            worktree: self.worktree().await?,
            tree: state.tree.clone().ok_or_else(|| blocked("nothing was checked yet"))?,
            base: self.base()?,
            diff,
            diff_file,
            brief_file: Some(site.dir.named(&RunDir::brief_name(&state.id, state.round))),
            ran: state.proved.iter().map(|ran| before(site, ran)).collect(),
            earlier: earlier.collect(),
        })
    }
}

/// Of the files that findings name, those that there are: in the base, or in what differs from it in
/// `tree`.
pub(in crate::run) async fn known_files(
    site: &Arc<Site>,
    verdicts: &[(String, Verdict)],
    base: &CommitId,
    tree: &TreeId,
) -> Result<HashSet<String>, Halt> {
    let named: HashSet<String> = verdicts
        .iter()
        .flat_map(|(_, verdict)| &verdict.findings)
        .filter_map(|finding| finding.file.as_deref())
        .map(|file| file.strip_prefix("./").unwrap_or(file).to_owned())
        .collect();
    if named.is_empty() {
        return Ok(named);
    }
    let (base, tree) = (base.clone(), tree.clone());
    site.blocking(Check::Review, move |site| {
        let changes = site.repo.diff_trees(&site.repo.tree_of(&base)?, &tree)?;
        let changed: HashSet<BString> = changes.into_iter().map(|change| change.path).collect();
        let mut known = HashSet::new();
        for file in named {
            let path = BString::from(file.as_str());
            if changed.contains(&path) || site.repo.leaf_at(&base, path.as_ref())?.is_some() {
                known.insert(file);
            }
        }
        Ok(known)
    })
    .await
}

/// A command that was run on the tree, as reviewers are told of it.
pub(in crate::run) fn before(site: &Site, ran: &Ran) -> RanBefore {
    let log = site.dir.named(&ran.log);
    let tail = process::tail(&log, TAIL).unwrap_or_default().join("\n");
    RanBefore { ran: ran.clone(), log: crate::process::escape_path(&log), tail }
}
