//! Who would work: found or not, logged in or not and how, for each adapter; and that no secret is told.

use serde_json::{Value, json};

use super::Desk;

/// Something that must never be printed.
const SECRET: &str = "sk-very-secret-0123";

fn plan(tiers: &str) -> String {
    format!(
        "version = 1\n[plan]\nname = \"p\"\ngoal = \"Try it.\"\nbase = \"main\"\n{tiers}\n\
         [[wp]]\nid = \"a\"\ntier = \"standard\"\nwhitelist = [\"a\"]\ndod = [\"true\"]\nbrief_text = \"A.\"\n"
    )
}

fn desk(tiers: &str) -> Desk {
    Desk::new("true").file("main/plan.toml", &plan(tiers))
}

/// A repository whose plan has one tier, of this worker, whose program is here.
fn with(worker: &str, program: &str) -> Desk {
    desk(&format!("[tiers.standard]\nworker = \"{worker}\"\n")).program(program, "echo 9.9")
}

#[track_caller]
fn auth(desk: &Desk) -> Value {
    let said = desk.sop(&["preflight", "plan.toml"]);
    assert!(!said.out.contains(SECRET), "a secret is told: {}", said.out);
    let human = desk.sop(&["preflight", "plan.toml", "--human"]);
    assert!(!human.out.contains(SECRET), "a secret is told: {}", human.out);
    desk.look(&["plan.toml"]).part("runtime")["worker"]["auth"].clone()
}

fn yes(method: &str, from: &str) -> Value {
    json!({ "authenticated": "yes", "method": method, "from": from })
}

#[test]
fn each_adapter_is_told_by_its_variables() {
    let table = [
        ("claude", "claude", "ANTHROPIC_API_KEY", "api_key"),
        ("claude", "claude", "CLAUDE_CODE_OAUTH_TOKEN", "token"),
        ("codex", "codex", "CODEX_API_KEY", "api_key"),
        ("gemini", "gemini", "GEMINI_API_KEY", "api_key"),
        ("opencode", "opencode", "OPENROUTER_API_KEY", "api_key"),
        ("aider", "aider", "DEEPSEEK_API_KEY", "api_key"),
    ];
    for (worker, program, variable, method) in table {
        let desk = with(worker, program).env(variable, SECRET);
        assert_eq!(auth(&desk), yes(method, variable), "{worker}");
        assert_eq!(desk.look(&["plan.toml"]).code, 0, "{worker}");
    }
}

#[test]
fn each_adapter_is_told_by_its_files() {
    let of =
        |secret: &str| format!("{{\"tokens\":{{\"a\":\"{secret}\"}},\"OPENAI_API_KEY\":null}}");
    let key = format!("{{\"OPENAI_API_KEY\":\"{SECRET}\",\"tokens\":null}}");
    let table = [
        ("claude", ".claude/.credentials.json", of(SECRET), "login"),
        ("codex", ".codex/auth.json", of(SECRET), "login"),
        ("codex", ".codex/auth.json", key, "api_key"),
        ("gemini", ".gemini/oauth_creds.json", of(SECRET), "login"),
        ("opencode", ".local/share/opencode/auth.json", of(SECRET), "login"),
    ];
    for (worker, file, text, method) in table {
        let desk = with(worker, worker).file(&format!("home/{file}"), &text);
        assert_eq!(auth(&desk), yes(method, &format!("ROOT/home/{file}")), "{worker}");
    }
}

#[test]
fn no_login_is_a_warning_where_it_is_certain() {
    let table = [
        ("claude", "claude", Some("run `claude` once and log in, or set ANTHROPIC_API_KEY")),
        ("codex", "codex", Some("run `codex login`, or set CODEX_API_KEY")),
        ("gemini", "gemini", None),
        ("opencode", "opencode", None),
        ("aider", "aider", None),
        ("codex-acp", "codex-acp", None),
    ];
    for (worker, program, help) in table {
        let desk = with(worker, program);
        let found = desk.look(&["plan.toml"]);
        let mut auth = json!({ "authenticated": "unknown", "method": null, "from": null });
        if let Some(help) = help {
            auth["authenticated"] = json!("no");
            auth["do"] = json!(help);
            let what = format!("the tier `standard` runs `{worker}`, which is not logged in");
            found.says("runtime", "warn", &what, Some(help));
        }
        assert_eq!(found.part("runtime")["worker"]["auth"], auth, "{worker}");
        assert_eq!(found.code, if help.is_some() { 4 } else { 0 }, "{worker}");
    }
    // A program of one's own may have ways of its own.
    let own = "[tiers.standard]\nworker = \"mine\"\n[workers.mine]\nagent = \"codex\"\nprogram = [\"sh\", \"wrap.sh\"]\n";
    let found = desk(own).look(&["plan.toml"]);
    assert_eq!(found.part("runtime")["worker"]["auth"]["authenticated"], "unknown");
    assert_eq!(found.code, 0);
}

