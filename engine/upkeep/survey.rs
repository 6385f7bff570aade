//! Every worktree of a repository: whose it is, what is in it, and whether its branch's work is merged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use serde::{Deserialize, Serialize};

use super::ancestry::Asking;
use super::error::UpkeepError;
use super::making;
use super::runs::{self, KnownRun};
use crate::git::Repo;
use crate::git::landed::How as Proof;
use crate::git::linked::condition::Condition;
use crate::git::linked::{Head, Linked};
use crate::launch;
use crate::model::ids::{CommitId, RunId};
use crate::model::upkeep::{How, Merged, RunState, State, StateKind, Tree, Whose};
use crate::process;

/// How many paths a state names.
const NAMED: usize = 5;

/// For how many commits of a log it is asked whether they are merged; where there are more, all of them count.
const PROVEN: usize = 20;

/// What `sop worktree new` notes about a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its name.
    pub name: String,
    /// The branch that was made for it.
    pub branch: String,
    /// The commit it was made from.
    pub base: CommitId,
    /// What that was called.
    pub from: String,
    /// What provisioning copied in.
    pub brought: Vec<String>,
}

/// A worktree with all that is known of it.
#[derive(Debug, Clone)]
pub struct Surveyed {
    /// It.
    pub linked: Linked,
    /// What the verbs call it.
    pub name: String,
    /// Whose it is.
    pub whose: Whose,
    /// What was noted when the lead made it.
    pub note: Option<Note>,
    /// What provisioning brought.
    pub brought: Vec<BString>,
    /// What is in it.
    pub condition: Condition,
    /// How its commit is merged, and where.
    pub merged: Option<(Proof, String)>,
    /// How many entries of the stash were made on its branch.
    pub stashed: usize,
    /// Steps of its run that are at work for it, wherever they stand.
    pub at_work: Vec<String>,
}

/// A worktree, and what came of the look at it.
pub type Looked = (Linked, Result<Surveyed, UpkeepError>);

/// What is asked once for all worktrees.
pub struct Survey<'a> {
    repo: &'a Repo,
    runs: Vec<KnownRun>,
    source: Option<PathBuf>,
    stash: HashMap<String, usize>,
}

impl<'a> Survey<'a> {
    /// Reads what all worktrees share.
    ///
    /// # Errors
    /// Git cannot be asked, or the runs cannot be listed.
    pub fn of(repo: &'a Repo) -> Result<Self, UpkeepError> {
        let source = super::forward::source(repo).ok();
        let source = source.and_then(|source| source.path().map(Path::to_path_buf));
        Ok(Self { repo, runs: runs::known(repo)?, source, stash: repo.stashed_by_branch()? })
    }

    /// The runs that are known, archived ones too.
    #[must_use]
    pub fn runs(&self) -> &[KnownRun] {
        &self.runs
    }

    /// The run of that name.
    #[must_use]
    pub fn run(&self, run: &RunId) -> Option<&KnownRun> {
        self.runs.iter().find(|known| known.dir.run() == run)
    }

    /// Every worktree, the main checkout first.
    ///
    /// # Errors
    /// One of them cannot be looked at.
    pub fn all(&self) -> Result<Vec<Surveyed>, UpkeepError> {
        self.each()?.into_iter().map(|(_, looked)| looked).collect()
    }

