//! Which run a verb is about: `--run NAME`, or the newest one of the repository.

use std::path::Path;

use super::failure::Failure;
use crate::git::Repo;
use crate::journal;
use crate::ledger::Ledger;
use crate::model::ids::WpId;
use crate::process::escape_path;
use crate::run::directory::RunDir;
use crate::run::requests;

/// A run as the first word of a verb that is about a whole run, or as all verbs take it.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The run; the newest one of this repository if not given.
    #[arg(value_name = "RUN", conflicts_with = "named")]
    run: Option<String>,
    /// The same, as the other verbs take it.
    #[arg(long = "run", id = "named", value_name = "RUN")]
    named: Option<String>,
}

impl Which {
    /// Its name, if one was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.run.as_deref().or(self.named.as_deref())
    }
}

/// The run that a verb is about.
#[derive(Debug, clap::Args)]
pub struct RunArg {
    /// The run; the newest one of this repository if not given.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

/// The repository that `sop` was started in.
///
/// # Errors
/// There is none, or git cannot read it.
pub fn repository() -> Result<Repo, Failure> {
    Repo::discover(Path::new(".")).map_err(|error| {
        Failure::infrastructure(error.to_string()).help("run sop in a git checkout")
    })
}

/// The directory of the run that `name` names, or of the newest.
///
/// # Errors
/// There is no such run; the help lists those there are.
pub fn find(repo: &Repo, name: Option<&str>) -> Result<RunDir, Failure> {
    let root = RunDir::root_in(repo.common_dir());
    let mut runs =
        RunDir::list(&root).map_err(|error| Failure::infrastructure(error.to_string()))?;
    let archive = RunDir::archive_in(repo.common_dir());
    let archived = || RunDir::list(&archive).unwrap_or_default();
    let Some(name) = name else {
        return runs.pop().ok_or_else(|| match archived().pop() {
            Some(last) => {
                let last = last.run();
                Failure::usage("every run of this repository is in the archive").help(format!(
                    "`sop run list` lists them, `sop run show {last}` shows the last one, and `sop apply plan.toml` \
                     starts another"
                ))
            }
            None => Failure::usage("this repository has no run yet")
                .help("start one with `sop apply plan.toml`"),
        });
    };
    let found = runs.iter().position(|dir| dir.run().as_str() == name);
    if let Some(found) = found {
        return Ok(runs.swap_remove(found));
    }
    let known: Vec<&str> = runs.iter().rev().take(10).map(|dir| dir.run().as_str()).collect();
    if archived().iter().any(|dir| dir.run().as_str() == name) {
        let text = format!("there is no run `{name}` to go on with: it is in the archive");
        return Err(
            Failure::usage(text).help(format!("`sop run show {name}` shows what it came to"))
        );
    }
    let failure = Failure::usage(format!("there is no run `{name}`"));
    Err(match known.is_empty() {
        true => failure.help("start one with `sop apply plan.toml`"),
        false => failure.help(format!("the newest are: {}", known.join(", "))),
    })
}

/// As [`find`], for verbs that only look: an archived run is found too, by its name.
///
/// # Errors
/// As [`find`].
pub fn find_any(repo: &Repo, name: Option<&str>) -> Result<RunDir, Failure> {
    let archive = RunDir::archive_in(repo.common_dir());
    let archived =
        RunDir::list(&archive).map_err(|error| Failure::infrastructure(error.to_string()))?;
    let of_name = |dir: &RunDir| Some(dir.run().as_str()) == name;
    match archived.into_iter().find(of_name) {
        Some(dir) => Ok(dir),
        None => find(repo, name),
    }
}

/// The state of a run, folded from its journal.
///
/// # Errors
/// The journal cannot be read, or its records do not follow from each other.
pub fn fold(dir: &RunDir) -> Result<Ledger, Failure> {
    let contents = journal::read(&dir.journal())
        .map_err(|error| Failure::infrastructure(error.to_string()))?;
    Ledger::fold(&contents.records).map_err(|error| {
        Failure::infrastructure(format!("{}: {error}", escape_path(&dir.journal())))
    })
}

/// That the run has no such WP, and which it has.
#[must_use]
pub fn no_such(ledger: &Ledger, wp: &WpId) -> Failure {
    Failure::usage(requests::unknown(ledger, wp.as_str()).to_string())
}

/// A WP's name from the command line.
///
/// # Errors
/// It can be no WP's name.
pub fn wp(text: &str) -> Result<WpId, Failure> {
    WpId::new(text).map_err(|why| Failure::usage(format!("`{text}` {why}")))
}
