//! The scope adversary, end to end: each trick is the worker of a real `sop apply` in a repository of its
//! own, and none gets through; each honest change is committed exactly.

use bstr::{BString, ByteSlice};
use serde_json::Value;
use sop::git::scope::Place;

use crate::support::git_repo::{GitRepo, command};
use crate::support::tricks::{Caught, HONEST, SETUP, TRICKS, Trick, WHITELIST};

/// The branch of the WP that plays the trick.
const BRANCH: &str = "sop/run-1/adversary";
/// Waits until the sibling is through: its branch has left the base.
const WAIT_FOR_SIBLING: &str = "i=0; while test \"$(git rev-parse refs/heads/sop/run-1/sibling)\" = \"$(git rev-parse HEAD)\"; do \
     i=$((i+1)); test $i -lt 600; sleep 0.05; done";
/// Prints everything about a checkout that is the user's.
const LOOK: &str = "find . -path ./.git -prune -o -printf '%P %y %m %T@ %l\\n' -type f -exec sha256sum {} + | sort; \
     sha256sum .git/index .git/HEAD; stat -c '%Y %i' .git/index; git rev-parse HEAD refs/heads/main";

struct Applied {
    repo: GitRepo,
    code: i32,
    events: Vec<Value>,
    err: String,
    checkout_before: String,
}

fn template() -> GitRepo {
    let repo = GitRepo::new(SETUP);
    repo.sh("git branch other HEAD; git branch stable HEAD; git commit -q --allow-empty -m second");
    repo
}

/// The plan: one WP with a folder of its own and one round and, if wanted, one beside it.
fn plan(dod: &str, sibling: bool) -> String {
    let stage = if sibling { "stage = \"only\"\n" } else { "" };
    let mut text = format!(
        "version = 1\n[plan]\nname = \"run\"\ngoal = \"g\"\nbase = \"main\"\ncheckout = \"frozen\"\nrounds = 1\n\
         [tiers.standard]\nworker = \"adversary\"\n[tiers.honest]\nworker = \"honest\"\n\
         [workers.adversary]\ncommand = [\"sh\", \"-eu\", \"../../../../outside/trick.sh\"]\n\
         [workers.honest]\ncommand = [\"sh\", \"-c\", \"echo more >> docs/guide.md\"]\n\
         [[wp]]\nid = \"adversary\"\n{stage}tier = \"standard\"\nwhitelist = [\"src/**\"]\n\
         dod = ['''{dod}''']\nbrief_text = \"b\"\n"
    );
    if sibling {
        text.push_str(
            "[[wp]]\nid = \"sibling\"\nstage = \"only\"\ntier = \"honest\"\nwhitelist = [\"docs/**\"]\n\
             dod = [\"true\"]\nbrief_text = \"b\"\n[[stage]]\nname = \"only\"\n",
        );
    }
    text
}

/// Applies a plan whose worker runs `script` and then takes down what the checkout is like.
fn apply(template: &GitRepo, script: &str, dod: &str, sibling: bool) -> Applied {
    let repo = template.copy();
    let outside = repo.at("outside");
    let places = format!(
        "MAIN='{}'; OUTSIDE='{}'; SIBLING=\"$PWD/../sibling\"\n\
         export GIT_AUTHOR_NAME=M GIT_AUTHOR_EMAIL=m@localhost GIT_COMMITTER_NAME=M GIT_COMMITTER_EMAIL=m@localhost\n",
        repo.main().display(),
        outside.display()
    );
    let look = format!("\n(cd \"$MAIN\"; {LOOK}) > \"$OUTSIDE/checkout\"\n");
    std::fs::write(outside.join("trick.sh"), format!("{places}({script}\n){look}"))
        .expect("a file");
    std::fs::write(outside.join("plan.toml"), plan(dod, sibling)).expect("a file");
    let checkout_before = repo.sh(LOOK);
    let mut sop = command(env!("CARGO_BIN_EXE_sop"), &repo.main());
    let output = sop
        .env("SOP_WORKTREES", repo.at("wt"))
        .env("HOME", repo.at("run"))
        .args(["apply", "--yes", "--json"])
        .arg(outside.join("plan.toml"))
        .output()
        .expect("sop");
    let events = output.stdout.lines().map(|line| serde_json::from_slice(line).expect("NDJSON"));
    Applied {
        events: events.collect(),
        code: output.status.code().unwrap_or(256),
        err: output.stderr.to_str_lossy().into_owned(),
        repo,
        checkout_before,
    }
}

