//! Six scripted workers through `sop apply`, and through another orchestrator of agents.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::peers::AID;
use crate::race::{Entrant, finish, race};
use crate::scratch::Place;
use crate::table::{Aim, compare, heading, note};
use crate::{bare, plans};

const COUNT: usize = 6;

pub fn run(place: &Place) {
    heading("batch", "six workers that each wait 0.2 s and write a file, all at once");
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
    if let Some(aid) = AID.find() {
        note("aid gets the same six as a batch file with a custom agent; it makes no scope check and no commit");
        let home = repository.beside("aid-home");
        entrants.push(Entrant::new("aid batch --wait", move || batch(&aid, &home)));
        aims.push(Aim::Below(1.0));
    }
    race(7, &mut entrants);
    compare("six workers", &entrants, &aims);
}

fn batch(_aid: &Path, _home: &Path) -> std::time::Duration {
    todo!()
}
