//! Findings as SARIF 2.1.0, the form that code scanning services take.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::rules;
use super::sources::{Position, Sources, Text};
use crate::finding::{Finding, Severity};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes the log and a line feed: one run, with the rules that have findings in it.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(findings: &[Finding], sources: &Sources<'_>, out: &mut impl Write) -> io::Result<()> {
    let codes: BTreeSet<&str> = findings.iter().map(|f| f.code).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let results: Vec<Value> =
        findings.iter().map(|f| result(f, sources.get(&f.file), &codes)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sop",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    crate::report::json::pretty(&log, out)
}

fn rule(code: &str) -> Value {
    let mut rule = json!({ "id": code });
    if let Some(known) = rules::find(code) {
        rule["shortDescription"] = json!({ "text": known.about });
        rule["help"] = json!({ "text": known.help });
    }
    rule
}

fn result(finding: &Finding, text: Option<&Text<'_>>, codes: &[&str]) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message.push('\n');
        message.push_str(help);
    }
    let region = text.zip(finding.span.as_ref()).map(|(text, span)| region(text.positions(span)));
    let mut result = Map::new();
    result.insert("ruleId".into(), json!(finding.code));
    if let Ok(index) = codes.binary_search(&finding.code) {
        result.insert("ruleIndex".into(), json!(index));
    }
    result.insert("level".into(), json!(level));
    result.insert("message".into(), json!({ "text": message }));
    let place = location(&finding.file, region.clone(), finding.label.as_deref());
    result.insert("locations".into(), json!([place]));

    if let Some(text) = text.filter(|_| !finding.related.is_empty()) {
        let places = finding.related.iter().map(|place| {
            let region = region_of(text, place);
            location(&finding.file, Some(region), Some(&place.label))
        });
        let places: Vec<Value> = places.collect();
        result.insert("relatedLocations".into(), json!(places));
    }
    if let (Some(region), Some(suggestion)) = (region, &finding.suggestion) {
        let fix = json!({
            "description": { "text": format!("Replace with {suggestion}") },
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(&finding.file) },
                "replacements": [{
                    "deletedRegion": region,
                    "insertedContent": { "text": suggestion },
                }],
            }],
        });
        result.insert("fixes".into(), json!([fix]));
    }
    Value::Object(result)
}

fn region_of(text: &Text<'_>, place: &crate::finding::Related) -> Value {
    region(text.positions(&place.span))
}

fn region((start, end): (Position, Position)) -> Value {
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": start.offset,
        "byteLength": end.offset - start.offset,
    })
}

fn location(file: &str, region: Option<Value>, label: Option<&str>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(region) = region {
        physical["region"] = region;
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(label) = label {
        location["message"] = json!({ "text": label });
    }
    location
}

/// A file name as a relative or absolute URI reference: what RFC 3986 does not allow in a path is
/// percent-encoded, and a first segment with a colon cannot pass for a scheme.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    if file.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
