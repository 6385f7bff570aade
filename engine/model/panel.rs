//! What several reviewers say, as one verdict.

use super::verdict::{Judgment, ReviewFinding, ReviewSeverity, Verdict};

/// What one of them says: what it looked for, and its answer.
#[derive(Debug, Clone, Copy)]
pub struct Opinion<'a> {
    /// What it looked for.
    pub lens: &'a str,
    /// Its answer.
    pub verdict: &'a Verdict,
}

/// One verdict of all of them. A finding from `block_from` on blocks, whatever its reviewer says of the
/// whole; what is less severe is kept in the verdict and does not. One that asks for changes and names
/// none blocks with what it says of the whole. Findings say whose they are, and those at the same line
/// become one. One whose file `exists` does not know is kept without a place.
#[must_use]
pub fn consolidate(
    opinions: &[Opinion<'_>],
    block_from: ReviewSeverity,
    exists: impl Fn(&str) -> bool,
) -> Verdict {
    let unnamed: Vec<_> =
        opinions.iter().map(|opinion| unnamed(opinion.verdict, block_from)).collect();
    let mut findings: Vec<Found<'_>> = Vec::new();
    for (Opinion { lens, verdict }, unnamed) in opinions.iter().zip(&unnamed) {
        for finding in verdict.findings.iter().chain(unnamed) {
            let found = Found::of(lens, finding, &exists);
            match findings.iter_mut().find(|known| known.is_same(&found)) {
                Some(known) => known.take(found),
                None => findings.push(found),
            }
        }
    }
    let blocks = findings.iter().any(|found| found.severity >= block_from);
    let judgment = if blocks { Judgment::RequestChanges } else { Judgment::Approve };
    let mut summary: Vec<String> = Vec::new();
    for Opinion { lens, verdict } in opinions {
        let wants = verdict.verdict == Judgment::RequestChanges
            && !verdict.findings.is_empty()
            && !verdict.findings.iter().any(|finding| finding.severity >= block_from);
        let wants = match wants {
            true => " (it asks for changes, but finds nothing that blocks)",
            false => "",
        };
        let said = verdict.summary.trim();
        if !said.is_empty() || !wants.is_empty() {
            summary.push(format!("{lens}: {said}{wants}"));
        }
    }
    Verdict {
        verdict: judgment,
        summary: summary.join("\n"),
        findings: findings.into_iter().map(Found::finding).collect(),
    }
}

/// What stands for the findings of one that asks for changes without any: its summary. To ask for changes
/// must not count as an approval because the form was not kept.
fn unnamed(verdict: &Verdict, block_from: ReviewSeverity) -> Option<ReviewFinding> {
    let asks = verdict.verdict == Judgment::RequestChanges && verdict.findings.is_empty();
    asks.then(|| ReviewFinding {
        file: None,
        line: None,
        severity: block_from.max(ReviewSeverity::Major),
        message: match verdict.summary.trim() {
            "" => "asks for changes and does not say which".to_owned(),
            said => said.to_owned(),
        },
    })
}

/// A finding, and whose it is.
struct Found<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    severity: ReviewSeverity,
    /// What each says of it.
    said: Vec<(Vec<&'a str>, String)>,
}

impl<'a> Found<'a> {
    fn of(lens: &'a str, finding: &'a ReviewFinding, exists: &impl Fn(&str) -> bool) -> Self {
        let named = finding.file.as_deref().map(|file| file.strip_prefix("./").unwrap_or(file));
        let file = named.filter(|file| exists(file));
        let message = finding.message.trim();
        let message = match (named, file) {
            (Some(named), None) => {
                format!("{message} (unlocated: there is no file {named:?} here)")
            }
            _ => message.to_owned(),
        };
        Self {
            file,
            line: finding.line.filter(|_| file.is_some()),
            severity: finding.severity,
            said: vec![(vec![lens], message)],
        }
    }

    /// At the same line of the same file; or the same words at the same place, where that is no line.
    fn is_same(&self, other: &Self) -> bool {
        let place = (self.file, self.line) == (other.file, other.line);
        let line = self.line.is_some();
        place
            && (line || self.said.iter().any(|(_, text)| other.said.iter().any(|(_, t)| t == text)))
    }

    fn take(&mut self, other: Self) {
        self.severity = self.severity.max(other.severity);
        for (lenses, text) in other.said {
            match self.said.iter_mut().find(|(_, known)| *known == text) {
                Some((by, _)) => {
                    for lens in lenses {
                        if !by.contains(&lens) {
                            by.push(lens);
                        }
                    }
                }
                None => self.said.push((lenses, text)),
            }
        }
    }

    fn finding(self) -> ReviewFinding {
        let said: Vec<String> =
            self.said.iter().map(|(by, text)| format!("{}: {text}", by.join(", "))).collect();
        ReviewFinding {
            file: self.file.map(str::to_owned),
            line: self.line,
            severity: self.severity,
            message: said.join("\n"),
        }
    }
}
