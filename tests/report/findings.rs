//! Findings in the four formats, all from the same five.

use std::ops::Range;

use insta::assert_snapshot;
use sop::finding::Finding;
use sop::report::findings::{Format, Look, Sources, draw, json};

const FILE: &str = "plans/a plan.toml";
const TEXT: &str = "\
version = 1

[[wp]]
id = \"client\"
tier = \"standart\"
needs = [\"server\"]

[[wp]]
id = \"server\"
needs = [\"client\"]
titel = \"größer\u{202e}\u{1b}[31m als\"
";

fn span(text: &str) -> Range<usize> {
    let at = TEXT.find(text).expect("the text holds it");
    at..at + text.len()
}

fn some() -> Vec<Finding> {
    vec![
        Finding::error("unknown-tier", FILE, "there is no tier `standart`")
            .at(span("\"standart\""))
            .label("not a tier")
            .help("tiers of this plan: light, standard")
            .suggest("\"standard\""),
        Finding::error("cycle", FILE, "WPs wait for each other: client → server → client")
            .at(span("\"server\"]").start..span("\"server\"]").end - 1)
            .label("client waits for server")
            .related(
                "server waits for client",
                span("\"client\"]").start..span("\"client\"]").end - 1,
            ),
        Finding::warning("unknown-key", FILE, "unknown key `titel\u{1b}[0m`")
            .at(span("titel"))
            .suggest("title"),
        Finding::warning("after-escape", FILE, "100% odd: a, b\nand more").at(span("als")),
        Finding::error("no-file", "gone,1:2.toml", "nothing here"),
    ]
}

fn drawn(format: Format, findings: &[Finding], look: Look) -> String {
    let mut sources = Sources::new();
    sources.add(FILE, TEXT);
    let mut out = Vec::new();
    draw(format, findings, &sources, look, &mut out).expect("a Vec takes every write");
    String::from_utf8(out).expect("drawings are UTF-8")
}

#[test]
fn people_see_the_line_the_caret_and_the_sum() {
    assert_snapshot!(drawn(Format::Human, &some(), Look::default()), @r#"
    error[unknown-tier]: there is no tier `standart`
     --> plans/a plan.toml:5:8
      |
    5 | tier = "standart"
      |        ^^^^^^^^^^ not a tier
      |
      = help: did you mean `standard`?
      = help: tiers of this plan: light, standard

    error[cycle]: WPs wait for each other: client → server → client
      --> plans/a plan.toml:6:10
       |
     6 | needs = ["server"]
       |          ^^^^^^^^ client waits for server
    ...
    10 | needs = ["client"]
       |          -------- server waits for client

    warning[unknown-key]: unknown key `titel\u{1b}[0m`
      --> plans/a plan.toml:11:1
       |
    11 | titel = "größer�␛[31m als"
       | ^^^^^
       |
       = help: did you mean `title`?

    warning[after-escape]: 100% odd: a, b\nand more
      --> plans/a plan.toml:11:23
       |
    11 | titel = "größer�␛[31m als"
       |                       ^^^

    error[no-file]: nothing here
    --> gone,1:2.toml

    3 errors, 2 warnings in 2 files
    "#);
}

#[test]
fn nothing_is_drawn_for_no_findings() {
    assert_eq!(drawn(Format::Human, &[], Look::default()), "");
    assert_eq!(drawn(Format::Github, &[], Look::default()), "");
}

#[test]
fn colors_only_when_asked_and_only_ours() {
    let plain = drawn(Format::Human, &some(), Look::default());
    assert!(!plain.contains('\u{1b}'));
    let look = Look { color: true, ..Look::default() };
    let colored = drawn(Format::Human, &some(), look);
    assert!(colored.contains("\u{1b}[1m\u{1b}[91merror"), "{colored:?}");
    // The same text under the colours: what the plan tried to smuggle in stays spelled out.
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
}

#[test]
fn far_places_are_excerpts_of_their_own() {
    let filler = "# x\n".repeat(100);
    let text = format!("a = 1\n{filler}b = 2\n{filler}c = 3\n");
    let find = |t: &str| text.find(t).expect("there")..text.find(t).expect("there") + 1;
    let finding = Finding::error("far", "p.toml", "a and c disagree")
        .at(find("b = "))
        .label("here")
        .related("first", find("a = "))
        .related("last", find("c = "));
    let mut sources = Sources::new();
    sources.add("p.toml", &text);
    let mut out = Vec::new();
    draw(Format::Human, &[finding], &sources, Look::default(), &mut out).expect("written");
    assert_snapshot!(String::from_utf8(out).expect("UTF-8"), @r#"
    error[far]: a and c disagree
       --> p.toml:102:1
        |
    102 | b = 2
        | ^ here
        |
       ::: p.toml:1:1
        |
      1 | a = 1
        | - first
        |
       ::: p.toml:203:1
        |
    203 | c = 3
        | - last

    1 error in p.toml
    "#);
}

#[test]
fn programs_get_positions_from_one_and_bytes_from_zero() {
    assert_snapshot!(drawn(Format::Json, &some()[1..2], Look::default()), @r#"
    {
      "version": 1,
      "errors": 1,
      "warnings": 0,
      "findings": [
        {
          "code": "cycle",
          "severity": "error",
          "message": "WPs wait for each other: client → server → client",
          "file": "plans/a plan.toml",
          "start": {
            "line": 6,
            "column": 10,
            "offset": 61
          },
          "end": {
            "line": 6,
            "column": 18,
            "offset": 69
          },
          "label": "client waits for server",
          "related": [
            {
              "label": "server waits for client",
              "start": {
                "line": 10,
                "column": 10,
                "offset": 102
              },
              "end": {
                "line": 10,
                "column": 18,
                "offset": 110
              }
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn json_counts_and_keeps_the_order() {
    let text = drawn(Format::Json, &some(), Look::default());
    let value: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(value["errors"], 3);
    assert_eq!(value["warnings"], 2);
    let codes: Vec<_> = value["findings"].as_array().expect("an array").iter().collect();
    assert_eq!(codes.len(), 5);
    assert_eq!(codes[0]["code"], "unknown-tier");
    assert_eq!(codes[4]["file"], "gone,1:2.toml");
    assert!(codes[4].get("start").is_none());
    // Columns count characters: two of the bytes before `als` are one `ö`, and so on.
    assert_eq!(codes[3]["start"]["line"], 11);
    assert_eq!(codes[3]["start"]["column"], 23);
    // The schema of the document is what it says it is.
    let schema = serde_json::from_str(&json::schema()).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
    assert!(schema.is_valid(&value));
}

#[test]
fn github_escapes_what_would_end_a_property_or_the_line() {
    assert_snapshot!(drawn(Format::Github, &some(), Look::default()), @r#"
    ::error file=plans/a plan.toml,line=5,col=8,endLine=5,endColumn=18,title=unknown-tier::there is no tier `standart`%0Adid you mean `standard`?%0Atiers of this plan: light, standard
    ::error file=plans/a plan.toml,line=6,col=10,endLine=6,endColumn=18,title=cycle::WPs wait for each other: client → server → client
    ::warning file=plans/a plan.toml,line=11,col=1,endLine=11,endColumn=6,title=unknown-key::unknown key `titel\u{1b}[0m`%0Adid you mean `title`?
    ::warning file=plans/a plan.toml,line=11,col=23,endLine=11,endColumn=26,title=after-escape::100%25 odd: a, b\nand more
    ::error file=gone%2C1%3A2.toml,title=no-file::nothing here
    "#);
}

#[test]
fn sarif_points_at_regions_and_offers_the_fix() {
    let text = drawn(Format::Sarif, &some(), Look::default());
    let log: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 5);
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(result["message"]["text"].is_string());
    }
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "plans/a%20plan.toml");
    assert_eq!(place["region"]["startLine"], 5);
    assert_eq!(place["region"]["startColumn"], 8);
    assert_eq!(place["region"]["endColumn"], 18);
    let fix = &results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(fix["insertedContent"]["text"], "\"standard\"");
    let (from, len) = (&fix["deletedRegion"]["byteOffset"], &fix["deletedRegion"]["byteLength"]);
    let from = from.as_u64().expect("an offset") as usize;
    let to = from + len.as_u64().expect("a length") as usize;
    assert_eq!(&TEXT[from..to], "\"standart\"");
    assert_eq!(results[1]["relatedLocations"].as_array().map(Vec::len), Some(1));
    let bare = &results[4]["locations"][0]["physicalLocation"];
    assert_eq!(bare["artifactLocation"]["uri"], "gone%2C1%3A2.toml");
    assert!(bare.get("region").is_none());
}

#[test]
fn spans_that_miss_the_text_are_brought_into_it() {
    let cases = [usize::MAX - 1..usize::MAX, 0..usize::MAX, TEXT.len()..TEXT.len()];
    let inside = TEXT.find('ö').expect("there") + 1;
    for span in
        cases.into_iter().chain([inside..inside, inside..inside + 1, Range { start: 9, end: 3 }])
    {
        let finding = Finding::error("odd", FILE, "odd").at(span).related("x", inside..usize::MAX);
        for format in [Format::Human, Format::Json, Format::Sarif, Format::Github] {
            assert!(drawn(format, std::slice::from_ref(&finding), Look::default()).contains("odd"));
        }
    }
    let mut empty = Sources::new();
    empty.add("e", "");
    let mut out = Vec::new();
    let finding = Finding::error("empty", "e", "an empty plan").at(0..0);
    draw(Format::Human, &[finding], &empty, Look::default(), &mut out).expect("written");
    assert!(String::from_utf8(out).expect("UTF-8").contains("e:1:1"));
}

#[test]
fn what_the_help_says_already_is_not_said_twice() {
    let finding = Finding::error("x", FILE, "x").suggest("\"standard\"");
    let told = |help: &str| {
        let finding = finding.clone().help(help);
        let out = drawn(Format::Human, std::slice::from_ref(&finding), Look::default());
        let line = drawn(Format::Github, std::slice::from_ref(&finding), Look::default());
        assert_eq!(out.matches("did you mean").count(), line.matches("did you mean").count());
        out.matches("did you mean").count()
    };
    assert_eq!(told("tiers are `light` and `standard`"), 1);
    assert_eq!(told("did you mean `standard`? there is `light` too"), 1);
    assert_eq!(told("write it as: `standard`"), 0);
}
