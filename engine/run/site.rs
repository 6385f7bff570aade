//! What every unit of a run shares: the frozen plan, the repository, the run directory, the launcher.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::brief::Briefs;
use crate::event::Classed;
use crate::git::guard::{Became, Fault, GuardDiff};
use crate::git::scope::Place;
use crate::git::{GitError, Guarded, Identity, Repo, Worktree, WorktreeSpec};
use crate::launch::{Key, Local, Spec};
use crate::ledger::{
    Fork, NextAttempt, Phase, ReviewState, WpState, candidates, candidates_from, default_due,
    next_attempt, next_start,
};
use crate::model::approval::Covers;
use crate::model::delivery::Destination;
use crate::model::ids::{CommitId, TierId, WpId};
use crate::model::lesson::Lesson;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{Command, Plan, Review, Wp};
use crate::model::time::Timestamp;
use crate::whitelist::Whitelist;

use super::directory::RunDir;
use super::due::Due;
use super::leaving::Leaving;
use super::lookout::Lookout;
use super::seats::Seats;
use super::settled::Settled;

/// How many speak to the remote and the forge at once.
pub const FORGE_TURNS: usize = 4;

/// Why a unit cannot go on.
#[derive(Debug)]
pub enum Halt {
    /// It was told to stop; a later engine goes on from here.
    Stopped,
    /// Infrastructure is in the way. `everywhere`: nothing else should start before somebody looked.
    Blocked {
        /// What failed.
        problem: Problem,
        /// Whether it concerns every WP.
        everywhere: bool,
    },
}

impl Halt {
    /// Blocks this WP alone.
    pub fn blocked(problem: Problem) -> Self {
        Self::Blocked { problem, everywhere: false }
    }

    /// Blocks because git said no to what `check` asked of it.
    pub fn git(check: Check, error: &GitError) -> Self {
        // A repository that loses objects is safe for nobody.
        let everywhere = matches!(error, GitError::Lost { .. });
        Self::Blocked { problem: Problem::new(check, error.to_string()), everywhere }
    }
}

/// The whole of a run that does not change while it runs.
pub struct Site {
    /// The frozen plan.
    pub plan: Arc<Plan>,
    /// WPs by id.
    pub wps: HashMap<WpId, usize>,
    /// Their whitelists, in the plan's order.
    pub whitelists: Vec<Whitelist>,
    /// The repository.
    pub repo: Repo,
    /// The user's checkout; none when a run was started in a bare repository itself.
    pub top: Option<PathBuf>,
    /// The run directory.
    pub dir: RunDir,
    /// Where processes run.
    pub launcher: Local,
    /// Templates, as they were when the run was made.
    pub briefs: Briefs,
    /// Where this run's worktrees are.
    pub worktrees: PathBuf,
    /// What earlier runs have learned, as it was when the run was made.
    pub lessons: Vec<Lesson>,
    /// Who commits.
    pub identity: Identity,
    /// DoD commands that have been run on a base: by base and command.
    pub classed: Mutex<BTreeMap<(CommitId, String), Classed>>,
    /// One WP at a time runs its DoD on the base, so that what one learns serves all.
    pub classing: tokio::sync::Mutex<()>,
    /// Branches that must stay where they are.
    pub settled: Settled,
    /// Worktrees of WPs that are through, while others are at work.
    pub leaving: Leaving,
    /// What a unit must know of the rest of the run.
    pub lookout: Lookout,
    /// Room on tiers.
    pub seats: Arc<Seats>,
    /// Instants that are waited for.
    pub due: Due,
    /// What the approval covers.
    pub covers: Covers,
    /// Where the approval lets branches be pushed to.
    pub to: Option<Destination>,
    /// Who may speak to the remote and the forge now.
    pub forge_turns: tokio::sync::Semaphore,
}

impl Site {
    /// The plan's WP of this id.
    ///
    /// # Panics
    /// Never for an id that the ledger knows: both come from the same frozen plan.
    #[must_use]
    pub fn wp(&self, id: &WpId) -> &Wp {
        &self.plan.wps[self.wps[id]]
    }

