//! `sop preflight`: what holds before a run, and what to do about what does not.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use super::layers::{self, Overrides, User};
use super::plan_file::{self, Text};
use super::terminal::{self, Color};
use crate::finding::{Finding, Severity, any_error};
use crate::git::{GitError, Repo};
use crate::model::preflight::{Part, Preflight, State, Word};
use crate::plan::{self, Layers, Source};
use crate::preflight::{self, Ask, Depth};
use crate::report::{json, preflight as drawn};
use crate::run::compile::Outcome;

/// The plan that is looked at where none is named.
const USUAL: &str = "plan.toml";

/// Look at what holds before a run: agents, settings, what earlier runs left, the checkout, the base, git.
///
/// One line of JSON (`sop schema preflight`): ten parts, each with its state, what was found, and what to do
/// about it. Nothing is written, and nothing is started that could call a provider.
///
/// Roles are tiers, of the plan or of the config: `lead` and `scout` are called so, `worker` is the tier `standard`,
/// `worker_light` is `light`, and `lead_phase2`, who leads once the plan is approved (`session_split`), is the tier of
/// that name, else `lead`. `docker_pool` is about Docker's networks: packages that bring up compose projects side by
/// side take one each.
///
/// Exit code 0: go. 1: findings in the plan, which is not looked at then. 2: the command line is wrong, or the file
/// cannot be read. 4: a run can start, and somebody should look first. 5: no run can start.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A plan, whose tiers and settings are looked at; `plan.toml`, where that is there.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Look at the settings of the config alone, even where there is a `plan.toml`.
    #[arg(long, conflicts_with = "file")]
    pub no_plan: bool,
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
/// The plan cannot be read, or standard output fails.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = match Repo::discover(Path::new(".")) {
        Ok(repo) => repo,
        Err(error) => {
            let what = match error {
                GitError::NotARepository { .. } => "this folder is in no git repository".to_owned(),
                error => error.to_string(),
            };
            let word = Word::stop(what, "start sop in a git checkout");
            let git = Some(Part::unknown(word));
            return tell(&Preflight { git, ..Preflight::default() }.summed(), args, color);
        }
    };
    let (layers, wrong) = match layers::gather(Some(&repo), User::Heeded, &Overrides::default()) {
        Ok(layers) => {
            let wrong = wrong(&layers);
            (layers, wrong)
        }
        // The rest can be looked at all the same.
        Err(Failure { exit: exit::INFRASTRUCTURE, message, help }) => {
            let help = help.unwrap_or_else(|| "mend it, or take it away".to_owned());
            (Layers::default(), vec![Word::stop(message, help)])
        }
        Err(failure) => return Err(failure),
    };
    let source = match file(args).map(plan_file::read).transpose()? {
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
    let plan = named.map(|source| source.file.clone());
    tell(&Preflight { plan, ..looked.finish().preflight }, args, color)
}

/// The plan that is looked at.
fn file(args: &Args) -> Option<&Path> {
    let usual = || Some(Path::new(USUAL)).filter(|usual| usual.exists() && !args.no_plan);
    args.file.as_deref().or_else(usual)
}

fn tell(found: &Preflight, args: &Args, color: Color) -> Result<u8, Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let printed = match args.human {
        true => drawn::draw(found, &terminal::look(color), &mut out),
        false => json::line(found, &mut out),
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
