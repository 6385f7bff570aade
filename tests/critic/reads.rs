//! Plans that are read, and what becomes of the remarks.

use serde_json::Value;
use sop::event::Outcome;
use sop::model::critic::Answer;

use super::{NONE, TWO, has_run, kept, plan, rig, two};
use crate::support::written::wp;

#[test]
fn nothing_runs_until_each_remark_is_answered() {
    let rig = rig(TWO, &plan("", &two()));
    let before = rig.users();
    let said = rig.apply(4);
    assert!(
        said.out.contains(
            "critic     lead (critic) reads it before anybody says yes: it has 2 work packages"
        ),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("the critic (critic-1) has read it: 2 remarks, none answered"),
        "{}",
        said.out
    );
    for text in [
        "major  a         Its whitelist leaves out tests/a.",
        "proposed: Add tests/a.",
        "note   the plan  Both say the same.",
    ] {
        assert!(said.out.contains(text), "{text}\n{}", said.out);
    }
    let command =
        "sop apply plan.toml --yes --answer '1=refused: REASON' --answer '2=refused: REASON'";
    assert!(said.err.contains(command), "{}", said.err);
    assert!(rig.lines("starts").is_empty() && !has_run(&rig, "o-1"));
    // What it was told: each package with what proves it, and how that went on the base.
    let brief = std::fs::read_to_string(rig.mark("brief")).unwrap();
    for text in [
        "Make a.txt good.",
        "Make b.txt good.",
        "`grep -q good a.txt` (fails on the base)",
        "may change: `b.txt`",
    ] {
        assert!(brief.contains(text), "{text}\n{brief}");
    }
    // One answer is kept, and the other is still waited for.
    let said =
        rig.sop_ends(4, &["apply", "--yes", "--answer", "2=refused: they differ in the end"]);
    assert!(said.err.contains("remark 1 of the critic waits for an answer"), "{}", said.err);
    let said = rig.sop_ends(0, &["apply", "--yes", "--answer", "1=refused: there are none"]);
    assert!(said.out.contains("critic     2 remarks: 2 refused"), "{}", said.out);
    assert!(said.out.contains("1 refused: there are none"), "{}", said.out);
    assert_eq!(rig.lines("reads"), ["critic"], "it is paid once");
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
    // The run keeps all of it.
    let reading = kept(&rig);
    let answers: Vec<_> = reading.all().map(|it| it.answer.clone().unwrap()).collect();
    assert!(
        matches!(&answers[0], Answer::Refused { reason, by, .. } if reason == "there are none" && !by.is_empty())
    );
    assert_eq!(reading.approved_sha256.as_deref(), Some(rig.ledger().plan_sha256.as_str()));
    let shown = rig.sop_ends(0, &["run", "show", "--json"]).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        shown["critic"]["remarks"][1]["answer"]["reason"], "they differ in the end",
        "{shown:#}"
    );
    // Nothing of the reading is left but its record in the archive.
    assert!(rig.worktrees().is_empty());
    assert_eq!(rig.trees().keys().collect::<Vec<_>>(), ["sop/o-1/a", "sop/o-1/b"]);
    assert!(has_run(&rig, ".archive/critic-1"));
    assert_eq!(rig.users(), before);
}

#[test]
fn a_plan_that_was_changed_for_a_remark_is_not_read_again() {
    let rig = rig(TWO, &plan("", &two()));
    rig.apply(4);
    let said =
        rig.sop_ends(4, &["apply", "--yes", "--answer", "1=taken", "--answer", "2=refused: no"]);
    assert!(
        said.err.contains("remark 1 of the critic was taken, and the plan is as it was"),
        "{}",
        said.err
    );
    let said = rig.apply(4);
    assert!(said.err.contains("--yes --answer '1=refused: REASON'"), "{}", said.err);
    rig.write("plan.toml", &rig.plan_text().replace("[\"a.txt\"]", "[\"a.txt\", \"tests/a/**\"]"));
    let said = rig.apply(0);
    assert!(
        said.out.contains("lead (critic) has read it: 2 remarks: 1 taken, 1 refused"),
        "{}",
        said.out
    );
    assert_eq!(rig.lines("reads").len(), 1);
    assert_eq!(kept(&rig).taken().count(), 1);
    // The same plan again is what was read; another one is another round.
    rig.apply(0);
    assert_eq!(rig.lines("reads").len(), 1);
    rig.write("plan.toml", &rig.plan_text().replace("Make b.txt good.", "Make b.txt very good."));
    rig.apply(4);
    assert_eq!(rig.lines("reads").len(), 2);
}

#[test]
fn a_plan_that_was_changed_before_its_remarks_were_answered_waits_for_the_answers() {
    let rig = rig(TWO, &plan("", &two()));
    rig.apply(4);
    rig.write("plan.toml", &rig.plan_text().replace("[\"a.txt\"]", "[\"a.txt\", \"tests/a/**\"]"));
    rig.apply(4);
    rig.sop_ends(0, &["apply", "--yes", "--answer", "1=taken", "--answer", "2=refused: no"]);
    assert_eq!(rig.lines("reads").len(), 1);
}

