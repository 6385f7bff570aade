//! What is written comes back as it was, whatever is in it, and nothing in it is hidden from who reads the file.

use proptest::prelude::*;
use sop::plan::write::{Writer, quoted};

/// Text with much of what a string can trip over.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\"".to_owned()),
        Just("\"\"\"".to_owned()),
        Just("'''".to_owned()),
        Just("\\".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("\u{202e}\u{e0041}\0\u{7f}".to_owned()),
        Just("# [x]\n= ".to_owned()),
        "\\PC{0,6}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn every_value_comes_back(
        one in text(), long in text(), list in prop::collection::vec(text(), 0..4), key in text(), said in text()
    ) {
        let mut writer = Writer::new();
        writer.comment(&said);
        writer.number("n", 3);
        writer.decimal("d", 0.1);
        writer.text("one", &one);
        writer.long("long", &long);
        writer.texts("list", &list);
        writer.tables("tables", &[vec![("run", one.clone()), ("with", long.clone())], vec![("run", long.clone())]]);
        writer.small_table("small", &[(key.as_str(), one.clone())]);
        writer.blank();
        writer.table(&["t", &key]);
        writer.one_more("wp");
        writer.text("id", &said);
        let file = writer.finish();
        let unseen = |c: char| (c.is_control() && c != '\n' && c != '\t') || sop::model::unseen::is_unseen(c);
        prop_assert!(!file.contains(unseen), "{file:?}");
        let read: toml::Table = file.parse().map_err(|error| TestCaseError::fail(format!("{error}\n{file}")))?;
        prop_assert_eq!(read["n"].as_integer(), Some(3));
        prop_assert_eq!(read["d"].as_float(), Some(0.1));
        prop_assert_eq!(read["one"].as_str(), Some(one.as_str()));
        prop_assert_eq!(read["long"].as_str(), Some(long.as_str()));
        let texts: Vec<&str> = read["list"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
        prop_assert_eq!(texts, list.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(read["tables"][0]["with"].as_str(), Some(long.as_str()));
        prop_assert_eq!(read["small"][key.as_str()].as_str(), Some(one.as_str()));
        prop_assert!(read["t"].as_table().unwrap().contains_key(&key));
        prop_assert_eq!(read["wp"][0]["id"].as_str(), Some(said.as_str()));
    }
}

#[test]
fn what_reads_well_is_left_as_it_is() {
    assert_eq!(quoted("äöü → \"x\""), "\"äöü → \\\"x\\\"\"");
    let mut writer = Writer::new();
    writer.long("brief_text", "One \"word\".\n\n\tTwo.\n");
    assert_eq!(writer.finish(), "brief_text = \"\"\"\nOne \"word\".\n\n\tTwo.\n\"\"\"\n");
}
