//! Repositories of every kind: what git, the base, the checkout, the settings and the files for agents are.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Desk;
use crate::support::git_repo::{GitRepo, sh};
use crate::support::scratch::has;

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What `git` tells of a repository with nothing special about it, and what is another here.
fn git(desk: &Desk, state: &str, what: &str, help: Option<&str>, others: Value) -> Value {
    let mut part = json!({
        "state": state,
        "what": what,
        "do": help,
        "version": version(desk),
        "libgit2": "1.9.7",
        "in_process": true,
        "object_format": "sha1",
        "ref_format": "files",
        "sparse": false,
        "submodules": { "count": 0, "initialised": 0 },
        "lfs": { "used": false, "installed": null },
        "shallow": false,
        "partial": false,
        "worktree_config": false,
        "ignore_case": false,
        "means": [],
    });
    // The library's version is the lock file's to say.
    part["libgit2"] = desk.look(&[]).part("git")["libgit2"].clone();
    for (key, value) in others.as_object().into_iter().flatten() {
        part[key] = value.clone();
    }
    part
}

fn version(desk: &Desk) -> String {
    desk.repo.sh("git version").trim_start_matches("git version ").to_owned()
}

fn means(feature: &str, why: &str) -> Value {
    json!({ "feature": feature, "works": true, "why": why })
}

const BY_GIT: &str = "libgit2 does not open it, so that every step starts `git`";

#[test]
fn a_plain_repository_is_go_in_every_part() {
    let desk = Desk::new("echo hi > README.md; echo say hi > AGENTS.md");
    let found = desk.look(&[]);
    assert_eq!((found.code, found.all["state"].as_str()), (0, Some("go")), "{:#}", found.all);
    let fine = |what: &str| (what.to_owned(), Value::Null);
    let built_in = |value: Value| json!({ "value": value, "from": "built_in" });
    found.is(
        "config",
        &json!({
            "state": "go",
            "what": "at most 4 packages at once; the plain layout",
            "do": null,
            "source_worktree": { "value": "ROOT/main" },
            "default_base": built_in(json!("HEAD")),
            "provision": built_in(json!({ "copy": [], "setup": [], "timeout": "10m" })),
            "max_parallel": built_in(json!(4)),
            "auto_merge_risk": built_in(json!("none")),
            "merge_method": built_in(json!("squash")),
            "auto_cleanup": built_in(json!(true)),
            "layout": { "value": "plain" },
        }),
    );
    found.is(
        "instructions",
        &json!({
            "state": "go",
            "what": "workers see AGENTS.md",
            "do": null,
            "base": "ID",
            "files": [{ "path": "AGENTS.md", "tracked": true, "checkout": "same", "named": false }],
        }),
    );
    found.is(
        "leftovers",
        &json!({
            "state": "go", "what": "nothing is left", "do": null,
            "worktrees": [], "branches": [], "runs": [], "salvage": [],
            "total": { "worktrees": 0, "branches": 0, "runs": 0, "salvage": 0 },
        }),
    );
    found.is("run", &json!({ "state": "go", "what": "no run is open", "do": null, "open": [] }));
    found.is(
        "pr",
        &json!({
            "state": "go", "what": "there is no remote that requests could be made at", "do": null,
            "remote": null, "host": null, "forge": null, "path": null, "auth": null,
            "base_branch": "main", "protection": null,
        }),
    );
    found.is(
        "base_check",
        &json!({
            "state": "go", "what": "`main` follows no other branch", "do": null,
            "base": "HEAD", "commit": "ID", "branch": "main", "upstream": null,
            "ahead": null, "behind": null, "fetched": false,
        }),
    );
    found.is(
        "docker_pool",
        &json!({
            "state": "go", "what": "nothing here uses Docker", "do": null,
            "docker": null, "used_by": [], "networks": null, "taken": null, "free": null, "max_parallel": 4,
        }),
    );
    let special = format!("git {}, and nothing special about the repository", version(&desk));
    found.is("git", &git(&desk, "go", &special, None, json!({})));
    let (what, help) = fine("the checkout is clean");
    let empty = sha256("");
    assert_eq!(found.part("baseline")["what"], what);
    assert_eq!(found.part("baseline")["do"], help);
    assert_eq!(found.part("baseline")["status_sha256"], empty);
    assert_eq!(found.part("baseline")["diff_sha256"], empty);
}

