//! The picture of a terminal.

use std::path::Path;

use sop::report::screen::svg;
use sop::report::summary::Summary;

use super::scene::{COLOURED, mixed, text};

#[test]
fn a_summary_becomes_a_picture_with_its_words_and_colours() {
    let run = mixed();
    let summary = Summary::of(&run.ledger, Path::new("/repo/.git/sop-run/settings-1"));
    let ansi = text(|out| summary.write(out, &COLOURED));
    let picture = svg("sop apply plan.toml", &ansi);
    assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
    for words in
        ["sop apply plan.toml", "First failure:", "sop retry docs --run settings-1", "exit=0"]
    {
        assert!(picture.contains(words), "{words}");
    }
    assert!(!picture.contains('\x1b'));
    assert!(picture.contains("#56D364"), "green is a green that reads on dark ground");
    let open = |tag: &str| picture.matches(&format!("<{tag}")).count();
    let shut = |tag: &str| picture.matches(&format!("</{tag}>")).count();
    assert_eq!(open("tspan"), shut("tspan"));
}

#[test]
fn what_is_special_in_xml_is_escaped_and_long_lines_wrap() {
    let picture = svg("", &format!("<b> & \"x\"\n\x1b[31m{}\x1b[0m\n", "y".repeat(250)));
    assert!(!picture.contains("<b>") && picture.contains("&lt;b"));
    let longest = picture.split(|c: char| c != 'y').map(str::len).max().unwrap();
    assert_eq!(longest, 110, "lines are as wide as a terminal");
}
