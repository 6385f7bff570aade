//! The runs of a repository, archived ones too, and how each stands.

use bstr::BString;

use super::error::UpkeepError;
use crate::event::Outcome;
use crate::git::Repo;
use crate::git::refs::Target;
use crate::journal;
use crate::ledger::Ledger;
use crate::model::ids::CommitId;
use crate::model::upkeep::{RunLine, RunState, Whose};
use crate::run::clean::kept_out;
use crate::run::directory::RunDir;
use crate::run::freeze;

/// A run, as far as its directory tells.
#[derive(Debug, Clone)]
pub struct KnownRun {
    /// Its directory.
    pub dir: RunDir,
    /// How it stands.
    pub state: RunState,
    /// The fold of its journal.
    pub ledger: Option<Ledger>,
    /// Why there is none.
    pub unreadable: Option<String>,
    /// What its plan calls the base, where the frozen plan can be read.
    pub base_name: Option<String>,
    copied: Vec<String>,
}

impl KnownRun {
    /// Paths that provisioning copied into its worktrees.
    #[must_use]
    pub fn brought(&self) -> Vec<BString> {
        kept_out(&self.copied)
    }

    /// Reads what is in a run directory.
    #[must_use]
    pub fn read(dir: RunDir, archived: bool) -> Self {
        let read = journal::read(&dir.journal()).map_err(|error| error.to_string());
        let folded =
            read.and_then(|it| Ledger::fold(&it.records).map_err(|error| error.to_string()));
        let (ledger, unreadable) = match folded {
            Ok(ledger) => (Some(ledger), None),
            Err(why) => (None, Some(why)),
        };
        let plan = ledger.as_ref().and_then(|ledger| freeze::thaw(&dir, &ledger.plan_sha256).ok());
        let state = match &ledger {
            _ if archived => RunState::Archived,
            _ if dir.held() => RunState::AtWork,
            None => RunState::Unreadable,
            Some(ledger) => match ledger.outcome {
                Some(Outcome::Done) => RunState::Done,
                Some(Outcome::Failed) => RunState::Failed,
                _ => RunState::Open,
            },
        };
        let base_name = plan.as_ref().map(|plan| plan.base.clone());
        let copied = plan.map(|plan| plan.provision.copy).unwrap_or_default();
        Self { dir, state, ledger, unreadable, base_name, copied }
    }
}

/// Every run, oldest first, archived ones before the others.
///
/// # Errors
/// They cannot be listed.
pub fn known(repo: &Repo) -> Result<Vec<KnownRun>, UpkeepError> {
    let root = RunDir::root_in(repo.common_dir());
    let archived = RunDir::list(&RunDir::archive_in(repo.common_dir()))?;
    let archived = archived.into_iter().map(|dir| KnownRun::read(dir, true));
    let standing = RunDir::list(&root)?.into_iter().map(|dir| KnownRun::read(dir, false));
    Ok(archived.chain(standing).collect())
}

/// The branches of a run that stand at a commit, by short name.
///
/// # Errors
/// They cannot be listed.
pub fn branches(repo: &Repo, run: &KnownRun) -> Result<Vec<(String, CommitId)>, UpkeepError> {
    let all = repo.branches_of(run.dir.run())?.into_iter();
    Ok(all
        .filter_map(|(name, target)| match target {
            Target::Direct(at) => Some((name, at)),
            Target::Symbolic(_) => None,
        })
        .collect())
}

/// A line for each run, the newest first.
///
/// # Errors
/// The branches of one cannot be listed.
pub fn lines(
    repo: &Repo,
    runs: &[KnownRun],
    owners: &[Whose],
) -> Result<Vec<RunLine>, UpkeepError> {
    let line = |known: &KnownRun| -> Result<RunLine, UpkeepError> {
        let run = known.dir.run();
        let its = |whose: &&Whose| matches!(whose, Whose::Run { run: of, .. } if of == run);
        let ledger = known.ledger.as_ref();
        let wps = ledger.map(|ledger| ledger.wps.as_slice()).unwrap_or_default();
        Ok(RunLine {
            run: run.clone(),
            state: known.state,
            stand: ledger.map(|ledger| ledger.stands(known.state == RunState::AtWork)),
            goal: ledger.map(|ledger| ledger.goal.clone()).unwrap_or_default(),
            through: wps.iter().filter(|wp| wp.phase.got_through()).count(),
            wps: wps.len(),
            updated: ledger.map(|ledger| ledger.updated_at),
            worktrees: owners.iter().filter(its).count(),
            branches: branches(repo, known)?.len(),
            unreadable: known.unreadable.clone(),
        })
    };
    runs.iter().rev().map(line).collect()
}