impl Applied {
    fn of(&self, event: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |e| e["event"] == event)
    }

    /// What the engine said is wrong: `(check, subject)`.
    fn subjects(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.of("scope_checked")
            .chain(self.of("gate_failed"))
            .flat_map(|event| event["problems"].as_array().into_iter().flatten())
            .map(|problem| (text(&problem["check"]), text(&problem["subject"])))
            .collect()
    }

    /// The checkout as it was when the worker was through with it.
    fn checkout_left(&self) -> String {
        let left = std::fs::read_to_string(self.repo.at("outside").join("checkout"));
        left.map_or_else(
            |_| "the worker did not get to its end".to_owned(),
            |left| left.trim_end().to_owned(),
        )
    }

    /// Paths that differ between the base and a branch of the run.
    fn changed_on(&self, branch: &str) -> Vec<BString> {
        let range = format!("{}..refs/heads/{branch}", self.base());
        let mut git = command("git", &self.repo.main());
        let args = ["--no-replace-objects", "diff", "--no-renames", "--name-only", "-z"];
        let output = git.args(args).arg(range).output().expect("git");
        assert!(output.status.success(), "{branch}: {}", output.stderr.to_str_lossy());
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.map(BString::from).collect()
    }

    fn base(&self) -> &str {
        let started = self.of("wp_started").next().expect("a WP began");
        started["base"].as_str().expect("its base")
    }
}

/// What is wrong with how a trick was met.
fn faults(template: &GitRepo, trick: &Trick) -> Vec<String> {
    let ran = match trick.caught {
        Caught::Scope | Caught::Person => apply(template, trick.script, "true", false),
        Caught::Sibling => {
            let script = format!("echo more >> src/a.txt; {WAIT_FOR_SIBLING}\n{}", trick.script);
            apply(template, &script, "true", true)
        }
        Caught::AfterDod => {
            // On the base it does nothing: there the dry run would refuse it.
            let dod = format!("if grep -q ONE src/a.txt; then {}; fi", trick.script);
            apply(template, "printf 'ONE\\n' > src/a.txt", &dod, false)
        }
    };
    let mut faults = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            faults.push(format!("{}: {what}", trick.name));
        }
    };
    let subjects = ran.subjects();
    let wanted = Place::Path(BString::from(trick.named)).to_string();
    let named = |(_, subject): &(String, String)| match trick.caught {
        Caught::Scope | Caught::AfterDod => {
            *subject == wanted || *subject == format!("{wanted} (of git's own)")
        }
        Caught::Person => {
            *subject == wanted
                || *subject == format!("{wanted} (of git's own)")
                || *subject == format!("{wanted} (in the main checkout)")
        }
        Caught::Sibling => subject.ends_with(&format!("sibling: {wanted}")),
    };
    if trick.caught == Caught::AfterDod && trick.named.starts_with(WHITELIST.as_bytes()) {
        // Within the whitelist it may be changed: what is committed is what was looked at again.
        let looks: Vec<&Value> = ran.of("scope_checked").map(|event| &event["tree"]).collect();
        let committed: Vec<&Value> = ran.of("wp_committed").map(|event| &event["tree"]).collect();
        expect(looks.len() > 1 && looks[0] != looks[1], format!("not looked at again: {looks:?}"));
        expect(committed == looks[looks.len() - 1..], format!("{committed:?} of {looks:?}"));
        return faults;
    }
    let blocked: Vec<&Value> = ran.of("wp_blocked").map(|event| &event["problem"]).collect();
    expect(ran.code == 3, format!("exit code {}: {}{blocked:?}", ran.code, ran.err));
    expect(subjects.iter().any(named), format!("`{wanted}` is not named in {subjects:?}"));
    if trick.caught != Caught::Sibling {
        expect(ran.of("wp_committed").count() == 0, "it was committed".to_owned());
        let changed = ran.changed_on(BRANCH);
        expect(changed.is_empty(), format!("its branch holds {changed:?}"));
    } else {
        let changed = ran.changed_on("sop/run-1/sibling");
        expect(changed == ["docs/guide.md"], format!("the sibling's branch holds {changed:?}"));
    }
    let stages = ran.repo.sh("git for-each-ref refs/heads/sop-stage");
    expect(stages.is_empty(), format!("integrated: {stages}"));
    let (left, now) = (ran.checkout_left(), ran.repo.sh(LOOK));
    expect(left == now, format!("sop changed the checkout:\n{left}\n{now}"));
    if trick.caught != Caught::Person {
        expect(now == ran.checkout_before, "the checkout is not as it was".to_owned());
    }
    faults
}

