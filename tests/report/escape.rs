//! Text of others never steers the terminal.

use proptest::prelude::*;
use sop::report::escape::{pictured, visible, visible_json, visible_lines};

#[test]
fn plain_text_is_left_alone() {
    for text in ["", "plan.toml", "größer als 5 °C", "日本語", "می\u{200c}خواهم"] {
        assert_eq!(visible(text), text);
        assert_eq!(visible_lines(text), text);
    }
}

#[test]
fn what_a_terminal_obeys_is_spelled_out() {
    let cases = [
        ("\u{1b}[2J", r"\u{1b}[2J"),
        ("\u{9b}31m", r"\u{9b}31m"),
        ("a\u{202e}b", r"a\u{202e}b"),
        ("a\u{2066}b", r"a\u{2066}b"),
        ("a\u{200b}b", r"a\u{200b}b"),
        ("\u{7}", r"\u{7}"),
        ("a\tb", r"a\tb"),
        ("a\r\nb", r"a\r\nb"),
    ];
    for (text, shown) in cases {
        assert_eq!(visible(text), shown);
    }
}

#[test]
fn lines_keep_their_ends_but_not_a_lone_return() {
    assert_eq!(visible_lines("a\r\nb\tc\n"), "a\r\nb\tc\n");
    assert_eq!(visible_lines("safe\rEVIL\r\n"), "safe\\rEVIL\r\n");
    assert_eq!(visible_lines("end\r"), "end\\r");
    assert_eq!(visible_lines("\u{1b}c\n"), "\\u{1b}c\n");
}

proptest! {
    #[test]
    fn nothing_that_is_obeyed_comes_through(text in any::<String>()) {
        let shown = visible(&text).into_owned();
        prop_assert!(!shown.chars().any(char::is_control));
        prop_assert_eq!(&visible(&shown), &shown);
        let shown = visible_lines(&text).into_owned();
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
        prop_assert!(!shown.chars().any(steers));
        prop_assert!(!shown.replace("\r\n", "").contains('\r'));
    }

    #[test]
    fn json_means_what_it_meant_and_steers_nothing(text in any::<String>()) {
        let json = visible_json(serde_json::to_string(&text).unwrap());
        prop_assert!(!json.chars().any(char::is_control));
        prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn pictures_keep_columns_and_lines(text in any::<String>()) {
        let shown = pictured(&text);
        prop_assert_eq!(shown.chars().count(), text.chars().count());
        prop_assert_eq!(shown.lines().count(), text.lines().count());
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
        prop_assert!(!shown.chars().any(steers));
        prop_assert!(!shown.replace("\r\n", "").contains('\r'));
    }
}

#[test]
fn a_picture_stands_for_one_character() {
    assert_eq!(pictured("a\u{1b}[1m\u{202e}\u{9b}\r\u{7f}\r\n\tb"), "a␛[1m��␍␡\r\n\tb");
}

#[test]
fn json_writes_out_what_a_terminal_would_obey() {
    let text = "é\u{9b}\u{202e}\u{e0041}\u{1b}";
    let json = visible_json(serde_json::to_string(text).expect("JSON"));
    assert_eq!(json, "\"é\\u009b\\u202e\\udb40\\udc41\\u001b\"");
}
