//! Lines in a pipe.

use sop::model::plan::Mode;
use sop::report::palette::Look;
use sop::report::plain::Plain;
use sop::report::{Reporter, quiet};

use super::scene::{COLOURED, PLAIN, evil, harmless, interrupted, mixed, replay};
use crate::support::story::{Story, level, shape};
use crate::support::terminal::Pipe;

fn lines(run: &Story, look: Look) -> String {
    let mut out = Vec::new();
    replay(run, &mut Plain::new(&mut out, look));
    String::from_utf8(out).unwrap()
}

#[test]
fn a_run_can_be_followed_line_by_line() {
    insta::assert_snapshot!(lines(&mixed(), PLAIN));
}

#[test]
fn an_interruption_is_said() {
    let text = lines(&interrupted(), PLAIN);
    let last = text.lines().last().unwrap();
    assert!(last.contains("interrupted; everything is kept and can be resumed"), "{last}");
}

#[test]
fn nothing_that_others_wrote_acts() {
    let text = lines(&evil(), PLAIN);
    assert!(!text.contains('\x1b'));
    harmless(&text);
    assert!(text.contains("\\u{1b}[2Jb\\u{202e}c\\u{9b}2Kd\\r\\ne"), "{text}");
    harmless(&lines(&evil(), COLOURED));
}

#[test]
fn every_line_stands_for_itself_and_none_is_cut() {
    let look = Look { width: Some(20), ..PLAIN };
    assert_eq!(lines(&mixed(), look), lines(&mixed(), PLAIN));
}

#[test]
fn forty_wps_that_get_through_take_three_lines_each() {
    let wps = (0..40).map(|n| shape(&format!("wp-{n}"))).collect();
    let mut run = Story::new(Mode::Independent, vec![level("all", wps)]);
    for n in 0..40 {
        run.pass(&format!("wp-{n}"));
    }
    run.finished();
    let text = lines(&run, PLAIN);
    assert_eq!(text.lines().count(), 2 + 3 * 40, "{text}");
}

#[test]
fn a_reader_that_leaves_ends_nothing() {
    let pipe = Pipe::new(200);
    let mut plain = Plain::new(pipe.clone(), PLAIN);
    replay(&mixed(), &mut plain);
    let tried = *pipe.tried.lock().unwrap();
    assert!((2..9).contains(&tried), "it goes on writing into a broken pipe: {tried}");
    plain.finish(&mixed().ledger);
    let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    assert!(quiet(Err(broken)).is_ok());
    assert!(quiet(Err(std::io::ErrorKind::StorageFull.into())).is_err());
}

#[test]
fn nothing_follows_the_end() {
    let run = mixed();
    let mut out = Vec::new();
    let mut plain = Plain::new(&mut out, PLAIN);
    plain.finish(&run.ledger);
    replay(&run, &mut plain);
    assert!(out.is_empty());
}
