//! JSON Schemas from types, in the form that is published under `schemas/`.
//!
//! Draft 7, because that is what every checker and editor of TOML files understands.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// A schema as text: pretty, with a newline at the end.
#[must_use]
pub fn published(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The schema of a JSON document.
#[must_use]
pub fn of<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft07())
}

/// The schema of a TOML document. TOML has no null: what may be left out is left out.
#[must_use]
pub fn without_null<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft07().with_transform(RecursiveTransform(no_null)))
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings =
        settings.with_transform(RecursiveTransform(flow)).with_transform(RecursiveTransform(words));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Writes a choice between words as the plain `enum` that people and checkers understand best, with
/// what each word means in the description, and where editors of TOML look for it.
fn words(schema: &mut Schema) {
    let Some(choices) = schema.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let word =
        |choice: &Value| Some((choice.get("const")?.clone(), choice.get("description")?.clone()));
    let Some(words) = choices.iter().map(word).collect::<Option<Vec<_>>>() else {
        return;
    };
    let mut description =
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (word, meaning) in &words {
        let meaning = meaning.as_str().unwrap_or_default();
        description.push_str(&format!("\n\n- `{}`: {meaning}", word.as_str().unwrap_or_default()));
    }
    let (words, meanings): (Vec<_>, Vec<_>) = words.into_iter().unzip();
    schema.remove("oneOf");
    schema.insert("type".into(), "string".into());
    schema.insert("enum".into(), words.into());
    schema.insert("description".into(), description.into());
    schema.insert("x-taplo".into(), serde_json::json!({ "docs": { "enumValues": meanings } }));
}

/// A description is a paragraph, wherever its lines were broken in the source.
fn flow(schema: &mut Schema) {
    let text = schema.get("description").and_then(Value::as_str).map(|text| {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        paragraphs.collect::<Vec<_>>().join("\n\n")
    });
    if let Some(text) = text {
        schema.insert("description".into(), text.into());
    }
}

/// Takes null out of what may be left out.
fn no_null(schema: &mut Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    let Some(branches) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return;
    };
    branches.retain(|branch| branch.get("type") != Some(&"null".into()));
    if let [only] = branches.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        for (key, value) in only.as_object().into_iter().flatten() {
            if schema.get(key).is_none() {
                schema.insert(key.clone(), value.clone());
            }
        }
        no_null(schema);
    }
}
