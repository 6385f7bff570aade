//! The live view, on a terminal that can be asked what it shows.

use std::fs;

use sop::event::{Event, Record};
use sop::ledger::Ledger;
use sop::model::plan::Mode;
use sop::model::time::Length;
use sop::report::Reporter;
use sop::report::live::{Live, Size};
use sop::report::palette::Look;

use super::scene::{COLOURED, PLAIN, evil, mixed, replay};
use crate::support::story::{OK, Story, level, shape, wp_id};
use crate::support::terminal::{Pipe, Terminal};

fn live(terminal: &Terminal, look: Look, logs: &std::path::Path) -> Live<Terminal> {
    let size = terminal.clone();
    let size = move || {
        let (rows, columns) = size.size();
        Some(Size { rows, columns })
    };
    Live::new(terminal.clone(), size, look, logs)
}

fn nowhere() -> std::path::PathBuf {
    "/nowhere".into()
}

/// `n` WPs, of which the first `busy` are at work.
fn many(n: usize, busy: usize) -> Story {
    let wps = (0..n).map(|n| shape(&format!("wp-{n:02}"))).collect();
    let mut run = Story::new(Mode::Independent, vec![level("all", wps)]);
    for n in 0..busy {
        run.briefed(&format!("wp-{n:02}")).work(&format!("wp-{n:02}"));
    }
    run
}

#[test]
fn a_line_for_each_wp_and_a_bar_for_the_run() {
    let mut run = many(7, 2);
    run.wait(Length::secs(75));
    let terminal = Terminal::new(24, 80);
    let mut view = live(&terminal, PLAIN, &nowhere());
    replay(&run, &mut view);
    view.tick(&run.ledger, run.now);
    insta::assert_snapshot!(terminal.screen().join("\n"));
}

#[test]
fn what_a_worker_says_last_stands_at_the_end_of_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let run = many(1, 1);
    let terminal = Terminal::new(24, 100);
    let mut view = live(&terminal, PLAIN, dir.path());
    let log = dir.path().join("wp-00-work-1.log");
    let mut shows = |text: &str| {
        fs::write(&log, text).unwrap();
        view.tick(&run.ledger, run.now);
        terminal.screen()[0].clone()
    };
    assert!(shows("").ends_with("on standard"));
    assert!(shows("first\nsecond\n").ends_with("  second"));
    assert!(shows("first\n\x1b[32mgreen\x1b[0m\tis\n\n\n").ends_with("  green    is"));
    assert!(shows("10%\r50%\r100%").ends_with("  100%"));
    assert!(shows("a\u{202e}b\n").ends_with("  a\\u{202e}b"));
    assert!(shows(&format!("{}end\n", "long ".repeat(4000))).contains("long long"));
    let mut bytes = vec![0xff, 0xfe, b'o', b'k'];
    bytes.push(b'\n');
    fs::write(&log, bytes).unwrap();
    view.tick(&run.ledger, run.now);
    assert!(terminal.screen()[0].ends_with("ok"));
}

#[test]
fn a_check_shows_its_command_and_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let wps = vec![shape("wp-00"), shape("wp-00-x")];
    let mut run = Story::new(Mode::Independent, vec![level("all", wps)]);
    run.briefed("wp-00")
        .work("wp-00")
        .ended("wp-00", OK)
        .scope("wp-00", "t", Vec::new())
        .dod("wp-00", OK);
    let terminal = Terminal::new(24, 120);
    let mut view = live(&terminal, PLAIN, dir.path());
    view.tick(&run.ledger, run.now);
    assert!(terminal.screen()[0].ends_with("2/2 cargo test"), "{:?}", terminal.screen());
    // Written now, which is long after the run of this test says that the step began.
    fs::write(dir.path().join("wp-00-dod.1.1.2-1.log"), "test x ... ok\n").unwrap();
    fs::write(dir.path().join("wp-00-x-dod.1.1.2-1.log"), "of nobody\n").unwrap();
    run.wait(Length::secs(2));
    view.tick(&run.ledger, run.now);
    assert!(terminal.screen()[0].ends_with("2/2 cargo test: test x ... ok"));
}