    /// Every worktree, each with what came of the look at it. One that went meanwhile is none.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn each(&self) -> Result<Vec<Looked>, UpkeepError> {
        let look = |linked: Linked| {
            let looked = self.look(linked.clone());
            let went = looked.is_err() && !linked.is_main() && !linked.admin().exists();
            (!went).then_some((linked, looked))
        };
        Ok(self.repo.all_worktrees()?.into_iter().filter_map(look).collect())
    }

    /// Whose each worktree is, which are not looked into.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn owners(&self) -> Result<Vec<Whose>, UpkeepError> {
        Ok(self.repo.all_worktrees()?.iter().map(|linked| identify(linked).0).collect())
    }

    /// Looks at one.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn look(&self, linked: Linked) -> Result<Surveyed, UpkeepError> {
        let (mut whose, name, note) = identify(&linked);
        // In a bare repository it is a worktree like the others, and work comes back to it all the same.
        if whose == Whose::Foreign
            && linked.path().is_some()
            && linked.path() == self.source.as_deref()
        {
            whose = Whose::Main;
        }
        let brought = match (&whose, &note) {
            (Whose::Run { run, .. }, _) => self.run(run).map(KnownRun::brought).unwrap_or_default(),
            (_, Some(note)) => crate::run::clean::kept_out(&note.brought),
            _ => Vec::new(),
        };
        let mut condition = linked.condition(&brought)?;
        let mut from = Vec::new();
        match &whose {
            Whose::Run { run, .. } => {
                from.extend(self.run(run).and_then(|run| run.base_name.clone()));
            }
            _ => from.extend(note.iter().map(|note| note.from.clone())),
        }
        let merged = match (whose == Whose::Main, linked.head().commit()) {
            (false, Some(at)) => self.merged(at, linked.head().branch(), &from)?,
            _ => None,
        };
        // Of what was rebased and merged, the log still has the first form: that is no work of its own.
        if condition.logged.len() <= PROVEN {
            let mut alone = Vec::new();
            for at in std::mem::take(&mut condition.logged) {
                if self.merged(&at, linked.head().branch(), &from)?.is_none() {
                    alone.push(at);
                }
            }
            condition.logged = alone;
        }
        let stashed = linked.head().branch().and_then(|branch| self.stash.get(branch)).copied();
        let stashed = stashed.unwrap_or(0);
        let at_work = self.at_work(&whose);
        Ok(Surveyed { linked, name, whose, note, brought, condition, merged, stashed, at_work })
    }

    /// The steps that a holder has for the worktree of this owner.
    fn at_work(&self, whose: &Whose) -> Vec<String> {
        let Whose::Run { run, unit: of } = whose else { return Vec::new() };
        let dir = self.run(run).filter(|known| known.state != RunState::Archived);
        let steps = dir.map(|known| launch::at_work(&known.dir.path())).unwrap_or_default();
        steps.into_iter().filter(|(unit, _)| unit == of).map(|(_, step)| step).collect()
    }

    /// How the work of `at`, which the branch `own` holds, is merged. `from`: where it began, which may be a branch
    /// that work comes back to.
    ///
    /// # Errors
    /// Git cannot compare.
    pub fn merged(
        &self,
        at: &CommitId,
        own: Option<&str>,
        from: &[String],
    ) -> Result<Option<(Proof, String)>, UpkeepError> {
        let targets = self.repo.targets(own, from)?;
        for target in targets {
            if let Some(how) = self.repo.landed(at, &target.at)? {
                return Ok(Some((how, target.name)));
            }
        }
        Ok(None)
    }

    /// The worktree that `name` means: by its name, its folder or its branch.
    ///
    /// # Errors
    /// None is called so, or more than one.
    pub fn find(&self, name: &str) -> Result<Surveyed, UpkeepError> {
        self.look(find(self.repo, name)?)
    }
}

/// The worktree that `name` means, which is not looked into.
///
/// # Errors
/// As [`Survey::find`].
pub fn find(repo: &Repo, name: &str) -> Result<Linked, UpkeepError> {
    if let Some(linked) = repo
        .worktree_at(Path::new(name))
        .ok()
        .flatten()
        .filter(|_| name.contains('/') || name == ".")
    {
        return Ok(linked);
    }
    let all = repo.all_worktrees()?;
    let called = |so: &dyn Fn(&Linked) -> bool| -> Vec<Linked> {
        all.iter().filter(|linked| so(linked)).cloned().collect()
    };
    let mut found = called(&|linked| identify(linked).1 == name);
    if found.is_empty() {
        found = called(&|linked| linked.head().branch() == Some(name));
    }
    match found.len() {
        0 => Err(UpkeepError::NoSuchTree(name.to_owned())),
        1 => Ok(found.remove(0)),
        _ => Err(UpkeepError::Ambiguous {
            name: name.to_owned(),
            could: found.iter().map(place).collect(),
        }),
    }
}

/// The folder of a worktree, for people.
#[must_use]
pub fn place(linked: &Linked) -> String {
    linked.path().or(Some(linked.admin())).map(process::escape_path).unwrap_or_default()
}

/// Whose it is, what it is called, and what was noted about it.
#[must_use]
pub fn identify(linked: &Linked) -> (Whose, String, Option<Note>) {
    if linked.is_main() {
        return (Whose::Main, "main".to_owned(), None);
    }
    let note = linked.note().and_then(|note| serde_json::from_slice::<Note>(&note).ok());
    let note = note.or_else(|| making::note_of(linked));
    if let Some(note) = note {
        return (Whose::Lead, note.name.clone(), Some(note));
    }
    if let Some((branch, _, path)) = linked.made_as() {
        let below = branch.as_deref().and_then(|branch| branch.strip_prefix("sop/"));
        let named = below
            .and_then(|rest| rest.split_once('/'))
            .map(|(run, unit)| (run.to_owned(), unit.to_owned()));
        // A gate's worktree is on no branch: its folder says whose it is.
        let by_folder = || {
            let unit = path.file_name()?.to_str()?.to_owned();
            let run = path.parent()?.file_name()?.to_str()?.to_owned();
            branch.is_none().then_some((run, unit))
        };
        if let Some((run, unit)) = named.or_else(by_folder)
            && let Ok(run) = RunId::new(run)
        {
            let name = format!("{run}/{unit}");
            return (Whose::Run { run, unit }, name, None);
        }
    }
    let name = linked.path().and_then(Path::file_name).or(linked.admin().file_name());
    let name = name.map(|name| process::escape(name.as_encoded_bytes())).unwrap_or_default();
    (Whose::Foreign, name, None)
}

