//! Ending a whole tree: TERM to everyone once, grace, then KILL until nothing is left. A state
//! machine that the caller ticks, so that it can go on reading output and orders meanwhile.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::identity::{Stat, signal};
use super::tree;

/// First pause between two looks at a tree that has been told to die: something may be forking.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// The longest. What may not be signalled (a program run as another user) can only be waited for,
/// and the death of a child wakes the caller anyway.
const LOOK_SELDOM: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum Stage {
    /// TERM is sent; KILL follows at this moment.
    Asked { until: Instant },
    /// KILL, and again for whatever shows up.
    Killing,
}

/// The stop of everything below one process.
#[derive(Debug)]
pub struct Stop {
    root: i32,
    stage: Stage,
    told: HashSet<(i32, u64)>,
    killed: HashSet<(i32, u64)>,
    pause: Duration,
}

impl Stop {
    /// Sends TERM to all that lives below `root` and lets `grace` pass before KILL.
    #[must_use]
    pub fn ask(root: i32, grace: Duration) -> Self {
        let until = Instant::now().checked_add(grace).unwrap_or_else(Instant::now);
        let mut stop = Self::new(root, Stage::Asked { until });
        stop.ask_the_rest();
        stop
    }

    /// No TERM, no grace: the first [`Self::tick`] kills.
    #[must_use]
    pub fn now(root: i32) -> Self {
        Self::new(root, Stage::Killing)
    }

    fn new(root: i32, stage: Stage) -> Self {
        Self { root, stage, told: HashSet::new(), killed: HashSet::new(), pause: LOOK_AGAIN }
    }

    /// Ends the grace.
    pub fn press(&mut self) {
        self.stage = Stage::Killing;
    }

    /// Sends TERM to those who have not had it: children that came after the first call. Not for
    /// while the main process winds down, since what it starts then is its own clean-up.
    pub fn ask_the_rest(&mut self) {
        if !matches!(self.stage, Stage::Asked { .. }) {
            return;
        }
        for stat in tree::below(self.root) {
            if self.told.insert((stat.pid, stat.start)) {
                signal(&stat, Signal::TERM);
                // A stopped process acts on TERM only when it goes on.
                signal(&stat, Signal::CONT);
            }
        }
    }

    /// Does what is due and says how long the caller may sleep before the next call.
    pub fn tick(&mut self) -> Duration {
        if let Stage::Asked { until } = self.stage {
            let left = until.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                return left;
            }
            self.stage = Stage::Killing;
        }
        let news = kill_all(&tree::below(self.root), &mut self.killed);
        self.pause = if news { LOOK_AGAIN } else { (self.pause * 2).min(LOOK_SELDOM) };
        self.pause
    }
}

/// Sends KILL to each, and says whether one of them had not been sent it before.
pub fn kill_all(found: &[Stat], killed: &mut HashSet<(i32, u64)>) -> bool {
    let mut news = false;
    for stat in found {
        signal(stat, Signal::KILL);
        news |= killed.insert((stat.pid, stat.start));
    }
    news
}
