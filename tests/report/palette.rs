//! States have a symbol and a word; colours are a choice.

use std::collections::BTreeMap;

use sop::ledger::Phase;
use sop::report::palette::{Look, Tone, speaks_utf8};
use sop::report::words;

use super::scene::{COLOURED, PLAIN};

const PHASES: [Phase; 20] = [
    Phase::Waiting,
    Phase::Provisioning,
    Phase::Classing,
    Phase::Briefing,
    Phase::Starting,
    Phase::Working,
    Phase::Scoping,
    Phase::Proving,
    Phase::Rechecking,
    Phase::Reviewing,
    Phase::AwaitingReview,
    Phase::AwaitingAnswer,
    Phase::Deciding,
    Phase::Committing,
    Phase::Passed,
    Phase::Integrated,
    Phase::Escalated,
    Phase::Blocked,
    Phase::Deferred,
    Phase::Cancelled,
];

#[test]
fn every_state_has_a_word_of_its_own_and_a_symbol_in_both_alphabets() {
    let mut words_of = BTreeMap::new();
    for phase in PHASES {
        assert_eq!(words_of.insert(words::state(phase), phase), None);
        for look in [PLAIN, Look::BARE] {
            let mark = words::mark(phase, &look);
            assert_eq!(sop::report::cells::width(mark), 1, "{mark}");
            assert!(look.unicode || mark.is_ascii());
        }
    }
    // What did not get through is told apart without colours.
    let ends = [Phase::Passed, Phase::Escalated, Phase::Blocked, Phase::Deferred, Phase::Cancelled];
    for look in [PLAIN, Look::BARE] {
        let marks: std::collections::BTreeSet<_> =
            ends.iter().map(|phase| words::mark(*phase, &look)).collect();
        assert_eq!(marks.len(), ends.len());
    }
}

#[test]
fn colours_begin_and_end_and_only_where_they_are_wanted() {
    assert_eq!(PLAIN.paint(Tone::Bad, "x"), "x");
    let painted = COLOURED.paint(Tone::Bad, "x");
    assert!(painted.starts_with("\x1b[") && painted.ends_with("\x1b[0m"), "{painted:?}");
    assert_eq!(COLOURED.paint(Tone::Normal, "x"), "x");
    assert_eq!(COLOURED.paint(Tone::Bad, ""), "");
}

#[test]
fn the_locale_is_read_as_posix_reads_it() {
    let says = |vars: &[(&str, &str)]| {
        speaks_utf8(|name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    };
    assert!(says(&[("LANG", "de_DE.UTF-8")]));
    assert!(says(&[("LANG", "C"), ("LC_CTYPE", "en_US.utf8")]));
    assert!(!says(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")]));
    assert!(says(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "")]), "an empty variable is not set");
    assert!(!says(&[("LANG", "de_DE.ISO-8859-1")]));
    assert!(!says(&[]));
}

#[test]
fn lengths_of_time_are_said_as_people_say_them() {
    use sop::model::time::Length;
    let said = |millis| words::took(Length::millis(millis));
    assert_eq!(said(0), "0.0s");
    assert_eq!(said(9_990), "9.9s");
    assert_eq!(said(10_000), "10s");
    assert_eq!(said(59_999), "59s");
    assert_eq!(said(60_000), "1m00s");
    assert_eq!(said(3_599_000), "59m59s");
    assert_eq!(said(3_600_000), "1h00m");
    assert_eq!(said(90_000_000), "25h00m");
    assert_eq!(words::clock(Length::millis(3_400)), "3s");
    assert_eq!(words::clock(Length::secs(70)), "1m10s");
    assert_eq!(
        (words::count(1, "path"), words::count(0, "path")),
        ("1 path".into(), "0 paths".into())
    );
}
