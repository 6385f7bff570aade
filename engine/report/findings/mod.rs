//! Findings, drawn: for people ([`human`]), for programs ([`json`]), for code scanning ([`sarif`]) and
//! for annotations in a GitHub workflow ([`github`]). All four say the same, in the order given.

pub mod github;
pub mod human;
pub mod json;
pub mod rules;
pub mod sarif;
pub mod sources;
pub mod tally;

use std::io::{self, Write};

use crate::finding::Finding;
use crate::report::escape::visible;
pub use sources::Sources;

/// How findings are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Source line and caret, for a terminal.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands, one a line.
    Github,
}

/// What the place drawn to can show; only [`Format::Human`] asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether it takes ANSI colours.
    pub color: bool,
    /// Its width in columns; longer source lines are trimmed around the caret.
    pub width: usize,
}

impl Default for Look {
    fn default() -> Self {
        Self { color: false, width: 140 }
    }
}

/// Draws `findings` to `out`.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(
    format: Format,
    findings: &[Finding],
    sources: &Sources<'_>,
    look: Look,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        Format::Human => human::draw(findings, sources, look, out),
        Format::Json => json::draw(findings, sources, out),
        Format::Sarif => sarif::draw(findings, sources, out),
        Format::Github => github::draw(findings, sources, out),
    }
}

/// "did you mean …?", unless the finding's own help says as much.
fn hint(finding: &Finding) -> Option<String> {
    // The replacement stands for source text, quotes included; people read the word.
    let word = finding.suggestion.as_deref()?.trim_matches('"');
    let help = finding.help.as_deref().unwrap_or_default();
    let said = help.contains("did you mean") || help.ends_with(&format!(": `{word}`"));
    (!said).then(|| format!("did you mean `{}`?", visible(word)))
}
