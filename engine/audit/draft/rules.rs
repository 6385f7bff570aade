//! Who works on a drafted package, and how much can go wrong. All of it, in one place:
//!
//! | risk | when |
//! | --- | --- |
//! | high | a finding about security, or a critical one; or the package is [large](is_large) |
//! | low | nothing but tests and documents is touched; or all findings are of low severity and in one file |
//! | medium | everything else |
//!
//! | tier | when |
//! | --- | --- |
//! | `lead` | the package is large, or a finding is critical |
//! | `light` | the risk is low and there are three findings at most |
//! | `standard` | everything else |
//!
//! Where the tier is not configured, the next stronger one does it, else the next weaker one, else the first
//! by name.

use crate::model::gap::{Concern, Gap, Severity};
use crate::model::plan::Risk;

/// Most findings of a package before the lead is asked to cut it.
pub const MOST_FINDINGS: usize = 8;

/// Most files of one.
pub const MOST_FILES: usize = 12;

/// Most findings that a light tier is given at once.
const LIGHT: usize = 3;

/// Tiers from the weakest to the strongest.
const TIERS: [&str; 3] = ["light", "standard", "lead"];

/// What the rules say of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// How much can go wrong.
    pub risk: Risk,
    /// Who works on it.
    pub tier: String,
    /// Who should have, where that tier is not there.
    pub wanted: Option<&'static str>,
}

/// Whether a package is so large that the lead should look at it.
#[must_use]
pub fn is_large(findings: usize, files: usize) -> bool {
    findings > MOST_FINDINGS || files > MOST_FILES
}

/// Rules over the package that mends `gaps` in `files`, where there are these `tiers`.
#[must_use]
pub fn rule(gaps: &[&Gap], files: &[String], tiers: &[String]) -> Ruling {
    let large = is_large(gaps.len(), files.len());
    let critical = gaps.iter().any(|gap| gap.severity == Severity::Critical);
    let secure = gaps.iter().any(|gap| gap.concerns.contains(&Concern::Security));
    let slight = gaps.iter().all(|gap| gap.severity == Severity::Low) && files.len() == 1;
    let risk = if secure || critical || large {
        Risk::High
    } else if slight || files.iter().all(|path| is_beside(path)) {
        Risk::Low
    } else {
        Risk::Medium
    };
    let at = if large || critical {
        2
    } else if risk == Risk::Low && gaps.len() <= LIGHT {
        0
    } else {
        1
    };
    let there = |name: &&&str| tiers.iter().any(|tier| tier == **name);
    let stronger = TIERS[at..].iter().find(there);
    let tier = stronger.or_else(|| TIERS[..at].iter().rev().find(there)).copied();
    let tier = tier.or_else(|| tiers.first().map(String::as_str)).unwrap_or("standard");
    let wanted = Some(TIERS[at]).filter(|wanted| *wanted != tier);
    Ruling { risk, tier: tier.to_owned(), wanted }
}

/// Whether a path is a test or a document, by its name: what is wrong with it harms nobody who runs the
/// program.
fn is_beside(path: &str) -> bool {
    let folders =
        ["test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures", "docs", "doc"];
    let path = path.to_ascii_lowercase();
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    if parts.any(|folder| folders.contains(&folder)) {
        return true;
    }
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let test = stem.starts_with("test_")
        || ["_test", "_spec", ".test", ".spec"].iter().any(|end| stem.ends_with(end));
    test || ["md", "rst", "adoc"].contains(&ending)
}
