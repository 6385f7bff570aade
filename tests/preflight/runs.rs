//! Runs from before: open, at work, killed, over, damaged; what they left; and the checkout when they are over.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::forge::Forge;
use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp};

/// A run of `a`, whose worker does this.
fn rig(script: &str) -> Rig {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(script))]);
    rig.write("notes.txt", "mine\n");
    rig
}

const WAITS: &str =
    "echo up >> \"$MARKS/up\"; until [ -e \"$MARKS/go\" ]; do sleep 0.02; done; done_well";

#[track_caller]
fn look(rig: &Rig) -> Value {
    let before = rig.users();
    let said = rig.sop(&["preflight"]);
    assert_eq!(said.err, "");
    assert_eq!(rig.users(), before);
    let text = said.out.replace(&rig.root().canonicalize().unwrap().display().to_string(), "ROOT");
    serde_json::from_str(&text).expect("JSON")
}

fn open(engine: bool, how: &str) -> Value {
    json!([{ "run": "o-1", "engine": engine, "resumable": true, "how": how }])
}

#[test]
fn an_engine_at_work_one_that_was_killed_and_a_run_that_is_over() {
    let rig = rig(WAITS);
    let mut engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("up", 1);
    let found = look(&rig);
    let part = &found["run"];
    assert_eq!(part["open"], open(true, "running, 0 of 1 packages through"));
    assert_eq!(part["what"], "an engine is at work on `o-1`");
    assert_eq!(found["leftovers"]["total"]["worktrees"], 0, "they are in use: {found:#}");

    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
    // A session that was launched and of which nobody has heard since.
    let said = rig.sop(&["status", "--summary", "--json"]);
    let summary: Value = serde_json::from_str(&said.out).expect("JSON");
    let remains = &summary["closing"]["remains"];
    assert_eq!(
        (&remains[0]["wp"], &remains[0]["session"]),
        (&json!("a"), &json!("launched")),
        "{remains:#}"
    );
    let found = look(&rig);
    let part = &found["run"];
    let how = "not running, 0 of 1 packages through";
    assert_eq!((&part["open"], &part["state"]), (&open(false, how), &json!("warn")));
    assert_eq!(part["do"], "`sop resume o-1` goes on with it");
    assert_eq!(found["leftovers"]["total"]["worktrees"], 0, "the run still needs them: {found:#}");

    // Somebody changed what was approved.
    let resolved = rig.run_dir().join("resolved.json");
    let frozen = fs::read(&resolved).unwrap();
    fs::write(&resolved, "{}").unwrap();
    let part = look(&rig)["run"].clone();
    assert_eq!(part["open"][0]["resumable"], false);
    assert!(part["do"].as_str().unwrap().contains("sop run clean o-1"), "{part:#}");
    fs::write(&resolved, frozen).unwrap();

    fs::write(rig.mark("go"), "").unwrap();
    engine = rig.start(&["resume"]);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let found = look(&rig);
    assert_eq!(found["run"]["what"], "no run is open");
    let leftovers = &found["leftovers"];
    assert_eq!(leftovers["state"], "go", "{leftovers:#}");
    assert_eq!(leftovers["what"], "1 run, 1 branch from before; no worktree is left");
    let of = |name: &str, clear: &str| json!([{ "name": name, "run": "o-1", "clear": clear }]);
    assert_eq!(leftovers["branches"], of("sop/o-1/a", "sop run clean o-1"));
    assert_eq!(leftovers["runs"], of("o-1", "sop run archive o-1"));
    rig.until_quiet();
}

