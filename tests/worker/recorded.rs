//! What gemini, opencode, aider and four agents over the Agent Client Protocol really printed, recorded
//! against a scripted model, and what it is read as. Folders and ports were made neutral, and fields
//! that nobody reads left out.

use std::path::Path;

use sop::model::plan::Adapter;
use sop::model::turn::{FaultClass, Usage, Usd};
use sop::process::reap::Death;
use sop::worker::{self, Ask, End, Ended, Tally};

use crate::support::scratch::Scratch;

/// A stream as read.
struct Read {
    tally: Tally,
    said: Vec<String>,
    written: String,
    over: bool,
    /// The last error that it told.
    error: Option<String>,
    end: End,
}

/// What there was beside the stream.
#[derive(Clone, Copy, Default)]
struct Beside<'a> {
    model: Option<&'a str>,
    exit: i32,
    errors: &'a str,
    stopped: bool,
    read_only: bool,
}

/// Reads a stream of an agent that works in a folder of its own, which the streams call `/w`.
fn read(agent: Adapter, stream: &str, beside: Beside<'_>) -> Read {
    let scratch = Scratch::folder();
    let stream = stream.replace("\"/w", &format!("\"{}", scratch.path().display()));
    let agent = worker::adapter(agent).expect("there is one");
    let ask = Ask {
        program: &[],
        args: &[],
        model: beside.model,
        effort: None,
        session: None,
        prompt: "",
        prompt_file: Path::new("/brief"),
        read_only: beside.read_only,
        writable: &[],
        max_turns: None,
        usd: None,
        cwd: scratch.path(),
    };
    let mut reader = agent.reader(&ask);
    let mut tally = Tally::default();
    let (mut said, mut over, mut error) = (Vec::new(), false, None);
    let mut written = reader.open();
    for line in stream.lines() {
        let heard = reader.line(line.as_bytes(), &mut tally);
        said.extend(heard.say);
        written.extend(heard.write);
        over |= heard.over;
        error = heard.error.or(error);
    }
    let now = "2026-11-29T20:00:00Z".parse().expect("an instant");
    let exit = Death::Code(beside.exit);
    let errors = beside.errors.as_bytes();
    let end = reader.end(&Ended { exit, stopped: beside.stopped, errors, now }, &mut tally);
    let written = String::from_utf8(written).expect("text");
    Read { tally, said, written, over, error, end }
}

fn plain(agent: Adapter, stream: &str, exit: i32) -> Read {
    read(agent, stream, Beside { exit, ..Beside::default() })
}

fn class(read: &Read) -> Option<FaultClass> {
    read.end.fault.as_ref().map(|fault| fault.class)
}

#[test]
fn gemini_edits_and_says_so() {
    let read = plain(Adapter::Gemini, include_str!("streams/gemini-edit.jsonl"), 0);
    assert_eq!(read.tally.session.as_deref(), Some("bd3297c3-0691-4ef7-abe9-48ba99ee3be9"));
    assert_eq!(read.tally.model.as_deref(), Some("gemini-2.5-pro"));
    assert_eq!(read.tally.usage, Usage { input: 2015, cached: 0, output: 40 });
    assert_eq!(read.tally.turns, 2);
    assert_eq!(read.end.text.as_deref(), Some("Done: wrote the file."));
    assert_eq!(read.end.fault, None);
    assert!(read.over);
    assert_eq!(read.said[0], "gemini: session bd3297c3-0691-4ef7-abe9-48ba99ee3be9");
    assert_eq!(read.said[1], "run printf 'edited-by-stub\\n' > '/w/hello.txt'");
    assert_eq!(read.said[2], "Done: wrote the file.");
}

