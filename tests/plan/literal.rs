//! From a string's value back to its bytes in the file, for every way of writing a string.

use proptest::prelude::*;
use sop::plan::literal::locate;
use sop::plan::{Places, Source};

/// Where `wanted` of the value of `literal` is written.
#[track_caller]
fn written<'a>(literal: &'a str, wanted: &str) -> &'a str {
    let value: toml::Value = toml::from_str(&format!("x = {literal}")).unwrap();
    let value = value["x"].as_str().unwrap().to_owned();
    let start = value.find(wanted).expect("the value holds it");
    &literal[locate(literal, start..start + wanted.len()).unwrap()]
}

#[test]
fn escapes_are_stepped_over() {
    assert_eq!(written(r#""src/**""#, "**"), "**");
    assert_eq!(written(r#""\tsrc/\u00e9/**""#, "**"), "**");
    assert_eq!(written(r#""\tsrc/\u00e9/**""#, "é"), r"\u00e9");
    assert_eq!(written(r#""a\x41\U0001F600b""#, "😀b"), r"\U0001F600b");
    assert_eq!(written(r#""\"q\\""#, "q\\"), r"q\\");
    assert_eq!(written(r"'a\b'", r"\b"), r"\b");
}

#[test]
fn lines_of_long_strings_are_stepped_over() {
    assert_eq!(written("\"\"\"\none\ntwo\"\"\"", "two"), "two");
    assert_eq!(written("\"\"\"\r\none\r\ntwo\"\"\"", "one"), "one");
    assert_eq!(written("\"\"\"one \\\n\n   two\"\"\"", "two"), "two");
    assert_eq!(written("\"\"\"one \\  \r\n \\\n two\"\"\"", "two"), "two");
    assert_eq!(written("'''\nit's \\ '''", "\\"), "\\");
    assert_eq!(written("\"\"\"\"quoted\"\"\"\"", "\"quoted\""), "\"quoted\"");
}

#[test]
fn what_is_not_in_a_string_is_nowhere() {
    assert_eq!(locate("12", 0..1), None);
    assert_eq!(locate("\"abc\"", 2..4), None);
    assert_eq!(locate("\"abc\"", 3..3), Some(4..4));
    assert_eq!(locate("\"\"", 0..0), Some(1..1));
    assert_eq!(locate("\"", 0..0), None);
}

proptest! {
    /// Whatever way a string is written, each of its characters is found where it stands.
    #[test]
    fn every_character_is_found(parts in prop::collection::vec(
        prop_oneof![
            "[a-z /*é😀]".prop_map(|s| (s.clone(), s)),
            Just((r"\n".to_owned(), "\n".to_owned())),
            Just((r#"\""#.to_owned(), "\"".to_owned())),
            Just((r"\u00e9".to_owned(), "é".to_owned())),
            Just((r"\x7a".to_owned(), "z".to_owned())),
            Just((r"\\".to_owned(), "\\".to_owned())),
        ], 0..12)) {
        for quotes in ["\"", "\"\"\""] {
            let literal = format!("{quotes}{}{quotes}", parts.iter().map(|(w, _)| w.as_str()).collect::<String>());
            let (mut value, mut file) = (0, quotes.len());
            for (written, meant) in &parts {
                let found = locate(&literal, value..value + meant.len());
                prop_assert_eq!(found, Some(file..file + written.len()), "in {}", literal);
                value += meant.len();
                file += written.len();
            }
            prop_assert_eq!(locate(&literal, 0..value + 1), None);
        }
    }
}

#[test]
fn places_step_into_a_string_of_the_file() {
    let text = "\u{feff}[[wp]]\r\nwhitelist = [\r\n  \"src/\\u00e9/**\",\r\n]\r\n";
    let places = Places::new(text);
    let span = places.inside("/wp/0/whitelist/0", 7..9).unwrap();
    assert_eq!(&text[span.clone()], "**");
    assert_eq!(Source::new("p", text).position(span.start), (3, 15));
    assert_eq!(places.inside("/wp/0/whitelist/0", 7..10), None);
    assert_eq!(places.inside("/wp/0/whitelist", 0..1), None);
}
