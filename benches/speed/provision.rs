//! Making worktrees: one beside plain `git worktree add`, eight at once beside one after the other.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sop::git::{Repo, WorktreeSpec};

use crate::race::{Entrant, finish, race};
use crate::scratch::{Place, Repository};
use crate::table::{Aim, compare, figure, heading, note};

/// Files in the repository.
const FILES: usize = 10_000;
/// Worktrees at once.
const AT_ONCE: usize = 8;
/// Worktrees made in the last measure.
const MANY: usize = 400;

pub fn run(place: &Place) {
    heading("provision", "a worktree of 10,000 files");
    note("sop adds a lock, the checkout's stat data kept aside, and a mark that it stands");
    let repository = place.repository(FILES);
    let repo = Repo::discover(&repository.top()).expect("the repository is found");
    let names = AtomicUsize::new(0);
    let fresh = || format!("w{}", names.fetch_add(1, Ordering::Relaxed));

    let mut entrants = vec![
        Entrant::new("ours", || ours(&repository, &repo, &[fresh()], 1)),
        Entrant::new("git worktree add", || {
            let name = fresh();
            let path = repository.worktrees().join(&name);
            let mut add = Command::new("git");
            add.current_dir(repository.top()).args(["worktree", "add", "--quiet", "--no-track"]);
            add.args(["-b", &name]).arg(&path).arg("main");
            let took = finish(&mut add);
            clear(&repository);
            took
        }),
    ];
    race(9, &mut entrants);
    compare("one", &entrants, &[Aim::AtMost(1.05)]);

    let several = || (0..AT_ONCE).map(|_| fresh()).collect::<Vec<_>>();
    let mut entrants = vec![
        Entrant::new("ours, 8 at once", || ours(&repository, &repo, &several(), AT_ONCE)),
        Entrant::new("ours, 8 one by one", || ours(&repository, &repo, &several(), 1)),
    ];
    race(5, &mut entrants);
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(AT_ONCE);
    compare("eight", &entrants, &[Aim::AtMost(1.2 / cores as f64)]);

    let small = place.repository(20);
    let repo = Repo::discover(&small.top()).expect("the repository is found");
    let names: Vec<String> = (0..MANY).map(|n| format!("many{n}")).collect();
    // A worktree that cannot be made ends the bench.
    let took = ours(&small, &repo, &names, 16);
    let each = took.as_secs_f64() * 1000.0 / MANY as f64;
    figure("400", "each, of 400 made 16 at once, no failure", each, "ms", Aim::None);
}

/// Makes these worktrees through the library, `at_once` at a time, and takes them away again untimed.
fn ours(repository: &Repository, repo: &Repo, names: &[String], at_once: usize) -> Duration {
    let base = repo.resolve("main").expect("it has a commit");
    let next = AtomicUsize::new(0);
    let from = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let spec = WorktreeSpec {
                        path: repository.worktrees().join(name),
                        branch: Some(format!("sop/bench-1/{name}")),
                        base: base.clone(),
                        seed: repository.beside("seed").join(name),
                    };
                    repo.add_worktree(&spec).expect("a worktree can be made");
                }
            });
        }
    });
    let took = from.elapsed();
    clear(repository);
    took
}

fn clear(repository: &Repository) {
    for entry in fs::read_dir(repository.worktrees()).into_iter().flatten().flatten() {
        fs::remove_dir_all(entry.path()).expect("a worktree goes");
    }
    repository.git(&["worktree", "prune", "--expire=now"]);
}
