//! A run with a bit of everything, and ways to look at it.

use std::io::Write;

use sop::event::{Event, StopReason, WpShape};
use sop::model::outcome::{Check, End, Problem};
use sop::model::plan::Mode;
use sop::report::Reporter;
use sop::report::palette::Look;

use crate::support::story::{
    FAILS, OK, Story, after, after_stage, level, ran, shape, tier, tree, wp_id,
};

pub const PLAIN: Look = Look { colour: false, unicode: true, width: None };
pub const COLOURED: Look = Look { colour: true, unicode: true, width: None };

/// Two stages. `client` takes two rounds and tiers, `parser` is reviewed by a person, `docs` does not
/// get through and `site` not without it, `form` and `list` do.
pub fn mixed() -> Story {
    let client = WpShape {
        tier: tier("light"),
        title: "Typed settings client".to_owned(),
        ..shape("client")
    };
    let parser = WpShape { reviewed: true, ..shape("parser") };
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("foundation", vec![client, parser, shape("docs")]),
            level(
                "features",
                vec![
                    after("form", &["client"]),
                    after("list", &["client", "parser"]),
                    after("site", &["docs"]),
                ],
            ),
        ],
    );
    run.briefed("client").briefed("parser").work("parser").ended("parser", OK);
    run.failing_round("client", "client-1", Some("standard"));
    run.scope("parser", "parser-1", Vec::new()).proven("parser");
    run.say(Event::ReviewRequested { wp: wp_id("parser"), round: 1, tree: tree("parser-1") });
    run.work("client").ended("client", End::Signal { signal: 9 }).attempt("client");
    run.ended("client", OK).scope("client", "client-2", Vec::new()).proven("client");
    run.judged("client", None).committed("client");
    run.reviewed("parser", "anna", &[]).judged("parser", None).committed("parser");
    run.briefed("docs").failing_round("docs", "docs-1", None);
    let outside = vec![Problem::new(Check::Scope, "is outside the whitelist").about("src/lib.rs")];
    run.work("docs").ended("docs", FAILS).scope("docs", "docs-2", outside).judged("docs", None);
    run.failing_round("docs", "docs-3", None).deferred();
    run.gate_started(0, &["client", "parser"]).gate_merged();
    for command in ["cargo check", "cargo test"] {
        run.say(Event::GateDodRan { gate: 1, wp: wp_id("client"), ran: ran(command, OK) });
    }
    run.gate_passed().pass("form").pass("list");
    run.gate_through(1, &["form", "list"]).finished();
    run
}

/// Everything went well.
pub fn good() -> Story {
    let mut run = Story::new(
        Mode::Staged,
        vec![level("one", vec![shape("a")]), level("two", vec![after_stage("b", "one")])],
    );
    run.pass("a").gate_through(0, &["a"]).pass("b").gate_through(1, &["b"]).finished();
    run
}

/// Somebody pressed Ctrl-C.
pub fn interrupted() -> Story {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    run.pass("a").briefed("b").work("b").ended("b", End::Cancelled);
    run.stop(StopReason::Interrupted);
    run
}

/// Shows the run to `reporter`, with a tick after each record.
pub fn replay(run: &Story, reporter: &mut dyn Reporter) {
    let mut ledger = sop::ledger::Ledger::open(&run.records[0]).unwrap();
    reporter.event(&run.records[0], &ledger);
    for record in &run.records[1..] {
        ledger.apply(record).unwrap();
        reporter.event(record, &ledger);
        reporter.tick(&ledger, record.at);
    }
}

/// What `write` writes.
pub fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out.flush().unwrap();
    String::from_utf8(out).unwrap()
}

/// Text that would do something if a terminal saw it as it is.
pub const EVIL: &str = "a\x1b[2Jb\u{202e}c\u{9b}2Kd\r\ne\u{7}\u{200b}\x1b]0;title\x07";

/// Nothing in `text` acts on a terminal, besides line feeds and, where allowed, colours.
pub fn harmless(text: &str) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            assert_eq!(chars.next(), Some('['), "{text:?}");
            let sequence: String = chars.by_ref().take_while(|c| *c != 'm').collect();
            assert!(sequence.chars().all(|c| c.is_ascii_digit() || c == ';'), "{sequence:?}");
            continue;
        }
        let acts = c.is_control() && c != '\n';
        let hides = matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
        assert!(!acts && !hides, "{c:?} in {text:?}");
    }
}

/// A run in which everything that can be named has a name that acts.
pub fn evil() -> Story {
    let nasty = WpShape { title: EVIL.to_owned(), reviewed: true, ..shape("a") };
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![nasty, shape("b")])]);
    if let Event::RunCreated { goal, .. } = &mut run.records[0].event {
        *goal = EVIL.to_owned();
    }
    run.ledger.goal = EVIL.to_owned();
    run.briefed("a").work("a").ended("a", End::NotStarted { error: EVIL.to_owned() });
    run.attempt("a").ended("a", OK);
    let problem = || Problem::new(Check::Scope, EVIL).about(EVIL).logged("logs/x.log", EVIL);
    run.scope("a", "t", vec![problem()]).judged("a", None);
    run.work("a").ended("a", OK).scope("a", "t2", Vec::new());
    let bad = ran(EVIL, FAILS);
    run.say(Event::DodRan {
        wp: wp_id("a"),
        round: 2,
        pass: 1,
        index: 0,
        ran: bad.clone(),
        tail: Some(EVIL.to_owned()),
    });
    run.dod("a", OK).judged("a", None);
    run.work("a").ended("a", OK).scope("a", "t3", Vec::new()).proven("a");
    run.reviewed("a", EVIL, &[(EVIL, 1, EVIL)]).judged("a", None);
    run.briefed("b");
    run.say(Event::WpBlocked { wp: wp_id("b"), problem: problem(), halt: true });
    run.say(Event::WorktreeKept { wp: wp_id("a"), why: EVIL.to_owned() });
    run.stop(StopReason::Halted);
    run
}
