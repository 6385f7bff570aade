//! A checkout turned into a bare repository with worktrees beside it: `repo/.bare`, `repo/.git` that leads there, and
//! the checkout in `repo/<branch>/`. All of it moves by renaming: no file of the checkout is copied or written.
//!
//! The steps are worked out and written down before the first is made ([`journal`]); how many are done is noted, the
//! one that was being made is told from the disk, and each can be undone. So whoever comes after a kill can finish or undo, whichever is wanted.

mod grounds;
pub mod journal;
pub mod step;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::git::Repo;
use crate::git::layout::{BARE, Places};
use crate::git::linked::condition::Condition;
use crate::git::linked::{Head, Linked};
use crate::process;

use super::error::UpkeepError;
use journal::Journal;
use step::Step;

/// Beside the checkout while it is being moved: the journal, and the files on their way.
pub const WORKSHOP: &str = ".sop-migrating";

/// A migration that could be made.
#[derive(Debug, Clone)]
pub struct Migration {
    /// The steps, in order.
    pub journal: Journal,
    /// Where the checkout will be.
    pub folder: PathBuf,
    before: Seen,
}

/// What must be so of the repository before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    refs: Vec<u8>,
    stash: usize,
    main: Condition,
    linked: Vec<Condition>,
}

/// Works out how to migrate. `name`: of the folder for the checkout; that of its branch, if not given.
///
/// # Errors
/// [`UpkeepError::Stays`] with everything that cannot be moved.
pub fn plan(repo: &Repo, name: Option<&str>) -> Result<Migration, UpkeepError> {
    let top = repo.main_checkout()?;
    let shown = process::escape_path(repo.common_dir());
    let stays = |why: Vec<String>| UpkeepError::Stays { what: shown.clone(), why, help: None };
    let top = top.ok_or_else(|| stays(vec!["it is a bare repository already".to_owned()]))?;
    let (main, linked) = split(repo)?;
    let main = main.ok_or_else(|| stays(vec!["it has no checkout".to_owned()]))?;
    let name = match (name, main.head()) {
        (Some(name), _) => name.to_owned(),
        (None, Head::Branch(branch, _)) => branch.replace('/', "-"),
        (None, _) => "checkout".to_owned(),
    };
    let folder = top.join(&name);
    let mut why = Vec::new();
    if Path::new(&name).components().count() != 1 || name.starts_with('.') || name.is_empty() {
        why.push(format!("`{}` cannot be the name of a folder for it", name.escape_debug()));
    }
    let id = free_id(repo, &name);
    let places =
        Places { gathered: top.join(WORKSHOP).join("tree"), folder: folder.clone(), top, id };
    let found = main.condition(&[])?;
    let conditions: Vec<Condition> =
        linked.iter().map(|tree| tree.condition(&[])).collect::<Result<_, _>>()?;
    why.extend(grounds::refusals(repo, &places, &found, &linked, &conditions)?);
    if !why.is_empty() {
        return Err(UpkeepError::Stays {
            what: process::escape_path(&places.top),
            why,
            help: None,
        });
    }
    let entries = entries(&places.top)?;
    let edits = repo.to_bare(&places, &entries, &linked)?;
    let before = Seen {
        refs: repo.all_refs()?,
        stash: repo.stashed_by_branch()?.values().sum(),
        main: settled(found),
        linked: conditions.into_iter().map(settled).collect(),
    };
    let steps = edits.into_iter().map(Step::from).collect();
    let journal = Journal { top: places.top.into(), folder: folder.clone().into(), steps };
    Ok(Migration { journal, folder, before })
}

impl Migration {
    /// Makes every step, and looks whether all is as it was; if a step or that look fails, undoes all.
    ///
    /// # Errors
    /// What failed. If it could not be undone either, that too, and the next call takes it up.
    pub fn apply(&self) -> Result<(), UpkeepError> {
        self.journal.begin()?;
        let done = self.journal.finish().and_then(|()| self.as_it_was());
        if let Err(error) = done {
            return Err(match self.journal.undo() {
                Ok(()) => error,
                Err(then) => UpkeepError::Both { first: Box::new(error), then: Box::new(then) },
            });
        }
        self.journal.close()
    }

    /// That refs, stash and every worktree are as they were, and that nothing came to be meanwhile.
    fn as_it_was(&self) -> Result<(), UpkeepError> {
        let changed = |what: &str| UpkeepError::Changed { what: what.to_owned() };
        let mut left = entries(&self.journal.top.path())?;
        left.retain(|name| name != BARE && Some(name.as_os_str()) != self.folder.file_name());
        if !left.is_empty() {
            return Err(changed("the checkout"));
        }
        let repo = Repo::discover(&self.folder)?;
        let (_, linked) = split(&repo)?;
        if repo.all_refs()? != self.before.refs {
            return Err(changed("a ref"));
        }
        if repo.stashed_by_branch()?.values().sum::<usize>() != self.before.stash {
            return Err(changed("the stash"));
        }
        let (new, others): (Vec<_>, Vec<_>) =
            linked.into_iter().partition(|tree| tree.path() == Some(self.folder.as_path()));
        let new = new.first().ok_or_else(|| changed("the list of worktrees"))?;
        if settled(new.condition(&[])?) != self.before.main {
            return Err(changed("the checkout"));
        }
        let others: Vec<Condition> =
            others.iter().map(|tree| tree.condition(&[]).map(settled)).collect::<Result<_, _>>()?;
        match others == self.before.linked {
            true => Ok(()),
            false => Err(changed("a worktree")),
        }
    }
}

/// The main checkout, and the others.
fn split(repo: &Repo) -> Result<(Option<Linked>, Vec<Linked>), UpkeepError> {
    let (mut main, linked): (Vec<_>, Vec<_>) =
        repo.all_worktrees()?.into_iter().partition(Linked::is_main);
    Ok((main.pop(), linked))
}

/// What of a condition depends neither on who is there at the moment nor on whether it is the main checkout, whose own
/// refs and log hold what they name.
fn settled(found: Condition) -> Condition {
    Condition {
        users: Vec::new(),
        own_refs: Vec::new(),
        own_objects: Vec::new(),
        logged: Vec::new(),
        ..found
    }
}

/// What is at the top of the checkout, but for git's folder.
fn entries(top: &Path) -> Result<Vec<OsString>, UpkeepError> {
    let listing = std::fs::read_dir(top).map_err(UpkeepError::io("list", top))?;
    let mut found = Vec::new();
    for entry in listing {
        found.push(entry.map_err(UpkeepError::io("list", top))?.file_name());
    }
    found.retain(|name| name != ".git" && name != WORKSHOP);
    found.sort();
    Ok(found)
}

/// A name that git's list of worktrees does not have yet.
fn free_id(repo: &Repo, name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = name.chars().map(fit).collect();
    let taken = |id: &str| repo.common_dir().join("worktrees").join(id).exists();
    let numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}{n}") });
    numbered.into_iter().find(|id| !taken(id)).unwrap_or(name)
}