#[test]
fn no_trick_gets_through_a_real_run() {
    assert!(TRICKS.len() >= 25);
    let template = template();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut faults_found = Vec::new();
        while let Some(trick) = TRICKS.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            faults_found.extend(faults(&template, trick));
        }
        faults_found
    };
    let found = std::thread::scope(|scope| {
        let others = [scope.spawn(work), scope.spawn(work)];
        let mut found = work();
        found.extend(others.into_iter().flat_map(|other| other.join().expect("no panic")));
        found
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Honest work that `HONEST` cannot show at room level: what matters is what is committed.
const MORE_HONEST: &[(&str, &str, &[&[u8]])] = &[
    ("a big file", "head -c 5000000 /dev/zero | tr '\\0' x > src/big", &[b"src/big"]),
    ("a binary file", "printf '\\000\\001\\377' > src/bin", &[b"src/bin"]),
    ("an empty file", ": > src/empty", &[b"src/empty"]),
    ("line ends", "printf 'a\\r\\nb\\r\\n' > src/crlf.txt", &[b"src/crlf.txt"]),
    ("a new executable", "printf '#!/bin/sh\\n' > src/x; chmod +x src/x", &[b"src/x"]),
    (
        "names with blanks, dashes and accents",
        "printf x > 'src/a b'; printf x > src/-f; printf x > 'src/é'; printf x > 'src/.hid'",
        &[b"src/-f", b"src/.hid", b"src/a b", "src/é".as_bytes()],
    ),
];

#[test]
fn what_is_honest_is_committed_byte_for_byte() {
    let template = template();
    let check = |name: &str, script: &str, expected: Result<&[&[u8]], usize>| {
        let script =
            format!("{script}\n(cd src; tar c --sort=name --mtime=@0 .) > \"$OUTSIDE/src.tar\"");
        let ran = apply(&template, &script, "true", false);
        let empty = expected == Err(0);
        // A worker that changes nothing is told so; that is no fault of scope.
        let (code, named) = if empty { (3, 1) } else { (0, 0) };
        assert_eq!(ran.code, code, "{name}: {:?}\n{}", ran.subjects(), ran.err);
        let scope = ran.subjects().iter().filter(|(check, _)| check == "scope").count();
        assert_eq!((scope, ran.subjects().len()), (0, named), "{name}: {:?}", ran.subjects());
        let changed = ran.changed_on(BRANCH);
        match expected {
            Ok(paths) => assert_eq!(changed, paths, "{name}"),
            Err(count) => assert_eq!(changed.len(), count, "{name}: {changed:?}"),
        }
        assert_eq!(ran.repo.sh(LOOK), ran.checkout_before, "{name}: the checkout");
        if !empty {
            // What the worker left in its folder, against what a checkout of its branch holds.
            let differs = ran.repo.sh(&format!(
                "mkdir ../outside/left ../outside/got; tar x -C ../outside/left -f ../outside/src.tar; \
                 git archive {BRANCH}:src | tar x -C ../outside/got; cd ../outside; \
                 find left -name '*.log' -delete; find left got -depth -type d -empty -delete; \
                 diff -r --no-dereference left got; \
                 for d in left got; do (cd $d; find . ! -type d -perm /100 | sort > ../$d.x); done; cmp left.x got.x"
            ));
            assert_eq!(differs, "", "{name}");
        }
    };
    for honest in HONEST {
        check(honest.name, honest.script, Err(honest.changes));
    }
    for (name, script, paths) in MORE_HONEST {
        check(name, script, Ok(paths));
    }
    assert!(HONEST.len() + MORE_HONEST.len() >= 10);
}
