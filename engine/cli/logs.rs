//! `sop logs`: what a WP's processes printed.

use std::io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::exit;
use super::failure::{Failure, written};
use super::run_args::{self, RunArg};
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::plain_file;
use crate::process;
use crate::run::directory::RunDir;

/// How often a log that is followed is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Show what a WP's processes printed: the worker's newest log, unless a step is named.
///
/// On a terminal, control characters are shown and not obeyed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP, or a gate (`gate-1`).
    #[arg(value_name = "WP")]
    pub wp: String,
    /// Go on until the step is over.
    #[arg(long, short)]
    pub follow: bool,
    /// Whose log: `work`, `dod`, `setup`, `base`, `review`, or a log's full name.
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// List the logs there are, oldest first, as JSON with `--json`.
    #[arg(long)]
    pub list: bool,
    /// With `--list`: as JSON. Otherwise each line as a JSON string.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Runs the verb.
///
/// # Errors
/// There is no such run, WP or log.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.run.as_deref())?;
    let id = run_args::wp(&args.wp)?;
    let logs = logs_of(&dir, &id)?;
    if logs.is_empty() {
        known(&run_args::fold(&dir)?, &id)?;
    }
    if args.list {
        return list(&dir, &logs, args.json);
    }
    let path = pick(&logs, args.step.as_deref(), &id, &dir)?;
    let raw = !args.json && !io::stdout().is_terminal();
    let mut from = 0;
    let mut rest = Vec::new();
    loop {
        let over = !args.follow || !at_work(&run_args::fold(&dir)?, &id);
        from += pass_on(&path, from, &mut rest, raw, args.json)?;
        if over {
            finish(&rest, raw, args.json)?;
            return Ok(exit::DONE);
        }
        std::thread::sleep(LOOK);
    }
}

/// A name that is no WP's and no gate's is told apart from one that nothing has been run for yet.
fn known(ledger: &Ledger, id: &WpId) -> Result<(), Failure> {
    let gate = |gate: &crate::ledger::GateState| format!("gate-{}", gate.gate) == id.as_str();
    if ledger.wp(id).is_some() || ledger.gates.iter().any(gate) {
        return Ok(());
    }
    let names: Vec<&str> = ledger.wps.iter().take(20).map(|wp| wp.id.as_str()).collect();
    Err(Failure::usage(format!("`{}` has no WP `{id}`", ledger.run))
        .help(format!("there are: {}", names.join(", "))))
}

fn at_work(ledger: &Ledger, id: &WpId) -> bool {
    let busy = |wp: &WpState| wp.phase.active() && wp.phase != Phase::Deciding;
    match ledger.wp(id) {
        Some(wp) => busy(wp) && ledger.stopped.is_none(),
        None => ledger.gates.last().is_some_and(|gate| gate.phase.open()),
    }
}

/// Logs of a unit, oldest first.
fn logs_of(dir: &RunDir, id: &WpId) -> Result<Vec<PathBuf>, Failure> {
    let folder = dir.named("logs");
    let entries = std::fs::read_dir(&folder).map_err(|error| {
        Failure::infrastructure(format!("could not read {}: {error}", folder.display()))
    })?;
    let mut logs: Vec<(std::time::SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            // `<unit>-<step>-<n>.log`, where neither step nor n has a dash.
            let stem = name.strip_suffix(".log")?;
            let mut parts = stem.rsplitn(3, '-');
            let (_, _, unit) = (parts.next()?, parts.next()?, parts.next()?);
            (unit == id.as_str())
                .then(|| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))?
        })
        .collect();
    logs.sort();
    Ok(logs.into_iter().map(|(_, path)| path).collect())
}

fn pick(logs: &[PathBuf], step: Option<&str>, id: &WpId, dir: &RunDir) -> Result<PathBuf, Failure> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wanted = step.unwrap_or("work");
    let of_step = |path: &&PathBuf| {
        let name = name(path);
        let inner = name.strip_prefix(&format!("{id}-")).unwrap_or(&name);
        name == wanted || name == format!("{wanted}.log") || inner.starts_with(wanted)
    };
    let found = logs.iter().rfind(of_step);
    let found = match step {
        None => found.or(logs.last()),
        Some(_) => found,
    };
    found.cloned().ok_or_else(|| {
        let failure = Failure::usage(format!("`{id}` has no such log in `{}`", dir.run()));
        let names: Vec<String> = logs.iter().map(|path| name(path)).collect();
        match names.is_empty() {
            true => failure.help("nothing has been run for it yet"),
            false => failure.help(format!("there are: {}", names.join(", "))),
        }
    })
}

fn list(dir: &RunDir, logs: &[PathBuf], json: bool) -> Result<u8, Failure> {
    let names: Vec<String> = logs
        .iter()
        .map(|path| path.strip_prefix(dir.path()).unwrap_or(path).display().to_string())
        .collect();
    let mut out = io::stdout().lock();
    if json {
        let text = serde_json::to_string(&names).unwrap_or_default();
        written(writeln!(out, "{text}"))?;
    } else {
        for name in names {
            written(writeln!(out, "{}", dir.named(&name).display()))?;
        }
    }
    Ok(exit::DONE)
}

/// Prints what a log has from byte `from` on; whole lines, unless it goes out as it is.
fn pass_on(
    path: &Path,
    from: u64,
    rest: &mut Vec<u8>,
    raw: bool,
    json: bool,
) -> Result<u64, Failure> {
    let unreadable = |error: io::Error| {
        Failure::infrastructure(format!("could not read {}: {error}", path.display()))
    };
    let mut file = plain_file::open(path).map_err(unreadable)?;
    file.seek(SeekFrom::Start(from)).map_err(unreadable)?;
    let mut out = io::stdout().lock();
    let mut buffer = vec![0; 64 << 10];
    let mut read = 0;
    loop {
        let n = file.read(&mut buffer).map_err(unreadable)?;
        if n == 0 {
            written(out.flush())?;
            return Ok(read);
        }
        read += n as u64;
        if raw {
            written(out.write_all(&buffer[..n]))?;
            continue;
        }
        rest.extend_from_slice(&buffer[..n]);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            say(&mut out, &line[..end], json)?;
        }
    }
}

fn finish(rest: &[u8], raw: bool, json: bool) -> Result<(), Failure> {
    match raw || rest.is_empty() {
        true => Ok(()),
        false => say(&mut io::stdout().lock(), rest, json),
    }
}

fn say(out: &mut impl io::Write, line: &[u8], json: bool) -> Result<(), Failure> {
    let line = process::plain(line);
    written(match json {
        true => {
            let text = serde_json::to_string(&line).unwrap_or_default();
            writeln!(out, "{text}")
        }
        false => writeln!(out, "{line}"),
    })
}
