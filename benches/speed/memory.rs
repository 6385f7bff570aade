//! Peak resident memory of the engine and of the largest of its holders, as the kernel keeps it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::plans;
use crate::scratch::Place;
use crate::table::{Aim, figure, heading, note};

pub fn run(place: &Place) {
    heading("memory", "peak resident memory");
    note(
        "read from /proc every 2 ms: the kernel's own high-water mark, the engine's and the largest holder's",
    );
    let repository = place.repository(20);
    let plan = repository.plan(&plans::nothing_to_do(1_000, 4));
    let thousand = Peak::of(&mut repository.sop(&["apply", "--yes", &plan]));
    figure("1,000 WPs", "engine", thousand.engine, "MB", Aim::Below(50.0));
    figure("", "largest holder", thousand.child, "MB", Aim::None);

    let mut engines = Vec::new();
    for megabytes in [1, 1_000] {
        let repository = place.repository(20);
        let flood = format!(
            r#"["sh", "-c", "mkdir -p work/0 && echo done > work/0/file && yes flood | head -c {megabytes}000000"]"#
        );
        let plan = repository.plan(&plans::scripted(1, &flood));
        let peak = Peak::of(&mut repository.sop(&["apply", "--yes", &plan]));
        let label = if megabytes == 1 { "prints 1 MB" } else { "prints 1 GB" };
        figure(label, "engine", peak.engine, "MB", Aim::Below(50.0));
        figure("", "holder", peak.child, "MB", Aim::None);
        engines.push(peak.engine.max(peak.child));
    }
    figure(
        "1 GB : 1 MB",
        "growth with the size of the log",
        engines[1] / engines[0],
        "×",
        Aim::AtMost(1.1),
    );
}

/// In megabytes.
struct Peak {
    engine: f64,
    child: f64,
}

impl Peak {
    /// Runs a command that must succeed.
    fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut engine = command.spawn().expect("the command can be started");
        let mut peak = Self { engine: 0.0, child: 0.0 };
        let status = loop {
            let process = Path::new("/proc").join(engine.id().to_string());
            peak.engine = peak.engine.max(high_water(&process));
            for child in holders(&process) {
                peak.child = peak.child.max(high_water(&Path::new("/proc").join(child)));
            }
            if let Some(status) = engine.try_wait().expect("the command can be waited for") {
                break status;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(status.success(), "{command:?}: {status}");
        peak
    }
}

/// Its own children that are holders; what git needs is git's.
fn holders(process: &Path) -> Vec<String> {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let children =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<String> = children
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let holds = |pid: &String| {
        fs::read_to_string(Path::new("/proc").join(pid).join("comm"))
            .is_ok_and(|name| name.trim() == "sop-hold")
    };
    children.into_iter().filter(holds).collect()
}

/// `VmHWM` of a process that still runs, in megabytes; 0 of one that does not.
fn high_water(process: &Path) -> f64 {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0 / 1e6
}
