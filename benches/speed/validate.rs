//! `sop validate` beside parsing alone and beside checkers of other people that read the same schema.

use std::process::Command;

use crate::peers::{CHECK_JSONSCHEMA, TAPLO};
use crate::race::{Entrant, race};
use crate::scratch::{Place, Repository};
use crate::table::{Aim, compare, heading, note};
use crate::{parse, plans};

pub fn run(place: &Place) {
    heading("validate", "a plan of N work packages, in a repository, with no finding");
    note(
        "sop also decides overlap exactly, renders templates and reads the base; the peers check the schema alone",
    );
    note("parsing alone: read the file and parse its TOML, as a process and within one");
    let (checker, taplo) = (CHECK_JSONSCHEMA.find(), TAPLO.find());
    for (count, rounds) in [(1, 15), (10, 15), (1_000, 9), (10_000, 3)] {
        let repository = place.repository(200);
        let plan = repository.plan_inside(&plans::realistic(count));
        let schema = schema(&repository);
        let mut entrants = vec![
            Entrant::command("sop validate", repository.sop(&["validate", &plan])),
            Entrant::command("parsing alone (a process)", itself(&["__parse", &plan])),
            Entrant::timed("parsing alone (no process)", || parse::parse(&plan)),
        ];
        let limit = if count == 1_000 { Aim::AtMost(1.5) } else { Aim::None };
        let mut aims = vec![limit, Aim::None];
        if let Some(taplo) = &taplo {
            let mut lint = Command::new(taplo);
            lint.current_dir(repository.beside(".")).args(["lint", "--no-auto-config", "--schema"]);
            lint.arg(format!("file://{schema}")).arg(&plan);
            entrants.push(Entrant::command("taplo lint", lint));
            aims.push(Aim::Below(1.0));
        }
        if let Some(checker) = &checker {
            let mut check = Command::new(checker);
            check.args(["--schemafile", &schema, &plan]);
            entrants.push(Entrant::command("check-jsonschema", check));
            aims.push(Aim::Below(1.0));
        }
        race(rounds, &mut entrants);
        compare(&format!("{count} WPs"), &entrants, &aims);
    }
}

/// The schema as `sop` publishes it, as a file.
fn schema(repository: &Repository) -> String {
    let path = repository.beside("plan.schema.json");
    let said = repository.sop(&["schema", "plan"]).output().expect("sop can be started");
    assert!(said.status.success(), "sop schema plan");
    std::fs::write(&path, said.stdout).expect("the schema can be written");
    path.to_string_lossy().into_owned()
}

/// This program as one of its floors.
pub fn itself(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(args);
    command
}
