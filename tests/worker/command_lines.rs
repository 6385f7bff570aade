//! What agents are called with: no shell, no value that becomes a flag, a reviewer that only reads.

use std::path::{Path, PathBuf};

use sop::model::plan::Adapter;
use sop::model::turn::Usd;
use sop::worker::{self, Drive};

fn drive(agent: Adapter) -> Drive {
    Drive::new(agent, PathBuf::from("/run/brief.md"), Path::new("/run"))
}

fn words(drive: &Drive) -> Vec<String> {
    let agent = worker::adapter(drive.agent).expect("there is one");
    let line = drive.command_line(agent, "do it", Path::new("/w"));
    line.argv.iter().map(|word| word.to_str().expect("text").to_owned()).collect()
}

fn full(agent: Adapter) -> Drive {
    let mut drive = drive(agent);
    drive.model = Some("-m; rm -rf /".to_owned());
    drive.effort = Some("hi\"gh".to_owned());
    drive.session = Some("01a2-b".to_owned());
    drive.args = vec!["--extra".to_owned(), "$(x)".to_owned()];
    drive.writable = vec![PathBuf::from("/run/reports")];
    drive.max_turns = Some(7);
    drive.usd = Some(Usd(1_500_000));
    drive
}

#[test]
fn codex() {
    assert_eq!(
        words(&drive(Adapter::Codex)),
        ["codex", "exec", "--json", "--skip-git-repo-check", "--sandbox=workspace-write", "-"]
    );
    assert_eq!(
        words(&full(Adapter::Codex)),
        [
            "codex",
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--sandbox=workspace-write",
            "--add-dir=/run/reports",
            "--model=-m; rm -rf /",
            "--config=model_reasoning_effort=\"hi\\\"gh\"",
            "--extra",
            "$(x)",
            "resume",
            "--",
            "01a2-b",
            "-",
        ]
    );
}

#[test]
fn claude() {
    assert_eq!(
        words(&full(Adapter::Claude)),
        [
            "claude",
            "-p",
            "--verbose",
            "--output-format=stream-json",
            "--permission-mode=acceptEdits",
            "--allowedTools=Bash,Edit,Write,NotebookEdit",
            "--add-dir=/run/reports",
            "--model=-m; rm -rf /",
            "--effort=hi\"gh",
            "--max-turns=7",
            "--max-budget-usd=1.5",
            "--resume=01a2-b",
            "--extra",
            "$(x)",
        ]
    );
}

#[test]
fn a_plan_may_widen_what_a_worker_may_do_but_not_what_a_reviewer_may() {
    let cases = [
        (Adapter::Codex, vec!["-s", "danger-full-access", "--search"], "--sandbox=read-only"),
        (Adapter::Codex, vec!["--sandbox=danger-full-access", "--search"], "--sandbox=read-only"),
        (
            Adapter::Claude,
            vec!["--permission-mode", "bypassPermissions", "--search"],
            "--permission-mode=default",
        ),
        (
            Adapter::Claude,
            vec!["--dangerously-skip-permissions", "--search"],
            "--permission-mode=default",
        ),
    ];
    for (agent, args, held) in cases {
        let mut drive = drive(agent);
        drive.args = args.iter().map(|word| (*word).to_owned()).collect();
        drive.writable = vec![PathBuf::from("/run/reports")];
        let worker = words(&drive);
        assert!(args.iter().all(|arg| worker.iter().any(|word| word == arg)), "{worker:?}");
        assert!(!worker.iter().any(|word| word.contains("workspace-write")), "{worker:?}");
        assert!(!worker.iter().any(|word| word.contains("acceptEdits")), "{worker:?}");

        drive.read_only = true;
        let reviewer = words(&drive);
        assert!(reviewer.iter().any(|word| word == held), "{reviewer:?}");
        assert!(reviewer.iter().any(|word| word == "--search"), "{reviewer:?}");
        for word in ["danger", "bypass", "/run/reports"] {
            assert!(!reviewer.iter().any(|arg| arg.contains(word)), "{reviewer:?}");
        }
    }
}

#[test]
fn a_session_that_is_none_is_not_gone_on_with() {
    for agent in [Adapter::Codex, Adapter::Claude] {
        let mut drive = drive(agent);
        drive.session = Some("--last".to_owned());
        let words = words(&drive);
        assert!(!words.iter().any(|word| word.contains("--last")), "{words:?}");
    }
}

