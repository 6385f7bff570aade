//! The scope adversary: every trick is refused with its path named, every honest change passes.

use bstr::{BStr, BString, ByteSlice};
use sop::git::guard::Guarded;
use sop::git::scope::{self, Place};
use sop::git::{GuardSpec, ScopeFinding, Snapshot, Worktree};
use sop::model::ids::RunId;

use crate::support::git_repo::{GitRepo, command, snapshot};
use crate::support::tricks::{Caught, HONEST, SETUP, TRICKS, Trick, WHITELIST};

struct Stage {
    repo: GitRepo,
    run: RunId,
    worktree: Worktree,
    sibling: Worktree,
}

impl Stage {
    fn template() -> GitRepo {
        let repo = GitRepo::new(SETUP);
        repo.sh("git branch other HEAD; git branch stable HEAD");
        // A second commit, so that a branch can be moved back.
        repo.sh("git commit -q --allow-empty -m second");
        repo
    }

    fn new(template: &GitRepo) -> Self {
        let repo = template.copy();
        let (worktree, sibling) = (repo.worktree("adversary"), repo.worktree("sibling"));
        Self { repo, run: RunId::new("run-1").expect("an id"), worktree, sibling }
    }

    fn guard(&self) -> Guarded {
        let spec = GuardSpec { run: &self.run, worktree: Some(&self.worktree), checkout: true };
        self.worktree.repo().guard(spec).expect("a guard")
    }

    fn run(&self, script: &str) {
        let mut sh = command("sh", self.worktree.path());
        sh.env("MAIN", self.repo.main())
            .env("SIBLING", self.sibling.path())
            .env("OUTSIDE", self.repo.at("outside"));
        let output = sh.args(["-euc", script]).output().expect("sh");
        assert!(output.status.success(), "{script}: {}", output.stderr.to_str_lossy());
    }

    /// What the check and the notes say after a script has run.
    fn verdict(&self, script: &str) -> (Snapshot, Vec<ScopeFinding>, Vec<ScopeFinding>) {
        let before = self.guard();
        self.run(script);
        let found = snapshot(&self.worktree);
        let diff = self.worktree.repo().compare(&before, &self.guard()).expect("a comparison");
        let findings = scope::check(&found, &diff, allowed);
        let notes = scope::notes(&found, &diff);
        (found, findings, notes)
    }
}

fn allowed(path: &BStr) -> bool {
    path.starts_with(WHITELIST.as_bytes())
}

fn named(findings: &[ScopeFinding]) -> Vec<BString> {
    findings.iter().map(|finding| finding.place.name().to_owned()).collect()
}

/// What is wrong with how a trick was met; `None` when it was met well.
fn fault(template: &GitRepo, trick: &Trick) -> Option<String> {
    let stage = Stage::new(template);
    let wanted = BString::from(trick.named);
    match trick.caught {
        Caught::Scope => {
            let (_, findings, _) = stage.verdict(trick.script);
            let names = named(&findings);
            (!names.contains(&wanted)).then(|| format!("{wanted:?} is not among {names:?}"))
        }
        Caught::Person => {
            let (_, findings, notes) = stage.verdict(trick.script);
            let names = named(&notes);
            if !findings.is_empty() {
                return Some(format!("blamed on the worker: {findings:?}"));
            }
            (!names.contains(&wanted))
                .then(|| format!("{wanted:?} is not among the notes {names:?}"))
        }
        Caught::Sibling => {
            let tree = snapshot(&stage.sibling).tree;
            let (_, findings, _) = stage.verdict(trick.script);
            assert_eq!(findings, [], "{}: the siblings are not looked at by every WP", trick.name);
            let paths = stage.sibling.verify_settled(&tree, &[]).expect("a look");
            (paths != [wanted.clone()]).then(|| format!("{wanted:?} expected, {paths:?} found"))
        }
        Caught::AfterDod => {
            let (first, findings, _) = stage.verdict("printf 'ONE\\n' > src/a.txt");
            assert_eq!(findings, [], "{}: the work itself is fine", trick.name);
            stage.run(trick.script);
            let paths = stage.worktree.verify_settled(&first.tree, &[]).expect("a look");
            (paths != [wanted.clone()]).then(|| format!("{wanted:?} expected, {paths:?} found"))
        }
    }
}

#[test]
fn every_trick_is_refused_with_its_path_named() {
    assert!(TRICKS.len() >= 25);
    let template = Stage::template();
    let halves = TRICKS.split_at(TRICKS.len() / 2);
    let run = |tricks: &[Trick]| -> Vec<String> {
        tricks
            .iter()
            .filter_map(|trick| Some(format!("{}: {}", trick.name, fault(&template, trick)?)))
            .collect()
    };
    let faults = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(halves.1));
        [run(halves.0), other.join().expect("no panic")].concat()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_honest_change_passes() {
    assert!(HONEST.len() >= 10);
    let template = Stage::template();
    for honest in HONEST {
        let stage = Stage::new(&template);
        let (found, findings, notes) = stage.verdict(honest.script);
        assert_eq!(findings, [], "{}", honest.name);
        assert_eq!(notes, [], "{}", honest.name);
        assert_eq!(found.changes.len(), honest.changes, "{}: {:?}", honest.name, found.changes);
    }
}

#[test]
fn a_finding_is_one_line_for_people_whatever_the_name() {
    let place = Place::Path(b"docs/\x1b[2J\n\xff".as_bstr().to_owned());
    assert_eq!(place.to_string(), r"docs/\u{1b}[2J\n\xff");
}
