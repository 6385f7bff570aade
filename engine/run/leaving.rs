//! Worktrees that nobody needs any more, on their way out.
//!
//! Before one goes, every open file of every process is looked at. That look takes longer than all the rest of a
//! removal and costs the same for ten folders as for one, so those who leave wait a moment for others, but only
//! while others are still at work: nobody waits for the last ones.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::git::in_use::{self, User};

/// How long one who leaves waits for others.
const GATHER: Duration = Duration::from_millis(250);
/// How many are looked at together: from the look to the removal of the last should be no long time.
const MOST: usize = 16;

/// Those who leave now.
#[derive(Debug, Default)]
pub struct Leaving {
    gathering: Mutex<Gathering>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gathering {
    folders: Vec<PathBuf>,
    answers: Arc<OnceLock<Vec<Vec<User>>>>,
    nobody_else: bool,
}

impl Leaving {
    /// Says whether anybody is at work who may leave soon.
    pub fn others_at_work(&self, any: bool) {
        let mut gathering = self.lock();
        if gathering.nobody_else == any {
            gathering.nobody_else = !any;
            drop(gathering);
            self.changed.notify_all();
        }
    }

    /// Who works in a folder, by a look that began after this was called. Blocks.
    #[must_use]
    pub fn users_of(&self, folder: &Path) -> Vec<User> {
        let mut gathering = self.lock();
        let (at, answers) = (gathering.folders.len(), Arc::clone(&gathering.answers));
        gathering.folders.push(folder.to_owned());
        if at > 0 {
            self.changed.notify_all();
            loop {
                if let Some(users) = answers.get() {
                    return users[at].clone();
                }
                gathering = self.changed.wait(gathering).unwrap_or_else(PoisonError::into_inner);
            }
        }
        // The first one looks, for all who came by then. Who comes later is the first of the next.
        let until = Instant::now() + GATHER;
        while !gathering.nobody_else && gathering.folders.len() < MOST {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(gathering, left);
            gathering = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let folders = std::mem::take(&mut gathering.folders);
        gathering.answers = Arc::default();
        drop(gathering);
        let users = answers.get_or_init(|| in_use::users_of_each(&folders))[at].clone();
        // Whoever found no answer has the lock or waits by now.
        drop(self.lock());
        self.changed.notify_all();
        users
    }

    fn lock(&self) -> MutexGuard<'_, Gathering> {
        self.gathering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
