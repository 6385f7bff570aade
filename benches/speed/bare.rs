//! The floor of `sop apply`: a loop that starts the same programs, as many at once, and does nothing
//! else. No journal, no check, no brief, no look at the disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::scratch::Repository;

/// For each of `count` WPs, `parallel` at once: `git worktree add --no-checkout` (one at a time, because it races
/// with itself), `git reset --hard`, two programs for the worker and two for the DoD (a `true` in place of the
/// holder, then `true`), and the removal of the worktree. Nothing was changed, so nothing is committed.
pub fn run(repository: &Repository, count: usize, parallel: usize) -> Duration {
    let base = repository.git(&["rev-parse", "HEAD"]);
    let next = AtomicUsize::new(0);
    let registry = Mutex::new(());
    let from = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..parallel {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        break;
                    }
                    work_package(repository, &registry, n, &base);
                }
            });
        }
    });
    from.elapsed()
}

fn work_package(repository: &Repository, registry: &Mutex<()>, n: usize, base: &str) {
    let path = repository.worktrees().join(format!("bare-{n}"));
    let shown = path.to_string_lossy().into_owned();
    let branch = format!("bare/{n}");
    {
        let _one_at_a_time = registry.lock();
        let add = ["worktree", "add", "--quiet", "--no-checkout", "--no-track", "-b", &branch];
        git(&repository.top(), &[&add[..], &[&shown, base]].concat());
    }
    git(&path, &["reset", "--hard", "--quiet", "HEAD"]);
    for _worker_then_dod in 0..2 {
        for _holder_then_command in 0..2 {
            wait(Command::new("true").current_dir(&path));
        }
    }
    fs::remove_dir_all(&path).expect("the worktree goes");
    let admin = repository.top().join(".git/worktrees").join(format!("bare-{n}"));
    let _one_at_a_time = registry.lock();
    fs::remove_dir_all(admin).expect("its registration goes");
}

/// Takes away what a run left, so that the next one finds the repository as it was.
pub fn forget(repository: &Repository) {
    for kind in ["bare", "sop"] {
        let _ = fs::remove_dir_all(repository.top().join(".git/refs/heads").join(kind));
    }
    for folder in ["sop-run", "worktrees"] {
        let _ = fs::remove_dir_all(repository.top().join(".git").join(folder));
    }
    let _ = fs::remove_dir_all(repository.worktrees());
    fs::create_dir_all(repository.worktrees()).expect("a folder for worktrees");
}

fn git(dir: &Path, args: &[&str]) {
    wait(Command::new("git").current_dir(dir).args(args));
}

/// Runs it as quietly as `sop` does: its output goes nowhere, or through pipes where `sop` reads it.
fn wait(command: &mut Command) {
    let done = command.stdin(Stdio::null()).output().expect("the command can be started");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
