//! The `sop` binary: argv in, exit code out.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    sop::process::file_size::outlive_limit();
    // Before anything else: a holder starts for every command of every plan.
    let mut args = std::env::args_os().skip(1);
    let hidden: Option<fn(&Path) -> ExitCode> = match args.next() {
        Some(verb) if verb == "__hold" => Some(sop::launch::holder::main),
        Some(verb) if verb == "__drive" => Some(sop::worker::driver::main),
        _ => None,
    };
    if let Some(main) = hidden {
        return match args.next() {
            Some(path) => main(Path::new(&path)),
            None => ExitCode::from(sop::cli::exit::USAGE),
        };
    }
    sop::cli::main(std::env::args_os())
}
