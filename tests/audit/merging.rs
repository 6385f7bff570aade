//! Tellings of one thing are one finding; different things at one place are not.

use bstr::BString;
use sop::audit::check::Checked;
use sop::audit::merge::merge;
use sop::audit::quote::Span;
use sop::model::gap::{Concern, Severity};
use sop::model::ids::WpId;

fn told(by: &str, path: &str, lines: (u32, u32), severity: Severity, evidence: &str) -> Checked {
    let by = WpId::new(by).expect("an id");
    Checked {
        path: BString::from(path),
        span: Span { from: lines.0, to: lines.1 },
        severity,
        concerns: vec![if by.as_str() == "s1" { Concern::Debt } else { Concern::Security }],
        title: String::new(),
        quote: String::new(),
        evidence: evidence.to_owned(),
        fix: String::new(),
        files: vec![BString::from(path), BString::from(format!("tests/{by}.rs"))],
        names: vec![(by.clone(), "a".to_owned())],
        after: Vec::new(),
        found_in: vec![by],
        notes: Vec::new(),
    }
}

const ONE: &str = "The password is compared byte by byte, so its length leaks through timing.";
const SAME: &str = "Timing leaks the password's length: it is compared byte by byte.";
const OTHER: &str = "Nothing closes the file when reading fails.";

#[test]
fn two_tellings_of_one_thing_are_one_and_the_more_severe_is_kept() {
    let all = vec![
        told("s1", "a.rs", (4, 6), Severity::Low, ONE),
        told("s2", "a.rs", (6, 6), Severity::High, SAME),
    ];
    let merged = merge(all);
    assert_eq!(merged.len(), 1);
    let one = &merged[0];
    assert_eq!((one.severity, one.evidence.as_str()), (Severity::High, SAME));
    assert_eq!(one.concerns, [Concern::Security, Concern::Debt]);
    assert_eq!(one.files, ["a.rs", "tests/s2.rs", "tests/s1.rs"]);
    let ids = |names: &[WpId]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(ids(&one.found_in), ["s2", "s1"]);
    assert_eq!(one.names.len(), 2, "what waits for either waits for this");
}

#[test]
fn another_place_or_another_thing_is_another_finding() {
    for (other, n) in [
        (told("s2", "a.rs", (7, 9), Severity::Low, SAME), 2),
        (told("s2", "b.rs", (4, 6), Severity::Low, SAME), 2),
        (told("s2", "a.rs", (4, 6), Severity::Low, OTHER), 2),
        (told("s2", "a.rs", (4, 6), Severity::Low, SAME), 1),
    ] {
        let merged = merge(vec![told("s1", "a.rs", (4, 6), Severity::Low, ONE), other.clone()]);
        assert_eq!(merged.len(), n, "{other:?}");
    }
}

#[test]
fn findings_come_by_severity_then_by_place_whatever_the_order_of_the_scouts() {
    let all = vec![
        told("s1", "b.rs", (1, 1), Severity::Low, OTHER),
        told("s1", "a.rs", (9, 9), Severity::Critical, ONE),
        told("s2", "a.rs", (2, 2), Severity::Critical, OTHER),
        told("s2", "a.rs", (5, 5), Severity::Low, ONE),
    ];
    let mut back = all.clone();
    back.reverse();
    let places = |all: Vec<Checked>| -> Vec<String> {
        merge(all).iter().map(|it| format!("{}:{}", it.path, it.span.from)).collect()
    };
    assert_eq!(places(all), ["a.rs:2", "a.rs:9", "a.rs:5", "b.rs:1"]);
    assert_eq!(places(back), ["a.rs:2", "a.rs:9", "a.rs:5", "b.rs:1"]);
}
