//! The `sop` binary: argv in, exit code out.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: a holder starts for every command of every plan.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|verb| verb == "__hold") {
        return match args.next() {
            Some(dir) => sop::launch::holder::main(Path::new(&dir)),
            None => ExitCode::from(sop::cli::exit::USAGE),
        };
    }
    sop::cli::main(std::env::args_os())
}