/// The baseline is what git prints, byte for byte, whatever is dirty, and whatever its own index remembers.
#[test]
fn the_baseline_is_what_git_prints() {
    let desk = Desk::new(
        "echo a > a; echo b > b; echo c > c; echo d > 'a name'; mkdir sub; echo e > sub/e",
    );
    desk.repo.sh("echo A >> a; git add a; echo AA >> a; rm b; echo new > new; echo x >> 'a name'; git mv c moved; touch sub/e");
    // In its own words, in a copy: git writes the index of whoever asks for a diff.
    let copy = desk.repo.copy();
    let (status, diff) = (copy.main().join("../status"), copy.main().join("../diff"));
    copy.sh("git status --porcelain=v1 > ../status; git diff HEAD > ../diff");
    let (status, diff) =
        (std::fs::read_to_string(status).unwrap(), std::fs::read_to_string(diff).unwrap());
    assert!(status.contains("R  c -> moved") && diff.contains("+AA"), "{status}{diff}");
    let found = desk.look(&[]);
    found.is(
        "baseline",
        &json!({
            "state": "go",
            "what": "5 paths of the checkout are changed or untracked; they stay as they are",
            "do": null,
            "worktree": "ROOT/main",
            "head": "ID",
            "status_sha256": "ID",
            "diff_sha256": "ID",
            "changes": 5,
        }),
    );
    assert_eq!(found.part("baseline")["status_sha256"], sha256(&status));
    assert_eq!(found.part("baseline")["diff_sha256"], sha256(&diff));
    assert_eq!(found.code, 0);
}

/// Nothing that the configuration names is run for the diff, and its colours do not get in.
#[test]
fn programs_of_the_configuration_are_not_run() {
    let desk = Desk::new("echo a > a; echo 'a diff=own' > .gitattributes");
    desk.repo.sh("echo b > a; git config color.ui always; git config diff.external \"touch $PWD/ran;\"; git config diff.own.textconv \"touch $PWD/ran; cat\"; git config core.fsmonitor \"touch $PWD/ran\"");
    let found = desk.look(&[]);
    assert_eq!(found.part("baseline")["changes"], 1);
    assert!(!desk.at("main/ran").exists());
    let diff = "diff --git a/a b/a\nindex 7898192..6178079 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(found.part("baseline")["diff_sha256"], sha256(diff));
}

#[test]
fn what_is_special_about_git_is_named_with_what_it_means() {
    let sha256 = GitRepo::with_init("echo a > a", "git init -q --object-format=sha256 -b main .");
    let desk = Desk::of(sha256);
    let what = format!("git {}; sha256: works", version(&desk));
    let others = json!({
        "in_process": false, "object_format": "sha256", "means": [means("sha256", BY_GIT)],
    });
    let found = desk.look(&[]);
    found.is("git", &git(&desk, "go", &what, None, others));
    assert_eq!(found.part("base_check")["commit"].as_str().map(str::len), Some(64));
    assert_eq!((found.code, &found.part("baseline")["state"]), (0, &json!("go")));

    let desk = Desk::new("mkdir in out; echo a > in/a; echo b > out/b");
    desk.repo.sh("git sparse-checkout set in");
    let what = format!("git {}; sparse, worktree_config: works", version(&desk));
    let sparse = "your checkout is sparse and stays so; worktrees of a run are whole";
    let of_one = "settings of one worktree are compared with the others";
    let others = json!({
        "sparse": true, "worktree_config": true,
        "means": [means("sparse", sparse), means("worktree_config", of_one)],
    });
    desk.look(&[]).is("git", &git(&desk, "go", &what, None, others));

    let inner = GitRepo::new("echo i > i");
    let desk = Desk::new(&format!(
        "git -c protocol.file.allow=always submodule --quiet add {} lib",
        inner.main().display()
    ));
    let why = "worktrees start without them; a `setup` command can fetch them, and a package may \
               move the commit that one is at, but nothing inside it";
    let what = format!("git {}; submodules: works", version(&desk));
    let part = |initialised| {
        json!({
            "submodules": { "count": 1, "initialised": initialised }, "means": [means("submodules", why)],
        })
    };
    desk.look(&[]).is("git", &git(&desk, "go", &what, None, part(1)));
    desk.repo.sh("git submodule --quiet deinit -f lib");
    desk.look(&[]).is("git", &git(&desk, "go", &what, None, part(0)));

    let desk = Desk::new("echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes");
    let found = desk.look(&[]);
    let help = Some("install git-lfs, and run `git lfs install`");
    found.says("git", "warn", "attributes send files through LFS, and `git-lfs` is not here", help);
    assert_eq!(found.part("git")["lfs"], json!({ "used": true, "installed": false }));
    assert_eq!(found.part("git")["means"][0]["works"], false);
    assert_eq!(found.code, 4);
    let found = desk.program("git-lfs", "exit 0").look(&[]);
    assert_eq!(found.part("git")["lfs"], json!({ "used": true, "installed": true }));
    assert_eq!(found.code, 0);

    let desk = Desk::new("echo a > a");
    desk.repo.sh("git config core.ignorecase true; git config extensions.partialClone origin; git config core.repositoryformatversion 1");
    let found = desk.look(&[]);
    let git = found.part("git");
    assert_eq!((&git["ignore_case"], &git["partial"]), (&json!(true), &json!(true)), "{git:#}");
}