#[test]
fn two_packages_stages_and_a_high_risk_are_read_and_less_is_not() {
    let tiers = "\n[tiers.critic]\nworker = \"critic\"\n";
    let by_name = plan("", &two()).replace("[critic]\ntier = \"lead\"\n", "") + tiers;
    let nobody = plan("", &two()).replace("[critic]\ntier = \"lead\"\n", "");
    for (plan, why) in [
        (plan("", &two()), Some("it has 2 work packages")),
        (plan("", &wp("a", "risk = \"high\"")), Some("the risk of `a` is high")),
        (plan("", &(wp("a", "") + &wp("b", "needs = [\"a\"]"))), Some("it has stages")),
        (plan("when = \"always\"", &wp("a", "")), Some("`when = \"always\"` under `[critic]`")),
        (by_name, Some("it has 2 work packages")),
        (plan("", &wp("a", "risk = \"medium\"")), None),
        (plan("when = \"never\"", &two()), None),
        (nobody, None),
    ] {
        let rig = rig(NONE, &plan);
        let said = rig.apply(0);
        assert_eq!(rig.lines("reads").len(), usize::from(why.is_some()), "{plan}\n{}", said.out);
        let told = said.out.contains("reads it before anybody says yes");
        assert_eq!(told, why.is_some(), "{}", said.out);
        assert!(why.is_none_or(|why| said.out.contains(why)), "{}", said.out);
        assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
    }
}

#[test]
fn that_nobody_reads_a_plan_of_several_packages_is_said() {
    let rig = rig(NONE, &plan("", &two()).replace("[critic]\ntier = \"lead\"\n", ""));
    let said = rig.sop_ends(0, &["plan"]);
    assert!(
        said.out.contains(
            "critic     nobody reads it first, although it has 2 work packages: no `[critic]`"
        ),
        "{}",
        said.out
    );
}

#[test]
fn sop_plan_pays_nobody_unless_it_is_told_to() {
    let rig = rig(TWO, &plan("", &two()));
    let before = rig.users();
    rig.sop_ends(0, &["plan"]);
    assert!(rig.lines("reads").is_empty());
    let report: Value =
        serde_json::from_str(&rig.sop_ends(0, &["plan", "--critic", "--json"]).out).unwrap();
    assert_eq!(
        report["critic"]["reading"]["remarks"][0]["text"],
        "Its whitelist leaves out tests/a."
    );
    let schema: Value =
        serde_json::from_str(&rig.sop_ends(0, &["schema", "checkpoint"]).out).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    // It is kept for the run.
    let said = rig.sop_ends(0, &["plan"]);
    assert!(said.out.contains("What the critic says of it"), "{}", said.out);
    rig.sop_ends(0, &["apply", "--yes", "--answer", "1=refused: no", "--answer", "2=refused: no"]);
    assert_eq!(rig.lines("reads").len(), 1);
    assert_eq!(rig.users(), before);
    let one = super::rig(TWO, &plan("", &wp("a", "")));
    let said = one.sop_ends(2, &["plan", "--critic"]);
    assert!(said.err.contains("no critic reads this plan"), "{}", said.err);
}

#[test]
fn a_person_at_the_terminal_is_asked_remark_by_remark() {
    let rig = rig(TWO, &plan("", &two()));
    let keys = "r\nthere are none\nr\nit is short\ny\n";
    let (code, shown) = rig.types(keys, "Remark 1: take it, or refuse it? [t/r/N]", &["apply"]);
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("Why is it refused?") && shown.contains("2 remarks: 2 refused"),
        "{shown}"
    );
    let reasons: Vec<_> = kept(&rig).refused().map(|(_, why)| why.to_owned()).collect();
    assert_eq!(reasons, ["there are none", "it is short"]);
}

#[test]
fn what_a_person_answered_before_they_left_is_kept() {
    let rig = rig(TWO, &plan("", &two()));
    let (code, shown) = rig.types("t\n\n", "Remark 1: take it", &["apply"]);
    assert_eq!(code, 4, "{shown}");
    let said = rig.sop_ends(4, &["apply", "--yes"]);
    assert!(said.err.contains("remark 2 of the critic waits"), "{}", said.err);
}

#[test]
fn a_plan_that_nobody_can_approve_is_read_by_nobody() {
    let rig = rig(TWO, &plan("", &two()));
    let said = rig.sop_ends(4, &["apply"]);
    assert!(said.err.contains("the plan was not approved"), "{}", said.err);
    assert!(rig.lines("reads").is_empty());
}

#[test]
fn a_plan_approved_by_its_author_waits_for_the_answers_too() {
    let plan = plan("", &two()).replace("goal =", "approval = \"auto\"\ngoal =");
    let rig = rig(TWO, &plan);
    rig.sop_ends(4, &["apply"]);
    assert!(rig.lines("starts").is_empty());
    rig.sop_ends(0, &["apply", "--no-critic"]);
    assert_eq!(rig.lines("starts").len(), 2);
    assert!(!rig.run_dir().join("critic.json").exists());
}

#[test]
fn a_program_that_follows_the_run_gets_events_alone() {
    let rig = rig(TWO, &plan("", &two()));
    let said = rig.sop_ends(4, &["apply", "--yes", "--json"]);
    assert_eq!(said.out, "");
    assert!(said.err.contains("Its whitelist leaves out tests/a."), "{}", said.err);
    let answers = ["--answer", "1=refused: no", "--answer", "2=refused: no"];
    let said = rig.sop_ends(0, &[&["apply", "--yes", "--json"], &answers[..]].concat());
    let lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(lines.count() > 5);
}

#[test]
fn a_split_run_carries_the_answers_to_the_other_session() {
    let plan = plan("", &two()).replace("goal =", "session_split = \"always\"\ngoal =");
    let rig = rig(TWO, &plan);
    rig.apply(4);
    rig.sop_ends(0, &["apply", "--yes", "--answer", "1=refused: no", "--answer", "2=refused: no"]);
    assert!(rig.lines("starts").is_empty());
    let said = rig.sop_ends(0, &["resume", "o-1"]);
    assert!(said.out.contains("critic     2 remarks: 2 refused"), "{}", said.out);
}
