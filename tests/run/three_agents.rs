//! A staged plan with three real agents on three tiers, against a scripted model: codex fails and claude
//! takes over, claude asks and is answered meanwhile, opencode reviews, asks for changes once, and
//! consolidates. CI runs it; elsewhere it is run where the three are on the search path, or so:
//!
//!     sh tests/agents/install.sh FOLDER
//!     SOP_TEST_AGENTS=FOLDER/node_modules/.bin cargo test -- run::three_agents

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sop::event::Event;
use sop::ledger::{Phase, Role};
use sop::model::outcome::Class;

use crate::support::model_server::{Act, Call, ModelServer, Scenario};
use crate::support::rig::Rig;
use crate::support::scratch::{agents_folder, has_tool};

const PLAN: &str = r#"
version = 1

[plan]
name = "three"
goal = "Make two parts and join them."
approval = "auto"

[tiers.light]
worker = "unconfined"
model = "light-model"
escalate_to = "standard"
timeout = "5m"

[tiers.standard]
worker = "claude"
model = "standard-model"
timeout = "5m"

[tiers.lead]
worker = "opencode"
model = "scripted/lead-model"
timeout = "5m"

# A sandbox needs leave of the kernel, which a container may not have; it is not what is tested here.
[workers.unconfined]
agent = "codex"
args = ["--sandbox=danger-full-access"]

[review]
tier = "lead"
lenses = ["quality"]

[[stage]]
name = "make"
shared = ["src/index.txt"]
[stage.consolidate]
tier = "lead"
review = "none"
dod = ["grep -q alpha src/index.txt", "grep -q beta src/index.txt"]
brief_text = "PLAY index"

[[stage]]
name = "join"

[[wp]]
id = "alpha"
stage = "make"
tier = "light"
whitelist = ["src/alpha.txt"]
dod = ["grep -q right src/alpha.txt"]
brief_text = "PLAY alpha"

[[wp]]
id = "beta"
stage = "make"
tier = "standard"
whitelist = ["src/beta.txt"]
dod = ["test -s src/beta.txt"]
review = "none"
brief_text = "PLAY beta"

[[wp]]
id = "whole"
stage = "join"
tier = "standard"
whitelist = ["src/whole.txt"]
dod = ["cmp src/whole.txt src/index.txt"]
review = "none"
brief_text = "PLAY whole"

[verify]
live = ["cat src/alpha.txt src/beta.txt src/index.txt src/whole.txt"]
"#;

const QUESTION: &str = "I stopped.\n\n```question\nShall beta be short?\ndefault: yes\n```\n";

/// The longest that the light model thinks before its first word: nobody waits so long unless it fails.
const HELD: Duration = Duration::from_secs(240);

/// The model, whichever agent it speaks through.
fn play(reviews: &AtomicU32, call: &Call) -> Act {
    let said = &call.said;
    let done = call.tool_answers > 0;
    let run = |line: &str| match done {
        true => Act::Say("Done.".to_owned()),
        false => Act::Run(line.to_owned()),
    };
    // The reviewer is shown the brief as well.
    if said.contains("request_changes") {
        let verdict = match reviews.fetch_add(1, Ordering::SeqCst) {
            0 => {
                r#"{"verdict": "request_changes", "findings": [{"file": "src/alpha.txt", "line": 1,
                    "severity": "major", "message": "Say who wrote it."}]}"#
            }
            _ => r#"{"verdict": "approve", "summary": "It says who wrote it."}"#,
        };
        return Act::Say(format!("```json\n{verdict}\n```\n"));
    }
    if said.contains("PLAY alpha") {
        return match call.model.as_str() {
            "light-model" => run("echo wrong > src/alpha.txt"),
            _ if said.contains("Say who wrote it.") => run("echo right, by me > src/alpha.txt"),
            _ => run("echo right > src/alpha.txt"),
        };
    }
    if said.contains("PLAY beta") {
        return match said.contains("Short it is.") {
            true => run("echo beta > src/beta.txt"),
            false => Act::Say(QUESTION.to_owned()),
        };
    }
    if said.contains("PLAY index") {
        return run("printf 'alpha\\nbeta\\n' > src/index.txt");
    }
    run("cp src/index.txt src/whole.txt")
}

