//! What a run keeps as it was when it was approved: the plan, the templates, what the DoD said on the base.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::directory::{DirectoryError, RunDir, write_whole};
use super::error::RunError;
use super::lessons;
use crate::brief;
use crate::event::{Classed, Event, Record};
use crate::git::Repo;
use crate::ledger::Ledger;
use crate::model::critic::Reading;
use crate::model::ids::CommitId;
use crate::model::lesson::Lesson;
use crate::model::plan::Plan;
use crate::plain_file;

/// What an audit has to know when its scouts are done, within the run's directory.
pub const AUDIT: &str = "audit.json";

/// What a critic said of the plan and the lead answered, within the run's directory.
pub const CRITIC: &str = "critic.json";

/// A plan as a run freezes it: what its approval is bound to.
#[must_use]
pub fn frozen(plan: &Plan) -> Vec<u8> {
    serde_json::to_vec_pretty(plan).unwrap_or_default()
}

/// The frozen plan of a run, proven to be the one that was approved.
///
/// # Errors
/// When it cannot be read or is another.
pub fn thaw(dir: &RunDir, approved: &str) -> Result<Plan, RunError> {
    let path = dir.resolved();
    let unread = |why: String| RunError::Frozen { path: path.clone(), why };
    let bytes = plain_file::read_own(&path).map_err(|error| unread(error.to_string()))?;
    let found = sha256(&bytes);
    if found != approved {
        return Err(RunError::Changed { path, found, approved: approved.to_owned() });
    }
    serde_json::from_slice(&bytes).map_err(|error| unread(error.to_string()))
}

/// Copies the repository's own templates into the run.
pub(super) fn freeze_templates(repo: &Repo, dir: &RunDir) -> Result<(), RunError> {
    let Some(own) = repo.top().map(|top| top.join(brief::FOLDER)) else { return Ok(()) };
    let entries = match fs::read_dir(&own) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries,
    };
    let io = |what, path: &Path| {
        let path = path.to_owned();
        move |source| DirectoryError::Io { what, path, source }
    };
    let frozen = dir.path().join(brief::FOLDER);
    fs::create_dir_all(&frozen).map_err(io("make", &frozen))?;
    for entry in entries.map_err(io("read", &own))? {
        let entry = entry.map_err(io("read", &own))?;
        if entry.path().is_file() {
            let to = frozen.join(entry.file_name());
            fs::copy(entry.path(), &to).map_err(io("write", &to))?;
        }
    }
    Ok(())
}

/// What the checkpoint report learned about the DoDs, so that no command is run twice on one base.
pub(super) fn freeze_classed(dir: &RunDir, classed: &[(Classed, PathBuf)]) -> Result<(), RunError> {
    let mut kept = Vec::with_capacity(classed.len());
    for (n, (classed, log)) in classed.iter().enumerate() {
        let name = RunDir::log_name("base", "dod", u32::try_from(n).unwrap_or(u32::MAX) + 1);
        let to = dir.named(&name);
        fs::copy(log, &to).map_err(|source| DirectoryError::Io {
            what: "write",
            path: to,
            source,
        })?;
        let mut classed = classed.clone();
        classed.ran.log = name;
        kept.push(classed);
    }
    let bytes = serde_json::to_vec(&kept).unwrap_or_default();
    write_whole(&dir.named("classed.json"), &bytes)?;
    Ok(())
}

/// What earlier runs had learned when this one was made.
pub(super) fn freeze_lessons(dir: &RunDir, lessons: &[Lesson]) -> Result<(), RunError> {
    if lessons.is_empty() {
        return Ok(());
    }
    let bytes = serde_json::to_vec(lessons).unwrap_or_default();
    write_whole(&dir.named(lessons::FROZEN), &bytes)?;
    Ok(())
}

/// SHA-256 of what a run keeps beside its plan: the lessons, the templates, [what the DoD said](freeze_classed),
/// [`AUDIT`] and [`CRITIC`], each file with its name and its length.
///
/// # Errors
/// When one of them cannot be read, or is no plain file.
pub(super) fn beside(dir: &RunDir) -> Result<String, RunError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| DirectoryError::Io { what: "read", path, source }
    };
    let folder = dir.path().join(brief::FOLDER);
    let mut paths = vec![dir.named("classed.json")];
    let noted = dir.named(lessons::FROZEN);
    if noted.symlink_metadata().is_ok() {
        paths.push(noted);
    }
    match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        entries => {
            for entry in entries.map_err(io(&folder))? {
                paths.push(entry.map_err(io(&folder))?.path());
            }
        }
    }
    for name in [AUDIT, CRITIC] {
        let kept = dir.named(name);
        paths.extend(kept.symlink_metadata().is_ok().then_some(kept));
    }
    paths.sort();
    let mut all = Sha256::new();
    for path in paths {
        let bytes = plain_file::read_own(&path).map_err(io(&path))?;
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        for part in [name, &bytes] {
            all.update((part.len() as u64).to_le_bytes());
            all.update(part);
        }
    }
    Ok(hex(&all.finalize()))
}

/// Proves that what is kept beside the plan is as it was when the run was made. A run of a version that took
/// nothing down of it goes on as it is.
///
/// # Errors
/// When something was changed, added or taken away.
pub fn unchanged_beside(dir: &RunDir, records: &[Record]) -> Result<(), RunError> {
    let Some(Event::RunCreated { beside_sha256: Some(approved), .. }) =
        records.first().map(|record| &record.event)
    else {
        return Ok(());
    };
    let found = beside(dir)?;
    if found == *approved {
        return Ok(());
    }
    Err(RunError::ChangedBeside {
        templates: dir.path().join(brief::FOLDER),
        classed: dir.named("classed.json"),
        found,
        approved: approved.clone(),
    })
}

/// What commands said on the base before the run was made, as it was kept.
#[must_use]
pub fn classed(dir: &RunDir) -> Vec<Classed> {
    let kept = plain_file::read_own(&dir.named("classed.json")).ok();
    kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// What a critic said of the run's plan, and what was answered; nothing where none read it.
#[must_use]
pub fn reading(dir: &RunDir) -> Option<Reading> {
    let kept = plain_file::read_own(&dir.named(CRITIC)).ok()?;
    serde_json::from_slice(&kept).ok()
}

/// DoD commands whose class on a base is known already.
pub(super) fn known(dir: &RunDir, ledger: &Ledger) -> BTreeMap<(CommitId, String), Classed> {
    let at_base = classed(dir).into_iter().map(|classed| (ledger.base.clone(), classed));
    let in_run = ledger.wps.iter().filter_map(|wp| Some((wp.base.clone()?, &wp.classes)));
    let in_run =
        in_run.flat_map(|(base, classes)| classes.iter().map(move |c| (base.clone(), c.clone())));
    at_base
        .chain(in_run)
        .map(|(base, classed)| ((base, classed.ran.run.clone()), classed))
        .collect()
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