#[test]
fn what_nobody_knows_any_more_is_named_with_what_clears_it() {
    let rig = rig("done_well");
    rig.apply(0);
    // A worktree that was kept, of a run that is over; and traces of one that is not there any more.
    let tree = fs::read_dir(rig.root().join("trees")).unwrap().next();
    let place = tree.map(|entry| entry.unwrap().path());
    let place = place.unwrap_or_else(|| rig.root().join("trees/none"));
    fs::create_dir_all(place.join("o-1/a")).unwrap();
    rig.git(&["branch", "sop/old-1/b"]);
    rig.git(&["update-ref", "refs/sop/salvage/old-1/b", "HEAD"]);
    let leftovers = look(&rig)["leftovers"].clone();
    let salvage = json!([{
        "name": "refs/sop/salvage/old-1/b", "run": "old-1",
        "clear": "git update-ref -d refs/sop/salvage/old-1/b",
    }]);
    assert_eq!(leftovers["salvage"], salvage);
    let more = leftovers["more"].as_array().cloned().unwrap_or_default();
    let all = [vec![leftovers.clone()], more].concat();
    let orphan =
        all.iter().find(|word| word["what"].as_str().unwrap().contains("not there any more"));
    assert_eq!(
        orphan.expect("it is named")["what"],
        "1 branch is left of runs that are not there any more"
    );
    assert_eq!(leftovers["total"]["branches"], 2, "{leftovers:#}");
}

/// The checkout as it was: said so. As it is not: which paths, which hashes, and nothing is put back.
#[test]
fn the_checkout_is_compared_when_the_run_is_over() {
    let rig = rig("done_well");
    let before = rig.users();
    let said = rig.apply(0);
    assert_eq!(rig.users(), before);
    assert!(said.out.contains("checkout   as it was when the run was made\n"), "{}", said.out);
    let closing = |rig: &Rig| {
        let said = rig.sop(&["status", "--summary", "--json"]);
        let summary: Value = serde_json::from_str(&said.out).expect("JSON");
        let schema = serde_json::from_str(&rig.sop(&["schema", "summary"]).out).expect("JSON");
        let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
        assert!(schema.is_valid(&summary), "{summary:#}");
        summary["closing"].clone()
    };
    let end = closing(&rig);
    assert_eq!(end["checkout"]["before"], end["checkout"]["after"]);
    assert_eq!(end["checkout"]["before"]["changes"], 1, "the notes: {end:#}");
    assert_eq!((&end["done"], &end["cleaned"]), (&json!(["a"]), &json!(["a"])));
    assert_eq!((&end["deferred"], &end["remains"]), (&json!([]), &json!([])));

    let touches = "cd \"$MARKS/../repo\" && echo more >> notes.txt && echo x >> worker.sh && echo new > new.txt; cd - > /dev/null; done_well";
    let rig =
        Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(touches)), ("notes.txt", "mine\n")]);
    rig.touches(&["new.txt", "notes.txt", "worker.sh"], "the worker writes there");
    rig.write("mine.txt", "untracked before\n");
    rig.write("notes.txt", "changed before\n");
    let said = rig.apply(0);
    let paths = [
        ("new.txt", Value::Null, json!("??")),
        ("notes.txt", json!(" M"), json!(" M")),
        ("worker.sh", Value::Null, json!(" M")),
    ];
    let paths = paths
        .map(|(path, before, after)| json!({ "path": path, "before": before, "after": after }));
    let end = closing(&rig);
    let compared = &end["checkout"];
    assert_eq!(compared["paths"], json!(paths), "{end:#}");
    assert_ne!(compared["before"]["diff_sha256"], compared["after"]["diff_sha256"]);
    assert_eq!(compared["before"]["head"], compared["after"]["head"]);
    let short =
        |moment: &str, hash: &str| compared[moment][hash].as_str().unwrap()[..12].to_owned();
    let diff = format!(
        "diff was {} and is {}",
        short("before", "diff_sha256"),
        short("after", "diff_sha256")
    );
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("checkout not as it was: status was ") && told.contains(&diff),
        "{}",
        said.out
    );
    for line in [
        "           new.txt (was clean, is untracked)\n",
        "           notes.txt (` M`, and changed again)\n",
        "           worker.sh (was clean, is ` M`)\n",
    ] {
        assert!(said.out.contains(line), "{line}{}", said.out);
    }
    let read = |name: &str| fs::read_to_string(rig.repo().join(name)).unwrap();
    assert_eq!(
        (read("notes.txt").as_str(), read("new.txt").as_str()),
        ("changed before\nmore\n", "new\n")
    );
}