#[test]
fn reftable_works_and_is_named() {
    let said = sh(std::path::Path::new("/"), "git version");
    let mut numbers = said.trim_start_matches("git version ").split('.');
    let mut number = || numbers.next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    if !has("git 2.45 or newer", (number(), number()) >= (2, 45)) {
        return;
    }
    let repo = GitRepo::with_init("echo a > a", "git init -q --ref-format=reftable -b main .");
    let desk = Desk::of(repo);
    let what = format!("git {}; reftable: works", version(&desk));
    let others = json!({
        "in_process": false, "ref_format": "reftable", "means": [means("reftable", BY_GIT)],
    });
    let found = desk.look(&[]);
    found.is("git", &git(&desk, "go", &what, None, others));
    assert_eq!(found.part("base_check")["branch"], "main");
    assert_eq!(found.code, 0);
}

#[test]
fn bare_layouts_start_from_a_worktree_or_from_the_bare_folder() {
    let desk = Desk::new("echo a > a");
    desk.repo
        .sh("git clone -q --bare . ../store.git; git -C ../store.git worktree add -q ../tree main");
    let desk = desk.within("store.git");
    let found = desk.look(&[]);
    found.says(
        "git",
        "warn",
        "this is the bare repository itself: there is no checkout to read `.sop/config.toml` in, or to copy from what `[provision]` names",
        Some("start sop in a worktree beside it, where that is wanted (`git worktree add`)"),
    );
    assert_eq!(found.part("config")["source_worktree"], json!({ "value": null }));
    assert_eq!(found.part("config")["layout"], json!({ "value": "bare" }));
    assert_eq!(found.code, 4, "{:#}", found.all);
    let desk = desk.within("tree");
    let found = desk.look(&[]);
    assert_eq!(found.part("config")["source_worktree"], json!({ "value": "ROOT/tree" }));
    assert_eq!(found.part("config")["layout"], json!({ "value": "bare" }));
    assert_eq!(found.part("baseline")["worktree"], "ROOT/tree");
    assert_eq!(found.code, 0, "{:#}", found.all);
}

#[test]
fn no_commit_and_no_base_stop() {
    let desk = Desk::new("true");
    desk.repo.sh("git checkout -q --orphan new; git rm -q --cached -r . 2>/dev/null || true");
    let found = desk.look(&[]);
    found.says(
        "git",
        "stop",
        "there is no commit yet; make a first one",
        Some("make a first commit"),
    );
    found.says(
        "base_check",
        "stop",
        "there is no commit yet that a run could start from",
        Some("make a first commit"),
    );
    assert_eq!((found.code, &found.all["state"]), (5, &json!("stop")));
}

