//! Nothing foreign reaches a terminal as it is.

use proptest::prelude::*;
use sop::process::{escape, plain};

#[test]
fn names_show_every_byte() {
    for (bytes, shown) in [
        (&b"src/main.rs"[..], "src/main.rs"),
        (b"two\nlines\tand\rmore", "two\\nlines\\tand\\rmore"),
        (b"\x1b[2Jgone", "\\x1b[2Jgone"),
        (b"caf\xc3\xa9 \xff\xfe.txt", "caf\u{e9} \\xff\\xfe.txt"),
        (
            "turn\u{202e}gpj.exe \u{9b}31m \u{2028}".as_bytes(),
            "turn\\u{202e}gpj.exe \\u{9b}31m \\u{2028}",
        ),
    ] {
        assert_eq!(escape(bytes), shown);
    }
}

#[test]
fn output_loses_its_colours_and_keeps_its_text() {
    for (bytes, shown) in [
        (&b"\x1b[1;31merror\x1b[0m: bad\n"[..], "error: bad"),
        (b" 10%\r 50%\r100%\r\n", "100%"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        (b"\x1b(Bplain\x1b7\x1b8\x1bMx", "plainx"),
        (b"cut \x1b[31", "cut "),
        (b"cut \x1b]0;never ended", "cut "),
        (b"a\tb\x08\x07", "a    b\\x08\\x07"),
        (b"\xff\x1b", "\\xff"),
        (b"", ""),
    ] {
        assert_eq!(plain(bytes), shown, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn no_control_survives(bytes in prop::collection::vec(prop_oneof![Just(0x1b), Just(b'['), any::<u8>()], 0..200)) {
        for shown in [escape(&bytes), plain(&bytes)] {
            prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
        }
    }
}

#[test]
fn what_nobody_sees_is_written_out_wherever_it_is_shown() {
    for unseen in ['\u{ad}', '\u{61c}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}']
    {
        let text = format!("a{unseen}b");
        assert!(!sop::process::escape(text.as_bytes()).contains(unseen), "{unseen:?}");
        assert!(!sop::report::escape::visible(&text).contains(unseen), "{unseen:?}");
    }
}