/// A commit that a person makes meanwhile is a difference too; a run that is resumed in between keeps its baseline.
#[test]
fn a_commit_meanwhile_and_a_resume_in_between() {
    let rig = rig(WAITS);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("up", 1);
    engine.signal(Signal::KILL);
    engine.wait();
    rig.git(&["add", "notes.txt"]);
    rig.git(&["commit", "--quiet", "-m", "notes"]);
    fs::write(rig.mark("go"), "").unwrap();
    let said = rig.sop_ends(0, &["resume"]);
    let head = |rev: &str| rig.git(&["rev-parse", "--short=10", rev]).trim().to_owned();
    let moved = format!("HEAD was {} and is {}", head("HEAD~1"), head("HEAD"));
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&moved), "{}", said.out);
    assert!(told.contains("notes.txt (was untracked, is clean)"), "{}", said.out);
    rig.until_quiet();
}

/// What stays is named with why, and the command that sees to it.
#[test]
fn what_remains_is_named_with_its_command() {
    let more = "needs = [\"a\"]\n";
    let rig = Rig::new(
        &plan(&(wp("a", "rounds = 1\n") + &wp("b", more))),
        &[("worker.sh", &worker("exit 1"))],
    );
    rig.apply(3);
    let said = rig.sop(&["status", "--summary", "--json"]);
    let summary: Value = serde_json::from_str(&said.out).expect("JSON");
    let end = &summary["closing"];
    assert_eq!(end["stuck"], json!(["a"]), "{end:#}");
    assert_eq!(end["deferred"], json!([{ "wp": "b", "because": "a" }]));
    let remains = end["remains"].as_array().unwrap();
    assert_eq!(remains.len(), 1, "{end:#}");
    let left = &remains[0];
    assert_eq!((&left["wp"], &left["session"]), (&json!("a"), &json!("settled")));
    assert_eq!(left["command"], "sop retry a --run o-1");
    assert!(std::path::Path::new(left["worktree"].as_str().unwrap()).is_dir());
    let leftovers = look(&rig)["leftovers"].clone();
    assert_eq!(leftovers["what"], "1 worktree is left of runs that are over");
    assert_eq!(leftovers["worktrees"][0]["clear"], "sop run clean o-1");
    assert_eq!(leftovers["do"], "`sop run clean o-1` looks at them, and clears what is safe");
}

/// What waits for a person waits for what that person does, and not for `sop resume`.
#[test]
fn a_run_that_waits_for_a_person_is_told_with_what_they_do() {
    let waits = wp("a", "review = \"human\"\n") + &wp("b", "rounds = 1\n");
    let script = "case $SOP_WP in a) done_well;; esac";
    let rig = Rig::new(&plan(&waits), &[("worker.sh", &worker(script))]);
    rig.apply(4);
    let part = look(&rig)["run"].clone();
    assert_eq!(part["what"], "the run `o-1` is not over: waiting, 0 of 2 packages through");
    let review = "`sop review a --approve --run o-1` or `sop review a --request-changes FILE --run o-1`, and then \
                  `sop resume o-1`; `sop inbox --run o-1` lists what else waits";
    assert_eq!(part["do"], review);
    // Once they have done it, it is `sop resume` that is waited for.
    rig.sop_ends(0, &["review", "a", "--approve"]);
    assert_eq!(look(&rig)["run"]["do"], "`sop resume o-1` goes on with it");
}

/// A worktree that the lead has made is no leftover, and there is nothing to warn of.
#[test]
fn the_leads_own_worktrees_are_no_leftovers() {
    let rig = rig("done_well");
    rig.touches(&[".git/refs/heads/mine", ".git/logs/refs/heads/mine"], "a branch of the lead's");
    rig.sop_ends(0, &["worktree", "new", "mine"]);
    let found = look(&rig);
    let leftovers = &found["leftovers"];
    assert_eq!(
        (&leftovers["state"], &leftovers["what"]),
        (&json!("go"), &json!("nothing is left"))
    );
    assert_eq!(leftovers["worktrees"], json!([]), "{leftovers:#}");
}