    /// The next start of a WP's round. The tier that the round began on says where to go on: one of its
    /// fallbacks has its own list.
    #[must_use]
    pub fn next_attempt(&self, wp: &WpState) -> NextAttempt {
        next_attempt(wp, &candidates(&self.plan, wp), &self.lookout.outages())
    }

    /// The next session of a reviewer whose tier is `tier`, looking for `lens`.
    #[must_use]
    pub fn next_review(
        &self,
        tier: &TierId,
        review: &ReviewState,
        lens: &str,
        since: Option<Timestamp>,
    ) -> NextAttempt {
        let starts = review.starts(lens, since);
        next_start(starts, &candidates_from(&self.plan, tier), &self.lookout.outages())
    }

    /// When the defaults of the WP's open questions may be taken, and which questions those are: all of
    /// them have a default, and the plan allows it.
    #[must_use]
    pub fn default_due<'a>(&self, wp: &'a WpState) -> Option<(Timestamp, Vec<&'a Fork>)> {
        default_due(&self.plan, wp)
    }

    /// Whether the WP's next start has to wait for its time.
    #[must_use]
    pub fn paused(&self, wp: &WpState) -> bool {
        let later = |next| {
            matches!(
                next,
                NextAttempt::Start { not_before: Some(at), .. } if !self.due.is_over(at)
            )
        };
        match (wp.phase, &self.wp(&wp.id).review) {
            (Phase::Starting, _) => later(self.next_attempt(wp)),
            (Phase::Reviewing, Review::Worker { tier, lenses, .. }) => {
                let mut open =
                    lenses.iter().filter(|lens| wp.review.verdict(lens).is_none()).peekable();
                let waits =
                    |lens: &String| later(self.next_review(tier, &wp.review, lens, wp.since));
                open.peek().is_some() && !wp.review.is_at_work() && open.all(waits)
            }
            _ => false,
        }
    }

    /// The tier that the next worker of a WP, or the one at work, is of.
    #[must_use]
    pub fn next_tier(&self, wp: &WpState) -> TierId {
        match wp.phase {
            Phase::Starting => match self.next_attempt(wp) {
                NextAttempt::Start { tier, .. } => tier,
                NextAttempt::GiveUp(_) => wp.tier.clone(),
            },
            _ => wp.tier.clone(),
        }
    }

    /// The tier that a WP needs room on for what it does next; none while workers review it, who have
    /// their own.
    #[must_use]
    pub fn seat_for(&self, wp: &WpState) -> Option<TierId> {
        let reviewed = matches!(self.wp(&wp.id).review, Review::Worker { .. });
        (wp.phase != Phase::Reviewing || !reviewed).then(|| self.next_tier(wp))
    }

    /// Its whitelist.
    ///
    /// # Panics
    /// As [`Site::wp`].
    #[must_use]
    pub fn whitelist(&self, id: &WpId) -> &Whitelist {
        &self.whitelists[self.wps[id]]
    }

    /// What differs between two moments of the rest of the repository. While the lead has had a worktree of the
    /// run, refs that came to be may be of its making: they are named, and blamed on no one.
    ///
    /// # Errors
    /// What git said.
    pub fn compare(&self, before: &Guarded, after: &Guarded) -> Result<GuardDiff, GitError> {
        let mut diff = self.repo.compare(before, after)?;
        if self.lookout.lead_was_in() {
            for difference in &mut diff.differences {
                let Place::Ref(name) = &difference.place else { continue };
                if difference.became == Became::Added || name == "refs/stash" {
                    difference.fault = Fault::Person;
                }
            }
        }
        Ok(diff)
    }

    /// Runs something that blocks (git, the disk) off the engine's own threads, for `check`.
    ///
    /// # Errors
    /// What it returns, as a halt.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        check: Check,
        work: impl FnOnce(&Self) -> Result<T, GitError> + Send + 'static,
    ) -> Result<T, Halt> {
        let site = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&site)).await {
            Ok(result) => result.map_err(|error| Halt::git(check, &error)),
            Err(panic) => {
                let text = format!("a part of sop failed, which is a fault of its own: {panic}");
                Err(Halt::blocked(Problem::new(check, text)))
            }
        }
    }

    /// Where the worktree of `unit` (a WP, or a gate) stands.
    #[must_use]
    pub fn worktree_path(&self, unit: &str) -> PathBuf {
        self.worktrees.join(unit)
    }

    /// The worktree of a WP: made, finished or found.
    ///
    /// # Errors
    /// What git said.
    pub fn worktree(
        &self,
        unit: &str,
        branch: Option<&str>,
        base: &CommitId,
    ) -> Result<Worktree, GitError> {
        self.repo.add_worktree(&self.worktree_spec(unit, branch, base))
    }

    /// The same worktree if there is still one, or a part of one whose removal was cut short.
    ///
    /// # Errors
    /// What git said.
    pub fn find_worktree(
        &self,
        unit: &str,
        branch: Option<&str>,
        base: &CommitId,
    ) -> Result<Option<Worktree>, GitError> {
        self.repo.find_worktree(&self.worktree_spec(unit, branch, base))
    }

    /// What is wanted of the worktree of `unit`.
    #[must_use]
    pub fn worktree_spec(&self, unit: &str, branch: Option<&str>, base: &CommitId) -> WorktreeSpec {
        WorktreeSpec {
            path: self.worktree_path(unit),
            branch: branch.map(str::to_owned),
            base: base.clone(),
            seed: self.dir.seed(unit),
        }
    }

    /// The key of a step.
    ///
    /// # Panics
    /// Never for units and steps that `sop` names itself.
    #[must_use]
    pub fn key(&self, unit: &str, step: &str, n: u32) -> Key {
        Key::new(self.dir.run(), unit, step, n).expect("units are ids and steps are words")
    }

    /// A command in `unit`'s worktree: outside the caller's git environment, alone in its slot.
    #[must_use]
    pub fn spec(&self, unit: &str, key: &Key, argv: Vec<String>) -> Spec {
        let log = self.dir.named(&RunDir::log_name(unit, key.step(), key.attempt()));
        let mut spec = Spec::new(argv, self.worktree_path(unit), log);
        spec.env_remove = git_environment();
        spec.slot = Some(self.dir.slot(unit));
        spec.env.push(("SOP_RUN".into(), self.dir.run().as_str().into()));
        spec
    }
}