#[test]
fn more_wps_than_rows_show_who_is_at_work_and_count_the_rest() {
    let run = many(60, 4);
    let terminal = Terminal::new(12, 80);
    live(&terminal, PLAIN, &nowhere()).tick(&run.ledger, run.now);
    // It is closed with its last owner, so look at what was drawn.
    let drawn = terminal.raw();
    assert!(drawn.contains("… 51 more waiting"), "{drawn}");

    let run = many(60, 30);
    let terminal = Terminal::new(12, 80);
    let mut view = live(&terminal, PLAIN, &nowhere());
    view.tick(&run.ledger, run.now);
    let screen = terminal.screen();
    assert_eq!(screen.len(), 11, "{screen:?}");
    assert!(screen[..9].iter().all(|line| line.contains("working")));
    assert_eq!(screen[9], "… 21 more at work, 30 waiting");
    assert!(screen[10].contains("0/60 done · 30 running"));
}

#[test]
fn no_line_is_wider_than_the_terminal_at_any_size() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("wp-00-work-1.log"),
        "設定ページを新しいクライアントへ移す。".repeat(9),
    )
    .unwrap();
    let run = many(9, 3);
    for (rows, columns) in [(24, 80), (50, 140), (3, 20), (1, 10), (2, 3), (24, 1), (7, 33)] {
        for look in [PLAIN, COLOURED, Look { unicode: false, ..PLAIN }] {
            let terminal = Terminal::new(rows, columns);
            let mut view = live(&terminal, look, dir.path());
            for _ in 0..3 {
                view.tick(&run.ledger, run.now);
            }
            let screen = terminal.history();
            assert!(screen.len() <= rows.max(2), "{rows}x{columns}: {screen:?}");
            let wide =
                |line: &&String| unicode_width::UnicodeWidthStr::width(line.as_str()) > columns;
            assert_eq!(screen.iter().find(wide), None);
        }
    }
}

#[test]
fn a_resize_leaves_no_torn_lines_behind() {
    let run = many(9, 3);
    let terminal = Terminal::new(40, 120);
    let mut view = live(&terminal, PLAIN, &nowhere());
    for (rows, columns) in [(40, 60), (40, 30), (40, 140), (30, 80), (40, 25), (40, 120)] {
        view.tick(&run.ledger, run.now);
        terminal.resize(rows, columns);
        view.tick(&run.ledger, run.now);
        let screen = terminal.history();
        let bars = screen.iter().filter(|line| line.contains("0/9 done")).count();
        let firsts = screen.iter().filter(|line| line.contains("wp-00")).count();
        assert_eq!((bars, firsts), (1, 1), "{rows}x{columns}: {screen:#?}");
    }
}

#[test]
fn what_stays_scrolls_up_once_in_order_and_whole() {
    let run = mixed();
    for (rows, columns) in [(24, 80), (6, 40), (4, 200)] {
        let terminal = Terminal::new(rows, columns);
        let mut view = live(&terminal, PLAIN, &nowhere());
        replay(&run, &mut view);
        view.finish(&run.ledger);
        terminal.resize(rows, 400);
        let history = terminal.history();
        let of = |text: &str| -> Vec<usize> {
            (0..history.len()).filter(|n| history[*n].contains(text)).collect()
        };
        let order = [
            "parser waits for",
            "client passed",
            "docs   escalated",
            "site   deferred",
            "form   passed",
        ];
        let found: Vec<Vec<usize>> = order.iter().map(|text| of(text)).collect();
        assert!(
            found.iter().all(|lines| lines.len() == 1),
            "{rows}x{columns}: {found:?} {history:#?}"
        );
        assert!(found.is_sorted(), "{history:#?}");
        assert_eq!(of("done ·"), [0_usize; 0], "the bar is gone: {history:#?}");
    }
}