#[test]
fn the_base_is_compared_with_its_upstream_and_fetched_when_asked() {
    let desk = Desk::new("echo 1 > a");
    desk.repo.sh("git clone -q --bare . ../up.git; git remote add origin ../up.git; git fetch -q; git branch -q -u origin/main; git clone -q ../up.git ../other");
    let base_check =
        |state: &str, what: &str, help: Option<&str>, ahead: u64, behind: u64, fetched: bool| {
            json!({
                "state": state, "what": what, "do": help,
                "base": "HEAD", "commit": "ID", "branch": "main", "upstream": "origin/main",
                "ahead": ahead, "behind": behind, "fetched": fetched,
            })
        };
    let same = |fetched| base_check("go", "`main` is where `origin/main` is", None, 0, 0, fetched);
    let found = desk.look(&[]);
    found.is("base_check", &same(false));
    assert_eq!(found.part("pr")["what"], "the remote `origin` is a folder, and no forge");
    // Somebody else pushes two: nobody knows it before a fetch.
    desk.repo.sh(
        "cd ../other; echo 2 > a; git commit -qam 2; echo 3 > a; git commit -qam 3; git push -q",
    );
    desk.look(&[]).is("base_check", &same(false));
    let state = || desk.repo.sh("cat .git/FETCH_HEAD") + &desk.repo.checkout_state();
    let before = state();
    let found = desk.look_and_write(&["--fetch"]);
    assert_eq!(state(), before);
    let advice = "bring it up to date (`git merge --ff-only origin/main` on it), or set `base = \"origin/main\"`";
    let behind = |fetched| {
        base_check("warn", "`main` is 2 commits behind `origin/main`", Some(advice), 0, 2, fetched)
    };
    found.is("base_check", &behind(true));
    assert_eq!(found.code, 4);
    desk.look(&[]).is("base_check", &behind(false));
    desk.repo.sh("echo x > b; git add b; git commit -qm x");
    desk.look(&[]).says(
        "base_check",
        "warn",
        "`main` and `origin/main` have gone apart: 1 commit here, 2 commits there",
        Some("merge or rebase it, or set `base = \"origin/main\"`"),
    );
    desk.repo.sh("git merge -q origin/main");
    let ahead = base_check("go", "`main` is 2 commits ahead of `origin/main`", None, 2, 0, false);
    desk.look(&[]).is("base_check", &ahead);
    // A remote that is gone is named, and what was known is still told.
    desk.repo.sh("rm -rf ../up.git");
    let found = desk.look_and_write(&["--fetch"]);
    let part = found.part("base_check");
    let what = part["what"].as_str().unwrap();
    assert!(what.starts_with("`origin/main` could not be fetched: `git fetch"), "{what}");
    assert_eq!((&part["state"], &part["ahead"]), (&json!("warn"), &json!(2)), "{part:#}");
    desk.repo.sh("git checkout -q --detach");
    desk.look(&[]).says(
        "base_check",
        "go",
        "HEAD is on no branch, so there is nothing to compare it with",
        None,
    );
}

#[test]
fn a_shallow_clone_is_a_warning() {
    let desk = Desk::new("echo 1 > a");
    desk.repo
        .sh("echo 2 > a; git commit -qam 2; git clone -q --depth 1 \"file://$PWD\" ../shallow");
    let desk = desk.within("shallow");
    let found = desk.look(&[]);
    found.says(
        "git",
        "warn",
        "the history is shallow: what was merged may not be provable, and is kept then",
        Some("`git fetch --unshallow` brings the rest"),
    );
    assert_eq!(found.part("git")["shallow"], true);
    assert_eq!(found.part("base_check")["upstream"], "origin/main");
    assert_eq!(found.code, 4);
}

