//! What lies in a folder that git passes over in silence, ignored folders included: repositories of their own,
//! what may not be read, what is somebody else's, other file systems, pipes and sockets.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use bstr::BString;

/// What was found, by path relative to the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inside {
    /// Folders with a `.git` in them.
    pub repositories: Vec<BString>,
    /// Files and folders that may not be read.
    pub unreadable: Vec<BString>,
    /// What belongs to another user.
    pub others: Vec<BString>,
    /// Where another file system begins.
    pub mounts: Vec<BString>,
    /// Pipes, sockets and devices: they hold no bytes.
    pub special: Vec<BString>,
    /// Symbolic links, with where they lead.
    pub links: Vec<(BString, BString)>,
}

impl Inside {
    /// Looks at everything below `root` but its own `.git`.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        let mut found = Self::default();
        match root.symlink_metadata() {
            Ok(top) => found.look(root, &BString::default(), top.dev()),
            Err(_) => found.unreadable.push(BString::from(".")),
        }
        for list in [
            &mut found.repositories,
            &mut found.unreadable,
            &mut found.others,
            &mut found.mounts,
            &mut found.special,
        ] {
            list.sort();
        }
        found.links.sort();
        found
    }

    fn look(&mut self, folder: &Path, path: &BString, device: u64) {
        let Ok(listing) = std::fs::read_dir(folder) else {
            self.unreadable.push(path.clone());
            return;
        };
        for entry in listing.flatten() {
            let name = entry.file_name();
            let mut inner = path.clone();
            if !inner.is_empty() {
                inner.push(b'/');
            }
            inner.extend_from_slice(name.as_bytes());
            if name == OsStr::new(".git") {
                if !path.is_empty() {
                    self.repositories.push(path.clone());
                }
                continue;
            }
            let Ok(meta) = entry.metadata() else {
                self.unreadable.push(inner);
                continue;
            };
            self.judge(&entry.path(), &inner, &meta, device);
            if meta.is_dir() && meta.dev() == device {
                self.look(&entry.path(), &inner, device);
            }
        }
    }

    fn judge(&mut self, at: &Path, path: &BString, meta: &Metadata, device: u64) {
        if meta.uid() != rustix::process::geteuid().as_raw() {
            self.others.push(path.clone());
        }
        if meta.dev() != device {
            self.mounts.push(path.clone());
        }
        let kind = meta.file_type();
        if kind.is_symlink() {
            let target = std::fs::read_link(at).unwrap_or_default();
            self.links.push((path.clone(), BString::from(target.as_os_str().as_bytes())));
        } else if kind.is_file() {
            let read = rustix::fs::Access::READ_OK;
            if rustix::fs::access(at, read).is_err() {
                self.unreadable.push(path.clone());
            }
        } else if kind.is_fifo()
            || kind.is_socket()
            || kind.is_block_device()
            || kind.is_char_device()
        {
            self.special.push(path.clone());
        }
    }
}
