//! `sop logs`: what a WP's processes printed.

mod choice;

use std::io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use choice::Log;

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
/// A step of several commands shows the log of each, below a line with its name: `dod` and `review` of the
/// newest round (`dod.1`: of the first), `setup` and `base` (the dry run) of all. On a terminal, control characters are shown and not obeyed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP, or a gate (`gate-1`).
    #[arg(value_name = "WP")]
    pub wp: String,
    /// Go on until the step is over.
    #[arg(long, short)]
    pub follow: bool,
    /// Whose log: `work`, `dod`, `setup`, `base`, `review`, with a number (`work-2`, `dod.1`), or a
    /// log's full name.
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
    let logs = choice::all(&dir, &id)?;
    if logs.is_empty() {
        known(&run_args::fold(&dir)?, &id)?;
    }
    if args.list {
        return list(&dir, &logs, args.json);
    }
    let chosen = choice::choose(&logs, args.step.as_deref());
    if chosen.is_empty() {
        return Err(choice::none(&logs, &id, &dir));
    }
    let mut shown = Shown::new(args.json);
    shown.all(&chosen)?;
    let mut over = !args.follow;
    while !over {
        std::thread::sleep(LOOK);
        // Asked first: what is printed until it is over is seen below.
        over = !at_work(&run_args::fold(&dir)?, &id);
        shown.all(&choice::choose(&choice::all(&dir, &id)?, args.step.as_deref()))?;
    }
    shown.finish()?;
    Ok(exit::DONE)
}

/// A name that is no WP's and no gate's is told apart from one that nothing has been run for yet.
fn known(ledger: &Ledger, id: &WpId) -> Result<(), Failure> {
    let gate = |gate: &crate::ledger::GateState| format!("gate-{}", gate.gate) == id.as_str();
    if ledger.wp(id).is_some() || ledger.gates.iter().any(gate) {
        return Ok(());
    }
    Err(run_args::no_such(ledger, id))
}

fn at_work(ledger: &Ledger, id: &WpId) -> bool {
    let busy = |wp: &WpState| wp.phase.active() && wp.phase != Phase::Deciding;
    match ledger.wp(id) {
        Some(wp) => busy(wp) && ledger.stopped.is_none(),
        None => ledger.gates.last().is_some_and(|gate| gate.phase.open()),
    }
}

fn list(dir: &RunDir, logs: &[Log], json: bool) -> Result<u8, Failure> {
    let mut out = io::stdout().lock();
    let there = logs.iter().filter(|log| !log.is_gone());
    if json {
        let names: Vec<String> = there.map(Log::shown).collect();
        let text = serde_json::to_string(&names).unwrap_or_default();
        written(writeln!(out, "{text}"))?;
    } else {
        for log in there {
            written(writeln!(out, "{}", process::escape_path(&dir.named(&log.shown()))))?;
        }
    }
    Ok(exit::DONE)
}

/// What has been shown so far.
struct Shown {
    json: bool,
    /// Bytes go out as they are.
    raw: bool,
    /// Logs that were begun.
    begun: Vec<PathBuf>,
    /// The one that was begun last.
    open: Option<Open>,
}

/// A log that may still grow.
struct Open {
    path: PathBuf,
    from: u64,
    /// A line that has no end yet.
    rest: Vec<u8>,
}

impl Shown {
    fn new(json: bool) -> Self {
        let raw = !json && !io::stdout().is_terminal();
        Self { json, raw, begun: Vec::new(), open: None }
    }

    /// Shows what there is to be seen of `logs` by now, and was not shown yet. One of several has its
    /// name above it.
    fn all(&mut self, logs: &[Log]) -> Result<(), Failure> {
        self.go_on()?;
        for log in logs {
            if self.begun.contains(&log.path) {
                continue;
            }
            if log.is_gone() {
                return Err(log.removed());
            }
            self.finish()?;
            if logs.len() > 1 || !self.begun.is_empty() {
                let gap = if self.begun.is_empty() || self.json { "" } else { "\n" };
                let head = format!("==> {} <==", log.shown());
                let head = if self.json { serde_json::json!(head).to_string() } else { head };
                written(writeln!(io::stdout().lock(), "{gap}{head}"))?;
            }
            self.begun.push(log.path.clone());
            self.open = Some(Open { path: log.path.clone(), from: 0, rest: Vec::new() });
            self.go_on()?;
        }
        Ok(())
    }

    /// Shows what the open log has by now: whole lines, unless it goes out as it is.
    fn go_on(&mut self) -> Result<(), Failure> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let unreadable = |error: io::Error| {
            Failure::infrastructure(format!(
                "could not read {}: {error}",
                process::escape_path(&open.path)
            ))
        };
        let mut file = plain_file::open(&open.path).map_err(unreadable)?;
        file.seek(SeekFrom::Start(open.from)).map_err(unreadable)?;
        let mut out = io::stdout().lock();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let n = file.read(&mut buffer).map_err(unreadable)?;
            if n == 0 {
                return written(out.flush());
            }
            open.from += n as u64;
            if self.raw {
                written(out.write_all(&buffer[..n]))?;
                continue;
            }
            open.rest.extend_from_slice(&buffer[..n]);
            while let Some(end) = open.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = open.rest.drain(..=end).collect();
                say(&mut out, &line[..end], self.json)?;
            }
        }
    }

    /// Shows the line that the open log ends in the middle of, and closes it.
    fn finish(&mut self) -> Result<(), Failure> {
        match self.open.take().filter(|open| !open.rest.is_empty()) {
            Some(open) => say(&mut io::stdout().lock(), &open.rest, self.json),
            None => Ok(()),
        }
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
