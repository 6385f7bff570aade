//! `--format`.

use serde_json::Value;

use crate::support::plan_text::two;
use crate::support::scratch::Scratch;

fn drawn(format: &str) -> (i32, String) {
    let scratch = Scratch::repo(&[]);
    scratch.write("plan.toml", two().replace("\"src/b/**\"", "\"../b/**\""));
    let said = scratch.sop(&["validate", "--format", format]);
    assert_eq!(said.err, "");
    (said.code, said.out)
}

#[test]
fn json_is_one_document() {
    let (code, out) = drawn("json");
    let value: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &value["errors"]), (1, &Value::from(1)));
    let found = &value["findings"][0];
    assert_eq!(
        (found["code"].as_str(), found["file"].as_str()),
        (Some("pattern"), Some("plan.toml"))
    );
    let (start, end) = (&found["start"], &found["end"]);
    assert_eq!((start["line"].as_u64(), start["column"].as_u64()), (Some(22), Some(15)));
    assert_eq!((end["line"].as_u64(), end["column"].as_u64()), (Some(22), Some(17)));
}

#[test]
fn a_good_plan_is_an_empty_document() {
    let scratch = Scratch::repo(&[]);
    scratch.write("plan.toml", two());
    let said = scratch.sop(&["validate", "--format", "json"]);
    let value: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((said.code, &value["findings"]), (0, &Value::Array(Vec::new())));
    assert_eq!(scratch.sop(&["validate", "--format", "github"]).out, "");
}

#[test]
fn sarif_has_a_rule_with_help_for_each_result() {
    let (code, out) = drawn("sarif");
    let value: Value = serde_json::from_str(&out).expect("JSON");
    let run = &value["runs"][0];
    assert_eq!((code, run["results"].as_array().map(Vec::len)), (1, Some(1)));
    let rule = &run["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "pattern");
    assert!(rule["help"]["text"].as_str().is_some_and(|text| !text.is_empty()));
}

#[test]
fn github_gets_annotations_only_when_asked() {
    let (_, out) = drawn("github");
    assert!(
        out.starts_with(
            "::error file=plan.toml,line=22,col=15,endLine=22,endColumn=17,title=pattern::"
        ),
        "{out}"
    );
    let scratch = Scratch::repo(&[]);
    scratch.write("plan.toml", "version = ");
    let said = scratch.sop_with(&[("GITHUB_ACTIONS", "true")], &["validate"]);
    assert!(said.out.starts_with("error["), "{}", said.out);
}
