//! Settings around a plan: the config files, where they are, and what of the environment and the command
//! line goes before the plan.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::plan_file::text;
use crate::git::Repo;
use crate::plain_file;
use crate::plan::layers::VARIABLES;
use crate::plan::{Layer, Layers, Whose};
use crate::process::escape_path;

/// Where a repository has its config, from its top.
pub(super) const IN_REPOSITORY: &str = ".sop/config.toml";

/// Flags that go before what the plan says.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Overrides {
    /// Work packages at work at once, at most, whatever the plan says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub max_parallel: Option<u16>,
}

/// What a user has on this machine, beside what the repository holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    /// Is heeded.
    Heeded,
    /// Is left out: the config file and the environment.
    LeftOut,
}

/// The layers of plans in `repo`.
///
/// # Errors
/// A config file is there and cannot be read (infrastructure).
pub(super) fn gather(
    repo: Option<&Repo>,
    user: User,
    flags: &Overrides,
) -> Result<Layers, Failure> {
    let mut layers = Vec::new();
    if let Some(path) = repo.and_then(of_repository) {
        layers.extend(file(Whose::Repository, &path, plain_file::read)?);
    }
    if user == User::Heeded {
        if let Some(path) = of_user() {
            layers.extend(file(Whose::User, &path, plain_file::read_linked)?);
        }
        for (at, name) in VARIABLES {
            let Some(value) = set(name) else { continue };
            let value = value.to_str().ok_or_else(|| {
                Failure::usage(format!("{name} is not UTF-8")).help("set it anew, or unset it")
            })?;
            layers.push(Layer::said(Whose::Environment, name, at, value));
        }
    }
    if let Some(most) = flags.max_parallel {
        let (name, at) = ("--max-parallel", "/defaults/max_parallel");
        layers.push(Layer::said(Whose::Flag, name, at, &most.to_string()));
    }
    Ok(Layers::new(layers))
}

/// The user's config file, whether it is there or not: `$XDG_CONFIG_HOME/sop/config.toml`, else
/// `~/.config/sop/config.toml`. A relative folder is none, as the specification of these has it.
pub(super) fn of_user() -> Option<PathBuf> {
    let folder = |name: &str| set(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME");
    let config = config.or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("sop/config.toml"))
}

/// The config file of a repository with a checkout, whether it is there or not.
pub(super) fn of_repository(repo: &Repo) -> Option<PathBuf> {
    Some(repo.top()?.join(IN_REPOSITORY))
}

/// A path as findings name it: from here, where it lies below.
pub(super) fn named(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    escape_path(below.unwrap_or(path))
}

fn set(name: impl AsRef<OsStr>) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The layer in a file, if it is there.
fn file(
    whose: Whose,
    path: &Path,
    read: fn(&Path, u64) -> io::Result<Vec<u8>>,
) -> Result<Option<Layer>, Failure> {
    let bytes = match read(path, plain_file::DOCUMENT) {
        Ok(bytes) => bytes,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => {
            let message = format!("could not read {}: {error}", escape_path(path));
            return Err(Failure::infrastructure(message)
                .help("settings are read from it: mend it, or take it away"));
        }
    };
    Ok(Some(match text(named(path), bytes) {
        (source, None) => Layer::read(whose, source),
        (source, Some(finding)) => Layer::unreadable(whose, source, finding),
    }))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
