//! A branch whose work was checked is nobody's to move. Whoever does is found out while its own work is
//! judged, and nobody is offered a branch that holds something else than what was checked.

use sop::event::Event;
use sop::ledger::{Phase, WpState};
use sop::model::outcome::Check;
use sop::model::plan::Mode;

use crate::support::rig::Rig;
use crate::support::scratch::Said;
use crate::support::written::{with_head, worker, wp};

const QUICK: &str = "refs/heads/sop/o-1/quick";
const STAGE: &str = "refs/heads/sop-stage/o-1/1";

/// What an evil worker can say: `wait_for REF` until a branch has left the base, `onto REF` to make it a
/// commit with a file that nobody asked for.
const EVIL: &str = r#"
wait_for() {
    i=0
    while [ "$(git rev-parse -q --verify $1)" = "$(git rev-parse HEAD)" ]; do
        i=$((i+1)); test $i -lt 1200; sleep 0.05
    done
}
onto() {
    blob=$(echo evil | git hash-object -w --stdin)
    tree=$(printf '100644 blob %s\tsneaked\n' $blob | git mktree)
    commit=$(git -c user.name=M -c user.email=m@localhost commit-tree -p $1 -m x $tree)
    git update-ref $1 $commit
}
"#;

/// A run of `quick`, which is honest, and `evil`, which is good as well and then does `trick`.
fn beside(rounds: u32, code: i32, trick: &str) -> (Rig, Said) {
    let plan =
        with_head(&format!("rounds = {rounds}"), &[wp("quick", ""), wp("evil", "")].concat());
    let script = format!(
        "set -eu\n{EVIL}\ndone_well\nif [ $SOP_WP = evil ] && [ $SOP_ROUND = 1 ]; then\n\
         wait_for {QUICK}\n{trick}\nfi"
    );
    let rig = Rig::new(&plan, &[("worker.sh", &worker(&script))]);
    let said = rig.apply(code);
    (rig, said)
}

/// What the first round of a WP is told about a ref.
fn told(wp: &WpState, place: &str) -> Option<String> {
    let problems = wp.rounds.first()?.problems.iter();
    let mut of =
        problems.filter(|p| p.check == Check::Scope && p.subject.as_deref() == Some(place));
    of.next().map(|problem| problem.message.clone())
}

/// Takes the result as the summary says.
fn take_all(rig: &Rig, said: &Said) -> Vec<String> {
    let text = format!("{}{}", said.out, said.err);
    let commands = text.lines().filter_map(|line| line.trim().strip_prefix("git merge "));
    let revs: Vec<String> =
        commands.map(|rest| rest.split(' ').next().unwrap_or_default().to_owned()).collect();
    for rev in &revs {
        rig.git(&["merge", "--quiet", "--no-edit", rev]);
    }
    assert!(!rig.repo().join("sneaked").exists(), "what nobody checked was offered: {text}");
    revs
}

#[test]
fn a_sibling_that_is_moved_is_held_against_who_was_working() {
    let (rig, said) = beside(1, 3, &format!("onto {QUICK}"));
    assert_eq!(rig.ledger().mode, Mode::Independent);
    let (quick, evil) = (rig.wp("quick"), rig.wp("evil"));
    assert_eq!((quick.phase, evil.phase), (Phase::Passed, Phase::Escalated));
    let message = told(&evil, QUICK).expect("the ref is named");
    assert!(message.contains("was moved while the worker ran"), "{message}");
    // It is left as it is, and what is offered is what was checked.
    assert_eq!(rig.on("sop/o-1/quick", "sneaked").trim(), "evil");
    let checked = quick.commit.expect("its commit");
    assert_eq!(take_all(&rig, &said), [checked.as_str()]);
    assert!(rig.repo().join("quick.txt").exists());
    let mend = format!("git update-ref --no-deref {QUICK} {checked}");
    assert!(format!("{}{}", said.out, said.err).contains(&mend), "{}{}", said.out, said.err);
}

#[test]
fn a_sibling_that_is_deleted_or_made_an_alias_is_named() {
    for trick in
        [format!("git update-ref -d {QUICK}"), format!("git symbolic-ref {QUICK} refs/heads/main")]
    {
        let (rig, said) = beside(1, 3, &trick);
        let evil = rig.wp("evil");
        assert_eq!(evil.phase, Phase::Escalated, "{trick}");
        assert!(told(&evil, QUICK).is_some(), "{trick}: {:?}", evil.rounds);
        assert_eq!(take_all(&rig, &said), [rig.wp("quick").commit.expect("one").as_str()]);
    }
}

