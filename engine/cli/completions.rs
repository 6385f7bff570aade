//! `sop completions`: what a shell needs to complete `sop`'s own arguments.

use std::io::{self, Write};

use clap_complete::Shell;

/// Print completions for a shell.
///
/// For bash, for example: `sop completions bash > ~/.local/share/bash-completion/completions/sop`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Writes the completions of `command` to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn run(args: &Args, mut command: clap::Command, out: &mut dyn Write) -> io::Result<()> {
    // The generator panics on a failed write, so it gets one that cannot fail.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "sop", &mut script);
    out.write_all(&script)?;
    out.flush()
}