#[test]
fn a_plans_own_program_takes_the_place_of_the_adapters() {
    let mut drive = drive(Adapter::Codex);
    drive.program = vec!["npx".to_owned(), "codex".to_owned()];
    assert_eq!(words(&drive)[..3], ["npx", "codex", "exec"]);
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.json");
    let order = full(Adapter::Claude);
    order.write(&path).unwrap();
    assert_eq!(Drive::read(&path).unwrap(), order);
}

#[test]
fn gemini() {
    assert_eq!(
        words(&drive(Adapter::Gemini)),
        ["gemini", "--output-format=stream-json", "--approval-mode=yolo"]
    );
    let line = words(&full(Adapter::Gemini));
    for word in
        ["--model=-m; rm -rf /", "--resume=01a2-b", "--include-directories=/run/reports", "$(x)"]
    {
        assert!(line.contains(&word.to_owned()), "{word}: {line:?}");
    }
    let mut reviewer = full(Adapter::Gemini);
    reviewer.read_only = true;
    reviewer.args = vec!["--yolo".to_owned(), "--approval-mode".to_owned(), "yolo".to_owned()];
    let line = words(&reviewer);
    assert!(!line.iter().any(|word| word.contains("yolo")), "{line:?}");
    assert!(line.contains(&"--approval-mode=default".to_owned()), "{line:?}");
}

#[test]
fn opencode() {
    let permissions = |drive: &Drive| {
        let agent = worker::adapter(drive.agent).expect("there is one");
        let line = drive.command_line(agent, "do it", Path::new("/w"));
        let (_, told) = line.env.iter().find(|(name, _)| *name == "OPENCODE_PERMISSION").unwrap();
        serde_json::from_str::<serde_json::Value>(told.to_str().unwrap()).unwrap()
    };
    let line = words(&full(Adapter::Opencode));
    assert_eq!(line[..3], ["opencode", "run", "--format=json"]);
    for word in ["--model=-m; rm -rf /", "--variant=hi\"gh", "--session=01a2-b", "$(x)"] {
        assert!(line.contains(&word.to_owned()), "{word}: {line:?}");
    }
    let outside = &permissions(&full(Adapter::Opencode))["external_directory"];
    // The last pattern that fits decides.
    assert_eq!(outside.to_string(), r#"{"*":"deny","/run/reports/*":"allow"}"#);
    let mut reviewer = full(Adapter::Opencode);
    reviewer.read_only = true;
    reviewer.args = vec!["--auto".to_owned()];
    assert!(!words(&reviewer).contains(&"--auto".to_owned()));
    let told = permissions(&reviewer);
    for what in ["edit", "bash", "external_directory"] {
        assert_eq!(told[what], "deny");
    }
    // The same rules, whichever way it is spoken to.
    assert_eq!(permissions(&Drive { agent: Adapter::Acp, ..reviewer }), told);
}

#[test]
fn aider_leaves_nothing_and_commits_nothing() {
    let line = words(&full(Adapter::Aider));
    for word in [
        "--no-auto-commits",
        "--no-dirty-commits",
        "--no-gitignore",
        "--chat-history-file=/dev/null",
        "--input-history-file=/dev/null",
        "--map-tokens=0",
        "--message-file=/run/brief.md",
        "--model=-m; rm -rf /",
    ] {
        assert!(line.contains(&word.to_owned()), "{word}: {line:?}");
    }
    let mut reviewer = drive(Adapter::Aider);
    reviewer.read_only = true;
    reviewer.args = vec!["--chat-mode=code".to_owned()];
    let line = words(&reviewer);
    // The last word counts.
    assert_eq!(line[line.len() - 2..], ["--chat-mode=ask", "--dry-run"]);
}

#[test]
fn an_agent_over_acp_is_called_as_its_worker_says() {
    let mut drive = drive(Adapter::Acp);
    drive.program = vec!["gemini".to_owned(), "--acp".to_owned()];
    drive.args = vec!["$(x)".to_owned()];
    drive.model = Some("told in the conversation".to_owned());
    assert_eq!(words(&drive), ["gemini", "--acp", "$(x)"]);
}
