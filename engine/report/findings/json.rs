//! Findings for programs: one JSON document.

use std::io::{self, Write};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use super::sources::{Position, Sources, Text};
use super::tally::Tally;
use crate::finding::{Finding, Severity};

/// The document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<'a> {
    /// Version of this form: 1. Fields may be added under the same number.
    pub version: u32,
    /// How many of the findings are errors.
    pub errors: usize,
    /// How many are warnings.
    pub warnings: usize,
    /// All of them, in the order of the files and of the places in each.
    pub findings: Vec<Entry<'a>>,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Entry<'a> {
    /// Stable name of the rule.
    pub code: &'a str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: &'a str,
    /// File as it was named.
    pub file: &'a str,
    /// Where it starts; absent when it is about the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Position>,
    /// Where it ends (exclusive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Position>,
    /// A few words about that place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    /// Other places in the same file that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Place<'a>>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// A text that would mend it in place of what stands from `start` to `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<&'a str>,
}

/// Another place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Place<'a> {
    /// A few words about it.
    pub label: &'a str,
    /// Where it starts.
    pub start: Position,
    /// Where it ends (exclusive).
    pub end: Position,
}

/// Writes the document and a line feed.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(findings: &[Finding], sources: &Sources<'_>, out: &mut impl Write) -> io::Result<()> {
    let tally = Tally::of(findings);
    let document = Document {
        version: 1,
        errors: tally.errors,
        warnings: tally.warnings,
        findings: findings
            .iter()
            .map(|finding| entry(finding, sources.get(&finding.file)))
            .collect(),
    };
    crate::report::json::pretty(&document, out)
}

/// The JSON Schema of the document.
#[must_use]
pub fn schema() -> String {
    let settings = SchemaSettings::draft07().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Document<'_>>();
    format!("{:#}\n", schema.to_value())
}

fn entry<'a>(finding: &'a Finding, text: Option<&Text<'_>>) -> Entry<'a> {
    let span = finding.span.as_ref();
    let (start, end) = text.zip(span).map(|(text, span)| text.positions(span)).unzip();
    let places = text.into_iter().flat_map(|text| {
        finding.related.iter().map(|place| {
            let (start, end) = text.positions(&place.span);
            Place { label: &place.label, start, end }
        })
    });
    Entry {
        code: finding.code,
        severity: finding.severity,
        message: &finding.message,
        file: &finding.file,
        start,
        end,
        label: finding.label.as_deref(),
        related: places.collect(),
        help: finding.help.as_deref(),
        suggestion: finding.suggestion.as_deref(),
    }
}
