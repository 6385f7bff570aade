//! `sop graph`: the plan as a picture.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use super::plan_file;
use super::terminal::Color;
use crate::process::escape_path;
use crate::report::graph::{Drawing, dot, mermaid, svg};

/// Draw who waits for whom: the stages of a plan, its WPs, and what each needs.
///
/// Exit code 0: drawn. 1: the plan has findings, which are on standard error. 2: it cannot be read.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan file; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "plan.toml")]
    pub file: PathBuf,
    /// What to draw; without it, the ending of the output file decides, and for standard output it is
    /// dot.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// Where to write it, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For Graphviz.
    Dot,
    /// For a Markdown file.
    Mermaid,
    /// A picture that stands alone.
    Svg,
}

/// Runs the verb.
///
/// # Errors
/// The plan cannot be read, the ending says nothing (usage); git or the output fails (infrastructure).
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, None) => Format::Dot,
        (None, Some(file)) => by_ending(file)?,
    };
    let Some(compiled) = plan_file::compiled(&args.file, color)? else {
        return Ok(exit::FINDINGS);
    };
    let drawing = Drawing::of(&compiled.plan, &compiled.graph);
    let text = match format {
        Format::Dot => dot::dot(&drawing),
        Format::Mermaid => mermaid::mermaid(&drawing),
        Format::Svg => svg::svg(&drawing),
    };
    match &args.output {
        None => written(io::stdout().lock().write_all(text.as_bytes()))?,
        Some(file) => std::fs::write(file, text).map_err(|error| {
            Failure::infrastructure(format!("could not write {}: {error}", escape_path(file)))
        })?,
    }
    Ok(exit::DONE)
}

fn by_ending(file: &Path) -> Result<Format, Failure> {
    match file.extension().and_then(|e| e.to_str()) {
        Some("dot" | "gv") => Ok(Format::Dot),
        Some("mmd" | "mermaid" | "md") => Ok(Format::Mermaid),
        Some("svg") => Ok(Format::Svg),
        _ => {
            let message = format!("the name {} does not say what to draw", escape_path(file));
            Err(Failure::usage(message).help("add --format dot, --format mermaid or --format svg"))
        }
    }
}
