//! `sop adapters`, through the binary, with agents that are shell scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::model_server::{ModelServer, Scenario};
use crate::support::scratch::{Said, Scratch, has_tool, run};

const PLAN: &str = r#"version = 1

[plan]
name = "small"
goal = "Try it."
base = "main"

[tiers.light]
worker = "codex"
model = "tiny; rm -rf /"
effort = "low"

[tiers.script]
worker = "mine"

[workers.mine]
command = ["./do-it", "{{ wp.id }}"]

[[wp]]
id = "a"
tier = "light"
whitelist = ["src/a/**"]
dod = ["true"]
brief_text = "Do a."
"#;

/// A codex that says this word.
fn saying(word: &str) -> String {
    format!(
        "[ \"$1\" = --version ] && {{ echo 'codex-cli 9.9'; exit; }}
cat > \"$HOME/prompt\"; ls -A > \"$HOME/files\"; printf '%s\\n' \"$@\" > \"$HOME/args\"
echo '{{\"type\":\"thread.started\",\"thread_id\":\"s-1\"}}'
echo '{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":\"{word}\"}}}}'
echo '{{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":12,\"output_tokens\":3}}}}'"
    )
}

/// A repository with a plan, and a search path that has this codex and no other agent.
struct Bench {
    scratch: Scratch,
    path: String,
}

