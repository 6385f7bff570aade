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
fn a_plan_as_json_keeps_to_its_schema() {
    let scratch = Scratch::repo(&[]);
    let wps = "[[wp]]\nid = \"a\"\nwhitelist = [\"docs/**/*.md\"]\ndod = [\"true\"]\nbrief_text = \"A.\"\n\
               [[wp]]\nid = \"b\"\nwhitelist = [\"docs/api/**\"]\ndod = [\"false\"]\nbrief_text = \"B.\"\n";
    scratch.write(
        "plan.toml",
        format!(
            "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n\
             [tiers.t]\nworker = \"w\"\n[workers.w]\ncommand = [\"true\"]\n{wps}"
        ),
    );
    let schema = serde_json::from_str(&scratch.sop(&["schema", "checkpoint"]).out).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let said = scratch.sop(&["plan", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert!(schema.is_valid(&report), "{report:#}");
    assert_eq!(report["stages"][0]["wps"][1]["dod"][0]["class"], "red", "{report:#}");
    // Two that may meet stand there once, and that nothing is integrated is said.
    assert_eq!(report["overlaps"][0]["sort"], "possible");
    assert_eq!(report["warnings"], serde_json::json!([]));
    let text = scratch.sop(&["plan"]).out;
    assert_eq!(text.matches("POSSIBLE").count(), 1, "{text}");
    assert!(text.contains("last look  none: nothing is integrated"), "{text}");
    scratch.write("plan.toml", scratch.read("plan.toml").replace("docs/**/*.md", "src/**"));
    let text = scratch.sop(&["plan"]).out;
    assert!(text.contains("overlaps   none") && !text.contains("POSSIBLE"), "{text}");
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
