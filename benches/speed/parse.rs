//! The floor of `sop validate`: reading a TOML file and parsing it, nothing else.

use std::hint::black_box;
use std::process::ExitCode;

use toml::de::DeTable;

/// `__parse FILE`: the floor as a process of its own.
pub fn main(args: &[String]) -> ExitCode {
    match args {
        [file] => {
            parse(file);
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(2),
    }
}

/// Reads and parses.
pub fn parse(file: &str) {
    let text = std::fs::read_to_string(file).expect("the plan can be read");
    black_box(DeTable::parse(&text).expect("the plan is TOML"));
}
