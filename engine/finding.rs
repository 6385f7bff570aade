//! Diagnostics as data: what is wrong with a plan, where, and what to do. Drawing them is
//! `report::findings`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad it is. Only an error keeps a plan from running.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant.
    Warning,
    /// The plan cannot run like this.
    Error,
}

/// One finding. `span`s are byte ranges in the text of `file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable kebab-case name of the rule, for machines and for looking it up.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// File as the user named it.
    pub file: String,
    /// Where in the file; `None` is the whole file.
    pub span: Option<Range<usize>>,
    /// A few words to stand at the caret.
    pub label: Option<String>,
    /// Other places in the same file that belong to it.
    pub related: Vec<Related>,
    /// What to do.
    pub help: Option<String>,
    /// A text that would mend it, in place of `span`: "did you mean".
    pub suggestion: Option<String>,
}

/// Another place that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// A few words to stand there.
    pub label: String,
    /// Byte range in the finding's file.
    pub span: Range<usize>,
}

impl Finding {
    /// An error of rule `code` in `file`.
    #[must_use]
    pub fn error(code: &'static str, file: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            file: file.to_owned(),
            span: None,
            label: None,
            related: Vec::new(),
            help: None,
            suggestion: None,
        }
    }

    /// A warning of rule `code` in `file`.
    #[must_use]
    pub fn warning(code: &'static str, file: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, file, message) }
    }

    /// The same finding, at `span`.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    /// The same finding, with words at the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The same finding, with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same finding, with a text that would mend it.
    #[must_use]
    pub fn suggest(mut self, replacement: impl Into<String>) -> Self {
        self.suggestion = Some(replacement.into());
        self
    }

    /// The same finding, with one more place.
    #[must_use]
    pub fn related(mut self, label: impl Into<String>, span: Range<usize>) -> Self {
        self.related.push(Related { label: label.into(), span });
        self
    }
}

/// Whether any finding keeps the plan from running.
#[must_use]
pub fn any_error(findings: &[Finding]) -> bool {
    findings.iter().any(|f| f.severity == Severity::Error)
}