#[test]
fn roles_are_tiers_and_the_second_phase_falls_back_on_the_lead() {
    let tiers = "[tiers.standard]\nworker = \"script\"\n[tiers.lead]\nworker = \"codex\"\nmodel = \"big\"\neffort = \"high\"\n\
                 [tiers.own]\nworker = \"script\"\n[workers.script]\ncommand = [\"./work.sh\"]\n";
    let desk = desk(tiers).program("codex", "echo codex-cli 9.9").env("CODEX_API_KEY", SECRET);
    let found = desk.look(&["plan.toml"]);
    let lead = json!({
        "tier": "lead", "worker": "codex", "adapter": "codex", "model": "big", "effort": "high",
        "program": "codex", "path": "ROOT/bin/codex", "found": true, "version": "codex-cli 9.9",
        "auth": { "authenticated": "yes", "method": "api_key", "from": "CODEX_API_KEY" },
        "used": false,
    });
    let script = json!({
        "tier": "standard", "worker": "script", "adapter": null, "model": null, "effort": null,
        "program": "./work.sh", "path": null, "found": null, "version": null, "auth": null, "used": true,
    });
    found.is(
        "runtime",
        &json!({
            "state": "go", "what": "2 of 2 tiers are ready", "do": null,
            "lead": lead, "lead_phase2": lead, "worker": script, "worker_light": null, "scout": null,
            "session_split": { "value": "never", "from": "built_in" },
        }),
    );
    let phase2 = format!("{tiers}[tiers.lead_phase2]\nworker = \"script\"\n");
    let desk = desk.file("main/plan.toml", &plan(&phase2));
    assert_eq!(desk.look(&["plan.toml"]).part("runtime")["lead_phase2"]["tier"], "lead_phase2");
}

#[test]
fn a_missing_agent_stops_unless_another_tier_takes_its_place() {
    let get = "get it with: npm install -g @openai/codex";
    let what = "the tier `standard` runs `codex`, which is not found";
    let tiers = "[tiers.standard]\nworker = \"codex\"\n";
    let alone = desk(tiers);
    let found = alone.look(&["plan.toml"]);
    found.says("runtime", "stop", what, Some(get));
    assert_eq!((found.code, &found.part("runtime")["worker"]["found"]), (5, &json!(false)));
    let fallback = "[tiers.standard]\nworker = \"codex\"\nfallback = [\"script\"]\n[tiers.script]\nworker = \"script\"\n\
                    [workers.script]\ncommand = [\"sh\", \"-c\", \"true\"]\n";
    let found = desk(fallback).look(&["plan.toml"]);
    found.says("runtime", "warn", what, Some(get));
    assert_eq!(found.part("runtime")["others"]["script"]["found"], true);

    // What stops keeps a run from starting, before any check is run, in the same words.
    alone.repo.sh("git add plan.toml; git commit -qm plan");
    let said = alone.sop_but(&[], &["apply", "--yes"]);
    assert_eq!(said.code, 5, "{}", said.out);
    assert_eq!(said.err, format!("error: {what}\nhelp: {get}\n"));
    assert!(said.out.contains(&format!("stop runtime: {what}\n        {get}\n")), "{}", said.out);
    assert!(said.out.contains("not run on the base"), "{}", said.out);
    assert!(!alone.at("main/.git/sop-run").exists());
    // A plan is shown whole all the same, its checks run.
    let said = alone.sop_but(&[], &["plan", "--json"]);
    let report: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((said.code, &report["preflight"]["state"]), (5, &json!("stop")));
    assert_eq!(report["stages"][0]["wps"][0]["dod"][0]["class"], "green");
}