#[test]
fn opencode_edits_and_says_so() {
    let read = plain(Adapter::Opencode, include_str!("streams/opencode-edit.jsonl"), 0);
    assert_eq!(read.tally.session.as_deref(), Some("ses_dd727402dffe48AuW1Hy5jjRj9"));
    assert_eq!(read.tally.usage, Usage { input: 2007, cached: 0, output: 40 });
    assert_eq!((read.tally.turns, read.tally.cost_usd), (2, None));
    assert_eq!(read.end.text.as_deref(), Some("Done: wrote the file."));
    assert_eq!(read.end.fault, None);
    assert_eq!(read.said[0], "opencode: session ses_dd727402dffe48AuW1Hy5jjRj9");
    assert_eq!(read.said[1], "run printf 'edited-by-stub\\n' > '/w/hello.txt'");
}

#[test]
fn money_of_opencode_adds_up() {
    let step = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","tokens":{"input":10,"output":2,"reasoning":3,"cache":{"read":100,"write":7}},"cost":0.0125}}"#;
    let read = plain(Adapter::Opencode, &format!("{step}\n{step}\n"), 0);
    assert_eq!(read.tally.cost_usd, Some(Usd(25_000)));
    assert_eq!(read.tally.usage, Usage { input: 234, cached: 200, output: 10 });
}

#[test]
fn aider_answers() {
    let read = plain(Adapter::Aider, include_str!("streams/aider-text.txt"), 0);
    assert_eq!(read.tally.model.as_deref(), Some("openai/stub-model"));
    assert_eq!(read.tally.usage, Usage { input: 1300, cached: 0, output: 20 });
    assert_eq!(read.tally.turns, 1);
    assert_eq!(read.end.text.as_deref(), Some("No tools needed. Done."));
    assert_eq!(read.end.fault, None);
    assert_eq!(read.said, ["No tools needed. Done."]);
}

#[test]
fn aider_counts_money_by_session() {
    let stream = "Repo-map: disabled\nFirst.\nTokens: 1.2k sent, 300 cache hit, 1,234 received. Cost: $0.01 message, $0.01 session.\nSecond.\nTokens: 2M sent, 5 received. Cost: $0.02 message, $1,000.03 session.\nApplied edit to a.txt\n";
    let read = plain(Adapter::Aider, stream, 0);
    assert_eq!(read.tally.usage, Usage { input: 2_001_200, cached: 300, output: 1239 });
    assert_eq!((read.tally.turns, read.tally.cost_usd), (2, Some(Usd(1_000_030_000))));
    assert_eq!(read.end.text.as_deref(), Some("Second."));
}

#[test]
fn each_failure_has_its_class() {
    let streams = [
        (Adapter::Gemini, include_str!("streams/gemini-empty.jsonl"), 0, FaultClass::EmptyTurn),
        (Adapter::Gemini, include_str!("streams/gemini-401.jsonl"), 145, FaultClass::Auth),
        (Adapter::Gemini, include_str!("streams/gemini-402.jsonl"), 146, FaultClass::Credit),
        (Adapter::Gemini, include_str!("streams/gemini-429.jsonl"), 173, FaultClass::RateLimit),
        (Adapter::Opencode, include_str!("streams/opencode-empty.jsonl"), 0, FaultClass::EmptyTurn),
        (Adapter::Opencode, include_str!("streams/opencode-401.jsonl"), 1, FaultClass::Auth),
        (Adapter::Opencode, include_str!("streams/opencode-402.jsonl"), 1, FaultClass::Credit),
        (Adapter::Opencode, include_str!("streams/opencode-429.jsonl"), 1, FaultClass::RateLimit),
        (Adapter::Opencode, include_str!("streams/opencode-500.jsonl"), 1, FaultClass::Provider),
        (Adapter::Aider, include_str!("streams/aider-empty.txt"), 0, FaultClass::EmptyTurn),
        (Adapter::Aider, include_str!("streams/aider-402.txt"), 0, FaultClass::Credit),
    ];
    for (agent, stream, exit, wanted) in streams {
        let read = plain(agent, stream, exit);
        assert_eq!(class(&read), Some(wanted), "{}: {:?}", agent.name(), read.end);
        assert_eq!(read.end.text, None, "{}, {wanted}", agent.name());
    }
}

