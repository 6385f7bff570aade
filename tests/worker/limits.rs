//! Limits of a turn, and memory that does not grow with what an agent prints.

use std::fs;

use sop::model::plan::Adapter;
use sop::model::turn::{Spent, Usage, Usd};
use sop::worker::Tally;
use sop::worker::tally::Most;

use crate::support::driven::{Driven, until};
use crate::support::peak::peak_kib;

/// A claude that makes calls without end, each of 100 tokens.
const BUSY: &str = r#"
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m"}'
n=0
while :; do
  n=$((n+1))
  echo '{"type":"assistant","message":{"id":"m'$n'","model":"m","content":[],"usage":{"input_tokens":90,"output_tokens":10}}}'
  echo '{"type":"assistant","message":{"id":"m'$n'","model":"m","content":[{"type":"text","text":"'$n'"}],"usage":{"input_tokens":90,"output_tokens":10}}}'
  sleep 0.3
done
"#;

#[test]
fn one_turn_too_many_ends_it() {
    let mut driven = Driven::script(Adapter::Claude, BUSY);
    driven.order.max_turns = Some(2);
    let done = driven.run();
    assert_eq!(done.code, 143, "{done:?}");
    let turn = done.turn();
    assert_eq!(turn.stopped_at, Some(Spent::Turns { most: 2 }));
    assert_eq!(turn.fault, None, "a limit of the plan is no fault");
    assert!(turn.turns >= 3, "{turn:?}");
    assert!(done.out.contains("ended at its limit of 2 turns"), "{}", done.out);
}

#[test]
fn so_do_tokens() {
    let mut driven = Driven::script(Adapter::Claude, BUSY);
    driven.order.tokens = Some(250);
    let done = driven.run();
    let turn = done.turn();
    assert_eq!(turn.stopped_at, Some(Spent::Tokens { most: 250 }));
    assert!(turn.usage.total() >= 300, "{turn:?}");
    assert_eq!(turn.session.as_deref(), Some("s-1"));
}

#[test]
fn one_that_is_done_is_not_ended_at_a_limit_though_it_is_past_it() {
    let script = r#"
echo '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1000,"output_tokens":2}}'
sleep 0.5
"#;
    let mut driven = Driven::script(Adapter::Codex, script);
    driven.order.tokens = Some(10);
    let done = driven.run();
    assert_eq!((done.code, done.turn().stopped_at), (0, None));
    assert!(done.turn().answered);
}

#[test]
fn limits_are_passed_in_this_way() {
    let tally = |turns, tokens, usd| Tally {
        turns,
        usage: Usage { input: tokens, cached: 0, output: 0 },
        cost_usd: Some(Usd(usd)),
        ..Tally::default()
    };
    let most = Most { turns: Some(3), usd: Some(Usd(100)), tokens: Some(50) };
    assert_eq!(tally(3, 49, 99).passed(&most), None);
    assert_eq!(tally(4, 0, 0).passed(&most), Some(Spent::Turns { most: 3 }));
    assert_eq!(tally(0, 50, 0).passed(&most), Some(Spent::Tokens { most: 50 }));
    assert_eq!(tally(0, 0, 100).passed(&most), Some(Spent::Usd { most: Usd(100) }));
    assert_eq!(tally(9, 9, 9).passed(&Most::default()), None);
}

#[test]
fn a_flood_on_one_line_fills_neither_memory_nor_disk() {
    // A gigabyte takes a while in a build that is not optimized.
    let full = std::env::var_os("SOP_TEST_FULL").is_some();
    let length: u64 = if full { 1 << 30 } else { 1 << 27 };
    let rest = r#"
echo
echo '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed"}'
while [ ! -e ../go ]; do sleep 0.02; done
"#;
    let script = format!("head -c {length} /dev/zero{rest}");
    let mut driven = Driven::script(Adapter::Codex, &script);
    driven.order.stream_limit = 1 << 20;
    let running = driven.start();
    until("all of it to be read", || driven.read("out").contains("done"));
    let peak = peak_kib(running.pid()).expect("it runs");
    fs::write(driven.path("go"), "").unwrap();
    let done = running.finish();
    assert!(peak < 64 * 1024, "{peak} kB");
    let said = format!("(a line of {length} bytes is left out)\n");
    assert!(done.out.starts_with(&said), "{}", done.out);
    assert!(done.turn().answered);
    let kept = fs::metadata(&driven.order.stream).unwrap().len();
    assert!(kept <= (1 << 20) + 4096, "{kept}");
}

#[test]
fn many_lines_are_read_as_they_come() {
    let script = r#"
yes '{"type":"turn.started","filler":"................................................"}' | head -n 200000
echo '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed"}'
while [ ! -e ../go ]; do sleep 0.02; done
"#;
    let mut driven = Driven::script(Adapter::Codex, script);
    driven.order.stream_limit = 1 << 20;
    let running = driven.start();
    until("all of it to be read", || driven.read("out").contains("done"));
    let peak = peak_kib(running.pid()).expect("it runs");
    fs::write(driven.path("go"), "").unwrap();
    assert!(running.finish().turn().answered);
    assert!(peak < 64 * 1024, "{peak} kB");
}
