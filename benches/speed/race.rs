//! Timing side by side: every round runs each entrant once, in turn, so that what else the machine
//! does meets all of them alike.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One thing that is timed. It times itself, so that what it prepares does not count.
pub struct Entrant<'a> {
    name: String,
    go: Box<dyn FnMut() -> Duration + 'a>,
    took: Vec<Duration>,
}

impl<'a> Entrant<'a> {
    pub fn new(name: impl Into<String>, go: impl FnMut() -> Duration + 'a) -> Self {
        Self { name: name.into(), go: Box::new(go), took: Vec::new() }
    }

    /// A command that must succeed, from its start to its end.
    pub fn command(name: impl Into<String>, mut command: Command) -> Self {
        Self::new(name, move || finish(&mut command))
    }

    /// Something in this process.
    pub fn timed(name: impl Into<String>, mut work: impl FnMut() + 'a) -> Self {
        Self::new(name, move || {
            let from = Instant::now();
            work();
            from.elapsed()
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn median(&self) -> Duration {
        let mut sorted = self.took.clone();
        sorted.sort();
        sorted[sorted.len() / 2]
    }

    /// How many times as long this one takes as `other`.
    pub fn ratio(&self, other: &Entrant<'_>) -> f64 {
        let pairs = self.took.iter().zip(&other.took);
        let mut ratios: Vec<f64> = pairs.map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

/// Runs `rounds` rounds after one that does not count. Each round starts with another entrant.
pub fn race(rounds: usize, entrants: &mut [Entrant<'_>]) {
    let count = entrants.len();
    for round in 0..=rounds {
        for turn in 0..count {
            let entrant = &mut entrants[(round + turn) % count];
            let took = (entrant.go)();
            if round > 0 {
                entrant.took.push(took);
            }
        }
    }
}

/// Runs a command that must succeed and gives the time it took. What it prints is shown when it fails.
pub fn finish(command: &mut Command) -> Duration {
    let (took, succeeded) = time(command);
    if !succeeded {
        let again = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        panic!("{command:?} failed; once more it says {again:?}");
    }
    took
}

/// Runs a command quietly and says whether it succeeded.
pub fn time(command: &mut Command) -> (Duration, bool) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let from = Instant::now();
    let status = command.status().expect("the command can be started");
    (from.elapsed(), status.success())
}
