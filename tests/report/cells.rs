//! Text as wide as it should be.

use proptest::prelude::*;
use sop::report::cells::{clip, fit, output_line, width, wrap};
use sop::report::line::Line;
use sop::report::palette::{Look, Tone};

use super::scene::{PLAIN, harmless};

#[test]
fn a_wide_character_is_never_halved() {
    assert_eq!(clip("設定ページ", 10, "…"), "設定ページ");
    assert_eq!(clip("設定ページ", 9, "…"), "設定ペー…");
    assert_eq!(clip("設定ページ", 8, "…"), "設定ペ…");
    assert_eq!(fit("設定ページ", 8, "…"), "設定ペ… ");
    assert_eq!(clip("abc", 0, "…"), "");
    assert_eq!(clip("abc", 1, "…"), "a", "an ellipsis alone says nothing");
    assert_eq!(clip("abcdef", 5, "..."), "ab...");
}

#[test]
fn output_is_what_a_terminal_would_show_of_it() {
    assert_eq!(output_line("\x1b[1;31merror\x1b[0m: x\r\n"), "error: x");
    assert_eq!(output_line(" 10%\r 99%\r100%"), "100%");
    assert_eq!(output_line("a\tb"), "a    b");
    assert_eq!(output_line("\x1b]8;;https://x\x07link\x1b]8;;\x07"), "link");
    assert_eq!(output_line("a\u{202e}b\x08"), "a\\u{202e}b");
}

#[test]
fn lines_break_at_spaces_and_keep_every_word() {
    assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    assert_eq!(wrap("a src/very/long/path b", 6), ["a", "src/very/long/path", "b"]);
    assert_eq!(wrap("", 6), [""]);
}

proptest! {
    #[test]
    fn nothing_outgrows_its_room(text in "\\PC{0,40}|[\\x00-\\x1f\u{202e}a設é]{0,20}", room in 0_usize..30) {
        let safe = sop::report::escape::visible(&text);
        prop_assert!(width(&clip(&safe, room, "…")) <= room);
        prop_assert_eq!(width(&fit(&safe, room, "...")), room);
        let look = Look { width: Some(room), ..PLAIN };
        let row = Line::new(&look).then(Tone::Bad, &text).gap(2).cell(Tone::Good, &text, 7).done();
        prop_assert!(row.width <= room);
        prop_assert_eq!(width(&row.text), row.width);
        harmless(&row.text);
        harmless(&output_line(&text));
    }

    #[test]
    fn wrapping_loses_nothing(text in "[a-z設 ]{0,60}", room in 1_usize..20) {
        let words = |text: &str| text.split(' ').filter(|w| !w.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let lines = wrap(&text, room);
        prop_assert_eq!(words(&lines.join(" ")), words(&text));
        for line in &lines {
            prop_assert!(width(line) <= room || words(line).len() == 1, "{:?}", line);
        }
    }
}
