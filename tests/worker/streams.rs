//! What agents really printed, recorded, and what it is read as. The agents were run against a scripted
//! model; folders and ports were made neutral, and fields that nobody reads left out.

use std::path::Path;

use sop::model::plan::Adapter;
use sop::model::turn::{FaultClass, Spent, Usage, Usd};
use sop::process::reap::Death;
use sop::worker::{self, Ask, End, Ended, Tally};

/// A stream as read.
struct Read {
    tally: Tally,
    said: Vec<String>,
    over: bool,
    end: End,
}

/// Reads a stream to its end, which came with `exit`.
fn read(agent: Adapter, stream: &str, exit: Death, errors: &str, stopped: bool) -> Read {
    let agent = worker::adapter(agent).expect("there is one");
    let ask = Ask {
        program: &[],
        args: &[],
        model: None,
        effort: None,
        session: None,
        prompt: "",
        prompt_file: Path::new("/brief"),
        read_only: false,
        writable: &[],
        max_turns: Some(1),
        usd: Some(Usd(1000)),
        cwd: Path::new("/w"),
    };
    let mut reader = agent.reader(&ask);
    let mut tally = Tally::default();
    let (mut said, mut over) = (Vec::new(), false);
    for line in stream.lines() {
        let heard = reader.line(line.as_bytes(), &mut tally);
        said.extend(heard.say);
        over |= heard.over;
    }
    let now = "2026-11-29T20:00:00Z".parse().expect("an instant");
    let ended = Ended { exit, stopped, errors: errors.as_bytes(), now };
    let end = reader.end(&ended, &mut tally);
    Read { tally, said, over, end }
}

fn codex(stream: &str, exit: i32) -> Read {
    read(Adapter::Codex, stream, Death::Code(exit), "", false)
}

fn claude(stream: &str, exit: i32) -> Read {
    read(Adapter::Claude, stream, Death::Code(exit), "", false)
}

fn class(read: &Read) -> Option<FaultClass> {
    read.end.fault.as_ref().map(|fault| fault.class)
}

const CODEX_EDIT: &str = include_str!("streams/codex-edit.jsonl");
const CLAUDE_EDIT: &str = include_str!("streams/claude-edit.jsonl");

#[test]
fn codex_edits_and_says_so() {
    let read = codex(CODEX_EDIT, 0);
    assert_eq!(read.tally.session.as_deref(), Some("01a228da-37b3-7d72-a0fe-37ddd976ef0b"));
    assert_eq!(read.tally.usage, Usage { input: 2003, cached: 0, output: 40 });
    assert_eq!(read.end.text.as_deref(), Some("Done: wrote the file."));
    assert_eq!(read.end.fault, None);
    assert!(read.over);
    assert_eq!(read.said[0], "codex: session 01a228da-37b3-7d72-a0fe-37ddd976ef0b");
    assert_eq!(read.said[2], "run printf 'edited-by-stub\\n' > '/w/hello.txt'");
    assert_eq!(read.said[3], "Done: wrote the file.");
}

#[test]
fn claude_edits_and_says_so() {
    let read = claude(CLAUDE_EDIT, 0);
    assert_eq!(read.tally.session.as_deref(), Some("3c5f3940-9528-48ba-815e-afb3e16a030e"));
    assert_eq!(read.tally.model.as_deref(), Some("stub-model"));
    assert_eq!(read.tally.usage, Usage { input: 2133, cached: 0, output: 40 });
    assert_eq!(read.tally.cost_usd, Some(Usd(11_665)));
    assert_eq!(read.tally.turns, 2);
    assert_eq!(read.end.text.as_deref(), Some("Done: wrote the file."));
    assert_eq!(read.end.fault, None);
    assert!(read.over);
    assert_eq!(read.said[1], "run printf 'edited-by-stub\\n' > '/w/hello.txt'");
}

#[test]
fn tokens_and_turns_of_claude_are_known_while_it_works() {
    let all_but_the_end: Vec<&str> = CLAUDE_EDIT.lines().collect();
    let read = claude(&all_but_the_end[..all_but_the_end.len() - 1].join("\n"), 0);
    assert_eq!(read.tally.usage, Usage { input: 2133, cached: 0, output: 40 });
    assert_eq!(read.tally.turns, 2);
    // Though it exited with 0, it told no end of its turn.
    assert_eq!(class(&read), Some(FaultClass::Crash));
    assert!(!read.over);
}

