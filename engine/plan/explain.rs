//! What a JSON Schema validator says, in our own words, at its place in the file.

use std::ops::Range;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::nearest::Guesser;
use super::scalar::{FILLED, SIZE, VARIABLE};
use super::schema::Root;
use super::stand_in::{is_nameless, nameless};
use super::wording::{inline, list, quoted};
use super::{Places, Source, pointer};
use crate::finding::Finding;
use crate::model::ids;
use crate::model::time::Length;

/// One thing that the schema does not take.
#[derive(Debug)]
pub struct Complaint {
    /// Pointer to the value, or to where the missing one would be.
    pub at: String,
    /// What to tell the person.
    pub finding: Finding,
    /// What to do with it before the rest of the plan is read.
    pub remedy: Remedy,
}

/// What makes a plan readable in spite of a complaint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Something harmless in place of the value.
    StandIn,
    /// Leaving the key out.
    Remove,
    /// Reading the value as the only one of a list.
    Wrap,
    /// Reading the key as the one it was probably meant to be.
    Rename(String),
}

/// The file and the schema that complaints are about.
pub struct Context<'a> {
    what: &'static str,
    source: &'a Source,
    places: &'a Places,
    schema: &'a Value,
    plan: &'a Value,
    guesser: Guesser,
}

/// Tables of plan and config files by their name among the schema's definitions.
const TABLES: [(&str, &str); 15] = [
    ("plan_table", "`[plan]`"),
    ("defaults", "`[defaults]`"),
    ("provision", "`[provision]`"),
    ("provision_defaults", "`[provision]`"),
    ("tier", "`[tiers.NAME]`"),
    ("worker", "`[workers.NAME]`"),
    ("review_table", "`[review]`"),
    ("verify", "`[verify]`"),
    ("critic", "`[critic]`"),
    ("stage", "`[[stage]]`"),
    ("consolidate", "`[stage.consolidate]`"),
    ("wp", "`[[wp]]`"),
    ("dod", "a table in `dod`"),
    ("reviewer", "the table of `review`"),
    ("fork", "a table in `forks`"),
];

impl<'a> Context<'a> {
    /// Complaints are about `plan`, which is `source` as JSON and is to hold a `D`.
    #[must_use]
    pub fn new<D: Root>(
        source: &'a Source,
        places: &'a Places,
        schema: &'a Value,
        plan: &'a Value,
    ) -> Self {
        Self { what: D::FILE, source, places, schema, plan, guesser: Guesser::default() }
    }