#[test]
fn branches_of_archived_runs_are_told_as_that() {
    let rig = rig("done_well");
    rig.apply(0);
    rig.sop_ends(0, &["run", "archive", "o-1"]);
    let leftovers = look(&rig)["leftovers"].clone();
    assert_eq!(leftovers["what"], "1 branch is left of runs that are archived");
}

/// `sop plan` carries all ten parts, and warns of what concerns a run of the plan alone.
#[test]
fn a_plans_report_has_every_part_and_only_words_that_concern_it() {
    let rig = Rig::new(&plan(&wp("a", "rounds = 1\n")), &[("worker.sh", &worker("exit 1"))]);
    rig.apply(3);
    assert_eq!(look(&rig)["leftovers"]["state"], "warn");
    let report = |rig: &Rig, code: i32| -> Value {
        serde_json::from_str(&rig.sop_ends(code, &["plan", "--json"]).out).expect("JSON")
    };
    let found = report(&rig, 0)["preflight"].clone();
    let parts: Vec<&String> = found.as_object().unwrap().keys().collect();
    let all = [
        "base_check",
        "baseline",
        "config",
        "docker_pool",
        "git",
        "instructions",
        "leftovers",
        "plan",
        "pr",
        "run",
        "runtime",
        "state",
    ];
    assert_eq!(parts, all);
    assert_eq!((&found["state"], &found["plan"]), (&json!("go"), &json!("plan.toml")), "{found:#}");
    let leftovers = &found["leftovers"];
    assert_eq!((&leftovers["state"], &leftovers["total"]["worktrees"]), (&json!("go"), &json!(1)));
    assert_eq!(leftovers["what"], "1 run, 1 worktree, 1 branch from before");

    // What keeps it from delivering keeps it from starting only where it is to deliver.
    let rig = Rig::new(
        &plan(&format!("[delivery]\n{}", wp("a", ""))),
        &[("worker.sh", &worker("done_well"))],
    );
    let found = report(&rig, 5)["preflight"].clone();
    let what = "there is no remote `origin` to deliver to";
    let pr = &found["pr"];
    assert_eq!(
        (&found["state"], &pr["state"], &pr["what"]),
        (&json!("warn"), &json!("warn"), &json!(what))
    );
    let said = rig.sop(&["preflight"]);
    assert_eq!(said.code, 5, "asked by itself it is what stops: {}", said.out);
    rig.sop_ends(0, &["apply", "--approve", "commits,cleanup"]);
}

/// The forge is asked whether the base is protected where a fetch is allowed, and not otherwise.
#[test]
fn protection_is_asked_for_with_a_fetch() {
    let Some(forge) = Forge::start() else { return };
    let rig = Rig::new(
        &plan(&format!("[delivery]\n{}", wp("a", ""))),
        &[("worker.sh", &worker("done_well"))],
    );
    rig.git(&["remote", "add", "origin", &forge.url()]);
    rig.git(&["push", "--quiet", forge.bare().to_str().unwrap(), "main"]);
    rig.touches(&[".git/refs/remotes", ".git/logs/refs/remotes"], "a fetch");
    let config = forge.gh_config();
    let protection = |args: &[&str]| {
        let said = rig.sop_with(&[("GH_CONFIG_DIR", &config)], &[&["preflight"], args].concat());
        let found: Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!(found["pr"]["state"], "go", "{found:#}");
        found["pr"]["protection"].clone()
    };
    assert_eq!(protection(&[]), Value::Null);
    assert_eq!(protection(&["--fetch"]), json!(false));
    forge.protect(&["unit"], false);
    assert_eq!(protection(&["--fetch"]), json!(true));
    assert_eq!(forge.changes(), Vec::<String>::new());
}
