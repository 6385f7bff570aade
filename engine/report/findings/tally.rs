//! How many findings of each severity, as a sentence.

use std::collections::BTreeSet;
use std::fmt;

use crate::finding::{Finding, Severity};
use crate::report::escape::visible;

/// Findings, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally<'a> {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
    /// Files with findings.
    pub files: usize,
    /// The file, when there is one alone.
    pub file: Option<&'a str>,
}

impl<'a> Tally<'a> {
    /// Counts `findings`.
    #[must_use]
    pub fn of(findings: &'a [Finding]) -> Self {
        let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
        let files: BTreeSet<&str> = findings.iter().map(|f| f.file.as_str()).collect();
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
            files: files.len(),
            file: (files.len() == 1).then(|| files.first().copied()).flatten(),
        }
    }
}

impl fmt::Display for Tally<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let said: Vec<String> = counts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, noun)| format!("{n} {noun}{}", if *n == 1 { "" } else { "s" }))
            .collect();
        if said.is_empty() {
            return f.write_str("no findings");
        }
        f.write_str(&said.join(", "))?;
        match self.file {
            Some(file) => write!(f, " in {}", visible(file)),
            None => write!(f, " in {} files", self.files),
        }
    }
}
