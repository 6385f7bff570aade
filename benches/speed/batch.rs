//! Six scripted workers through `sop apply`, and through another orchestrator of agents.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::peers::AID;
use crate::race::{Entrant, finish, race};
use crate::scratch::{Place, Repository};
use crate::table::{Aim, compare, heading, note};
use crate::{bare, plans};

const COUNT: usize = 6;

pub fn run(place: &Place) {
    heading("batch", "six workers that each wait 0.2 s and write a file, all at once");
    let aid = AID.find();
    let repository = place.repository(20);
    let script = r#"["sh", "-c", "sleep 0.2; mkdir -p work/${SOP_WP#wp-} && echo done > work/${SOP_WP#wp-}/file"]"#;
    let plan = repository.plan(&plans::scripted(COUNT, script));
    let mut entrants = vec![
        Entrant::new("sop apply --yes", || {
            bare::forget(&repository);
            finish(&mut repository.sop(&["apply", "--yes", &plan]))
        }),
        Entrant::timed("the six scripts alone, at once", || {
            let folder = repository.beside("alone");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).expect("a folder");
            let script = "sleep 0.2; mkdir -p work/$0 && echo done > work/$0/file";
            let children: Vec<_> = (0..COUNT)
                .map(|n| {
                    let mut worker = Command::new("sh");
                    worker.current_dir(&folder).args(["-c", script]).arg(n.to_string());
                    worker.spawn().expect("sh can be started")
                })
                .collect();
            for mut child in children {
                assert!(child.wait().expect("sh ends").success());
            }
        }),
    ];
    let mut aims = vec![Aim::None];
    if let Some(aid) = &aid {
        note(
            "aid gets the same six as a batch file: a custom agent, a worktree a task, no verification asked for",
        );
        entrants.push(Entrant::new("aid batch --wait", || {
            bare::forget(&repository);
            batch(aid, &repository)
        }));
        aims.push(Aim::Below(1.0));
    }
    race(7, &mut entrants);
    compare("six workers", &entrants, &aims);
}

/// The same six through `aid batch`: a custom agent of its own, a worktree a task, its home made anew.
fn batch(aid: &Path, repository: &Repository) -> Duration {
    let home = repository.beside("aid-home");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(home.join("agents")).expect("a folder");
    fs::write(home.join("agents/bench.toml"), AGENT).expect("the agent can be written");
    let mut tasks = String::new();
    for n in 0..COUNT {
        let dir = repository.top().to_string_lossy().into_owned();
        write!(
            tasks,
            "[[task]]\nname = \"t{n}\"\nagent = \"bench\"\nprompt = \"Do {n}.\"\ndir = \"{dir}\"\nworktree = \"aid/t{n}\"\n\n"
        )
        .expect("a string takes everything");
    }
    let file = repository.beside("batch.toml");
    fs::write(&file, tasks).expect("the batch can be written");
    let mut command = Command::new(aid);
    command.current_dir(repository.top()).env("AID_HOME", &home).env("HOME", &home);
    command.args(["batch"]).arg(&file).args(["--parallel", "--wait", "--yes"]);
    let took = finish(&mut command);
    repository.git(&["worktree", "prune"]);
    took
}

const AGENT: &str = r#"[agent]
id = "bench"
display_name = "Bench"
command = "sh"
fixed_args = ["-c", "sleep 0.2; mkdir -p work && echo done > work/$$"]
prompt_mode = "arg"
interactive_input = false
"#;