#[test]
fn an_agent_that_leaves_before_it_begins_told_why_on_standard_error() {
    let no_login = "Please set an Auth method in your settings\n";
    let beside = Beside { exit: 41, errors: no_login, ..Beside::default() };
    assert_eq!(class(&read(Adapter::Gemini, "", beside)), Some(FaultClass::Auth));
    let beside = Beside {
        exit: 1,
        errors: "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n",
        ..beside
    };
    let read = read(Adapter::Opencode, "", beside);
    assert_eq!(class(&read), Some(FaultClass::Crash));
    assert_eq!(read.end.fault.expect("a fault").message, "Error: Session not found");
}

#[test]
fn a_provider_that_gemini_still_tries_is_told_when_its_time_is_up() {
    let (stream, errors) =
        (include_str!("streams/gemini-500.jsonl"), include_str!("streams/gemini-500.err"));
    let read = read(
        Adapter::Gemini,
        stream,
        Beside { exit: 143, errors, stopped: true, ..Beside::default() },
    );
    let fault = read.end.fault.expect("a fault");
    assert_eq!(fault.class, FaultClass::Provider);
    assert!(fault.message.starts_with("Attempt 3 failed with status 500"), "{}", fault.message);
}

#[test]
fn opencodes_log_tells_what_its_event_does_not() {
    let (stream, errors) = (
        include_str!("streams/opencode-unknown.jsonl"),
        include_str!("streams/opencode-unknown.err"),
    );
    let read = read(Adapter::Opencode, stream, Beside { exit: 1, errors, ..Beside::default() });
    let fault = read.end.fault.expect("a fault");
    assert_eq!(fault.class, FaultClass::ModelUnknown);
    assert_eq!(fault.message, "ProviderModelNotFoundError: Model not found: stub/nomodel.");
}

#[test]
fn a_stream_that_is_always_cut_ends_opencode() {
    let read = plain(Adapter::Opencode, include_str!("streams/opencode-cut.jsonl"), 143);
    assert!(read.over, "it would ask again without end");
    assert_eq!(class(&read), Some(FaultClass::Provider));
}

#[test]
fn four_agents_edit_over_the_protocol() {
    let recorded = [
        (
            "gemini-2.5-pro",
            include_str!("streams/acp-gemini-edit.jsonl"),
            "proceed_once",
            (2843, 40),
        ),
        ("stub/stub-model", include_str!("streams/acp-opencode-edit.jsonl"), "once", (1429, 20)),
        ("sonnet", include_str!("streams/acp-claude-edit.jsonl"), "allow", (2851, 40)),
        // It asks nothing, and tells the tokens of each call as one sum.
        ("stub-model", include_str!("streams/acp-codex-edit.jsonl"), "", (2887, 0)),
    ];
    for (model, stream, option, (input, output)) in recorded {
        let read = read(Adapter::Acp, stream, Beside { model: Some(model), ..Beside::default() });
        assert_eq!(read.end.text.as_deref(), Some("Done: wrote the file."), "{model}");
        assert_eq!(read.end.fault, None, "{model}");
        assert!(read.over && read.tally.session.is_some(), "{model}");
        assert_eq!(read.tally.model.as_deref(), Some(model));
        assert_eq!(read.tally.usage, Usage { input, cached: 0, output }, "{model}");
        assert_eq!(read.tally.turns, 2, "{model}");
        assert!(read.said.iter().any(|line| line.starts_with("run printf")), "{:?}", read.said);
        let answered = format!("\"optionId\":\"{option}\"");
        assert!(option.is_empty() || read.written.contains(&answered), "{}", read.written);
    }
}

