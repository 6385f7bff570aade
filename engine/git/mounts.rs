//! Where a folder is, beneath its path: in which file system, and where in that. By it all its other paths are found.

use std::path::Path;

use bstr::ByteSlice;

use crate::plain_file;

/// The mounts that a process sees, in the order in which they lie upon each other.
pub(super) struct Mounts(Vec<Mount>);

struct Mount {
    device: Vec<u8>,
    /// The folder of the file system that is mounted; empty for all of it.
    root: Vec<u8>,
    /// Where; empty for `/`.
    at: Vec<u8>,
}

/// A folder in its file system.
pub(super) struct Inside {
    device: Vec<u8>,
    path: Vec<u8>,
}

impl Mounts {
    /// Those of the process with this folder below `/proc`; none where that may not be read.
    pub(super) fn of(process: &Path) -> Self {
        let said = plain_file::read_own(&process.join("mountinfo")).unwrap_or_default();
        Self(said.lines().filter_map(Mount::read).collect())
    }

    /// Where a folder is, by its path with no link in it.
    pub(super) fn place_of(&self, folder: &[u8]) -> Option<Inside> {
        let (mut best, mut longest) = (None, 0);
        for mount in &self.0 {
            // Of two at one place the later one hides the earlier.
            if let Some(rest) = below(folder, &mount.at).filter(|_| mount.at.len() >= longest) {
                longest = mount.at.len();
                best = Some((mount, rest));
            }
        }
        let (mount, rest) = best?;
        Some(Inside { device: mount.device.clone(), path: [&mount.root[..], rest].concat() })
    }

    /// The paths of a folder, and of what is mounted out of it.
    pub(super) fn paths_of(&self, folder: &Inside) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().filter(|mount| mount.device == folder.device).filter_map(|mount| match below(
            &folder.path,
            &mount.root,
        ) {
            Some(rest) => Some([&mount.at[..], rest].concat()),
            None => below(&mount.root, &folder.path).map(|_| mount.at.clone()),
        })
    }
}

impl Mount {
    /// `36 35 98:0 /root/in/it /mnt rw,noatime master:1 - ext4 /dev/sda1 rw`
    fn read(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|b| *b == b' ').skip(2);
        let device = words.next()?.to_vec();
        let mut path =
            || words.next().map(|word| unescaped(word.strip_suffix(b"/").unwrap_or(word)));
        Some(Self { device, root: path()?, at: path()? })
    }
}

/// What of `path` lies below `folder`, from its `/` on.
fn below<'a>(path: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Blanks, newlines and backslashes are written as three octal digits.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let byte = digits.and_then(|digits| u8::from_str_radix(digits.to_str().ok()?, 8).ok());
        found.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    found
}