    /// Puts one of the validator's errors into words. One error can name several keys, and one of an
    /// alternative stands for those of the branch that was meant.
    #[must_use]
    pub fn explain(&self, error: &ValidationError<'_>) -> Vec<Complaint> {
        let at = error.instance_path().as_str();
        let value = error.instance();
        let asked = self.asked(error);
        let complaint = match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                return unexpected.iter().map(|key| self.unknown_key(at, key, asked)).collect();
            }
            Kind::Required { property } => {
                self.missing_key(at, property.as_str().unwrap_or_default(), asked)
            }
            Kind::AnyOf { context } => return self.alternatives(at, value, context, asked),
            Kind::PropertyNames { error } => {
                let name = error.instance().as_str().unwrap_or_default();
                let at = pointer::join(at, name);
                let span = self.places.key(&at).unwrap_or(0..0);
                let finding = self.text(&at, name, self.asked(error), span);
                let named =
                    pointer::parent(&at).filter(|table| ["/tiers", "/workers"].contains(table));
                let remedy = match named {
                    // What is declared under it is there, whatever it is called.
                    Some(table) => Remedy::Rename(pointer::join(table, nameless(&at))),
                    None => Remedy::Remove,
                };
                Complaint { at, finding, remedy }
            }
            Kind::Type { .. } => self.wrong_type(at, value, &[asked]),
            // A value of another type is spoken of as such.
            Kind::Enum { .. } if !value.is_string() => return Vec::new(),
            Kind::Constant { .. } if !value.is_number() => return Vec::new(),
            Kind::Enum { options } => self.unknown_word(at, value, options),
            Kind::Constant { .. } => self.complaint(
                at,
                "bad-version",
                format!("version {value} of the plan format is not known to this `sop`"),
                "write `version = 1`",
            ),
            Kind::Pattern { .. } | Kind::MaxLength { .. } => {
                let text = value.as_str().unwrap_or_default();
                let span = self.places.nearest(at);
                let finding = self.text(at, text, asked, span);
                Complaint { at: at.to_owned(), finding, remedy: Remedy::StandIn }
            }
            Kind::Minimum { .. } | Kind::Maximum { .. } => {
                let (least, most) = (&asked["minimum"], &asked["maximum"]);
                let message =
                    format!("{} must be from {least} to {most}, not {value}", subject(at));
                self.complaint(at, "out-of-range", message, "")
            }
            Kind::MinItems { .. } => {
                let message = format!(
                    "{} is an empty array: a command needs at least the program's name",
                    subject(at)
                );
                self.complaint(at, "empty-command", message, &example(at, asked))
            }
            _ => self.complaint(at, "schema", error.to_string(), ""),
        };
        vec![complaint]
    }

    /// The part of the schema that holds the keyword which failed.
    fn asked(&self, error: &ValidationError<'_>) -> &'a Value {
        let keyword = error.schema_path().as_str();
        let holder = pointer::parent(keyword).unwrap_or_default();
        self.schema.pointer(holder).unwrap_or(&Value::Null)
    }

    fn complaint(
        &self,
        at: &str,
        code: &'static str,
        message: impl Into<String>,
        help: &str,
    ) -> Complaint {
        let mut finding =
            Finding::error(code, &self.source.file, message).at(self.places.nearest(at));
        if !help.is_empty() {
            finding = finding.help(help);
        }
        Complaint { at: at.to_owned(), finding, remedy: Remedy::StandIn }
    }

    fn unknown_key(&self, table: &str, key: &str, asked: &'a Value) -> Complaint {
        let at = pointer::join(table, key);
        let span = self.places.key(&at).unwrap_or(0..0);
        let keys =
            || asked["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        let meant = self.guesser.nearest(key, keys());
        let message = format!("{} is not a key of {}", quoted(key), self.table(table));
        let mut finding = Finding::error("unknown-key", &self.source.file, message).at(span);
        let elsewhere = TABLES.iter().filter(|(definition, _)| {
            !self.schema["definitions"][definition]["properties"][key].is_null()
        });
        let elsewhere: Vec<&str> = elsewhere.map(|(_, table)| *table).collect();
        let keys = format!("the keys here are {}", list(keys(), "and"));
        finding = match meant {
            Some(meant) => finding.suggest(meant).help(format!("did you mean `{meant}`? {keys}")),
            None if !elsewhere.is_empty() => {
                finding.help(format!("`{key}` is a key of {}; {keys}", elsewhere.join(", ")))
            }
            None => finding.help(keys),
        };
        let free = |meant: &&str| self.plan.pointer(&pointer::join(table, meant)).is_none();
        let remedy = match meant.filter(free) {
            Some(meant) => Remedy::Rename(pointer::join(table, meant)),
            None => Remedy::Remove,
        };
        Complaint { at, finding, remedy }
    }

    fn missing_key(&self, table: &str, key: &str, asked: &'a Value) -> Complaint {
        let property = &asked["properties"][key];
        let at = pointer::join(table, key);
        let message = format!("{} has no `{key}`", self.table(table));
        let description = property["description"].as_str().unwrap_or_default();
        let help = format!("{description} {}", example(&at, property));
        self.complaint(&at, "missing-key", message, help.trim())
    }

    /// None of the branches takes the value: speaks of the one that was meant, by the value's type.
    fn alternatives(
        &self,
        at: &str,
        value: &Value,
        branches: &[Vec<ValidationError<'static>>],
        asked: &'a Value,
    ) -> Vec<Complaint> {
        let mistyped = |error: &ValidationError<'_>| {
            matches!(error.kind(), Kind::Type { .. }) && error.instance_path().as_str() == at
        };
        if let Some(meant) = branches.iter().find(|errors| !errors.iter().any(mistyped)) {
            return meant.iter().flat_map(|error| self.explain(error)).collect();
        }
        let wanted: Vec<&Value> = branches
            .iter()
            .filter_map(|errors| errors.iter().find(|error| mistyped(error)))
            .map(|error| self.asked(error))
            .collect();
        let mut complaint = self.wrong_type(at, value, &wanted);
        if complaint.finding.help.is_none() && !asked["examples"].is_null() {
            complaint.finding.help = Some(example(at, asked));
        }
        vec![complaint]
    }

    fn wrong_type(&self, at: &str, value: &Value, wanted: &[&Value]) -> Complaint {
        let kinds: Vec<&str> = wanted.iter().filter_map(|asked| asked["type"].as_str()).collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind_name(kind)).collect();
        let written = self.source.text.get(self.places.nearest(at)).unwrap_or_default();
        let found = match value {
            Value::Null => "infinite",
            Value::Bool(_) => "`true` or `false`",
            Value::Number(number) if number.is_f64() => "a fraction",
            Value::Number(_) => "a number",
            Value::String(_) if written.starts_with(|c: char| c.is_ascii_digit()) => {
                "a date or time"
            }
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "a table",
        };
        let message = format!("{} must be {}, not {found}", subject(at), names.join(" or "));
        let help = wanted.first().map(|asked| example(at, asked)).unwrap_or_default();
        let mut complaint = self.complaint(at, "wrong-type", message, &help);
        if let Some(text) = value.as_str() {
            let unquoted = match kinds.as_slice() {
                ["boolean"] => text.parse::<bool>().is_ok(),
                ["integer"] => text.parse::<i64>().is_ok(),
                ["number"] => text.parse::<f64>().is_ok_and(f64::is_finite),
                _ => false,
            };
            if unquoted {
                complaint.finding =
                    complaint.finding.suggest(text).help(format!("leave out the quotes: `{text}`"));
            }
        }
        // A single value where a list is wanted: the brackets were forgotten.
        if kinds.as_slice() == ["array"] {
            complaint.remedy = Remedy::Wrap;
        }
        if kinds.as_slice() == ["array"] && !value.is_object() {
            let bracketed = format!("[{written}]");
            let help = format!("put it into brackets: {}", quoted(&bracketed));
            complaint.finding = complaint.finding.suggest(bracketed).help(help);
        }
        complaint
    }

    fn unknown_word(&self, at: &str, value: &Value, options: &Value) -> Complaint {
        let word = value.as_str().unwrap_or_default();
        let options = || options.as_array().into_iter().flatten().filter_map(Value::as_str);
        let message =
            format!("{} must be {}, not {}", subject(at), list(options(), "or"), quoted(word));
        let mut complaint = self.complaint(at, "unknown-value", message, "");
        if let Some(meant) = self.guesser.nearest(word, options()) {
            let help = format!("did you mean `{meant}`?");
            complaint.finding = complaint.finding.suggest(format!("\"{meant}\"")).help(help);
        }
        complaint
    }

    /// A text that is not of the form asked for.
    fn text(&self, at: &str, text: &str, asked: &'a Value, span: Range<usize>) -> Finding {
        let finding = |code, message: String| {
            Finding::error(code, &self.source.file, message).at(span.clone())
        };
        let pattern = asked["pattern"].as_str().unwrap_or_default();
        if pattern == FILLED {
            finding("blank", format!("{} is blank", subject(at)))
        } else if pattern == VARIABLE {
            finding("bad-variable", format!("{} is not the name of a variable", quoted(text)))
                .help("use letters, digits and `_`, and start with no digit")
        } else if pattern == Length::PATTERN {
            let message = format!("{} is not a length of time", quoted(text));
            finding("bad-duration", message).help("write `90s`, `5m` or `1h30m`: hours, minutes, seconds and milliseconds, in this order")
        } else if pattern == SIZE {
            finding("bad-size", format!("{} is not a size", quoted(text)))
                .help("write `512KiB`, `64MB` or `1GB`, or a number of bytes")
        } else {
            let reason = match (ids::check(text), asked["maxLength"].as_u64()) {
                (Err(ids::IdError::Empty), _) => format!("{} is empty", subject(at)),
                (Err(reason), _) => format!("{} {reason}", quoted(text)),
                (Ok(()), Some(most)) => {
                    format!(
                        "{} is {} characters long; {} has at most {most}",
                        quoted(text),
                        text.chars().count(),
                        subject(at)
                    )
                }
                (Ok(()), None) => format!("{} is not a name", quoted(text)),
            };
            finding("bad-id", reason)
        }
    }

    /// A table of the plan, for a sentence.
    fn table(&self, at: &str) -> String {
        let parts: Vec<_> = pointer::parts(at).collect();
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        match parts.as_slice() {
            [] => self.what.to_owned(),
            [table @ ("plan" | "defaults" | "provision" | "review" | "verify" | "critic")] => {
                format!("`[{table}]`")
            }
            ["stage", _, "consolidate"] => "`[stage.consolidate]`".to_owned(),
            [table @ ("tiers" | "workers"), name] => {
                let key = self.places.key(at).and_then(|span| self.source.text.get(span));
                let name = key.filter(|_| is_nameless(name)).unwrap_or(name);
                quoted(&format!("[{table}.{name}]"))
            }
            [table @ ("stage" | "wp"), _] => {
                let key = if *table == "wp" { "id" } else { "name" };
                let name = self.plan.pointer(&pointer::join(at, key)).and_then(Value::as_str);
                match name.filter(|name| !is_nameless(name)) {
                    Some(name) => format!("`[[{table}]]` {}", quoted(name)),
                    None => format!("this `[[{table}]]`"),
                }
            }
            [.., list @ ("dod" | "live"), _] => format!("this table in `{list}`"),
            [.., "forks", _] => "this fork".to_owned(),
            _ => subject(at),
        }
    }
}

/// A value of the plan, for the start of a sentence: its key, or that of the array it is in.
fn subject(at: &str) -> String {
    let last = at.rsplit('/').next().unwrap_or_default();
    if last.parse::<usize>().is_err() {
        return quoted(last);
    }
    let array = pointer::parent(at).and_then(|at| at.rsplit('/').next());
    format!("an entry of {}", quoted(array.unwrap_or_default()))
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "`true` or `false`",
        "array" => "an array",
        _ => "a table",
    }
}

/// How the key is written, by the schema's first example.
fn example(at: &str, asked: &Value) -> String {
    let key = at.rsplit('/').next().unwrap_or_default();
    match asked["examples"].get(0) {
        Some(example) if key.parse::<usize>().is_err() => {
            format!("For example: `{key} = {}`", inline(example))
        }
        _ => String::new(),
    }
}