#[test]
fn what_was_moved_before_is_blamed_on_no_one_else_and_the_run_is_not_done_before_it_is_put_back() {
    let (rig, said) = beside(2, 3, &format!("onto {QUICK}"));
    let (quick, evil) = (rig.wp("quick"), rig.wp("evil"));
    assert!(told(&evil, QUICK).is_some(), "{:?}", evil.rounds);
    // Its second round did nothing wrong, but the branch is still not what was checked.
    assert_eq!(evil.phase, Phase::Passed);
    assert!(evil.notes.iter().any(|note| note.contains("before the worker began")));
    let moved = rig.ledger().moved;
    assert_eq!(moved.len(), 1);
    assert_eq!(Some(&moved[0].checked), quick.commit.as_ref());
    let offered = take_all(&rig, &said);
    assert_eq!(offered, [moved[0].checked.as_str(), "sop/o-1/evil"]);
    assert_eq!(rig.on("HEAD", "evil.txt").trim(), "good evil");
    assert!(said.out.contains("2 of 2 WPs through") && said.out.contains("nobody's to touch"));
    rig.git(&["update-ref", "--no-deref", QUICK, moved[0].checked.as_str()]);
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn the_branches_of_a_closed_level_are_watched_too() {
    for place in [STAGE, "refs/heads/sop/o-1/quick"] {
        let rest = [
            wp("quick", "stage = \"one\""),
            wp("evil", "stage = \"two\""),
            "[[stage]]\nname = \"one\"\n[[stage]]\nname = \"two\"\n".to_owned(),
        ]
        .concat();
        let script =
            format!("set -eu\n{EVIL}\ndone_well\nif [ $SOP_WP = evil ]; then onto {place}; fi");
        let rig = Rig::new(&with_head("rounds = 1", &rest), &[("worker.sh", &worker(&script))]);
        let said = rig.apply(3);
        let evil = rig.wp("evil");
        assert_eq!(evil.phase, Phase::Escalated);
        assert!(told(&evil, place).is_some(), "{place}: {:?}", evil.rounds);
        let checked = rig.ledger().gates[0].commit.clone().expect("it passed");
        let offered = if place == STAGE { checked.as_str() } else { "sop-stage/o-1/1" };
        assert_eq!(take_all(&rig, &said), [offered]);
    }
}

#[test]
fn honest_siblings_are_accused_of_nothing() {
    let ids: Vec<String> = (0..10).map(|n| format!("wp{n}")).collect();
    let rest: String = ids.iter().map(|id| wp(id, "")).collect();
    // Some first fail, so that they settle while others begin.
    let script =
        "case $SOP_WP$SOP_ROUND in *[02468]1) echo bad > $SOP_WP.txt;; *) done_well;; esac";
    let plan = with_head("max_parallel = 10", &rest);
    let rig = Rig::new(&plan, &[("worker.sh", &worker(script))]);
    rig.apply(0);
    for record in rig.records() {
        match &record.event {
            Event::ScopeChecked { problems, notes, .. } => {
                assert!(problems.is_empty() && notes.is_empty(), "{:?}", record.event);
            }
            Event::BranchesMoved { .. } | Event::WorktreeKept { .. } => {
                panic!("{:?}", record.event)
            }
            _ => {}
        }
    }
}

#[test]
fn a_worktree_whose_branch_cannot_be_told_stays_and_the_reason_is_said() {
    // The stage's own check makes the branch an alias, when its work has long been committed.
    let check = "case $PWD in *gate-1) git symbolic-ref refs/heads/sop/o-1/a refs/heads/main;; esac\n\
                 grep -q good a.txt\n";
    let rest = "\n[[wp]]\nid = \"a\"\nstage = \"one\"\nwhitelist = [\"a.txt\"]\ndod = [\"sh check.sh\"]\n\
                brief_text = \"Make it.\"\n[[stage]]\nname = \"one\"\n";
    let files = [("check.sh", check), ("worker.sh", &worker("done_well"))];
    let rig = Rig::new(&with_head("", rest), &files);
    let said = rig.sop(&["apply", "--yes"]);
    let kept = rig.wp("a").kept.expect("it is kept");
    assert!(kept.contains("an alias of `refs/heads/main`"), "{kept}");
    assert!(said.out.contains("an alias of"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Integrated);
}
