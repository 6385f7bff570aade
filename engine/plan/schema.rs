//! The JSON Schemas of plan and config files, and what they say about one.
//!
//! `schemas/plan.schema.json` and `schemas/config.schema.json` are made of the types in
//! [`super::document`], so that the types, the published files and the validators here cannot say
//! different things; a test holds the files to it, and another holds the types' own verdict to the
//! schema's, file by file.

use std::collections::HashSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::de::{DeTable, DeValue, Deserializer};

use super::document::{Config, Document};
use super::explain::{self, Complaint, Remedy};
use super::mend::Mended;
use super::{Places, Source, generate, pointer, source};
use crate::finding::Finding;

/// What a whole file holds: its schema is made of the type.
pub trait Root: DeserializeOwned + JsonSchema {
    /// The file, for a sentence.
    const FILE: &'static str;

    /// The schema, and what judges by it.
    fn form() -> &'static Form;
}

impl Root for Document {
    const FILE: &'static str = "the plan file";

    fn form() -> &'static Form {
        static FORM: LazyLock<Form> = LazyLock::new(Form::of::<Document>);
        &FORM
    }
}

impl Root for Config {
    const FILE: &'static str = "the config file";

    fn form() -> &'static Form {
        static FORM: LazyLock<Form> = LazyLock::new(Form::of::<Config>);
        &FORM
    }
}

/// A schema, compiled. Compiling costs several times what reading a file does, so only a file that is
/// wrong asks for it.
#[derive(Debug)]
pub struct Form {
    schema: Value,
    validator: Validator,
}

impl Form {
    fn of<D: Root>() -> Self {
        let schema = schema::<D>();
        let validator =
            jsonschema::draft7::new(&schema).expect("the schema of our own types compiles");
        Self { schema, validator }
    }
}

/// What the schema says about a file that the types refuse.
#[derive(Debug)]
pub struct Answer<D> {
    /// All that is wrong by the schema.
    pub findings: Vec<Finding>,
    /// The rest of the file, with something harmless in place of what is wrong, to be read for its
    /// meaning; `None` when there is too little left.
    pub document: Option<D>,
    /// What was done to it.
    pub mended: Mended,
}

/// The schema of such files, as published: pretty, with a newline at the end.
#[must_use]
pub fn published<D: Root>() -> String {
    generate::published(&schema::<D>())
}

/// [`published`], of plan files.
#[must_use]
pub fn schema_json() -> String {
    published::<Document>()
}

/// The schema of such files.
#[must_use]
pub fn schema<D: Root>() -> Value {
    generate::without_null::<D>()
}

/// Whether the schema takes this file: the answer that any other checker gives.
#[must_use]
pub fn accepts<D: Root>(file: &Value) -> bool {
    D::form().validator.is_valid(file)
}

/// Whether the types take this text: the answer that decides. It is the schema's, by test.
#[must_use]
pub fn types_accept<D: Root>(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|mut table| {
        source::date_as_text(table.get_mut());
        D::deserialize(Deserializer::from(table)).is_ok()
    })
}

/// How often a file is mended and looked at again: what is wrong below something that was wrong comes to light then.
const LOOKS: usize = 4;

/// Finds out all that is wrong with a file that the types refused with `refusal`. In `places` it is noted what
/// was read under another name than it is written.
#[must_use]
pub fn examine<D: Root>(
    file: &Source,
    places: &mut Places,
    refusal: &toml::de::Error,
) -> Answer<D> {
    let (table, _) = DeTable::parse_recoverable(&file.text);
    let mut whole = entries(table.get_ref());
    let Form { schema, validator } = D::form();
    let mut findings: Vec<Finding> = Vec::new();
    let mut mended = Mended::default();
    for _ in 0..LOOKS {
        let context = explain::Context::new::<D>(file, places, schema, &whole);
        let complaints: Vec<Complaint> =
            validator.iter_errors(&whole).flat_map(|error| context.explain(&error)).collect();
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
            mended.mend(&mut whole, places, &at, &remedy);
        }
    }
    if findings.is_empty() {
        // The types are stricter than the schema somewhere. Never let a file through for that.
        let span = refusal.span().unwrap_or(0..0);
        let finding = Finding::error("schema", &file.file, refusal.message()).at(span);
        return Answer { findings: vec![finding], document: None, mended };
    }
    Answer { findings, document: D::deserialize(whole).ok(), mended }
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
