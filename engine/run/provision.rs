//! What a fresh worktree needs before a worker may enter: copies, setup, and the proof that what the
//! plan expects is there. Done again after a crash, it ends the same.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::git::{SnapshotSpec, Worktree};
use crate::launch::{EndedBy, Outcome};
use crate::model::ids::CommitId;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::Command;
use crate::process;

use super::in_flight::since_begun;
use super::site::{Halt, Site, argv};
use super::step::{self, Order, Orders};

/// Fills the worktree of `unit`, which was made for the `begun`th time. The paths copied in are returned: they stay out of every commit.
///
/// # Errors
/// A halt that names what is missing or failed, before any worker is paid.
pub async fn provision(
    site: &Arc<Site>,
    (unit, begun): (&str, u32),
    worktree: &Worktree,
    orders: &mut Orders,
) -> Result<Vec<String>, Halt> {
    let wanted = &site.plan.provision;
    for entry in &wanted.copy {
        let Some(top) = &site.top else {
            let text = "a bare repository has no checkout to copy files from; start the run from a worktree";
            return Err(Halt::blocked(Problem::new(Check::Provision, text).about(entry)));
        };
        copy(top, worktree.path(), entry).map_err(Halt::blocked)?;
    }
    for (n, command) in wanted.setup.iter().enumerate() {
        let name = format!("{}{}", since_begun("setup", begun), n + 1);
        let text = describe(command);
        let spec = |key: &_| {
            let mut spec = site.spec(unit, key, argv(command));
            spec.timeout = Some(wanted.timeout.0);
            spec
        };
        let (outcome, log) = step::bound(
            &site.launcher,
            |n| site.key(unit, &name, n),
            spec,
            Outcome::succeeded,
            orders,
        )
        .await
        .map_err(|e| Halt::blocked(Problem::new(Check::Provision, e.to_string())))?;
        if outcome.ended_by == EndedBy::Cancel && *orders.borrow() != Order::Go {
            return Err(Halt::Stopped);
        }
        if !outcome.succeeded() {
            let ran = step::ran(&text, "", &outcome, &spec(&outcome.key));
            let tail = process::tail(&log, 40).unwrap_or_default().join("\n");
            let problem = Problem::new(Check::Provision, format!("setup failed: {}", ran.end))
                .about(text)
                .logged(log_name(site, &log), tail);
            return Err(Halt::blocked(problem));
        }
    }
    for entry in &wanted.expect {
        if fs::symlink_metadata(worktree.path().join(entry)).is_err() {
            let text = "what is expected is not there after provisioning; add what makes it to `setup` or `copy`";
            return Err(Halt::blocked(Problem::new(Check::Provision, text).about(entry)));
        }
    }
    if !wanted.setup.is_empty() {
        leaves_nothing(site, worktree, "setup").await?;
    }
    Ok(wanted.copy.clone())
}

/// Whatever `sop` itself runs before the worker must leave no trace that would be blamed on it.
///
/// # Errors
/// A halt that names the paths.
pub async fn leaves_nothing(site: &Arc<Site>, worktree: &Worktree, who: &str) -> Result<(), Halt> {
    let worktree = worktree.clone();
    let spec = snapshot_spec(site, worktree.base());
    let snapshot = site.blocking(Check::Provision, move |_| worktree.snapshot(&spec)).await?;
    let mut paths: Vec<String> =
        snapshot.changes.iter().map(|change| process::escape(&change.path)).collect();
    paths.extend(snapshot.irregular.iter().map(|odd| process::escape(&odd.path)));
    if paths.is_empty() {
        return Ok(());
    }
    let more = paths.len().saturating_sub(5);
    paths.truncate(5);
    let mut named = paths.join(", ");
    if more > 0 {
        named = format!("{named} and {more} more");
    }
    let text = format!(
        "{who} changes files that are not ignored, and a worker would be blamed for them; have it \
         write where `.gitignore` reaches, or commit the files to the base"
    );
    Err(Halt::Blocked {
        problem: Problem::new(Check::Provision, text).about(named),
        everywhere: true,
    })
}

/// What every snapshot of the run leaves out.
#[must_use]
pub fn snapshot_spec(site: &Site, base: &CommitId) -> SnapshotSpec {
    SnapshotSpec { keep_out: site.kept_out(), ..SnapshotSpec::at(base) }
}

/// A log's name within the run directory, as events give it.
#[must_use]
pub fn log_name(site: &Site, log: &Path) -> String {
    log.strip_prefix(site.dir.path()).unwrap_or(log).to_string_lossy().into_owned()
}

fn describe(command: &Command) -> String {
    match command {
        Command::Argv(argv) => {
            shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
        }
        Command::Shell(text) => text.clone(),
    }
}

/// Copies one entry of the checkout into a worktree.
///
/// # Errors
/// It is not there, or cannot be copied.
pub fn copy(top: &Path, worktree: &Path, entry: &str) -> Result<(), Problem> {
    let (from, to) = (top.join(entry), worktree.join(entry));
    no_link_above(worktree, Path::new(entry)).and_then(|()| copy_entry(&from, &to)).map_err(
        |error| {
            let text = match error.kind() {
                io::ErrorKind::NotFound => {
                    "a file to be copied into every worktree is not in your checkout".to_owned()
                }
                _ => format!("a file cannot be copied into the worktree ({error})"),
            };
            Problem::new(Check::Provision, text).about(entry)
        },
    )
}

/// A folder of the base may be a link, even to the very place that the copy is made from: what is put
/// through it lands outside the worktree.
fn no_link_above(worktree: &Path, entry: &Path) -> io::Result<()> {
    let above = entry.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let is_link = |above: &&Path| {
        fs::symlink_metadata(worktree.join(above)).is_ok_and(|meta| meta.is_symlink())
    };
    match above.into_iter().find(is_link) {
        None => Ok(()),
        Some(link) => {
            let link = process::escape(link.as_os_str().as_encoded_bytes());
            Err(io::Error::other(format!("`{link}` is a link in the base, and leads elsewhere")))
        }
    }
}

/// Files with their modes, folders with all that is in them, links as links.
fn copy_entry(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if meta.is_dir() {
        if fs::symlink_metadata(to).is_ok_and(|there| there.is_symlink()) {
            return Err(io::Error::other("a link is in its place"));
        }
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_entry(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    // Never write through a link that stands in the way: it may lead out of the worktree.
    match fs::symlink_metadata(to) {
        Ok(there) if there.is_dir() => return Err(io::Error::other("a folder is in its place")),
        Ok(_) => fs::remove_file(to)?,
        Err(_) => {}
    }
    if meta.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !meta.is_file() {
        return Err(io::Error::other("it is neither a file, a folder nor a link"));
    }
    fs::copy(from, to).map(drop)
}