impl Bench {
    fn new(codex: Option<&str>) -> Self {
        let scratch = Scratch::repo(&[("plan.toml", PLAN), ("do-it", "#!/bin/sh\n")]);
        let bin = scratch.path().parent().expect("a folder above").join("bin");
        fs::create_dir(&bin).unwrap();
        for tool in ["sh", "git", "cat", "ls", "printf", "sleep", "echo"] {
            let found = run(scratch.command("sh").args(["-c", &format!("command -v {tool}")]), "");
            let target = found.out.trim();
            if target.starts_with('/') {
                std::os::unix::fs::symlink(target, bin.join(tool)).unwrap();
            }
        }
        if let Some(codex) = codex {
            let path = bin.join("codex");
            fs::write(&path, format!("#!/bin/sh\n{codex}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = bin.to_str().unwrap().to_owned();
        Self { scratch, path }
    }

    fn sop(&self, args: &[&str]) -> Said {
        self.scratch.sop_with(&[("PATH", &self.path)], args)
    }

    fn home(&self, name: &str) -> String {
        let home = self.scratch.path().parent().expect("a folder above");
        fs::read_to_string(home.join(name)).unwrap_or_default()
    }
}

#[test]
fn agents_are_listed_and_the_command_lines_of_a_plan() {
    let bench = Bench::new(Some(&saying("READY")));
    let said = bench.sop(&["adapters", "plan.toml"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let line = said.out.lines().find(|line| line.contains("codex-cli")).expect("a line");
    assert!(line.contains("codex-cli 9.9") && line.contains("/bin/codex"), "{line}");
    assert!(line.contains("not logged in: run `codex login`"), "{line}");
    let line = said.out.lines().find(|line| line.contains("claude-code")).expect("a line");
    assert!(line.contains("not found: npm install -g @anthropic-ai/claude-code"), "{line}");
    let command = "  codex exec --json --skip-git-repo-check '--sandbox=workspace-write' \
                   '--add-dir=RUN/reports' '--add-dir=RUN/turns/WP-ATTEMPT/asks' \
                   '--model=tiny; rm -rf /' '--config=model_reasoning_effort=\"low\"'";
    for end in ["-", "resume -- SESSION -"] {
        let line = format!("{command} {end}");
        assert!(said.out.lines().any(|it| it == line), "{line}: {}", said.out);
    }
    assert_eq!(bench.sop(&["adapters"]).out, said.out, "the plan that lies here is taken");
}

/// What is shown is what a run starts, but for what only the run knows.
#[test]
fn the_command_lines_are_those_of_a_run() {
    let codex = saying("Done.").replace("> \"$HOME/args\"", ">> \"$HOME/args\"");
    let bench = Bench::new(Some(&codex));
    // Nothing is ever changed: the second attempt goes on with the session of the first.
    let plan = PLAN.replace("[\"true\"]", "[\"git --version\"]");
    bench
        .scratch
        .write("plan.toml", plan.replace("tier = \"light\"", "tier = \"light\"\nrounds = 2"));
    let shown: Value = serde_json::from_str(&bench.sop(&["adapters", "--json"]).out).expect("JSON");
    let said = bench.sop(&["apply", "--yes"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    let real = bench.home("args");
    let mut attempts = real.split_inclusive("\n-\n");
    for (key, attempt) in [("command", "a-1"), ("again", "a-2")] {
        let ran = attempts.next().expect("an attempt");
        let reports = ran.lines().find(|line| line.ends_with("/reports")).expect("a folder");
        let run = reports.trim_start_matches("--add-dir=").trim_end_matches("/reports");
        let words = shown["tiers"][0][key].as_array().expect("a command line").iter();
        let words = words.map(|word| word.as_str().expect("a word"));
        let words: Vec<String> = words
            .map(|word| word.replace("WP-ATTEMPT", attempt).replace("RUN/", &format!("{run}/")))
            .map(|word| if word == "SESSION" { "s-1".to_owned() } else { word })
            .collect();
        assert_eq!(ran.lines().collect::<Vec<_>>(), words[1..], "{key}");
    }
}

#[test]
fn as_json_they_are_whole() {
    let bench = Bench::new(Some(&saying("READY")));
    let said = bench.sop(&["adapters", "plan.toml", "--json"]);
    let all: Value = serde_json::from_str(&said.out).expect("JSON");
    let codex = &all["adapters"][0];
    assert_eq!(codex["worker"], "codex");
    assert_eq!(codex["version"], "codex-cli 9.9");
    assert_eq!(codex["login"]["state"], "no");
    let other = all["adapters"].as_array().unwrap().iter().find(|one| one["worker"] == "claude");
    assert_eq!(other.expect("it is listed")["path"], Value::Null);
    let tiers = all["tiers"].as_array().unwrap();
    assert_eq!(tiers[0]["command"][7], "--model=tiny; rm -rf /");
    assert_eq!((&tiers[0]["found"], &tiers[0]["worker"]), (&Value::from(true), &"codex".into()));
    assert_eq!(tiers[1]["command"][0], "./do-it");
}

#[test]
fn a_key_in_the_environment_is_a_login() {
    let bench = Bench::new(Some(&saying("READY")));
    let env = [("PATH", bench.path.as_str()), ("CODEX_API_KEY", "x")];
    let said = bench.scratch.sop_with(&env, &["adapters"]);
    assert!(said.out.contains("logged in (CODEX_API_KEY)"), "{}", said.out);
}

#[test]
fn a_plans_own_agent_is_listed_with_its_own_environment() {
    let bench = Bench::new(None);
    let own = "\n[workers.ours]\nagent = \"codex\"\nprogram = [\"./codex\"]\n\
               env = { CODEX_API_KEY = \"x\" }\n";
    bench.scratch.write(
        "plan.toml",
        format!("{PLAN}{own}").replace("worker = \"codex\"", "worker = \"ours\""),
    );
    bench.scratch.write("codex", "#!/bin/sh\necho codex-cli 1.2\n");
    let path = bench.scratch.path().join("codex");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    bench.scratch.commit("an agent");
    let said = bench.sop(&["adapters", "plan.toml"]);
    let line = said.out.lines().find(|line| line.contains(" ours ")).expect("a line");
    for part in ["codex-cli 1.2", "./codex", "logged in (CODEX_API_KEY)"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(said.out.contains("  ./codex exec --json"), "{}{}", said.out, said.err);
}

#[test]
fn a_version_is_one_harmless_line() {
    let bench = Bench::new(Some(r#"printf '\n\033]0;x\007nine\033[31m\t9\nmore\n'"#));
    let said = bench.sop(&["adapters"]);
    let line = said.out.lines().find(|line| line.contains("nine")).expect("a line");
    assert!(!line.contains('\u{1b}') && line.contains("nine    9"), "{line:?}");
    assert!(!said.out.contains("more"), "{}", said.out);
}

#[test]
fn an_agent_that_says_ready_is_alive() {
    let bench = Bench::new(Some(&saying("READY")));
    let said = bench.sop(&["adapters", "try", "light"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    for part in ["light is ready", "session  s-1", "12 in, 3 out", "said     READY"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(bench.home("prompt").contains("READY"));
    assert_eq!(bench.home("files"), "", "it works in an empty folder");
    let args = bench.home("args");
    assert!(args.contains("--sandbox=read-only\n"), "{args}");
    assert!(args.contains("--model=tiny; rm -rf /\n"), "{args}");
}

#[test]
fn what_is_not_ready_says_why_and_what_to_do() {
    let refused = r#"echo '{"type":"turn.failed","error":{"message":"unexpected status 402 Payment Required"}}'; exit 1"#;
    let cases = [
        (Some(saying("I would rather not")), "it said something else than READY"),
        (Some(refused.to_owned()), "credit: unexpected status 402 Payment Required"),
        (Some(refused.to_owned()), "top up the account"),
        (Some("exit 3".to_owned()), "crash: it exited with 3"),
        (None, "get it with: npm install -g @openai/codex"),
    ];
    for (codex, wanted) in cases {
        let bench = Bench::new(codex.as_deref());
        let said = bench.sop(&["adapters", "try", "light"]);
        assert_eq!(said.code, 5, "{wanted}: {}{}", said.out, said.err);
        assert!(said.out.contains("light is not ready"), "{}", said.out);
        assert!(said.out.contains(wanted), "{wanted}: {}", said.out);
    }
}

#[test]
fn one_that_never_answers_is_ended() {
    let bench = Bench::new(Some("trap '' TERM; while :; do sleep 0.1; done"));
    let said = bench.sop(&["adapters", "try", "codex", "--timeout", "300ms", "--json"]);
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    let check: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(check["problem"], "it took longer than 300ms");
    assert_eq!(check["ready"], false);
}

#[test]
fn a_tier_that_is_none_or_no_agents_is_a_usage_error() {
    let bench = Bench::new(None);
    let said = bench.sop(&["adapters", "try", "lihgt"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("no worker `lihgt`") && said.err.contains("light, script"),
        "{}",
        said.err
    );
    let said = bench.sop(&["adapters", "try", "script"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("runs a command, not an agent"), "{}", said.err);
}

#[test]
fn the_real_codex_is_tried() {
    if !has_tool("codex", "npm install -g @openai/codex") {
        return;
    }
    let server = ModelServer::start();
    let scratch = Scratch::folder();
    let config = format!(
        "model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
        server.url(Scenario::Text)
    );
    scratch.write("codex-home/config.toml", config);
    let home = scratch.path().join("codex-home");
    let env = [("CODEX_HOME", home.to_str().unwrap()), ("SCRIPTED_KEY", "none")];
    let said = scratch.sop_with(&env, &["adapters", "try", "codex"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(
        said.out.contains("codex is ready") && said.out.contains("1000 in, 20 out"),
        "{}",
        said.out
    );
    assert_eq!(server.calls(Scenario::Text).len(), 1, "nothing more is spent");
}