#[test]
fn the_whole_run_leaves_what_is_worth_keeping() {
    let run = mixed();
    let terminal = Terminal::new(24, 100);
    let mut view = live(&terminal, PLAIN, &nowhere());
    replay(&run, &mut view);
    view.finish(&run.ledger);
    insta::assert_snapshot!(terminal.history().join("\n"));
}

#[test]
fn nothing_is_written_after_the_end_and_nothing_twice() {
    let run = mixed();
    let terminal = Terminal::new(24, 80);
    let mut view = live(&terminal, PLAIN, &nowhere());
    replay(&run, &mut view);
    view.tick(&run.ledger, run.now);
    terminal.writes();
    view.tick(&run.ledger, run.now);
    assert_eq!(terminal.writes(), 0, "nothing has changed");
    view.finish(&run.ledger);
    let end = terminal.raw().len();
    view.tick(&run.ledger, run.now);
    view.finish(&run.ledger);
    let record: Record = run.next(Event::WpCancelled { wp: wp_id("docs"), by: "x".to_owned() });
    view.event(&record, &run.ledger);
    view.tick(&run.ledger, run.now);
    drop(view);
    assert_eq!(terminal.raw().len(), end);
}

#[test]
fn a_tick_writes_once_however_much_has_happened() {
    let run = mixed();
    let terminal = Terminal::new(24, 80);
    let mut view = live(&terminal, PLAIN, &nowhere());
    let mut ledger = Ledger::open(&run.records[0]).unwrap();
    for record in &run.records[1..] {
        ledger.apply(record).unwrap();
        view.event(record, &ledger);
    }
    assert_eq!(terminal.writes(), 0, "events alone draw nothing");
    view.tick(&ledger, run.now);
    assert_eq!(terminal.writes(), 1);
    view.tick(&ledger, run.now.after(Length::secs(1)));
    assert_eq!(terminal.writes(), 1);
    let drawn = terminal.raw();
    let last = drawn.rsplit("\x1b[?2026h").next().unwrap();
    assert!(last.len() < 200, "only what changed is drawn again: {last:?}");
}

#[test]
fn a_view_that_is_dropped_in_the_middle_cleans_up() {
    let run = many(5, 2);
    let terminal = Terminal::new(24, 80);
    let mut view = live(&terminal, PLAIN, &nowhere());
    view.tick(&run.ledger, run.now);
    assert!(!terminal.screen().is_empty());
    drop(view);
    assert!(terminal.history().is_empty(), "{:?}", terminal.history());
}

#[test]
fn a_terminal_that_is_gone_ends_nothing() {
    let pipe = Pipe::new(100);
    let mut view = Live::new(pipe.clone(), || None, PLAIN, &nowhere());
    replay(&mixed(), &mut view);
    assert!(*pipe.tried.lock().unwrap() <= 3);
}

#[test]
fn nothing_that_others_wrote_acts() {
    // The terminal itself refuses what it does not know.
    let run = evil();
    let terminal = Terminal::new(24, 80);
    let mut view = live(&terminal, COLOURED, &nowhere());
    replay(&run, &mut view);
    view.finish(&run.ledger);
    assert!(terminal.history().iter().any(|line| line.contains("\\u{1b}[2J")));
}

#[test]
fn without_colours_and_symbols_it_is_ascii() {
    let run = mixed();
    let terminal = Terminal::new(24, 80);
    let mut view = live(&terminal, Look::BARE, &nowhere());
    replay(&run, &mut view);
    view.finish(&run.ledger);
    let raw = terminal.raw();
    assert!(raw.is_ascii());
    let coloured = |rest: &str| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    };
    assert!(!raw.split("\x1b[").skip(1).any(coloured));
}
