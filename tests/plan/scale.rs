//! Large plans, and hostile ones: no step may cost the square of the plan.

use std::fmt::Write;

use super::{GOOD, reading};

fn head() -> &'static str {
    &GOOD[..GOOD.find("[[wp]]").unwrap()]
}

/// A plan of `n` WPs, each of which says `extra`.
fn plan(n: usize, extra: impl Fn(usize) -> String) -> String {
    let mut text = head().to_owned();
    for i in 0..n {
        let extra = extra(i);
        write!(
            text,
            "[[wp]]\nid = \"wp-{i}\"\nwhitelist = [\"src/m{i}/**\", \"!src/m{i}/old/**\"]\ndod = [\"cargo test -p m{i}\"]\n\
             brief_text = \"Rename it in {i}.\"\n{extra}\n"
        )
        .unwrap();
    }
    text
}

#[test]
fn many_work_packages_are_read() {
    let text =
        plan(2_000, |i| if i == 0 { String::new() } else { format!("needs = [\"wp-{}\"]", i - 1) });
    let (_, read) = reading(&text);
    assert_eq!(read.findings, []);
    assert_eq!(read.plan.unwrap().wps.len(), 2_000);
}

/// Guessing what a name was meant to be compares it with all that there are: it is given up before that
/// costs the square of the plan. Nothing else is.
#[test]
fn guesses_are_given_up_and_findings_are_not() {
    let text = plan(1_000, |i| format!("needs = [\"pw-{i}\"]\nrisk = \"hihg\"\ntier = \"lihgt\""));
    let (_, read) = reading(&text);
    let of = |code: &str| read.findings.iter().filter(|f| f.code == code).collect::<Vec<_>>();
    let (needs, risks, tiers) = (of("unknown-wp"), of("unknown-value"), of("unknown-tier"));
    assert_eq!((needs.len(), risks.len(), tiers.len()), (1_000, 1_000, 1_000));
    assert!(needs.first().unwrap().suggestion.is_some());
    assert!(needs.last().unwrap().suggestion.is_none());
    assert!(risks.last().unwrap().suggestion.is_some());
    assert!(needs.iter().all(|finding| finding.span.is_some() && finding.help.is_some()));
}

#[test]
fn a_deep_or_torn_text_is_refused_and_not_followed() {
    for text in [
        "a = ".to_owned() + &"[".repeat(100_000),
        "a = ".to_owned() + &"{a=".repeat(100_000),
        "[".repeat(100_000),
        "a.".repeat(100_000) + "a = 1",
        "\"".repeat(9_999),
        "\0\u{1}\r".to_owned(),
    ] {
        let (source, read) = reading(&text);
        assert!(read.plan.is_none() && !read.findings.is_empty());
        for finding in &read.findings {
            let span = finding.span.clone().unwrap();
            assert!(source.text.get(span).is_some(), "a span must be a part of the text");
        }
    }
}
