//! Where the parts of a plan stand in the file.

use sop::plan::{Places, Source};

const TEXT: &str = r#"version = 1
[plan]
name = "x" # a comment
[tiers.light]
worker = "w"
[[wp]]
id = "a"
"odd/key~" = 1
[[wp]]
id = "b"
needs = [ "a",
  "c" ]
dod = [{ run = "x", timeout = '5m' }]
vars.one = "1"
"#;

#[track_caller]
fn value(pointer: &str) -> &'static str {
    &TEXT[Places::new(TEXT).value(pointer).expect(pointer)]
}

#[test]
fn values_stand_where_they_are_written() {
    assert_eq!(value("/version"), "1");
    assert_eq!(value("/plan"), "[plan]");
    assert_eq!(value("/plan/name"), "\"x\"");
    assert_eq!(value("/tiers/light"), "[tiers.light]");
    assert_eq!(value("/tiers"), "tiers");
    assert_eq!(value("/wp/1/needs/1"), "\"c\"");
    assert_eq!(value("/wp/1/dod/0/timeout"), "'5m'");
    assert_eq!(value("/wp/1/vars/one"), "\"1\"");
    assert_eq!(value("/wp/0/odd~1key~0"), "1");
    assert_eq!(value(""), "version = 1");
}

#[test]
fn the_second_header_is_not_the_first() {
    let places = Places::new(TEXT);
    let (first, second) = (places.value("/wp/0").unwrap(), places.value("/wp/1").unwrap());
    assert_eq!((&TEXT[first.clone()], &TEXT[second.clone()]), ("[[wp]]", "[[wp]]"));
    assert!(first.start < second.start);
}

#[test]
fn keys_stand_where_they_are_written() {
    let places = Places::new(TEXT);
    let key = |pointer: &str| places.key(pointer).map(|span| &TEXT[span]);
    assert_eq!(key("/wp/1/needs"), Some("needs"));
    assert_eq!(key("/tiers/light"), Some("light"));
    assert_eq!(key("/wp/0/odd~1key~0"), Some("\"odd/key~\""));
    assert_eq!(key("/wp/1"), None);
    assert_eq!(key("/nothing"), None);
}

#[test]
fn what_is_not_there_stands_where_it_would_be() {
    let places = Places::new(TEXT);
    assert_eq!(places.value("/wp/2"), None);
    assert_eq!(places.value("/wp/x"), None);
    assert_eq!(places.nearest("/wp/1/brief"), places.value("/wp/1").unwrap());
    assert_eq!(places.nearest("/wp/1/dod/0/run/3"), places.value("/wp/1/dod/0/run").unwrap());
}

#[test]
fn lines_and_columns_count_as_people_do() {
    let source = Source::new("p", "\u{feff}é = 1\r\nb = '😀' # x\r\n");
    assert_eq!(source.position(0), (1, 1));
    assert_eq!(source.position(3), (1, 1));
    assert_eq!(source.position(source.text.find('=').unwrap()), (1, 3));
    assert_eq!(source.position(source.text.find('#').unwrap()), (2, 9));
    assert_eq!(source.position(source.text.len()), (3, 1));
    assert_eq!(source.position(usize::MAX), (3, 1));
    // Within a character is before it.
    assert_eq!(source.position(source.text.find('😀').unwrap() + 2), (2, 6));
}