#[test]
fn a_session_that_reads_refuses_the_same_requests() {
    let recorded = [
        ("gemini-2.5-pro", include_str!("streams/acp-gemini-edit.jsonl"), "cancel"),
        ("stub/stub-model", include_str!("streams/acp-opencode-edit.jsonl"), "reject"),
        ("sonnet", include_str!("streams/acp-claude-edit.jsonl"), "reject"),
    ];
    for (model, stream, option) in recorded {
        let beside = Beside { model: Some(model), read_only: true, ..Beside::default() };
        let read = read(Adapter::Acp, stream, beside);
        let answered = format!("\"optionId\":\"{option}\"");
        assert!(read.written.contains(&answered), "{model}: {}", read.written);
        assert_eq!(read.tally.denials.len(), 1, "{model}");
    }
}

#[test]
fn four_agents_are_out_of_credit_over_the_protocol() {
    let recorded = [
        (Some("gemini-2.5-pro"), include_str!("streams/acp-gemini-402.jsonl")),
        (None, include_str!("streams/acp-opencode-402.jsonl")),
        (None, include_str!("streams/acp-claude-402.jsonl")),
        (None, include_str!("streams/acp-codex-402.jsonl")),
    ];
    for (model, stream) in recorded {
        // In a session that reads, codex is in its mode as it is, and nothing is set before the prompt.
        let read =
            read(Adapter::Acp, stream, Beside { model, read_only: true, ..Beside::default() });
        assert_eq!(class(&read), Some(FaultClass::Credit), "{:?}", read.end);
        assert!(read.over);
    }
}

#[test]
fn lines_that_are_no_events_are_passed_over() {
    let noise =
        "\n{}\n[]\nnull\nplain text\n{\"type\":\"new.kind\",\"x\":1}\n{\"type\":\"result\"\n";
    for agent in [Adapter::Gemini, Adapter::Opencode, Adapter::Aider, Adapter::Acp] {
        let read = plain(agent, noise, 0);
        assert_eq!(read.said, Vec::<String>::new(), "{}", agent.name());
        assert_eq!(class(&read), Some(FaultClass::Crash), "{}", agent.name());
    }
}

#[test]
fn the_last_error_is_told_as_the_agent_said_it() {
    for (agent, stream, exit, words) in [
        (Adapter::Claude, include_str!("streams/claude-500.jsonl"), 1, "API Error"),
        (Adapter::Claude, include_str!("streams/claude-402.jsonl"), 1, "402"),
        (Adapter::Gemini, include_str!("streams/gemini-402.jsonl"), 146, "insufficient credits"),
        (Adapter::Opencode, include_str!("streams/opencode-402.jsonl"), 1, "insufficient credits"),
        (
            Adapter::Opencode,
            include_str!("streams/opencode-cut.jsonl"),
            1,
            "the provider's answer was cut (",
        ),
        (Adapter::Acp, include_str!("streams/acp-opencode-402.jsonl"), 0, "insufficient credits"),
        (Adapter::Acp, include_str!("streams/acp-claude-402.jsonl"), 0, "insufficient credits"),
        (Adapter::Codex, include_str!("streams/codex-402.jsonl"), 1, "insufficient credits"),
        (Adapter::Aider, include_str!("streams/aider-402.txt"), 0, "litellm."),
    ] {
        let error = plain(agent, stream, exit).error.unwrap_or_default();
        assert!(error.contains(words), "{agent:?}: {error:?}");
    }
    // Before it is over, while it is trying again.
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"error_status":529}"#;
    let error = plain(Adapter::Claude, retry, 1).error.unwrap_or_default();
    assert_eq!(error, "the provider answered status 529; trying again (2 of 10)");
    assert_eq!(plain(Adapter::Claude, include_str!("streams/claude-edit.jsonl"), 0).error, None);
    assert_eq!(plain(Adapter::Gemini, include_str!("streams/gemini-edit.jsonl"), 0).error, None);
    assert_eq!(
        plain(Adapter::Opencode, include_str!("streams/opencode-edit.jsonl"), 0).error,
        None
    );
}
