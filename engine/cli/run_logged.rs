//! `sop run-logged`: runs a command with its whole output in a file, and says how it went in one line.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::failure::Failure;
use crate::launch;
use crate::process::escape_path;

/// Run a command with its output in LOG, and print `exit=… lines=… log=…`.
///
/// If it fails, the last 40 lines of the output follow. Exits as the command did.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that gets standard output and standard error.
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// The command.
    #[arg(value_name = "CMD", required = true, last = true)]
    pub command: Vec<OsString>,
    /// Print the line as JSON, and no output.
    #[arg(long)]
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// The log cannot be written.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let mut said = Vec::new();
    let mut stdout = io::stdout();
    let out: &mut dyn io::Write = if args.json { &mut said } else { &mut stdout };
    let code = launch::run_logged(&args.log, &args.command, out).map_err(|error| {
        Failure::infrastructure(format!("could not write {}: {error}", escape_path(&args.log)))
    })?;
    if args.json {
        let (lines, _) = crate::process::limited_log::count(&args.log).unwrap_or_default();
        let line = serde_json::json!({
            "exit": code,
            "lines": lines,
            "log": args.log.to_string_lossy(),
        });
        super::failure::written(io::Write::write_all(&mut stdout, format!("{line}\n").as_bytes()))?;
    }
    Ok(code)
}
