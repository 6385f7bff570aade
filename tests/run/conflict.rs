//! Two packages of one stage whose work cannot be merged.

use sop::ledger::Phase;
use sop::model::outcome::Check;

use crate::support::rig::Rig;
use crate::support::written::{plan, worker};

/// A package of the stage, as TOML.
fn wp(id: &str, may: &str, dod: &str) -> String {
    format!(
        "\n[[wp]]\nid = \"{id}\"\nstage = \"one\"\nwhitelist = [\"{may}\"]\ndod = [\"{dod}\"]\n\
         brief_text = \"Do it.\"\n"
    )
}

#[test]
fn the_gate_names_the_file_as_it_was_written_and_both_packages() {
    let stage = "[[stage]]\nname = \"one\"\n".to_owned();
    let wps = wp("c", "c", "test -f c")
        + &wp("file", "x", "test -e x")
        + &wp("folder", "x/**", "test -e x");
    let script = "case $SOP_WP/$SOP_ATTEMPT in
        c/*) echo c > c ;;
        file/1) echo file > x ;;
        file/*) mkdir x; echo file > x/of-its-own ;;
        folder/*) mkdir x; echo folder > x/y ;;
    esac";
    let rig = Rig::new(&plan(&(stage + &wps)), &[("worker.sh", &worker(script))]);
    let said = rig.apply(3);
    let gate = rig.ledger().gates[0].clone();
    let problem = &gate.problems[0];
    assert_eq!((problem.check, problem.subject.as_deref()), (Check::Merge, Some("x")), "{gate:?}");
    for part in ["`folder`", "`file`"] {
        assert!(problem.message.contains(part), "{}", problem.message);
    }
    assert!(!problem.message.contains("`c`"), "it conflicts with nobody: {}", problem.message);
    let line = said.out.lines().find(|line| line.contains("conflicts with"));
    let line = line.unwrap_or_else(|| panic!("{}", said.out));
    assert!(line.contains("`folder`") && line.contains("`file`"), "{line}");
    assert!(!line.contains('~'), "{line}");
    assert_eq!(rig.ledger().trunk, rig.ledger().base, "nothing may start from it");
    assert_eq!(rig.wp("c").phase, Phase::Passed);
}
