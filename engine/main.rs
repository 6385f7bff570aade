//! The `sop` binary: argv in, exit code out.

fn main() -> std::process::ExitCode {
    sop::cli::main(std::env::args_os())
}
