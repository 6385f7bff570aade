//! The scope check beside `git status`.

use std::fs;
use std::process::Command;

use sop::git::{GuardSpec, Repo, SnapshotSpec, Worktree, WorktreeSpec, scope};
use sop::model::ids::{CommitId, RunId};
use sop::whitelist::Whitelist;

use crate::race::{Entrant, finish, race};
use crate::scratch::{Place, Repository};
use crate::table::{Aim, compare, heading, note};

pub fn run(place: &Place) {
    heading(
        "scope",
        "what a worker left behind, and the rest of the repository, against the whitelist",
    );
    note("five files changed, one new; sop hashes them for the commit");
    note(
        "snapshot: the worktree, as `git status` there; whole: also config, hooks, refs and the user's checkout, which is",
    );
    note(
        "another tree to look at, so beside two `git status`, one in the worktree and one in the checkout",
    );
    for (files, rounds) in [(10_000, 21), (100_000, 9)] {
        let repository = place.repository(files);
        let case = Case::new(&repository);
        let mut entrants = vec![
            Entrant::timed("snapshot of the worktree", || case.snapshot()),
            Entrant::command("git status -z -uall", case.status()),
        ];
        race(rounds, &mut entrants);
        compare(&format!("{files} files"), &entrants, &[Aim::AtMost(1.2)]);
        let mut entrants = vec![
            Entrant::timed("whole check", || case.check()),
            Entrant::new("git status -z -uall, both trees", || {
                finish(&mut case.status()) + finish(&mut repository_status(&repository))
            }),
            Entrant::command("git status -z -uall, worktree alone", case.status()),
        ];
        race(rounds, &mut entrants);
        compare("", &entrants, &[Aim::AtMost(1.2), Aim::None]);
    }
    growth(place);
}

/// The same check while 1 and while 200 worktrees of the run are there.
fn growth(place: &Place) {
    let (few, many) = (place.repository(1_000), place.repository(1_000));
    let alone = Case::new(&few);
    let crowded = Case::new(&many);
    for n in 0..200 {
        worktree(&many, &crowded.repo, &format!("other-{n}"), crowded.worktree.base());
    }
    let mut entrants = vec![
        Entrant::timed("whole check among 200 other worktrees", || crowded.check()),
        Entrant::timed("whole check alone", || alone.check()),
    ];
    race(31, &mut entrants);
    compare("1000 files", &entrants, &[Aim::AtMost(1.1)]);
}

/// A worktree in which a worker has been.
struct Case {
    repo: Repo,
    worktree: Worktree,
    whitelist: Whitelist,
    run: RunId,
}

impl Case {
    fn new(repository: &Repository) -> Self {
        let repo = Repo::discover(&repository.top()).expect("the repository is found");
        let base = repo.resolve("main").expect("it has a commit");
        let worktree = worktree(repository, &repo, "subject", &base);
        for n in 0..5 {
            fs::write(worktree.path().join(format!("d{n}/f{}.txt", n * 100)), "changed\n")
                .expect("a file can be changed");
        }
        fs::write(worktree.path().join("d0/new.txt"), "new\n").expect("a file can be made");
        let patterns: Vec<String> = (0..5).map(|n| format!("d{n}/**")).collect();
        let whitelist = Whitelist::parse(&patterns).expect("the patterns are good").whitelist;
        let run = RunId::new("bench-1").expect("a good name");
        Self { repo, worktree, whitelist, run }
    }

    fn snapshot(&self) {
        let spec = SnapshotSpec::at(self.worktree.base());
        let found = self.worktree.snapshot(&spec).expect("the worktree can be looked at");
        assert_eq!(found.changes.len(), 6, "five changed files and a new one");
    }

    /// All that is done after a worker: the state before it is taken from where it was kept.
    fn check(&self) {
        let spec = SnapshotSpec::at(self.worktree.base());
        let found = self.worktree.snapshot(&spec).expect("the worktree can be looked at");
        let watch = GuardSpec { run: &self.run, worktree: Some(&self.worktree), checkout: true };
        let now = self.repo.guard(watch).expect("the repository can be looked at");
        let diff = self.repo.compare(&now, &now).expect("the two can be compared");
        let findings = scope::check(&found, &diff, |path| self.whitelist.matches(path));
        assert!(findings.is_empty(), "an honest change has no findings: {findings:?}");
    }

    fn status(&self) -> Command {
        status(self.worktree.path())
    }
}

fn worktree(repository: &Repository, repo: &Repo, name: &str, base: &CommitId) -> Worktree {
    let spec = WorktreeSpec {
        path: repository.worktrees().join(name),
        branch: Some(format!("sop/bench-1/{name}")),
        base: base.clone(),
        seed: repository.beside("seed").join(name),
    };
    repo.add_worktree(&spec).expect("a worktree can be made")
}

fn repository_status(repository: &Repository) -> Command {
    status(&repository.top())
}

/// Without writing the index back: as a look, not as a repair.
fn status(dir: &std::path::Path) -> Command {
    let mut status = Command::new("git");
    status.current_dir(dir).args(["--no-optional-locks", "status", "-z", "-uall"]);
    status
}
