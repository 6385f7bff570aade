//! `sop schema`, through the binary.

use crate::support::scratch::Scratch;

#[test]
fn without_a_name_it_lists_them_and_each_prints_a_schema() {
    let scratch = Scratch::folder();
    let list = scratch.sop(&["schema"]);
    assert_eq!(list.code, 0);
    let names: Vec<&str> = list.out.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"plan") && names.contains(&"findings"), "{names:?}");
    for name in names {
        let said = scratch.sop(&["schema", name]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let schema = serde_json::from_str(&said.out).expect("JSON");
        jsonschema::validator_for(&schema).expect("a JSON Schema");
    }
}

#[test]
fn an_unknown_name_is_a_usage_error_that_names_the_known() {
    let said = Scratch::folder().sop(&["schema", "paln"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("'plan'"), "{}", said.err);
}

#[test]
fn findings_as_json_keep_to_their_schema() {
    let scratch = Scratch::folder();
    scratch.write("plan.toml", "version = 2\nname = 1\n");
    let schema = serde_json::from_str(&scratch.sop(&["schema", "findings"]).out).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let said = scratch.sop(&["validate", "--format", "json"]);
    let document = serde_json::from_str(&said.out).expect("JSON");
    assert!(schema.is_valid(&document), "{document:#}");
    assert_eq!(said.code, 1);
}
