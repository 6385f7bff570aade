//! `sop stats`: what all runs of a repository together say.

use std::io::{self, Write as _};

use super::exit;
use super::failure::{Failure, written};
use super::run_args;
use super::terminal::{self, Color};
use crate::journal;
use crate::ledger::Ledger;
use crate::process::escape_path;
use crate::report::json;
use crate::report::stats::Stats;
use crate::run::directory::DirectoryError;
use crate::run::past;

/// Show what all runs of the repository, archived ones too, together say: first rounds that passed by tier, escalations,
/// providers that failed and how, what it cost.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// The runs cannot be listed. One whose journal cannot be read is named, and the others are counted.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let unread = |error: DirectoryError| Failure::infrastructure(error.to_string());
    let runs = past::dirs(&repo).map_err(unread)?;
    let mut stats = Stats::default();
    for dir in &runs {
        let records = match journal::read(&dir.journal()) {
            Ok(contents) => contents.records,
            Err(error) => {
                let _ = Failure::infrastructure(error.to_string()).print(color);
                continue;
            }
        };
        match Ledger::fold(&records) {
            Ok(ledger) => stats.add(&records, &ledger),
            Err(error) => {
                let text = format!("{}: {error}", escape_path(&dir.journal()));
                let _ = Failure::infrastructure(text).print(color);
            }
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let drawn = match args.json {
        true => json::pretty(&stats, &mut out),
        false => stats.write(&mut out, &terminal::look(color)),
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}
