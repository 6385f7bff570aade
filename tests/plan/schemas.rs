//! The published schemas are those of the types, and say all that an editor needs.

use std::path::Path;

use serde_json::Value;
use sop::plan::document::Config;
use sop::plan::schema::{published, schema_json};
use sop::schemas;

#[test]
fn schemas_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for schema in schemas::ALL {
        let file = folder.join(format!("{}.schema.json", schema.name));
        let text = (schema.text)();
        if std::env::var_os("SOP_BLESS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        let published = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            published == text,
            "schemas/{name}.schema.json is not what its types say: run `SOP_BLESS=1 cargo test schemas`, \
             or `sop schema {name} > schemas/{name}.schema.json`",
            name = schema.name,
        );
    }
}

#[test]
fn schemas_explain_every_key_of_a_plan_and_a_config() {
    assert!(explained(&schema_json()) > 50);
    assert!(explained(&published::<Config>()) > 30);
}

/// How many keys a schema has, each of them explained.
fn explained(schema: &str) -> usize {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let definitions = schema["definitions"].as_object().unwrap();
    let tables = definitions.iter().map(|(name, table)| (name.as_str(), table));
    let mut keys = 0;
    for (name, table) in tables.chain([("the top", &schema)]) {
        let required = table["required"].as_array().cloned().unwrap_or_default();
        for (key, property) in table["properties"].as_object().into_iter().flatten() {
            keys += 1;
            let place = format!("`{key}` of {name}");
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.ends_with(['.', '?']), "{place} is not described");
            assert!(property["examples"][0] != Value::Null, "{place} has no example");
            let default = !property["default"].is_null() || description.contains("Default: ");
            let needed = required.contains(&key.as_str().into());
            assert!(needed != default, "{place} is either required or has a default");
        }
    }
    keys
}
