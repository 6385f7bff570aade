//! The critic: what is one's answer, where a round stands, and whole plans that are read before anybody says yes.

mod answers;
mod in_the_way;
mod reads;
mod rounds;

use sop::model::critic::Reading;

use crate::support::rig::Rig;
use crate::support::written::{worker, wp};

/// Two remarks, the second of the plan as a whole.
const TWO: &str = r#"printf 'I read it.\n```json\n{"remarks": [
{"wp": "a", "severity": "major", "text": "Its whitelist leaves out tests/a.", "proposal": "Add tests/a."},
{"severity": "note", "text": "Both say the same.", "proposal": "Say it once."}]}\n```\n'"#;

/// Nothing to say.
const NONE: &str = "echo '{\"remarks\": []}'";

/// A plan called `o` of these WPs that the tier `lead` reads, with `keys` under `[critic]`.
fn plan(keys: &str, wps: &str) -> String {
    format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\ntier = \"standard\"\n\
         [critic]\ntier = \"lead\"\n{keys}\n\
         [tiers.lead]\nworker = \"critic\"\n[workers.critic]\ncommand = [\"sh\", \"critic.sh\"]\n\
         [tiers.standard]\nworker = \"script\"\n[workers.script]\ncommand = [\"sh\", \"worker.sh\"]\n{wps}"
    )
}

fn two() -> String {
    wp("a", "") + &wp("b", "")
}

/// A repository with that plan, whose critic keeps what it is told in the mark `brief`, a line in the mark `reads`, and
/// then does `critic`.
fn rig(critic: &str, plan: &str) -> Rig {
    let critic =
        format!("cat > \"$MARKS/brief\"\necho \"$SOP_WP\" >> \"$MARKS/reads\"\n{critic}\n");
    Rig::new(plan, &[("worker.sh", &worker("done_well")), ("critic.sh", &critic)])
}

/// What a critic said of the run `o-1`, as the run keeps it.
fn kept(rig: &Rig) -> Reading {
    let path = rig.repo().join(".git/sop-run/o-1/critic.json");
    serde_json::from_slice(&std::fs::read(path).expect("it is kept")).expect("a reading")
}

fn has_run(rig: &Rig, run: &str) -> bool {
    rig.repo().join(".git/sop-run").join(run).join("journal.jsonl").exists()
}