#[test]
fn files_for_agents_are_compared_with_the_base() {
    let desk = Desk::new(
        "for f in AGENTS.md CLAUDE.md GEMINI.md; do echo $f > $f; done; mkdir -p .cursor/rules; echo r > .cursor/rules/r.mdc; printf 'x\\r\\n' > CONTRIBUTING.md; echo 'CONTRIBUTING.md text eol=crlf' > .gitattributes",
    );
    desk.repo.sh("echo more >> AGENTS.md; rm GEMINI.md; mkdir .github; echo new > .github/copilot-instructions.md");
    let found = desk.look(&[]);
    let file = |path: &str, tracked, checkout: &str| json!({ "path": path, "tracked": tracked, "checkout": checkout, "named": false });
    found.is(
        "instructions",
        &json!({
            "state": "warn",
            "what": "AGENTS.md in your checkout is not what the base has: workers read the base's",
            "do": "commit it to the base, if they should read this one",
            "more": [{
                "state": "warn",
                "what": ".github/copilot-instructions.md is in your checkout and not at the base: workers do not see it",
                "do": "commit it to the base, if they should",
            }],
            "base": "ID",
            "files": [
                file(".cursor/rules", true, "same"),
                file(".github/copilot-instructions.md", false, "differs"),
                file("AGENTS.md", true, "differs"),
                file("CLAUDE.md", true, "same"),
                file("CONTRIBUTING.md", true, "same"),
                file("GEMINI.md", true, "missing"),
            ],
        }),
    );
}

#[test]
fn settings_say_who_says_them() {
    let desk =
        Desk::new("mkdir .sop; printf '[defaults]\\nmax_parallel = 8\\n' > .sop/config.toml");
    let found = desk.look(&[]);
    let at = json!({ "name": ".sop/config.toml", "line": 2 });
    let said = json!({ "value": 8, "from": "repository", "at": at });
    assert_eq!(found.part("config")["max_parallel"], said);
    assert_eq!(found.part("docker_pool")["max_parallel"], 8);
    let desk = desk.env("SOP_MAX_PARALLEL", "2");
    let said = json!({ "value": 2, "from": "environment", "at": { "name": "SOP_MAX_PARALLEL" } });
    assert_eq!(desk.look(&[]).part("config")["max_parallel"], said);
    let desk = desk.file("main/.sop/config.toml", "[defaults]\nmax_paralell = 8\n");
    let found = desk.look(&[]);
    let part = found.part("config");
    let what = ".sop/config.toml:2: `max_paralell` is not a key of `[defaults]`";
    assert_eq!((&part["state"], &part["what"]), (&json!("stop"), &json!(what)), "{part:#}");
    assert!(part["do"].as_str().unwrap().starts_with("did you mean `max_parallel`?"), "{part:#}");
    assert_eq!(found.code, 5);
}

/// Without `[delivery]` nothing is missing; with it, what is missing stops.
#[test]
fn where_requests_would_go() {
    let desk = Desk::new("true");
    desk.repo.sh("git remote add origin git@github.com:o/r.git");
    let pr = |state: &str, what: &str, help: Option<&str>| {
        json!({
            "state": state, "what": what, "do": help,
            "remote": "origin", "host": "github.com", "forge": "gh", "path": null, "auth": null,
            "base_branch": "main", "protection": null,
        })
    };
    let absent = "requests at github.com would be made with gh, which is not here";
    desk.look(&[]).is("pr", &pr("go", absent, None));
    let desk = desk.file("main/.sop/config.toml", "[delivery]\nauto_merge_risk = \"low\"\n");
    let found = desk.look(&[]);
    found.is("pr", &pr("stop", absent, Some("install it, and log in with it")));
    let said = json!({
        "value": "low", "from": "repository", "at": { "name": ".sop/config.toml", "line": 2 },
    });
    assert_eq!((found.code, &found.part("config")["auto_merge_risk"]), (5, &said));
    let desk = desk.program("gh", "exit 9");
    let what = "requests at github.com would be made with gh, which is not logged in";
    desk.look(&[]).says("pr", "stop", what, Some("run `gh auth login`"));
    let desk = desk.env("GH_TOKEN", "secret-token");
    let found = desk.look(&[]);
    let part = found.part("pr");
    assert_eq!(
        part["auth"],
        json!({ "authenticated": "yes", "method": "token", "from": "GH_TOKEN" })
    );
    let what = "requests at github.com would be made with gh, for which a token is set, not tried";
    assert_eq!(part["what"], what);
    assert_eq!(
        (&part["state"], found.all.to_string().contains("secret-token")),
        (&json!("go"), false)
    );
    let desk = desk.file("main/.sop/config.toml", "[delivery]\nremote = \"up\"\n");
    desk.look(&[]).says(
        "pr",
        "stop",
        "there is no remote `up` to deliver to",
        Some("add it with `git remote add`, or name another under `[delivery]`"),
    );
}
