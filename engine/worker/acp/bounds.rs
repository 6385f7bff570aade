//! Where an agent may reach: the worktree, and the folders that its order names beside it. A path is
//! followed through every link that is there before it is judged.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The folders, and where relative paths start.
#[derive(Debug, Clone)]
pub struct Bounds {
    cwd: PathBuf,
    roots: Vec<PathBuf>,
}

impl Bounds {
    /// The worktree and what else may be written to. A folder that is not there bounds nothing.
    #[must_use]
    pub fn new(cwd: &Path, writable: &[PathBuf]) -> Self {
        let folders = std::iter::once(cwd).chain(writable.iter().map(PathBuf::as_path));
        let roots = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
        Self { cwd: cwd.to_owned(), roots }
    }

    /// Where `path` really is, if that is inside. What is not there yet is judged by the deepest
    /// folder that is. `..` after a part that is not there leads nowhere.
    #[must_use]
    pub fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = self.cwd.join(path);
        let mut there = path.as_path();
        let mut rest = Vec::new();
        let real = loop {
            match there.symlink_metadata() {
                // A link that leads nowhere has no real place.
                Ok(_) => break there.canonicalize().ok()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let Some(Component::Normal(name)) = there.components().next_back() else {
                        return None;
                    };
                    rest.push(name.to_owned());
                    there = there.parent()?;
                }
                Err(_) => return None,
            }
        };
        let real = rest.into_iter().rev().fold(real, |real, name| real.join(name));
        self.roots.iter().any(|root| real.starts_with(root)).then_some(real)
    }

    /// As [`Self::inside`], for a file that is to be changed: what git itself keeps is nobody's.
    #[must_use]
    pub fn changeable(&self, path: &Path) -> Option<PathBuf> {
        self.inside(path).filter(|real| {
            !real.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
        })
    }
}
