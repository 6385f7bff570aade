//! The text of a plan file and where in it things stand.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

use crate::finding::Finding;

/// A plan file: its name as the user gave it, and its text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name, for findings.
    pub file: String,
    /// The text, as it is on disk: a byte order mark and CRLF line ends are part of it.
    pub text: String,
}

/// So many syntax errors are each told.
const MANY: usize = 10;

/// Of more than that, so many are.
const FIRST: usize = 3;

impl Source {
    /// A source from its parts.
    #[must_use]
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: file.into(), text: text.into() }
    }

    /// Line and column of a byte offset, both from 1; columns count characters. A byte order mark
    /// has no width, and an offset past the end or within a character is taken back to the one before.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().filter(|c| *c != '\u{feff}').count() + 1;
        (line, column)
    }

    /// All that keeps the text from being TOML.
    #[must_use]
    pub fn syntax(&self) -> Vec<Finding> {
        let (_, errors) = DeTable::parse_recoverable(&self.text);
        let mut seen = BTreeSet::new();
        let mut findings = Vec::new();
        for error in errors {
            let end = self.text.trim_end().len();
            let span = error.span().unwrap_or(end..end);
            // The parser goes on after an error and may stumble over the same place again.
            if seen.insert(span.start) {
                let message = format!("not TOML: {}", error.message());
                findings.push(Finding::error("syntax", &self.file, message).at(span));
            }
        }
        findings.sort_by_key(|finding| finding.span.as_ref().map(|span| span.start));
        // Of a text that is something else altogether each line is wrong, and the first few say it.
        if findings.len() > MANY {
            let more = findings.len() - FIRST;
            findings.truncate(FIRST);
            if let Some(last) = findings.last_mut() {
                let text = format!("{more} more places in this file are not TOML; is it a plan?");
                last.help = Some(text);
            }
        }
        findings
    }
}

/// Turns every date and time into a text. JSON has neither, and what checks TOML by a JSON Schema, in
/// editors and elsewhere, reads them so: the answer here is to be the same.
pub fn date_as_text(table: &mut DeTable<'_>) {
    for (_, value) in table.iter_mut() {
        value_as_text(value.get_mut());
    }
}

fn value_as_text(value: &mut DeValue<'_>) {
    match value {
        DeValue::Datetime(date) => *value = DeValue::String(date.to_string().into()),
        DeValue::Table(table) => date_as_text(table),
        DeValue::Array(items) => items.iter_mut().for_each(|item| value_as_text(item.get_mut())),
        _ => {}
    }
}