/// What is run for a command of the plan.
#[must_use]
pub fn argv(command: &Command) -> Vec<String> {
    match command {
        Command::Argv(argv) => argv.clone(),
        Command::Shell(text) => vec!["sh".to_owned(), "-c".to_owned(), text.clone()],
    }
}

/// The caller's `GIT_*` variables: `sop` may have been started from a hook, whose repository is none
/// of a worker's business.
fn git_environment() -> Vec<OsString> {
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| name.to_string_lossy().starts_with("GIT_"))
        .collect()
}

/// The folder of a repository's worktrees that those of a lead's own hands are in. No run is called so: a run's
/// name ends in a number.
pub const OF_LEAD: &str = "lead";

/// Where the worktrees of a repository are kept: outside it, where no cleaner of temporary files comes.
///
/// `$SOP_WORKTREES`, or `$XDG_STATE_HOME/sop`, or `~/.local/state/sop`; below it a folder for the
/// repository, named after it and after a digest of its path, so that two clones do not meet. From wherever in the
/// repository `sop` is started, it is the same.
#[must_use]
pub fn worktrees_root(common_dir: &Path) -> Option<PathBuf> {
    use sha2::{Digest, Sha256};
    use std::os::unix::ffi::OsStrExt;

    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let root = set("SOP_WORKTREES")
        .or_else(|| set("XDG_STATE_HOME").map(|state| state.join("sop")))
        .or_else(|| set("HOME").map(|home| home.join(".local/state/sop")))?;
    let digest = Sha256::digest(common_dir.as_os_str().as_bytes());
    // `repo/.git` and `repo/.bare` are called `repo`, and `repo.git` is too.
    let own = common_dir.file_name().unwrap_or_default();
    let name = match own.as_bytes().starts_with(b".") {
        true => common_dir.parent().and_then(Path::file_name).unwrap_or_default(),
        false => own,
    };
    let name = name.to_string_lossy();
    let name = name.strip_suffix(".git").unwrap_or(&name);
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let mark: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let root = std::path::absolute(root).ok()?;
    Some(root.join(format!("{name}-{mark}")))
}
