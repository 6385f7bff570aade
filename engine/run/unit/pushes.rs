//! A worker does not push. What it tries is refused and noted while it works, and held against it when its work
//! is judged.

use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Unit;
use crate::git::pushes::{self, HELPER, HELPER_NAME, NOTES, Push};
use crate::launch::Spec;
use crate::model::ids::WpId;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::Worker;
use crate::plain_file;
use crate::process::{escape, escape_path};
use crate::run::asking;
use crate::run::directory::{RunDir, write_whole};
use crate::run::site::Halt;

/// What the notes begin with, so that it is seen when they were taken away.
const HEAD: &[u8] = b"pushes:\n";

/// So many pushes are named; a worker that tries more has been told.
const NAMED: usize = 20;

impl Unit {
    /// Has git refuse the worker's pushes and note them: settings for this repository alone, behind those that
    /// the plan gives the worker.
    pub(super) fn refuse_pushes(&self, spec: &mut Spec, worker: &Worker) -> Result<(), Halt> {
        let keys = self.site.repo.include_here();
        let dir = &self.site.dir;
        let settings = dir.no_push().join("config");
        lay_out(dir, &settings, &self.site.repo.refusing_pushes()).map_err(|error| {
            let text = format!("cannot prepare {}: {error}", escape_path(&dir.no_push()));
            Halt::blocked(Problem::new(Check::Worker, text))
        })?;
        let before = worker.env.get("GIT_CONFIG_COUNT").and_then(|n| n.parse().ok());
        let before: usize = before.unwrap_or(0);
        let count = (before + keys.len()).to_string();
        for (key, n) in keys.into_iter().zip(before..) {
            spec.env.extend([
                (format!("GIT_CONFIG_KEY_{n}").into(), key),
                (format!("GIT_CONFIG_VALUE_{n}").into(), settings.clone().into()),
            ]);
        }
        spec.env.extend([
            ("GIT_CONFIG_COUNT".into(), count.into()),
            (NOTES.into(), dir.pushes(&self.state.id, self.state.attempt).into()),
        ]);
        // Last of all, so that it hides no program; without it git refuses as well, and nothing is noted.
        let ours = [Some(dir.no_push()), asking::folder_of_sop()];
        let path = asking::path_with(worker, ours.into_iter().flatten());
        spec.env.extend(path.map(|path| ("PATH".into(), path)));
        Ok(())
    }

    /// Begins the notes of an attempt that is about to start; what lies there is nobody's yet.
    pub(super) fn begin_pushes(&self, attempt: u32) -> Result<(), Halt> {
        let path = self.site.dir.pushes(&self.state.id, attempt);
        let folder = std::fs::create_dir_all(self.site.dir.pushes_folder());
        folder
            .map_err(|error| error.to_string())
            .and_then(|()| write_whole(&path, HEAD).map_err(|error| error.to_string()))
            .map_err(|error| {
                let text = format!("cannot begin {}: {error}", escape_path(&path));
                Halt::blocked(Problem::new(Check::Worker, text))
            })
    }
}

/// What an attempt tried to push, as findings.
pub(super) fn attempted(dir: &RunDir, wp: &WpId, attempt: u32) -> Vec<Problem> {
    let path = dir.pushes(wp, attempt);
    match plain_file::read(&path, plain_file::DOCUMENT) {
        Ok(notes) => {
            let noted = notes.strip_prefix(HEAD);
            let pushes = pushes::attempts(noted.unwrap_or(&notes));
            let what =
                "the worker tried to push this; pushes are not its to make, and it was refused";
            let gone = noted.is_none().then(|| taken_away(&path));
            gone.into_iter()
                .chain(pushes.iter().take(NAMED).map(|push| problem(push, what)))
                .collect()
        }
        Err(error) if error.kind() == ErrorKind::NotFound => vec![taken_away(&path)],
        Err(error) => {
            let text = format!("is where pushes are noted, and cannot be read: {error}");
            vec![Problem::new(Check::Scope, text).about(escape_path(&path))]
        }
    }
}

fn taken_away(path: &Path) -> Problem {
    let text =
        "is where pushes are noted, and what it began with was taken away while the worker ran";
    Problem::new(Check::Scope, text).about(escape_path(path))
}

/// What an attempt has pushed, as findings.
pub(super) fn got_through(pushes: &[Push]) -> impl Iterator<Item = Problem> {
    let what = "was pushed while the worker ran, and is this WP's work: pushes are not a worker's to make, and \
                what is on a remote now is left there";
    pushes.iter().map(move |push| problem(push, what))
}

fn problem(push: &Push, what: &str) -> Problem {
    let parts = [&push.name, &push.url].map(|part| escape(part));
    let about = match [parts[0].is_empty(), parts[1].is_empty()] {
        [true, _] => parts[1].clone(),
        [_, true] => parts[0].clone(),
        _ => format!("{} to {}", parts[0], parts[1]),
    };
    Problem::new(Check::Scope, what).about(about)
}

/// Puts the program and its settings where they belong, unless they are there already: other workers may be
/// using them.
fn lay_out(dir: &RunDir, settings: &Path, text: &[u8]) -> io::Result<()> {
    let helper = dir.no_push().join(HELPER_NAME);
    for folder in [dir.no_push(), dir.pushes_folder()] {
        std::fs::create_dir_all(folder)?;
    }
    let put = |path: &Path, bytes: &[u8]| match plain_file::read_own(path) {
        Ok(there) if there == bytes => Ok(()),
        _ => write_whole(path, bytes).map_err(io::Error::other),
    };
    put(settings, text)?;
    put(&helper, HELPER.as_bytes())?;
    let mode = std::fs::metadata(&helper)?.permissions().mode();
    if mode & 0o777 != 0o755 {
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
