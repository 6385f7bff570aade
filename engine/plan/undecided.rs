//! What a plan leaves to be decided: its comments that begin with `DECIDE:`, as a drafted plan has them. To a parser
//! a comment is nothing, so they are looked for in the text.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::source::Source;
use crate::finding::Finding;

/// What such a comment begins with.
pub const MARK: &str = "DECIDE:";

/// The rule that they are findings of.
pub const CODE: &str = "undecided";

/// A warning for each place, in the order of the file. Of what is no TOML nothing is told.
#[must_use]
pub fn find(source: &Source) -> Vec<Finding> {
    // Nearly all plans have none, and pay nothing for that.
    if !source.text.contains(MARK) {
        return Vec::new();
    }
    let Ok(table) = DeTable::parse(&source.text) else { return Vec::new() };
    let mut texts = Vec::new();
    of_table(table.get_ref(), &mut texts);
    texts.sort_by_key(|span| span.start);
    let in_text = |at: usize| {
        let before = texts.partition_point(|span| span.start <= at);
        before > 0 && texts[before - 1].contains(&at)
    };
    let mut found = Vec::new();
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let comment = line.match_indices('#').map(|(at, _)| start + at).find(|at| !in_text(*at));
        start += line.len();
        let Some(at) = comment else { continue };
        let Some(what) = source.text[at + 1..end].trim_start().strip_prefix(MARK) else { continue };
        let message = match what.trim() {
            "" => "this is still to be decided".to_owned(),
            what => format!("still to be decided: {what}"),
        };
        let finding = Finding::warning(CODE, &source.file, message).at(at..end);
        found.push(finding.help("decide it, and take the comment out"));
    }
    found
}

/// Where texts stand, keys among them: what looks like a comment there is none.
fn of_table(table: &DeTable<'_>, texts: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        texts.push(key.span());
        of_value(value.get_ref(), value.span(), texts);
    }
}

fn of_value(value: &DeValue<'_>, span: Range<usize>, texts: &mut Vec<Range<usize>>) {
    match value {
        DeValue::String(_) => texts.push(span),
        DeValue::Array(values) => {
            for value in values {
                of_value(value.get_ref(), value.span(), texts);
            }
        }
        DeValue::Table(table) => of_table(table, texts),
        _ => {}
    }
}