/// Where the agents are, if they are anywhere: the folder of the heavier suite goes first.
fn search_path() -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    if let Some(folder) = agents_folder() {
        return Some(format!("{folder}:{path}"));
    }
    let get = "sh tests/agents/install.sh FOLDER";
    ["codex", "claude", "opencode"].iter().all(|agent| has_tool(agent, get)).then_some(path)
}

#[test]
fn a_staged_plan_with_three_agents_on_three_tiers_gets_through() {
    let Some(path) = search_path() else { return };
    let (reviews, held) = (AtomicU32::new(0), Arc::new(AtomicBool::new(true)));
    let hold = Arc::clone(&held);
    let server = ModelServer::playing(move |call| {
        let began = Instant::now();
        while call.model == "light-model" && hold.load(Ordering::SeqCst) && began.elapsed() < HELD {
            std::thread::sleep(Duration::from_millis(20));
        }
        play(&reviews, call)
    });
    let url = server.url(Scenario::Play);
    let rig = Rig::new(PLAN, &[("src/README", "two parts\n")]);
    rig.touches(&[".git/opencode"], "opencode keeps an id of the repository there");
    let codex = rig.root().join("codex");
    fs::create_dir(&codex).unwrap();
    let config = format!(
        "model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n"
    );
    fs::write(codex.join("config.toml"), config).unwrap();
    let opencode = serde_json::json!({ "provider": { "scripted": {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" },
        "models": { "lead-model": {} },
    } } })
    .to_string();
    let env = [
        ("PATH", path.as_str()),
        ("CODEX_HOME", codex.to_str().unwrap()),
        ("SCRIPTED_KEY", "none"),
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("IS_SANDBOX", "1"),
        ("OPENCODE_CONFIG_CONTENT", opencode.as_str()),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ];

    // `beta` waits for an answer while `alpha` is at work, and is answered there and then.
    let engine = rig.start_with(&env, &["apply", "--yes"]);
    rig.until_wp("beta", "asks", |beta| beta.phase == Phase::AwaitingAnswer);
    rig.until_wp("alpha", "at work", |alpha| alpha.phase == Phase::Working);
    rig.sop_ends(0, &["answer", "q1", "Short it is."]);
    // The answer is all that claude is told: it goes on with its session, to its end, and nothing of that
    // waits for `alpha`.
    rig.until_wp("beta", "done", |beta| beta.phase == Phase::Passed);
    let alpha = rig.peek("alpha").expect("it is there");
    assert_eq!((alpha.phase, alpha.attempt), (Phase::Working, 1), "{}", rig.engine_said());
    held.store(false, Ordering::SeqCst);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let alpha = rig.wp("alpha");
    let rounds: Vec<_> =
        alpha.rounds.iter().map(|round| (round.tier.as_str(), round.class)).collect();
    assert_eq!(
        rounds,
        [("light", Some(Class::Work)), ("standard", Some(Class::Work)), ("standard", None)]
    );
    let beta = rig.wp("beta");
    assert_eq!((beta.round, beta.attempt), (1, 2), "a question costs no round");
    let resumed =
        rig.count(|event| matches!(event, Event::AttemptStarted { session: Some(_), .. }));
    assert_eq!(resumed, 2, "after the answer, and after the review");

    let ledger = rig.ledger();
    assert!(ledger.verify.as_ref().is_some_and(|verify| verify.held()));
    let branch = ledger.gates.last().unwrap().branch.clone().unwrap();
    assert_eq!(rig.on(&branch, "src/alpha.txt"), "right, by me\n");
    assert_eq!(rig.on(&branch, "src/beta.txt"), "beta\n");
    assert_eq!(rig.on(&branch, "src/whole.txt"), "alpha\nbeta\n");
    let by_tier = |tier: &str, role: Role| -> u32 {
        let costs = ledger.costs().filter(|cost| cost.tier.as_str() == tier && cost.role == role);
        costs.map(|cost| cost.sessions).sum()
    };
    assert_eq!(by_tier("light", Role::Work), 1);
    assert_eq!(by_tier("standard", Role::Work), 2 + 2 + 1);
    assert_eq!((by_tier("lead", Role::Work), by_tier("lead", Role::Review)), (1, 2));
    assert!(
        ledger.costs().all(|cost| cost.usage.total() > 0),
        "{:?}",
        ledger.costs().collect::<Vec<_>>()
    );
    // Nobody's own is touched, and nothing runs on.
    assert_eq!(rig.git(&["status", "--porcelain"]), "");
    rig.until_quiet();
}
