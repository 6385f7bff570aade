//! The JSON Schema of plan files, and what it says about one.
//!
//! `schemas/plan.schema.json` is made of the types in [`super::document`], so that the types, the
//! published file and the validator here cannot say different things; a test holds the file to it, and
//! another holds the types' own verdict to the schema's, plan by plan.

use std::collections::HashSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde::Deserialize;
use serde_json::Value;
use toml::de::{DeTable, DeValue, Deserializer};

use super::document::Document;
use super::explain::{self, Complaint, Remedy};
use super::mend::Mended;
use super::{Places, Source, generate, pointer, source};
use crate::finding::Finding;

/// What the schema says about a plan that the types refuse.
#[derive(Debug, Default)]
pub struct Answer {
    /// All that is wrong by the schema.
    pub findings: Vec<Finding>,
    /// The rest of the plan, with something harmless in place of what is wrong, to be read for its
    /// meaning, and what was done to it; `None` when there is too little left.
    pub mended: Option<(Document, Mended)>,
}

/// The schema of plan files, as published: pretty, with a newline at the end.
#[must_use]
pub fn schema_json() -> String {
    generate::published(&schema())
}

/// The schema of plan files.
#[must_use]
pub fn schema() -> Value {
    generate::without_null::<Document>()
}

/// The compiled schema. Compiling costs several times what reading a plan does, so only a plan that is
/// wrong asks for it.
static COMPILED: LazyLock<(Value, Validator)> = LazyLock::new(|| {
    let schema = schema();
    let validator = jsonschema::draft7::new(&schema).expect("the schema of our own types compiles");
    (schema, validator)
});

/// Whether the schema takes this plan: the answer that any other checker gives.
#[must_use]
pub fn accepts(plan: &Value) -> bool {
    COMPILED.1.is_valid(plan)
}

/// Whether the types take this text: the answer that decides. It is the schema's, by test.
#[must_use]
pub fn types_accept(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|mut table| {
        source::date_as_text(table.get_mut());
        Document::deserialize(Deserializer::from(table)).is_ok()
    })
}

/// How often a plan is mended and looked at again: what is wrong below something that was wrong comes to light then.
const LOOKS: usize = 4;

/// Finds out all that is wrong with a plan that the types refused with `refusal`. In `places` it is noted what
/// was read under another name than it is written.
#[must_use]
pub fn examine(file: &Source, places: &mut Places, refusal: &toml::de::Error) -> Answer {
    let (table, _) = DeTable::parse_recoverable(&file.text);
    let mut plan = entries(table.get_ref());
    let (schema, validator) = &*COMPILED;
    let mut findings: Vec<Finding> = Vec::new();
    let mut mended = Mended::default();
    for _ in 0..LOOKS {
        let context = explain::Context::new(file, places, schema, &plan);
        let complaints: Vec<Complaint> =
            validator.iter_errors(&plan).flat_map(|error| context.explain(&error)).collect();
        if complaints.is_empty() {
            break;
        }
        // What stands under a key that is read as another is looked at again, under that.
        let moved: HashSet<String> = complaints
            .iter()
            .filter(|it| matches!(it.remedy, Remedy::Rename(_)))
            .map(|it| it.at.clone())
            .collect();
        let stays =
            |it: &Complaint| pointer::ancestors(&it.at).skip(1).all(|at| !moved.contains(at));
        for Complaint { at, finding, remedy } in complaints.into_iter().filter(stays) {
            // One value, one complaint: what is no id because of a blank need not be called too long as well.
            if !mended.settled(&at) {
                findings.push(finding);
            }
            mended.mend(&mut plan, places, &at, &remedy);
        }
    }
    if findings.is_empty() {
        // The types are stricter than the schema somewhere. Never let a plan through for that.
        let span = refusal.span().unwrap_or(0..0);
        let finding = Finding::error("schema", &file.file, refusal.message()).at(span);
        return Answer { findings: vec![finding], ..Answer::default() };
    }
    let document = Document::deserialize(plan).ok();
    Answer { findings, mended: document.map(|document| (document, mended)) }
}

/// A TOML table as JSON. A date becomes a text, as [`source::date_as_text`] has it; the infinite, for
/// which JSON has no word, becomes null, which no key takes.
#[must_use]
pub fn entries(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        (key.get_ref().to_string(), json(value.get_ref()))
    };
    Value::Object(table.iter().map(entry).collect())
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            // Beyond 64 bits the exact value decides nothing: it is out of every range.
            Err(_) if number.as_str().starts_with('-') => f64::MIN.into(),
            Err(_) => f64::MAX.into(),
        },
        DeValue::Float(number) => {
            number.as_str().replace('_', "").parse::<f64>().unwrap_or(f64::NAN).into()
        }
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => entries(table),
    }
}
