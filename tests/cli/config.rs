//! `sop config`, and config files as other verbs meet them, through the binary.

use insta::assert_snapshot;

use crate::support::plan_text::{two, wp};
use crate::support::rig::Rig;
use crate::support::scratch::{Said, Scratch};

/// A plan that leaves out who works.
fn bare() -> String {
    let head = "version = 1\n\n[plan]\nname = \"small\"\ngoal = \"Try it.\"\n";
    head.to_owned() + &wp("a", "src/a/**", "")
}

/// A repository with a plan, and a home beside it.
fn scratch() -> Scratch {
    Scratch::repo(&[("plan.toml", &bare())])
}

/// Writes the user's config.
fn at_home(scratch: &Scratch, text: impl AsRef<[u8]>) {
    let folder = scratch.path().parent().expect("a home").join(".config/sop");
    std::fs::create_dir_all(&folder).expect("folders");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

/// Standard output, with the home's name left out.
fn out(scratch: &Scratch, said: &Said) -> String {
    let home = scratch.path().parent().expect("a home").display().to_string();
    said.out.replace(&home, "~").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

const TIER: &str = "[tiers.mine]\nworker = \"script\"\n[workers.script]\ncommand = [\"true\"]\n";

#[test]
fn it_shows_each_value_and_where_that_comes_from() {
    let scratch = scratch();
    scratch.write(".sop/config.toml", "[defaults]\nmax_parallel = 6\nrounds = 2\n");
    at_home(&scratch, format!("defaults.max_parallel = 2\nprovision.timeout = \"1m\"\n{TIER}"));
    let said = scratch.sop_with(&[("SOP_ROUNDS", "1")], &["config", "plan.toml"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    // How far apart things stand depends on how long the name of the home is.
    let lines: Vec<String> = out(&scratch, &said)
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_snapshot!(lines.join("\n"), @r##"
    defaults.max_parallel = 6 # .sop/config.toml:2
    defaults.approval = "ask" # built in
    defaults.checkout = "watched" # built in
    defaults.autonomy = "ask" # built in
    defaults.decide_within = "30m" # built in
    defaults.lead_may_fix = 1 # built in
    defaults.session_split = "never" # built in
    defaults.tier = "mine" # ~/.config/sop/config.toml:3
    defaults.rounds = 1 # SOP_ROUNDS
    defaults.review = "none" # built in
    defaults.template = "change" # built in
    provision.timeout = "1m" # ~/.config/sop/config.toml:2
    tiers.mine.worker = "script" # ~/.config/sop/config.toml:4
    workers.script.command = ["true"] # ~/.config/sop/config.toml:6

    your config ~/.config/sop/config.toml
    of the repository .sop/config.toml
    environment SOP_MAX_PARALLEL SOP_APPROVAL SOP_CHECKOUT SOP_AUTONOMY SOP_DECIDE_WITHIN SOP_LEAD_MAY_FIX SOP_SESSION_SPLIT SOP_DEFAULT_TIER SOP_ROUNDS SOP_REVIEW SOP_TEMPLATE SOP_PROVISION_TIMEOUT
    "##);
}

#[test]
fn as_json_it_keeps_to_its_schema() {
    let scratch = scratch();
    at_home(&scratch, TIER);
    let schema = serde_json::from_str(&scratch.sop(&["schema", "settings"]).out).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let said = scratch.sop(&["config", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert!(schema.is_valid(&document), "{document:#}");
    let found: Vec<_> = document["files"].as_array().unwrap().iter().map(|f| &f["found"]).collect();
    assert_eq!(found, [true, false]);
    let settings = document["settings"].as_array().unwrap();
    let tier = settings.iter().find(|it| it["key"] == "tiers.mine.worker").expect("the tier");
    assert_eq!((&tier["value"], &tier["from"]), (&"script".into(), &"user".into()));
    assert_eq!(tier["at"]["line"], 2);
}

#[test]
fn what_is_wrong_in_a_config_is_shown_with_its_line() {
    let scratch = scratch();
    scratch.write(".sop/config.toml", "[tiers.mine]\nwroker = \"codex\"\n");
    scratch.write("more/plan.toml", bare());
    // Told once, though both plans have it from there.
    let said = scratch.sop(&["validate", "plan.toml", "more/plan.toml"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.out, @r##"
    error[missing-key]: `[tiers.mine]` has no `worker`
     --> .sop/config.toml:1:1
      |
    1 | [tiers.mine]
      | ^^^^^^^^^^^^
      |
      = help: Who works: a built-in worker, such as `codex` or `claude`, or the name of a `[workers.NAME]` table. For example: `worker = "codex"`

    error[unknown-key]: `wroker` is not a key of `[tiers.mine]`
     --> .sop/config.toml:2:1
      |
    2 | wroker = "codex"
      | ^^^^^^
      |
      = help: did you mean `worker`? the keys here are `continue`, `effort`, `escalate_to`, `fallback`, `grace`, `idle_timeout`, `log_limit`, `max_parallel`, `max_turns`, `model`, `timeout` and `worker`

    2 errors in .sop/config.toml
    "##);
    let said = scratch.sop(&["config"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains(" --> .sop/config.toml:2:1\n"), "{}", said.err);
    let said = scratch.sop(&["graph"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("did you mean `worker`?"), "{}", said.err);
}

#[test]
fn what_a_plan_has_from_the_user_is_named_and_can_be_left_out() {
    let scratch = scratch();
    at_home(&scratch, TIER);
    let said = scratch.sop_with(&[("SOP_REVIEW", "human")], &["validate", "--strict"]);
    assert_eq!(said.code, 0);
    assert_snapshot!(out(&scratch, &said), @r##"
    note[user-config]: `defaults.review` comes from SOP_REVIEW in your environment, which others do not have
    --> plan.toml
     = help: unset it, or say it in the plan; `--no-user-config` checks without

    note[user-config]: `tiers.mine` and `workers.script` come from your own config ~/.config/sop/config.toml, which others do not have
    --> plan.toml
     = help: say it in the plan or in `.sop/config.toml`; `--no-user-config` checks without

    2 notes in plan.toml
    "##);
    let without = ["validate", "--no-user-config"];
    let said = scratch.sop_with(&[("SOP_ROUNDS", "none")], &without);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("error[missing-tier]") && !said.out.contains("SOP_"), "{}", said.out);
    // The file alone is what it is.
    scratch.write(".sop/config.toml", TIER);
    assert_eq!(scratch.sop(&without).code, 0);
    assert_eq!(scratch.sop(&["validate", "--no-repo"]).code, 1);
}

#[test]
fn the_users_config_is_where_xdg_says() {
    let scratch = scratch();
    let home = scratch.path().parent().expect("a home");
    let elsewhere = home.join("elsewhere");
    std::fs::create_dir_all(elsewhere.join("sop")).expect("folders");
    std::fs::write(elsewhere.join("sop/config.toml"), TIER).expect("a file");
    let check = |folder: &str| scratch.sop_with(&[("XDG_CONFIG_HOME", folder)], &["validate"]).code;
    assert_eq!(check(elsewhere.to_str().expect("UTF-8")), 0);
    assert_eq!(check("../elsewhere"), 1, "a relative folder is none");
    assert_eq!(check(""), 1);
    at_home(&scratch, TIER);
    assert_eq!((check(""), check("/nowhere")), (0, 1));
}

#[test]
fn a_config_that_is_no_text_or_no_file_is_refused() {
    let scratch = scratch();
    at_home(&scratch, b"[tiers]\n# \xff\n");
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("config.toml:2:3") && !said.out.contains("missing-tier"),
        "{}",
        said.out
    );
    at_home(&scratch, TIER);
    let own = scratch.path().join(".sop/config.toml");
    scratch.write("other.toml", TIER);
    std::fs::create_dir_all(own.parent().expect("a folder")).expect("folders");
    // A pipe would be waited for, a link leads anywhere.
    let plant: [&dyn Fn(); 3] = [
        &|| drop(std::fs::create_dir(&own)),
        &|| std::os::unix::fs::symlink("../other.toml", &own).expect("a link"),
        &|| {
            let made = scratch.command("mkfifo").arg(&own).status();
            assert!(made.expect("mkfifo").success());
        },
    ];
    for plant in plant {
        plant();
        let said = scratch.sop(&["validate"]);
        assert_eq!((said.code, said.out.as_str()), (5, ""), "{}", said.err);
        assert!(said.err.contains(".sop/config.toml"), "{}", said.err);
        let _ = std::fs::remove_dir(&own);
        let _ = std::fs::remove_file(&own);
    }
}

#[test]
fn a_run_keeps_what_its_plan_meant() {
    let config = "[tiers.mine]\nworker = \"script\"\n[workers.script]\n\
                  command = [\"sh\", \"-c\", \"mkdir -p src/a; echo x > src/a/x\"]\n";
    let rig = Rig::new(&bare(), &[(".sop/config.toml", config)]);
    let user = rig.root().join("home/.config/sop");
    std::fs::create_dir_all(&user).expect("folders");
    std::fs::write(user.join("config.toml"), "defaults.approval = \"auto\"\ndefaults.rounds = 2\n")
        .expect("a file");
    let said = rig.sop_ends(0, &["apply", "--max-parallel", "3"]);
    assert!(
        said.out.contains("`defaults.approval` and `defaults.rounds` come from"),
        "{}",
        said.out
    );
    let plan: serde_json::Value = serde_json::from_str(&rig.of_run("resolved.json")).expect("JSON");
    assert_eq!((&plan["max_parallel"], &plan["wps"][0]["rounds"]), (&3.into(), &2.into()));
    assert_eq!(plan["tiers"]["mine"]["worker"], "script");
    let branch = rig.trees().into_keys().next().expect("a branch");
    assert_eq!(rig.on(&branch, "src/a/x"), "x\n");
    // With another config the run is still that one.
    rig.write(".sop/config.toml", "[tiers\n");
    assert!(rig.sop_ends(0, &["status"]).out.contains("passed"));
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.sop(&["plan"]).code, 1);
}

#[test]
fn the_limit_of_a_flag_is_checked_before_anything_else() {
    let scratch = Scratch::repo(&[("plan.toml", &two())]);
    for bad in ["0", "1001", "many"] {
        assert_eq!(scratch.sop(&["plan", "--max-parallel", bad]).code, 2);
    }
    let said = scratch.sop_with(&[("SOP_MAX_PARALLEL", "0")], &["validate"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains(" --> SOP_MAX_PARALLEL:1:25\n"), "{}", said.out);
}

#[test]
fn what_a_worker_has_in_its_environment_is_named_and_not_shown() {
    let scratch = scratch();
    let worker = "[tiers.mine]\nworker = \"script\"\n[workers.script]\ncommand = [\"true\"]\n\
                  env = { API_KEY = \"s3cret\", LANG = \"C\" }\n";
    at_home(&scratch, worker);
    for args in [&["config", "plan.toml"][..], &["config", "plan.toml", "--json"]] {
        let said = scratch.sop_with(&[], args);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("API_KEY") && said.out.contains("***"), "{}", said.out);
        assert!(!said.out.contains("s3cret"), "{}", said.out);
    }
}