/// An agent that hangs when it is asked for its version is ended, with what it started.
#[test]
fn a_version_that_never_comes_is_not_waited_for() {
    let desk = desk("[tiers.standard]\nworker = \"aider\"\n")
        .program("aider", "echo $$ > \"$HOME/pid\"; sleep 1000 & sleep 1000");
    let said = desk.sop_but(&[], &["preflight", "plan.toml"]);
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    let worker = &found["runtime"]["worker"];
    assert_eq!((&worker["found"], &worker["version"]), (&json!(true), &Value::Null), "{worker:#}");
    let pid = std::fs::read_to_string(desk.at("home/pid")).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists());
}

/// A program may do anything when it is started, if only for its version: by then it is known how each is logged in.
#[test]
fn how_each_is_logged_in_is_read_before_any_program_is_started() {
    let mut text =
        "version = 1\n[plan]\nname = \"p\"\ngoal = \"Try it.\"\ntier = \"t0\"\n".to_owned();
    for n in 0..24 {
        text.push_str(&format!("[tiers.t{n}]\nworker = \"codex\"\n[[wp]]\nid = \"w{n}\"\ntier = \"t{n}\"\nwhitelist = [\"w{n}\"]\ndod = [\"true\"]\nbrief_text = \"A.\"\n"));
    }
    let writes = "echo '{\"tokens\":{\"a\":\"b\"}}' > \"$HOME/.codex/auth.json\"; echo 9.9";
    let desk = Desk::new("true").file("main/plan.toml", &text).file("home/.codex/config.toml", "");
    let desk = desk.program("codex", writes);
    let found = desk.look_and_write(&[]);
    assert!(desk.at("home/.codex/auth.json").exists(), "it was started");
    let others = found.part("runtime")["others"].as_object().unwrap();
    assert_eq!(others.len(), 24);
    for (tier, role) in others {
        let told = (&role["auth"]["authenticated"], &role["version"]);
        assert_eq!(told, (&json!("no"), &json!("9.9")), "{tier}: {role:#}");
    }
}

#[test]
fn each_role_has_its_tier_and_those_without_are_told_in_one_line() {
    let command = "[workers.script]\ncommand = [\"sh\", \"-c\", \"true\"]\n";
    let tier = |name: &str| format!("[tiers.{name}]\nworker = \"script\"\n");
    let all = ["standard", "light", "scout", "lead", "lead_phase2"].map(tier).join("") + command;
    let found = desk(&all).look(&["plan.toml"]);
    let runtime = found.part("runtime");
    for (role, tier) in [
        ("lead", "lead"),
        ("lead_phase2", "lead_phase2"),
        ("worker", "standard"),
        ("worker_light", "light"),
        ("scout", "scout"),
    ] {
        let told = (&runtime[role]["tier"], &runtime[role]["found"], &runtime[role]["used"]);
        assert_eq!(told, (&json!(tier), &json!(true), &json!(tier == "standard")), "{runtime:#}");
    }
    let said = desk(&(tier("standard") + command)).sop(&["preflight", "--human"]);
    let line = "    no tier  lead, lead_phase2, worker_light (`light`), scout\n";
    assert!(said.out.contains(line), "{}", said.out);
    assert_eq!(said.out.matches("no tier").count(), 1, "{}", said.out);
    assert!(
        said.out.ends_with("go: nothing stands in the way of plan.toml (10 parts)\n"),
        "{}",
        said.out
    );
}

/// As other verbs do, it takes the `plan.toml` that is there; and can be told not to.
#[test]
fn the_plan_that_is_there_is_looked_at_where_none_is_named() {
    let desk = with("aider", "aider");
    let found = desk.look(&[]);
    assert_eq!(
        (&found.all["plan"], &found.part("runtime")["worker"]["worker"]),
        (&json!("plan.toml"), &json!("aider"))
    );
    let found = desk.look(&["--no-plan"]);
    assert_eq!(
        (&found.all["plan"], &found.part("runtime")["worker"]),
        (&Value::Null, &Value::Null)
    );
    let desk = desk.file("main/plan.toml", "version = 2\n");
    assert_eq!(desk.sop(&["preflight"]).code, 1);
    assert_eq!(desk.look(&["--no-plan"]).code, 0);
    assert_eq!(desk.sop(&["preflight", "plan.toml", "--no-plan"]).code, 2);
}
