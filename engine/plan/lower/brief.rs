//! Brief files: read once each, from the folder of the plan file.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Notes, paths};
use crate::plan::wording::quoted;

/// Largest brief in bytes. What is longer is a file named by mistake, and no worker could take it.
const LARGEST: u64 = 1 << 20;

/// The briefs of a plan, as they are read.
pub struct Briefs<'a> {
    dir: &'a Path,
    read: HashMap<PathBuf, Result<Arc<str>, Fault>>,
}

/// Why a brief cannot be read.
#[derive(Debug, Clone)]
enum Fault {
    Missing,
    NotAFile,
    TooLarge,
    NotText,
    Blank,
    Unreadable(String),
}

impl<'a> Briefs<'a> {
    /// Briefs under `dir`.
    pub fn new(dir: &'a Path) -> Self {
        Self { dir, read: HashMap::new() }
    }

    /// The text of the brief file `name`, which stands at `at` in the plan. `None` when it cannot be
    /// read, which is noted.
    pub fn get(
        &mut self,
        name: &str,
        at: impl Fn() -> String,
        notes: &mut Notes,
    ) -> Option<String> {
        if let Some(fault) = paths::fault(name) {
            paths::note(&at(), name, fault, "the folder of the plan file", notes);
            return None;
        }
        let path = self.dir.join(name);
        let shown = quoted(&path.display().to_string());
        let read = self.read.entry(path).or_insert_with_key(|path| read(path));
        let fault = match read {
            Ok(text) => return Some(text.to_string()),
            Err(fault) => fault,
        };
        let at = at();
        match fault {
            Fault::Missing => notes
                .error(at, "missing-brief", format!("there is no brief at {shown}"))
                .help("a brief is named from the folder of the plan file; or write it here as `brief_text`"),
            Fault::NotAFile => notes.error(at, "bad-brief", format!("the brief {shown} is not a file")),
            Fault::TooLarge => notes.error(at, "bad-brief", format!("the brief {shown} is larger than 1 MiB"))
                .help("let the brief name the files that a worker should read"),
            Fault::NotText => notes.error(at, "bad-brief", format!("the brief {shown} is not UTF-8 text")),
            Fault::Blank => notes.error(at, "blank-brief", format!("the brief {shown} is blank"))
                .help("say in it what is to be done"),
            Fault::Unreadable(error) => {
                notes.error(at, "bad-brief", format!("the brief {shown} cannot be read: {error}"))
            }
        };
        None
    }
}

fn read(path: &Path) -> Result<Arc<str>, Fault> {
    let fault = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Fault::Missing,
        _ => Fault::Unreadable(error.to_string()),
    };
    // Asked before opening: opening a pipe would wait for whoever writes to it.
    if !std::fs::metadata(path).map_err(fault)?.is_file() {
        return Err(Fault::NotAFile);
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(fault)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Fault::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|_| Fault::NotText)?;
    match text.trim().is_empty() {
        true => Err(Fault::Blank),
        false => Ok(text.into()),
    }
}
