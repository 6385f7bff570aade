//! Files and folders that a worker leaves and that may not be read: its work, named by their paths.

use sop::ledger::Phase;
use sop::model::outcome::{Check, Class};

use crate::support::rig::Rig;
use crate::support::written::{with_head, worker, wp_proven_by};

/// A worker whose first round closes something, and whose second opens it again.
fn closing(close: &str, open: &str) -> Rig {
    let script = format!(
        "if [ $SOP_ROUND = 2 ]; then {open}; fi\ndone_well\n\
                          if [ $SOP_ROUND = 1 ]; then {close}; fi"
    );
    let wp =
        wp_proven_by("a", "[\"grep -q good a.txt\"]", "").replace("a.txt\"]\ndod", "**\"]\ndod");
    let files = [("worker.sh", worker(&script)), ("kept.txt", "kept\n".to_owned())];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Rig::new(&with_head("rounds = 2", &wp), &files)
}

#[test]
fn what_the_worker_made_unreadable_is_its_finding_and_the_next_round_mends_it() {
    for (close, open, path) in [
        ("chmod 000 a.txt", "chmod 644 a.txt", "a.txt"),
        ("echo more >> kept.txt; chmod 000 kept.txt", "chmod 644 kept.txt", "kept.txt"),
        ("mkdir in; echo x > in/x; chmod 444 in", "chmod 755 in", "in"),
        ("mkdir in; echo x > in/x; chmod 000 in", "chmod 755 in", "in"),
    ] {
        let rig = closing(close, open);
        let said = rig.sop_unprivileged(&["apply", "--yes"]);
        assert_eq!(said.code, 0, "{close}: {}{}", said.out, said.err);
        let a = rig.wp("a");
        assert_eq!((a.phase, a.round), (Phase::Passed, 2), "{close}");
        let round = &a.rounds[0];
        assert_eq!(round.class, Some(Class::Work), "{close}");
        let named = round.problems.iter().find(|problem| {
            problem.subject.as_deref().is_some_and(|subject| subject.starts_with(path))
        });
        let named = named.unwrap_or_else(|| panic!("{close}: {:?}", round.problems));
        assert_eq!(named.check, Check::Scope, "{close}");
        assert!(named.message.contains("cannot be read"), "{close}: {}", named.message);
    }
}
