//! One turn: what the agent gets, what people see, what is left.

use sop::model::plan::Adapter;
use sop::model::turn::{FaultClass, Usage};

use crate::support::driven::{Driven, until};

/// What codex prints, with a word at its end.
const GOOD: &str = r#"
cat > ../prompt; printf '%s\n' "$@" > ../args; pwd > ../cwd
echo '{"type":"thread.started","thread_id":"s-1"}'
echo '{"type":"item.started","item":{"type":"command_execution","command":"/bin/bash -lc '"'cargo test'"'"}}'
printf '%s\n' '{"type":"item.completed","item":{"type":"agent_message","text":"All is done.\nReally."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}'
"#;

#[test]
fn a_turn_is_driven() {
    let driven = Driven::script(Adapter::Codex, GOOD);
    let brief = "do it; $(touch evil) `touch evil`\n".repeat(20_000);
    driven.prompt(&brief);
    let done = driven.run();
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(done.out, "codex: session s-1\nrun cargo test\nAll is done.\nReally.\n");
    let turn = done.turn();
    assert_eq!(turn.session.as_deref(), Some("s-1"));
    assert_eq!(turn.usage, Usage { input: 10, cached: 4, output: 2 });
    assert!(turn.answered && turn.fault.is_none() && turn.stopped_at.is_none());
    assert_eq!(done.answer.as_deref(), Some("All is done.\nReally."));
    assert_eq!(driven.read("prompt"), brief);
    assert!(driven.read("args").ends_with("\n-\n"));
    assert_eq!(
        driven.read("cwd").trim(),
        driven.path("tree").canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(driven.read("stream.jsonl").lines().count(), 4);
}

#[test]
fn exit_codes_and_signals_are_passed_on() {
    for (script, code, class) in [
        ("exit 7", 7, FaultClass::Crash),
        ("exit 143", 143, FaultClass::Crash),
        ("exit 0", 0, FaultClass::Crash),
        ("kill -TERM $$", 143, FaultClass::Interrupted),
        ("kill -SEGV $$", 139, FaultClass::Crash),
        ("echo 'Error: 401 Unauthorized' >&2; exit 1", 1, FaultClass::Auth),
    ] {
        let done = Driven::script(Adapter::Codex, script).run();
        assert_eq!(done.code, code, "{script}");
        assert_eq!(done.turn().fault.as_ref().map(|fault| fault.class), Some(class), "{script}");
        assert_eq!(done.answer.as_deref(), Some(""), "{script}");
    }
}

#[test]
fn standard_error_is_passed_on_and_its_last_line_kept() {
    let done = Driven::script(Adapter::Claude, "echo one >&2; echo two >&2; exit 3").run();
    assert_eq!(done.err, "one\ntwo\n");
    assert_eq!(done.turn().fault.as_ref().unwrap().message, "two");
}

#[test]
fn the_last_error_is_left_while_it_works() {
    let script = r#"
echo '{"type":"error","message":"Reconnecting... 2/5 (503 \u001b[31mService Unavailable)"}'
while [ ! -e ../first ]; do sleep 0.05; done
echo; echo "ERROR still 503" >&2
while [ ! -e ../second ]; do sleep 0.05; done
echo '{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'"#;
    let driven = Driven::script(Adapter::Codex, script);
    let running = driven.start();
    let left = |part: &str| {
        sop::worker::trouble::last(&driven.path("")).filter(|(it, _)| it.contains(part))
    };
    until("the first", || left("Reconnecting... 2/5 (503").is_some());
    let (text, _) = left("503").unwrap();
    assert!(!text.contains('\u{1b}'), "{text:?}");
    std::fs::write(driven.path("first"), "").unwrap();
    until("the second", || left("ERROR still 503").is_some());
    std::fs::write(driven.path("second"), "").unwrap();
    assert_eq!(running.finish().code, 0);
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let mut driven = Driven::real(Adapter::Codex);
    driven.order.program = vec!["no-such-agent".to_owned()];
    let done = driven.run();
    assert_eq!(done.code, 127);
    assert!(done.err.contains("no-such-agent: no such program"), "{}", done.err);
    assert_eq!(done.turn().fault.as_ref().unwrap().class, FaultClass::Crash);

    driven.order.program = vec![driven.order.prompt.to_str().unwrap().to_owned()];
    let done = driven.run();
    assert_eq!(done.code, 126);
    assert!(done.err.contains("cannot be executed"), "{}", done.err);
}

#[test]
fn an_order_that_is_none_is_the_drivers_own_failure() {
    let driven = Driven::script(Adapter::Codex, GOOD);
    std::fs::remove_file(&driven.order.prompt).unwrap();
    let done = driven.run();
    assert_eq!(done.code, 125);
    assert!(done.err.contains("cannot read the brief"), "{}", done.err);
    assert!(done.turn.is_none());
}

#[test]
fn nothing_that_an_agent_says_reaches_the_terminal() {
    let script = r#"
printf '%s\n' '{"type":"item.completed","item":{"type":"agent_message","text":"a\u001b[2Jb\u202ec\u0007"}}'
printf '%s\n' '{"type":"turn.completed"}'
"#;
    let done = Driven::script(Adapter::Codex, script).run();
    assert_eq!(done.out, "ab\\u{202e}c\\x07\n", "{:?}", done.out);
}

#[test]
fn long_texts_are_shortened_for_people_and_whole_for_the_engine() {
    let script = r#"
line=$(head -c 5000 /dev/zero | tr '\0' x)
text=$line; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do text="$text\\n$i\\n$i"; done
printf '%s\n' '{"type":"item.completed","item":{"type":"agent_message","text":"'"$text"'"}}'
printf '%s\n' '{"type":"turn.completed"}'
"#;
    let done = Driven::script(Adapter::Codex, script).run();
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines[0].chars().count(), 301);
    assert_eq!(lines.len(), 31);
    assert_eq!(lines[30], "… 11 more lines");
    assert_eq!(done.answer.unwrap().lines().count(), 41);
}

