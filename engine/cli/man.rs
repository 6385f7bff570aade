//! `sop man`: the manual pages, written from what `--help` knows.

use std::io::{self, Write};
use std::path::PathBuf;

/// Print the manual page, or write a page for every verb.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write `sop.1` and a page for every verb (`sop-plan.1`, …) into this folder instead.
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// Writes the manual of `command` to `out`, or into the folder that `args` names.
///
/// # Errors
/// When `out` or a page cannot be written.
pub fn run(args: &Args, command: clap::Command, out: &mut dyn Write) -> io::Result<()> {
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)?;
            clap_mangen::generate_to(command, dir)
        }
        None => {
            clap_mangen::Man::new(command).render(out)?;
            out.flush()
        }
    }
}
