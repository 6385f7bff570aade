//! What only the repository can answer: the base, what is in it, what lies in the checkout.

use insta::assert_snapshot;

use crate::support::plan_text::{plan, two, wp};
use crate::support::scratch::Scratch;

#[test]
fn a_base_that_is_not_here_is_a_warning_to_whoever_checks_the_file() {
    let scratch = Scratch::repo(&[]);
    scratch.write("plan.toml", two().replace("\"main\"", "\"mian\""));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 0);
    assert_snapshot!(said.out, @r#"
    warning[unknown-base]: the base `mian` names no commit in this repository
     --> plan.toml:6:8
      |
    6 | base = "mian"
      |        ^^^^^^
      |
      = help: name a branch, a tag or a commit that is here, or fetch it first

    1 warning in plan.toml
    "#);
    assert_eq!(scratch.sop(&["validate", "--strict"]).code, 1);
    let said = scratch.sop(&["validate", "--strict", "--no-repo"]);
    assert_eq!((said.code, said.out.lines().count()), (0, 1));
}

#[test]
fn outside_a_repository_the_rest_is_checked_and_that_is_said() {
    let scratch = Scratch::folder();
    scratch.write("plan.toml", two());
    let said = scratch.sop(&["validate", "--strict"]);
    assert_eq!(said.code, 0);
    assert_snapshot!(said.out, @r#"
    note[no-repository]: this is not in a git repository, so nothing was checked against one
    --> plan.toml

    1 note in plan.toml
    "#);
    scratch.write("plan.toml", two().replace("src/b/**", "src/../b"));
    assert_eq!(scratch.sop(&["validate"]).code, 1);
}

#[test]
fn files_that_workers_would_not_see_are_named() {
    let files = [("docs/rules.md", "a\n"), (".env", "a\n"), ("README.md", "a\n")];
    let scratch = Scratch::repo(&files);
    scratch.write("AGENTS.md", "new\n");
    scratch.write("briefs/b.md", "Do b.\n");
    scratch.write(".env.test", "k=v\n");
    let brief =
        wp("b", "src/b/**", "").replace("brief_text = \"Do b.\"", "brief = \"briefs/b.md\"");
    let text = plan(&(wp("a", "src/a/**", "") + &brief))
        .replace(
            "base = \"main\"",
            "base = \"main\"\ninstructions = [\"docs/rules.md\", \"docs\", \"AGENTS.md\", \"GONE.md\"]",
        )
        .replace("[tiers", "[provision]\ncopy = [\".env.test\", \".env\", \"secrets\"]\n\n[tiers");
    scratch.write("plan.toml", text);
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    let commit = scratch.git(&["rev-parse", "main"]);
    assert_snapshot!(said.out.replace(&commit[..10], "[commit]"), @r#"
    warning[not-in-base]: `AGENTS.md` is in the checkout but not in the base commit [commit], so no worker would see it
     --> plan.toml:7:42
      |
    7 | instructions = ["docs/rules.md", "docs", "AGENTS.md", "GONE.md"]
      |                                          ^^^^^^^^^^^
      |
      = help: commit it to `main` before the run

    error[missing-file]: there is no `GONE.md`, neither in the checkout nor in the base
     --> plan.toml:7:55
      |
    7 | instructions = ["docs/rules.md", "docs", "AGENTS.md", "GONE.md"]
      |                                                       ^^^^^^^^^
      |
      = help: instructions are named from the top of the repository

    error[copy-tracked]: `.env` is tracked: every worktree has it from the base already
      --> plan.toml:10:22
       |
    10 | copy = [".env.test", ".env", "secrets"]
       |                      ^^^^^^
       |
       = help: copy only untracked files; what is copied is never committed

    warning[missing-file]: there is no `secrets` in the checkout to copy
      --> plan.toml:10:30
       |
    10 | copy = [".env.test", ".env", "secrets"]
       |                              ^^^^^^^^^
       |
       = help: copies are named from the top of the repository

    warning[not-in-base]: the brief `briefs/b.md` is in the checkout but not in the base commit [commit]
      --> plan.toml:28:9
       |
    28 | brief = "briefs/b.md"
       |         ^^^^^^^^^^^^^
       |
       = help: it is used as it is now; commit it so that the plan can be run from another clone too

    2 errors, 3 warnings in plan.toml
    "#);
    scratch.commit("second");
    let said = scratch.sop(&["validate"]);
    assert!(!said.out.contains("AGENTS.md` is in"), "{}", said.out);
    assert!(!said.out.contains("briefs/b.md"), "{}", said.out);
}

#[test]
fn an_overlap_on_files_of_the_base_is_an_error_and_a_possible_one_a_warning() {
    let scratch = Scratch::repo(&[("src/lib.rs", "a\n"), ("src/a/x.rs", "a\n")]);
    let three = wp("a", "src/**", "")
        + &wp("b", "src/*.rs", "")
        + &wp("c", "docs/**/*.md", "")
        + &wp("d", "docs/api/**", "");
    scratch.write("plan.toml", plan(&three));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.out, @r#"
    error[overlap]: OVERLAP: `a` and `b` may both change `src/lib.rs`
      --> plan.toml:22:14
       |
    16 | whitelist = ["src/**"]
       |              -------- and `a` here
    ...
    22 | whitelist = ["src/*.rs"]
       |              ^^^^^^^^^^ `b` reaches it here
       |
       = help: narrow one whitelist (`!` takes paths away), or let one wait: needs = ["a"]

    warning[possible-overlap]: POSSIBLE overlap: no file of the base matches both, but `c` and `d` could both make `docs/api/a.md`
      --> plan.toml:34:14
       |
    28 | whitelist = ["docs/**/*.md"]
       |              -------------- and `c` here
    ...
    34 | whitelist = ["docs/api/**"]
       |              ^^^^^^^^^^^^^ `d` reaches it here
       |
       = help: narrow one of the two patterns if both WPs may get there

    1 error, 1 warning in plan.toml
    "#);
}

#[test]
fn who_waits_for_the_other_may_share_its_paths() {
    let scratch = Scratch::repo(&[("src/lib.rs", "a\n")]);
    let text = plan(
        &("\n[[stage]]\nname = \"s\"\n".to_owned()
            + &wp("a", "src/**", "stage = \"s\"\n")
            + &wp("b", "src/**", "stage = \"s\"\nneeds = [\"a\"]\n")
            + &wp("c", "src/**", "stage = \"s\"\nneeds = [\"b\"]\n")),
    );
    scratch.write("plan.toml", &text);
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.out, "plan.toml: no findings; 3 WPs in 1 stage\n");
    // Without the middle one, `a` and `c` are at work together; `b` comes after both.
    scratch.write("plan.toml", text.replace("needs = [\"b\"]", "needs = []"));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    let wanted = "OVERLAP: `a` and `c` may both change `src/lib.rs`";
    assert!(said.out.contains(wanted), "{}", said.out);
    assert_eq!(said.out.matches("OVERLAP").count(), 1, "{}", said.out);
}

#[test]
fn shared_files_of_a_stage_are_nobodys() {
    let scratch = Scratch::repo(&[("package.json", "{}\n"), ("src/main.ts", "a\n")]);
    let text = plan(
        &("\n[[stage]]\nname = \"features\"\nshared = [\"package.json\", \"src/extension.ts\"]\n"
            .to_owned()
            + &wp("a", "*.json", "stage = \"features\"\n")
            + &wp("b", "src/**", "stage = \"features\"\n")),
    );
    scratch.write("plan.toml", &text);
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.out, @r#"
    error[shared-file]: `a` reaches `package.json`, which stage `features` keeps for consolidation
      --> plan.toml:20:14
       |
    16 | shared = ["package.json", "src/extension.ts"]
       |           -------------- shared by the stage
    ...
    20 | whitelist = ["*.json"]
       |              ^^^^^^^^ reaches it
       |
       = help: take it away: add "!package.json" to the whitelist

    error[shared-file]: `b` reaches `src/extension.ts`, which stage `features` keeps for consolidation
      --> plan.toml:27:14
       |
    16 | shared = ["package.json", "src/extension.ts"]
       |                           ------------------ shared by the stage
    ...
    27 | whitelist = ["src/**"]
       |              ^^^^^^^^ reaches it
       |
       = help: take it away: add "!src/extension.ts" to the whitelist

    2 errors in plan.toml
    "#);
    let mended = text
        .replace("[\"*.json\"]", "[\"*.json\", \"!package.json\"]")
        .replace("[\"src/**\"]", "[\"src/**\", \"!src/extension.ts\"]");
    scratch.write("plan.toml", mended);
    assert_eq!(scratch.sop(&["validate", "--strict"]).code, 0);
}

#[test]
fn a_stage_that_is_cut_wrongly_is_summed_up() {
    let scratch = Scratch::repo(&[("src/lib.rs", "a\n")]);
    let wps: String = (0..40).map(|i| wp(&format!("w{i}"), "src/**", "")).collect();
    scratch.write("plan.toml", plan(&wps));
    let said = scratch.sop(&["validate", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(value["errors"], 51);
    let last = value["findings"][50]["message"].as_str().unwrap_or_default();
    assert!(last.contains("730 more pairs"), "{last}");
}

#[test]
fn certain_overlaps_come_before_possible_ones_and_only_they_are_errors() {
    let scratch = Scratch::repo(&[("src/lib.rs", "a\n")]);
    let mut wps: String = (0..12).map(|i| wp(&format!("w{i}"), "docs/**/*.md", "")).collect();
    scratch.write("plan.toml", plan(&wps));
    let said = scratch.sop(&["validate", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((said.code, &value["errors"]), (0, &0.into()));
    assert_eq!(value["warnings"], 51);
    wps.push_str(&(wp("y", "src/**", "") + &wp("z", "src/*.rs", "")));
    scratch.write("plan.toml", plan(&wps));
    let said = scratch.sop(&["validate", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((said.code, &value["errors"]), (1, &1.into()));
}

#[test]
fn a_hooks_git_environment_is_not_followed() {
    let scratch = Scratch::repo(&[("src/lib.rs", "a\n")]);
    scratch.write("plan.toml", plan(&(wp("a", "src/**", "") + &wp("b", "src/*.rs", ""))));
    let other = Scratch::repo(&[]);
    let git_dir = other.path().join(".git");
    let index = git_dir.join("index");
    let before = std::fs::read(&index).ok();
    let env = [
        ("GIT_DIR", git_dir.to_str().expect("UTF-8")),
        ("GIT_INDEX_FILE", index.to_str().expect("UTF-8")),
    ];
    let said = scratch.sop_with(&env, &["validate"]);
    assert!(said.out.contains("src/lib.rs"), "{}", said.out);
    assert_eq!(std::fs::read(&index).ok(), before);
}

#[test]
fn a_worker_that_is_not_committed_is_named_before_the_run() {
    let scratch = Scratch::repo(&[]);
    scratch.write("plan.toml", two().replace("[\"true\"]\n\n[[wp", "[\"tools/new.sh\"]\n\n[[wp"));
    scratch.write("tools/new.sh", "#!/bin/sh\n");
    let said = scratch.sop(&["plan", "plan.toml", "--no-dry-run"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.err.contains("not-in-base") && said.err.contains("tools/new.sh"), "{}", said.err);
}

/// The one package that a stage ends with is held to the same checks, at the places of its stage.
#[test]
fn a_consolidation_alone_may_touch_what_its_stage_shares() {
    let scratch = Scratch::repo(&[("index.txt", "1\n"), ("wiring.md", "Wire.\n")]);
    scratch.write("new.md", "Wire.\n");
    let text = |stage: &str, later: &str| {
        plan(
            &("\n[[stage]]\nname = \"one\"\nshared = [\"index.txt\"]\n[stage.consolidate]\n"
                .to_owned()
                + stage
                + "\n[[stage]]\nname = \"two\"\n"
                + &wp("a", "src/a/**", "stage = \"one\"\n")
                + &wp("b", later, "stage = \"two\"\n")),
        )
    };
    scratch.write("plan.toml", text("brief = \"wiring.md\"", "index.txt"));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.out, "plan.toml: no findings; 3 WPs in 3 stages\n");

    let stage =
        "brief = \"new.md\"\ntemplate = \"wire\"\nreview = { command = [\"r\", \"{{ wp.ip }}\"] }";
    scratch.write("plan.toml", text(stage, "src/b/**").replace("\"index.txt\"", "\"/index.txt\""));
    let said = scratch.sop(&["validate", "--format", "github"]);
    let places: Vec<(&str, &str)> = said
        .out
        .lines()
        .map(|line| (line.split("line=").nth(1).unwrap(), line.split("title=").nth(1).unwrap()))
        .map(|(line, title)| (line.split(',').next().unwrap(), title.split("::").next().unwrap()))
        .collect();
    assert_eq!(
        places,
        [
            ("16", "pattern"),
            ("18", "not-in-base"),
            ("19", "unknown-template"),
            ("20", "command-template")
        ],
        "{}",
        said.out
    );
}

#[test]
fn a_lens_is_a_template_that_is_there() {
    let scratch = Scratch::repo(&[(".sop/templates/review-own.md.j2", "{{ brief }}\n")]);
    let review = |lenses: &str| {
        two()
            .replace("[tiers", &format!("[review]\ntier = \"standard\"\nlenses = {lenses}\n[tiers"))
    };
    scratch.write("plan.toml", review("[\"own\"]"));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 0, "{}", said.out);
    scratch.write("plan.toml", review("[\"own\", \"owm\", \"no-such-thing\"]"));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.out.matches("error[unknown-lens]").count(), 2, "{}", said.out);
    let wanted = "there is no lens `owm`: no template `review-owm`";
    assert!(said.out.contains(wanted) && said.out.contains("did you mean `own`?"), "{}", said.out);
    let make = "a file `.sop/templates/review-NAME.md.j2` makes one";
    assert!(said.out.contains(make), "{}", said.out);
}
