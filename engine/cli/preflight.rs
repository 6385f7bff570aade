//! `sop preflight`: what holds before a run, and what to do about what does not.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use super::layers::{self, Overrides, User};
use super::plan_file::{self, Text};
use super::run_args;
use super::terminal::{self, Color};
use crate::finding::{Finding, Severity, any_error};
use crate::model::preflight::{State, Word};
use crate::plan::{self, Layers, Source};
use crate::preflight::{self, Ask, Depth};
use crate::report::{json, preflight as drawn};
use crate::run::compile::Outcome;

/// Look at what holds before a run: agents, settings, what earlier runs left, the checkout, the base, git.
///
/// One line of JSON (`sop schema preflight`): ten parts, each with its state, what was found, and what to do
/// about it. Nothing is written, and nothing is started that could call a provider. Exit code 0: go. 1: findings
/// in the plan. 4: a run can start, and somebody should look first. 5: no run can start.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A plan, whose tiers and settings are looked at.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print it for people.
    #[arg(long)]
    pub human: bool,
    /// Fetch the upstream of the base first.
    #[arg(long)]
    pub fetch: bool,
}

/// Runs the verb.
///
/// # Errors
/// There is no repository here, or the plan or a config file cannot be read.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let layers = layers::gather(Some(&repo), User::Heeded, &Overrides::default())?;
    let source = match args.file.as_deref().map(plan_file::read).transpose()? {
        Some(Text::NotUtf8(source, finding)) => {
            let outcome = Outcome { compiled: None, findings: vec![finding], texts: Vec::new() };
            plan_file::say(&source, &outcome, color);
            return Ok(exit::FINDINGS);
        }
        Some(Text::Plan(source, dir)) => Some((source, dir)),
        None => None,
    };
    if let Some((source, dir)) = &source {
        let mut findings = plan::read(source, dir, &layers).findings;
        findings.retain(|finding| finding.file == source.file);
        if any_error(&findings) {
            let outcome = Outcome { compiled: None, findings, texts: Vec::new() };
            plan_file::say(source, &outcome, color);
            return Ok(exit::FINDINGS);
        }
    }
    let named = source.as_ref().map(|(source, _)| source);
    let dir = source.as_ref().map_or(Path::new("."), |(_, dir)| dir);
    let plan = plan::at_hand(named, dir, &layers)
        .ok_or_else(|| Failure::infrastructure("the settings cannot be read"))?;
    let wrong = wrong(&layers);
    let looked = preflight::start(Ask {
        repo,
        // Of what cannot be read nothing is told.
        settings: if wrong.is_empty() { plan::settings(named, &layers) } else { Vec::new() },
        plan,
        wrong,
        planned: source.is_some(),
        version: None,
        depth: Depth::All { fetch: args.fetch },
    });
    let found = looked.finish().preflight;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let printed = match args.human {
        true => drawn::draw(&found, &terminal::look(color), &mut out),
        false => json::line(&found, &mut out),
    };
    written(printed.and_then(|()| out.flush()))?;
    Ok(match found.state {
        State::Go => exit::DONE,
        State::Warn => exit::WAITING,
        State::Stop => exit::INFRASTRUCTURE,
    })
}

/// What is wrong with the config files.
fn wrong(layers: &Layers) -> Vec<Word> {
    let place = |finding: &Finding| {
        let sources = layers.list().iter().map(|layer| &layer.source);
        let source = sources.into_iter().find(|source: &&Source| source.file == finding.file);
        match source.zip(finding.span.as_ref()) {
            Some((source, span)) => format!("{}:{}", finding.file, source.position(span.start).0),
            None => finding.file.clone(),
        }
    };
    let errors = layers.look().into_iter().filter(|finding| finding.severity == Severity::Error);
    errors
        .map(|finding| {
            let help = finding.help.as_deref().unwrap_or("mend it, or take it away");
            Word::stop(format!("{}: {}", place(&finding), finding.message), help)
        })
        .collect()
}
