//! `sop init`: a first plan that validates and runs as it stands.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use crate::git::Repo;
use crate::git::refs::Target;
use crate::model::ids;
use crate::plan;
use crate::process::escape_path;
use crate::report::escape::visible;

/// The plan, with `@name@`, `@base@` and `@schema@` left open.
const FIRST_PLAN: &str = include_str!("init/first_plan.toml");

/// Where an editor finds the schema, from the top of the repository.
const SCHEMA_FILE: &str = ".sop/plan.schema.json";

/// Branches that are taken for the main one where the remote does not say.
const USUAL_BRANCHES: [&str; 3] = ["main", "master", "trunk"];

/// Write a first plan, with comments, that validates and runs as it stands.
///
/// Nothing is overwritten. Beside the plan, `.sop/plan.schema.json` is written where there is none, so that
/// editors complete and explain the keys.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write it.
    #[arg(value_name = "FILE", default_value = "plan.toml")]
    pub file: PathBuf,
    /// Print it instead, and write nothing.
    #[arg(long)]
    pub stdout: bool,
}

/// Runs the verb.
///
/// # Errors
/// The file exists already (usage), or cannot be written (infrastructure).
pub fn run(args: &Args) -> Result<u8, Failure> {
    let folder = folder_of(&args.file);
    let repo = Repo::discover(&folder).ok();
    let root = match repo.as_ref().and_then(Repo::top) {
        Some(top) => top.to_path_buf(),
        None => folder.clone(),
    };
    let schema = root.join(SCHEMA_FILE);
    let text = FIRST_PLAN
        .replace("@name@", &name_for(&root))
        .replace("@base@", &quoted(&base_for(repo.as_ref())))
        .replace("@schema@", &reference(&folder, &root));
    if args.stdout {
        written(io::stdout().lock().write_all(text.as_bytes()))?;
        return Ok(exit::DONE);
    }

    create(&args.file, &text).map_err(|error| refused(&args.file, &error))?;
    let mut said = format!("wrote {}", escape_path(&args.file));
    let made =
        fs::create_dir_all(root.join(".sop")).and_then(|()| create(&schema, &plan::schema_json()));
    match made {
        Ok(()) => said.push_str(&format!(" and {SCHEMA_FILE}")),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        // The plan works without it; only the editor's help is missing.
        Err(error) => said.push_str(&format!(" (not {SCHEMA_FILE}: {error})")),
    }
    let next = match &repo {
        None => "`git init` and a first commit, since a plan runs in a git repository".to_owned(),
        Some(repo) if repo.resolve("HEAD").is_err() => {
            "make a first commit to start from".to_owned()
        }
        Some(_) => {
            let file = escape_path(&args.file);
            format!("`sop validate {file}`, then `sop apply {file}`")
        }
    };
    let said = format!("{}\nnext: {}\n", visible(&said), visible(&next));
    written(io::stdout().lock().write_all(said.as_bytes()))?;
    Ok(exit::DONE)
}

/// Makes a new file; what is there stays.
fn create(file: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(file)?;
    file.write_all(text.as_bytes())
}

fn refused(file: &Path, error: &io::Error) -> Failure {
    let shown = escape_path(file);
    match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{shown} exists already; it was left as it is"))
                .help("name another file, or see what would be written with `sop init --stdout`")
        }
        ErrorKind::NotFound => {
            Failure::usage(format!("there is no folder for {shown}")).help("make the folder first")
        }
        _ => Failure::infrastructure(format!("could not write {shown}: {error}")),
    }
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// A name for the plan: that of the repository's folder, as far as it can be one.
fn name_for(root: &Path) -> String {
    let folder = root.canonicalize().ok();
    let name = folder.as_deref().and_then(Path::file_name);
    let name = name.map(|name| name.to_string_lossy()).unwrap_or_default();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    if ids::check(&name).is_ok() { name } else { "first-plan".to_owned() }
}

/// The branch that work should start from: the remote's default where there is a local one of that name,
/// then a branch with a usual name, then the one that is checked out.
fn base_for(repo: Option<&Repo>) -> String {
    // What the first branch will be called, git decides when it is made.
    let Some(repo) = repo else { return "HEAD".to_owned() };
    let stands = |name: &str| matches!(repo.branch(name), Ok(Some(_)));
    let remote = match repo.read_ref("refs/remotes/origin/HEAD") {
        Ok(Some(Target::Symbolic(name))) => {
            name.strip_prefix("refs/remotes/origin/").map(str::to_owned)
        }
        _ => None,
    };
    let usual = USUAL_BRANCHES.iter().map(|name| (*name).to_owned());
    if let Some(name) = remote.into_iter().chain(usual).find(|name| stands(name)) {
        return name;
    }
    match repo.current_branch() {
        Ok(Some(name)) => name,
        _ => "HEAD".to_owned(),
    }
}

/// As a TOML string. A JSON string is one, except for DEL, which git allows in no ref name.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The schema as seen from the plan's folder. A folder outside `root` does not happen: `root` was found by
/// looking upward from it.
fn reference(folder: &Path, root: &Path) -> String {
    let inside = folder.canonicalize().ok().zip(root.canonicalize().ok());
    let depth = inside.and_then(|(folder, root)| {
        let below = folder.strip_prefix(root).ok()?.components();
        Some(below.filter(|c| matches!(c, Component::Normal(_))).count())
    });
    "../".repeat(depth.unwrap_or(0)) + SCHEMA_FILE
}