#[test]
fn each_failure_has_its_class() {
    let streams = [
        (include_str!("streams/codex-empty.jsonl"), 0, FaultClass::EmptyTurn),
        (include_str!("streams/codex-401.jsonl"), 1, FaultClass::Auth),
        (include_str!("streams/codex-402.jsonl"), 1, FaultClass::Credit),
        (include_str!("streams/codex-429.jsonl"), 1, FaultClass::RateLimit),
        (include_str!("streams/codex-500.jsonl"), 1, FaultClass::Provider),
        (include_str!("streams/codex-cut.jsonl"), 1, FaultClass::Provider),
    ];
    for (stream, exit, wanted) in streams {
        assert_eq!(class(&codex(stream, exit)), Some(wanted), "codex, {wanted}");
    }
    let streams = [
        (include_str!("streams/claude-empty.jsonl"), 0, FaultClass::EmptyTurn),
        (include_str!("streams/claude-401.jsonl"), 1, FaultClass::Auth),
        (include_str!("streams/claude-402.jsonl"), 1, FaultClass::Credit),
        (include_str!("streams/claude-429.jsonl"), 1, FaultClass::RateLimit),
        (include_str!("streams/claude-500.jsonl"), 1, FaultClass::Provider),
    ];
    for (stream, exit, wanted) in streams {
        assert_eq!(class(&claude(stream, exit)), Some(wanted), "claude, {wanted}");
    }
}

#[test]
fn a_failed_turn_used_nothing_and_said_nothing() {
    let read = claude(include_str!("streams/claude-402.jsonl"), 1);
    assert_eq!((read.tally.turns, read.tally.usage), (0, Usage::default()));
    assert_eq!(read.end.text, None, "what claude says of the failure is no answer");
    let message = read.end.fault.expect("a fault").message;
    assert_eq!(message, "API Error: 402 Payment required: insufficient credits");
}

#[test]
fn limits_that_claude_stops_at_itself_are_limits() {
    let read = claude(include_str!("streams/claude-budget.jsonl"), 1);
    assert_eq!((read.end.stopped_at, class(&read)), (Some(Spent::Usd { most: Usd(1000) }), None));
    assert_eq!(read.tally.cost_usd, Some(Usd(5880)));
    let read = claude(include_str!("streams/claude-turns.jsonl"), 1);
    assert_eq!((read.end.stopped_at, class(&read)), (Some(Spent::Turns { most: 1 }), None));
}

#[test]
fn what_claude_was_not_allowed_is_told_though_it_says_that_all_is_done() {
    let read = claude(include_str!("streams/claude-denied.jsonl"), 0);
    assert_eq!(read.end.text.as_deref(), Some("Done: wrote the file."));
    let wanted = "run printf 'edited-by-stub\\n' > '/w/hello.txt'";
    assert_eq!(read.tally.denials, [wanted]);
    assert!(read.said.iter().any(|line| line.starts_with("failed: Output redirection")));
}

#[test]
fn a_stream_that_stops_in_the_middle_is_a_crash_or_somebodys_doing() {
    let begun = CODEX_EDIT.lines().take(4).collect::<Vec<_>>().join("\n");
    let read_as = |exit, errors, stopped| {
        let read = read(Adapter::Codex, &begun, exit, errors, stopped);
        let fault = read.end.fault.expect("a fault");
        (fault.class, fault.message)
    };
    let panicked = "warming up\nthread 'main' panicked at src/main.rs:1\n\n";
    let (class, message) = read_as(Death::Code(101), panicked, false);
    assert_eq!(class, FaultClass::Crash);
    assert_eq!(message, "thread 'main' panicked at src/main.rs:1");
    assert_eq!(read_as(Death::Signal(15), "", true).0, FaultClass::Interrupted);
    assert_eq!(read_as(Death::Code(143), "", true).0, FaultClass::Interrupted);
    assert_eq!(read_as(Death::Signal(9), "", false).0, FaultClass::Interrupted);
    assert_eq!(read_as(Death::Signal(11), "", false).0, FaultClass::Crash);
    // Over 128 without a signal: an exit code proves nothing.
    assert_eq!(read_as(Death::Code(143), "", false).0, FaultClass::Crash);
    let no_network = "error sending request for url (http://127.0.0.1/)\n";
    assert_eq!(read_as(Death::Code(1), no_network, false).0, FaultClass::Provider);
}

#[test]
fn lines_that_are_no_events_are_passed_over() {
    for agent in [Adapter::Codex, Adapter::Claude] {
        let noise = "\n{}\n[]\nnull\nplain text\n{\"type\":\"new.kind\",\"x\":1}\n{\"type\":\"result\"\n\u{1b}[2J\n";
        let read = read(agent, noise, Death::Code(0), "", false);
        assert_eq!(read.said, Vec::<String>::new());
        assert_eq!(class(&read), Some(FaultClass::Crash));
    }
}

#[test]
fn a_session_that_would_be_a_flag_is_none() {
    let evil =
        r#"{"type":"thread.started","thread_id":"--dangerously-bypass-approvals-and-sandbox"}"#;
    assert_eq!(codex(evil, 0).tally.session, None);
    for good in ["01a2-b", "ses_4f", "a/b:c.d"] {
        assert!(Tally::is_session(good), "{good}");
    }
    for bad in ["", "-c", "a b", "a\nb", "$(x)", &"x".repeat(300)] {
        assert!(!Tally::is_session(bad), "{bad}");
    }
}
