//! `sop config`: each setting and where it comes from.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use super::layers::{self, Overrides, User};
use super::plan_file::{self, Text};
use super::terminal::{self, Color};
use crate::finding::{Finding, Severity, any_error};
use crate::git::{GitError, Repo};
use crate::model::setting::Level;
use crate::plan::{self, Layers, Source, Whose};
use crate::report::config::{self as drawn, Looked, Settings};
use crate::report::json;
use crate::run::compile::Outcome;

/// Show every setting that plans start from, and where it comes from.
///
/// Built-in values are overruled by your own config, that by `.sop/config.toml` of the repository, that by
/// the plan, that by `SOP_*` in the environment, and that by flags. Exit code 1: findings in a config file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A plan, to see its settings too.
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// Print them as JSON (`sop schema settings`).
    #[arg(long)]
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// The plan or a config file cannot be read, or git fails.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let plan = args.plan.as_deref().map(plan_file::read).transpose()?;
    let plan = match plan {
        Some(Text::NotUtf8(source, finding)) => {
            let outcome = Outcome { compiled: None, findings: vec![finding], texts: Vec::new() };
            plan_file::say(&source, &outcome, color);
            return Ok(exit::FINDINGS);
        }
        Some(Text::Plan(source, dir)) => Some((source, dir)),
        None => None,
    };
    let dir = plan.as_ref().map_or(Path::new("."), |(_, dir)| dir);
    let repo = match Repo::discover(dir) {
        Ok(repo) => Some(repo),
        Err(GitError::NotARepository { .. }) => None,
        Err(error) => return Err(Failure::infrastructure(error.to_string())),
    };
    let layers = layers::gather(repo.as_ref(), User::Heeded, &Overrides::default())?;
    if wrong(plan.as_ref(), &layers, color) {
        return Ok(exit::FINDINGS);
    }
    let source = plan.as_ref().map(|(source, _)| source);
    let all = Settings {
        files: files(repo.as_ref(), &layers),
        settings: plan::settings(source, &layers),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let drawn = match args.json {
        true => json::pretty(&all, &mut out),
        false => drawn::draw(&all, &terminal::look(color), &mut out),
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}

/// Says what is wrong with the plan and the layers, and whether any of it is an error.
fn wrong(plan: Option<&(Source, PathBuf)>, layers: &Layers, color: Color) -> bool {
    let findings = match plan {
        Some((source, dir)) => plan::read(source, dir, layers).findings,
        None => layers.look(),
    };
    // That a setting is the user's own is what the answer says.
    let told = |finding: &&Finding| finding.severity > Severity::Note;
    let findings: Vec<Finding> = findings.iter().filter(told).cloned().collect();
    if findings.is_empty() {
        return false;
    }
    let wrong = any_error(&findings);
    let texts = layers.list().iter().map(|layer| &layer.source);
    let texts = texts.map(|source| (source.file.clone(), source.text.clone())).collect();
    let none = Source::new("", "");
    let source = plan.map_or(&none, |(source, _)| source);
    plan_file::say(source, &Outcome { compiled: None, findings, texts }, color);
    wrong
}

/// The config files that there are, or could be.
fn files(repo: Option<&Repo>, layers: &Layers) -> Vec<Looked> {
    let user = layers::of_user().map(|path| (Whose::User, path));
    let own = repo.and_then(layers::of_repository).map(|path| (Whose::Repository, path));
    let looked = user.into_iter().chain(own).map(|(whose, path)| Looked {
        whose: Level::from(whose),
        path: layers::named(&path),
        found: layers.list().iter().any(|layer| layer.whose == whose),
    });
    looked.collect()
}
