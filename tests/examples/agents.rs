//! The plans for coding agents: they are valid as they stand, their checks tell good work from bad, and the
//! agents that are here get through them, unchanged, against a scripted model.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use sop::model::plan::{Adapter, BUILT_IN_WORKERS};

use super::{Example, top};
use crate::support::model_server::{Act, Call, ModelServer, Scenario};
use crate::support::scratch::{has_tool, run};

const PLANS: [&str; 6] = ["codex", "claude", "gemini", "opencode", "aider", "acp"];

/// One line for each room, of its own head.
const ROOMS: &str = r#"mkdir -p plans-examples/agents/out
for room in engine/*/; do
    room=$(basename "$room"); echo "- \`$room\`: what the room $room is for, in a sentence."
done | LC_ALL=C sort > plans-examples/agents/out/rooms.md"#;

const ROMAN: &str = r#"mkdir -p plans-examples/agents/out
cat > plans-examples/agents/out/roman.sh << 'END'
# sh roman.sh NUMBER: prints it, from 1 to 3999, as a Roman numeral.
refuse() { echo "roman.sh: a number from 1 to 3999 is needed" >&2; exit 2; }
[ $# -eq 1 ] || refuse
case $1 in '' | 0* | *[!0-9]* | ?????*) refuse ;; esac
[ "$1" -le 3999 ] || refuse
left=$1 numeral=
for pair in 1000:M 900:CM 500:D 400:CD 100:C 90:XC 50:L 40:XL 10:X 9:IX 5:V 4:IV 1:I; do
    while [ "$left" -ge "${pair%:*}" ]; do
        left=$((left - ${pair%:*})) numeral=$numeral${pair#*:}
    done
done
echo "$numeral"
END"#;

fn example(agent: &str) -> Example {
    let mut example = Example::new("agents");
    example.plan = format!("plans-examples/agents/{agent}.toml").into();
    example
}

#[test]
fn there_is_one_for_each_agent_and_each_is_valid() {
    let mut there: Vec<String> = fs::read_dir(top().join("plans-examples/agents"))
        .expect("the plans")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    there.sort();
    let mut agents: Vec<&str> =
        BUILT_IN_WORKERS.iter().map(|(_, adapter, _)| adapter.name()).collect();
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(there, agents);
    let example = example("codex");
    for agent in PLANS {
        let plan = format!("plans-examples/agents/{agent}.toml");
        let said = example.scratch.sop(&["validate", &plan]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("no findings"), "{}", said.out);
        let text = fs::read_to_string(top().join(&plan)).expect("a plan");
        let commands = text.lines().filter_map(|line| line.strip_prefix("#   cargo run -- "));
        assert_eq!(commands.filter(|command| command.contains(&plan)).count(), 3, "{agent}");
        // All of them are the same but for who works.
        let (_, packages) = text.split_once("\n[[wp]]").expect("packages");
        let first = fs::read_to_string(top().join("plans-examples/agents/codex.toml"));
        assert!(first.expect("a plan").ends_with(packages), "{agent}");
    }
    assert_eq!(Adapter::Acp.name(), "acp");
}

#[test]
fn the_checks_tell_good_work_from_bad() {
    let example = example("codex");
    let check = |task: &str, work: &str| {
        let line = format!(
            "rm -rf plans-examples/agents/out\n{work}\nplans-examples/agents/check.sh {task}"
        );
        let said = run(example.scratch.command("sh").args(["-c", &line]), "");
        (said.code, said.out + &said.err)
    };
    let edited = |work: &str, from: &str, to: &str| {
        assert!(work.contains(from), "{from}");
        work.replace(from, to)
    };
    for (task, work, because) in [
        ("rooms", String::new(), "there is no"),
        ("rooms", ROOMS.to_owned(), ""),
        (
            "rooms",
            edited(ROOMS, "what the room $room is for, in a sentence", "a room"),
            "not one line",
        ),
        ("rooms", edited(ROOMS, "engine/*/", "engine/*/ a_room"), "lines for"),
        ("rooms", edited(ROOMS, "LC_ALL=C sort", "LC_ALL=C sort -r"), "alphabetical"),
        ("roman", String::new(), "there is no"),
        ("roman", ROMAN.to_owned(), ""),
        ("roman", edited(ROMAN, "900:CM ", ""), "1994"),
        ("roman", edited(ROMAN, "| 0* ", ""), "arguments '0'"),
        ("roman", edited(ROMAN, "exit 2", "exit 1"), "exit code 1"),
        ("roman", edited(ROMAN, "[ $# -eq 1 ] || refuse", ":"), "arguments '1 2'"),
    ] {
        let (code, said) = check(task, &work);
        assert_eq!(code, i32::from(!because.is_empty()), "{task}: {said}\n{work}");
        assert!(said.contains(because), "{because}: {said}");
    }
}

/// The model: it does the task that the brief names, and says so.
fn play(call: &Call) -> Act {
    match call.tool_answers {
        0 if call.said.contains("agents/out/roman.sh") => Act::Run(ROMAN.to_owned()),
        0 => Act::Run(ROOMS.to_owned()),
        _ => Act::Say("It is written.".to_owned()),
    }
}

fn gets_through_if_here(agent: &str, program: &str, get_it: &str) {
    if has_tool(program, get_it) {
        gets_through(agent, &std::env::var("PATH").unwrap_or_default());
    }
}

/// `path` is where the agent is looked for.
fn gets_through(agent: &str, path: &str) {
    let example = example(agent);
    let server = ModelServer::playing(play);
    let outside = example.scratch.path().parent().expect("a folder above");
    let env = pointed_to(&server.url(Scenario::Play), outside, path);
    let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let plan = example.plan.to_str().expect("plain");
    let said = example.scratch.sop_with(&env, &["apply", plan, "--yes"]);
    assert_eq!(said.code, 0, "{agent}\n{}\n{}", said.out, said.err);
    for (wp, file) in [("rooms", "rooms.md"), ("roman", "roman.sh")] {
        let branch = format!("sop/agents-{agent}-1/{wp}");
        assert_eq!(example.changed(&branch), [format!("plans-examples/agents/out/{file}")]);
    }
    // It was this agent, and it told what it used.
    assert!(!server.calls(Scenario::Play).is_empty());
    assert!(said.out.contains("COST BY WP"), "{}", said.out);
    example.undisturbed();
}

/// What makes each of the agents ask the model at `url`, and none else.
fn pointed_to(url: &str, outside: &std::path::Path, path: &str) -> Vec<(&'static str, String)> {
    let codex = outside.join("codex");
    fs::create_dir_all(&codex).expect("a folder");
    let config = format!(
        "model = \"scripted-model\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\n\
         name = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"SCRIPTED_KEY\"\n"
    );
    fs::write(codex.join("config.toml"), config).expect("a file");
    let gemini = outside.join(".gemini");
    fs::create_dir_all(&gemini).expect("a folder");
    let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
    fs::write(gemini.join("settings.json"), settings).expect("a file");
    let opencode = serde_json::json!({ "model": "scripted/scripted-model", "provider": { "scripted": {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" },
        "models": { "scripted-model": {} },
    } } });
    // codex's sandbox needs leave of the kernel, which a container may not have: one goes before it on
    // the search path that asks for none.
    let bin = outside.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let unconfined = "#!/bin/sh\n\
        for word; do shift; case $word in --sandbox=*) word=--sandbox=danger-full-access ;; esac\n\
        set -- \"$@\" \"$word\"; done\nPATH=$REAL_PATH exec codex \"$@\"\n";
    fs::write(bin.join("codex"), unconfined).expect("a file");
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o755)).expect("a mode");
    vec![
        ("PATH", format!("{}:{path}", bin.display())),
        ("REAL_PATH", path.to_owned()),
        ("CODEX_HOME", codex.to_str().expect("plain").to_owned()),
        ("SCRIPTED_KEY", "none".to_owned()),
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_API_KEY", "none".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
        ("GEMINI_API_KEY", "none".to_owned()),
        ("OPENCODE_CONFIG_CONTENT", opencode.to_string()),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
    ]
}

#[test]
fn codex_gets_through() {
    gets_through_if_here("codex", "codex", "npm install -g @openai/codex");
}

#[test]
fn claude_gets_through() {
    gets_through_if_here("claude", "claude", "npm install -g @anthropic-ai/claude-code");
}

#[test]
fn opencode_gets_through() {
    gets_through_if_here("opencode", "opencode", "npm install -g opencode-ai");
}

#[test]
fn opencode_over_the_protocol_gets_through() {
    gets_through_if_here("acp", "opencode", "npm install -g opencode-ai");
}

/// With the heavier suite's agents (see `worker::matrix`).
#[test]
fn gemini_gets_through() {
    if let Ok(folder) = std::env::var("SOP_TEST_AGENTS") {
        gets_through("gemini", &format!("{folder}:{}", std::env::var("PATH").unwrap_or_default()));
    }
}
