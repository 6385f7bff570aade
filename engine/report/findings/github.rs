//! Findings as GitHub workflow commands: each becomes an annotation at its line of the pull request.
//!
//! The form is `::error file=F,line=L,col=C,endLine=L,endColumn=C,title=T::MESSAGE`; what would end a
//! property or the line is percent-encoded.

use std::io::{self, Write};

use super::hint;
use super::sources::Sources;
use crate::finding::{Finding, Severity};
use crate::report::escape::{visible, visible_lines};

/// Writes one line a finding.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(findings: &[Finding], sources: &Sources<'_>, out: &mut impl Write) -> io::Result<()> {
    for finding in findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        write!(out, "::{command} file={}", property(&finding.file))?;
        if let (Some(text), Some(span)) = (sources.get(&finding.file), &finding.span) {
            let (start, end) = text.positions(span);
            write!(out, ",line={},col={}", start.line, start.column)?;
            write!(out, ",endLine={}", end.line)?;
            // GitHub refuses columns when the lines differ.
            if start.line == end.line {
                write!(out, ",endColumn={}", end.column)?;
            }
        }
        write!(out, ",title={}", property(finding.code))?;
        writeln!(out, "::{}", data(&message(finding)))?;
    }
    Ok(())
}

/// An annotation shows no source, so what stands at the caret and below it becomes part of the text.
fn message(finding: &Finding) -> String {
    let mut text = visible(&finding.message).into_owned();
    if let Some(hint) = hint(finding) {
        text.push('\n');
        text.push_str(&hint);
    }
    if let Some(help) = &finding.help {
        text.push('\n');
        text.push_str(&visible_lines(help));
    }
    text
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}
