//! `sop schema`: the JSON Schemas of everything that is written or read by others.

use std::io::{self, Write};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::exit;
use super::failure::{Failure, written};
use crate::plan::generate;
use crate::report::config::Settings;
use crate::report::findings;
use crate::schemas::{self, Published};

/// What this verb knows beside the published schemas: forms of our own output.
const OUTPUTS: [Published; 2] = [
    Published {
        name: "findings",
        about: "what `sop validate --format json` prints",
        text: findings::json::schema,
    },
    Published {
        name: "settings",
        about: "what `sop config --json` prints",
        text: || generate::published(&generate::of::<Settings>()),
    },
];

/// Print a JSON Schema, or, without a name, the list of them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which one.
    #[arg(value_name = "NAME", value_parser = names())]
    pub name: Option<String>,
}

fn all() -> impl Iterator<Item = &'static Published> {
    schemas::ALL.iter().chain(&OUTPUTS)
}

fn names() -> impl TypedValueParser<Value = String> {
    let value = |schema: &'static Published| PossibleValue::new(schema.name).help(schema.about);
    PossibleValuesParser::new(all().map(value))
}

/// Runs the verb.
///
/// # Errors
/// Standard output cannot be written to.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let text = match &args.name {
        Some(name) => all()
            .find(|schema| schema.name == name)
            .map(|schema| (schema.text)())
            .ok_or_else(|| Failure::usage(format!("there is no schema `{name}`")))?,
        None => table(),
    };
    written(io::stdout().lock().write_all(text.as_bytes()))?;
    Ok(exit::DONE)
}

fn table() -> String {
    let width = all().map(|schema| schema.name.len()).max().unwrap_or(0);
    all().map(|schema| format!("{:width$}  {}\n", schema.name, schema.about)).collect()
}