#[test]
fn an_answer_is_cut_at_a_megabyte() {
    let script = r#"
text=$(head -c 600000 /dev/zero | tr '\0' x)
printf '%s' '{"type":"item.completed","item":{"type":"agent_message","text":"é'"$text"'é'
printf '%s\n' "$text"'"}}'
printf '%s\n' '{"type":"turn.completed"}'
"#;
    let done = Driven::script(Adapter::Codex, script).run();
    let length = done.answer.unwrap().len();
    assert!((1_048_570..=1_048_576).contains(&length), "{length}");
}

#[test]
fn an_agent_that_does_not_leave_after_its_turn_is_ended_and_its_turn_counts() {
    let script = format!("trap '' TERM\n{GOOD}\nwhile :; do sleep 0.05; done");
    let mut driven = Driven::script(Adapter::Codex, &script);
    driven.order.grace = "200ms".parse().unwrap();
    let done = driven.run();
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.turn().answered && done.turn().fault.is_none());
}

#[test]
fn one_that_is_told_to_end_leaves_its_session_and_nobody_behind() {
    let script = r#"
trap '' TERM
echo '{"type":"thread.started","thread_id":"s-1"}'
(trap '' TERM; echo $$ > ../shell; while :; do sleep 0.05; done) &
setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done' &
echo $! > ../other
while :; do sleep 0.05; done
"#;
    let mut driven = Driven::script(Adapter::Codex, script);
    driven.order.grace = "400ms".parse().unwrap();
    let running = driven.start();
    until("the session to be noted", || driven.read("turn.json").contains("s-1"));
    until("its child", || driven.read("other").ends_with('\n'));
    running.term();
    let done = running.finish();
    assert_eq!(done.code, 137, "{done:?}");
    let turn = done.turn();
    assert_eq!(turn.session.as_deref(), Some("s-1"));
    assert_eq!(turn.fault.as_ref().unwrap().class, FaultClass::Interrupted);
    // Its grandchildren are ended with it, whatever session they are in.
    let pid: i32 = driven.read("other").trim().parse().unwrap();
    until("its child to be gone", || {
        sop::process::identity::Stat::read(pid).is_none_or(|stat| stat.is_zombie())
    });
}

#[test]
fn a_killed_driver_has_left_what_was_known() {
    let script = "echo '{\"type\":\"thread.started\",\"thread_id\":\"s-1\"}'; exec sleep 1000";
    let driven = Driven::script(Adapter::Codex, script);
    let mut running = driven.start();
    until("the session to be noted", || driven.read("turn.json").contains("s-1"));
    running.child.kill().unwrap();
    let done = running.finish();
    assert_eq!(done.code, 256);
    let turn = done.turn();
    assert_eq!(turn.session.as_deref(), Some("s-1"));
    assert_eq!(turn.fault.as_ref().unwrap().class, FaultClass::Interrupted);
    assert!(!turn.answered);
}

#[test]
fn a_variable_of_the_plan_wins_over_the_adapters_and_this_agents_own_marks_are_not_seen() {
    let script =
        r#"echo "$CLAUDE_CODE_MAX_RETRIES $DISABLE_AUTOUPDATER ${CLAUDECODE-none}" > ../env"#;
    let mut driven = Driven::script(Adapter::Claude, script);
    driven.env.insert("CLAUDE_CODE_MAX_RETRIES".to_owned(), "9".to_owned());
    driven.env.insert("CLAUDECODE".to_owned(), "1".to_owned());
    driven.run();
    assert_eq!(driven.read("env"), "9 1 none\n");
}

#[test]
fn an_agent_that_prints_only_what_nobody_needs_to_see_is_not_silent() {
    let script = r#"
while [ ! -e ../go ]; do echo '{"type":"turn.started"}'; sleep 0.2; done
echo '{"type":"turn.completed"}'
"#;
    let driven = Driven::script(Adapter::Codex, script);
    let running = driven.start();
    until("a sign of life", || driven.read("out").contains("(at work)\n"));
    std::fs::write(driven.path("go"), "").unwrap();
    running.finish();
}