impl Surveyed {
    /// What of it is lost with its folder, unless it is kept first.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.condition.is_clean()
    }

    /// Whether it is what it was at an earlier look.
    #[must_use]
    pub fn is_as(&self, before: &Self) -> bool {
        self.condition == before.condition && self.linked.head() == before.linked.head()
    }

    /// As people and programs are shown it.
    #[must_use]
    pub fn shown(&self) -> Tree {
        Tree {
            name: self.name.clone(),
            path: self.linked.path().map(process::escape_path),
            whose: self.whose.clone(),
            branch: self.linked.head().branch().map(str::to_owned),
            head: self.linked.head().commit().cloned(),
            states: self.states(),
            merged: self
                .merged
                .as_ref()
                .map(|(how, into)| Merged { how: proof(*how), into: into.clone() }),
        }
    }

    fn states(&self) -> Vec<State> {
        let found = &self.condition;
        let mut states = Vec::new();
        let mut say = |kind, some: Vec<String>, count: usize| {
            states.push(State { kind, count, some });
        };
        for (kind, paths) in [
            (StateKind::Conflict, &found.conflicts),
            (StateKind::Modified, &found.modified),
            (StateKind::Staged, &found.staged),
            (StateKind::Untracked, &found.untracked),
            (StateKind::Ignored, &found.ignored),
            (StateKind::Provisioned, &found.provisioned),
            (StateKind::Nested, &found.nested),
            (StateKind::Submodule, &found.submodules),
            (StateKind::Unreadable, &found.unreadable),
            (StateKind::OtherUser, &found.others),
            (StateKind::Mount, &found.mounts),
            (StateKind::Special, &found.special),
            (StateKind::OwnObjects, &found.own_objects),
        ] {
            if !paths.is_empty() {
                say(kind, some(paths), paths.len());
            }
        }
        if !found.under_way.is_empty() {
            say(
                StateKind::UnderWay,
                found.under_way.iter().map(|what| (*what).to_owned()).collect(),
                0,
            );
        }
        match (self.linked.head(), &found.loose_head) {
            (_, Some(at)) => say(StateKind::LooseHead, vec![at.short().to_owned()], 0),
            (Head::Detached(_) | Head::Unreadable, None) => say(StateKind::Detached, Vec::new(), 0),
            (Head::Branch(_, None), None) => say(StateKind::Unborn, Vec::new(), 0),
            _ => {}
        }
        for (kind, ids) in
            [(StateKind::OwnRefs, &found.own_refs), (StateKind::Logged, &found.logged)]
        {
            if !ids.is_empty() {
                let some = ids.iter().take(NAMED).map(|id| id.short().to_owned());
                say(kind, some.collect(), ids.len());
            }
        }
        if let Some(why) = &found.locked {
            let why = Some(why.clone()).filter(|why| !why.is_empty());
            say(StateKind::Locked, why.into_iter().collect(), 0);
        }
        for (kind, is_so) in [
            (StateKind::IndexLocked, found.index_locked),
            (StateKind::Missing, found.missing && !found.removing),
            (StateKind::Removing, found.removing),
            (StateKind::Unlinked, found.unlinked),
        ] {
            if is_so {
                say(kind, Vec::new(), 0);
            }
        }
        let asking = Asking::now();
        let users: Vec<_> = found.users.iter().filter(|user| !asking.is(user.pid)).collect();
        if !users.is_empty() {
            let count = users.len();
            let users =
                users.iter().take(NAMED).map(|user| format!("{} ({})", user.pid, user.name));
            say(StateKind::Process, users.collect(), count);
        }
        if self.stashed > 0 {
            say(StateKind::Stash, Vec::new(), self.stashed);
        }
        let passes =
            [StateKind::Ignored, StateKind::Provisioned, StateKind::Stash, StateKind::Special];
        if states.iter().all(|state| passes.contains(&state.kind)) {
            states.insert(0, State { kind: StateKind::Clean, count: 0, some: Vec::new() });
        }
        states
    }
}

/// Some of these paths, for people.
#[must_use]
pub fn some(paths: &[BString]) -> Vec<String> {
    paths.iter().take(NAMED).map(|path| process::escape(path.as_bytes())).collect()
}

/// These commits in a sentence.
#[must_use]
pub fn commits(ids: &[CommitId]) -> String {
    let shown: Vec<&str> = ids.iter().take(NAMED).map(CommitId::short).collect();
    let more = ids.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

/// These paths in a sentence.
#[must_use]
pub fn listed(paths: &[BString]) -> String {
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", some(paths).join(", "))
}

/// The same proof in the words that are shown.
#[must_use]
pub fn proof(how: Proof) -> How {
    match how {
        Proof::Ancestor => How::Ancestor,
        Proof::Patch => How::Patch,
        Proof::Squash => How::Squash,
    }
}
