//! A tree cut into portions that one scout can read: by folder, so that what belongs together is read
//! together, and by size. Folders that fit go whole; small neighbours share a scout; a file that is too
//! large for one is cut into ranges of lines.

use bstr::{BStr, BString, ByteSlice};

use super::scope::File;
use crate::process::escape;

/// Most bytes of a slice: some 40,000 tokens, a quarter of what a small model holds. The rest is room for
/// what the scout looks up beside it.
pub const MOST_BYTES: u64 = 160_000;

/// Most files of a slice.
pub const MOST_FILES: usize = 60;

/// A file, or a range of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portion {
    /// The path.
    pub path: BString,
    /// First line, from 1.
    pub from: u32,
    /// Last line.
    pub to: u32,
    /// Whether that is all of the file.
    pub whole: bool,
    /// Bytes, as far as that is known of a range.
    pub bytes: u64,
}

impl Portion {
    /// How it is told to a scout and a reader: the path, escaped, and the lines where it is not all of them.
    #[must_use]
    pub fn shown(&self) -> String {
        match self.whole {
            true => escape(&self.path),
            false => format!("{}:{}-{}", escape(&self.path), self.from, self.to),
        }
    }

    /// Its lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        u64::from(self.to.saturating_sub(self.from)) + 1
    }
}

/// What one scout reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Portions(pub Vec<Portion>);

impl Portions {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|portion| portion.bytes).sum()
    }

    /// Its lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.0.iter().map(Portion::lines).sum()
    }

    /// The folder that everything in it is in, or its only file.
    #[must_use]
    pub fn place(&self) -> &BStr {
        let Some(first) = self.0.first().map(|portion| portion.path.as_bstr()) else {
            return b"".as_bstr();
        };
        let all = |at: usize| self.0.iter().all(|it| it.path.get(..at) == first.get(..at));
        if self.0.iter().all(|portion| portion.path == first) {
            return first;
        }
        let cuts = first.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        // With the slash: `a` and `ab/c` have no folder in common.
        let common = cuts.take_while(|at| all(at + 1)).last().unwrap_or_default();
        first[..common].as_bstr()
    }

    fn fits(&self, other: &Self) -> bool {
        self.bytes() + other.bytes() <= MOST_BYTES && self.0.len() + other.0.len() <= MOST_FILES
    }
}

/// Cuts `files`, which are in the order of their paths.
#[must_use]
pub fn cut(files: &[File]) -> Vec<Portions> {
    let portions: Vec<Portion> = files.iter().flat_map(ranges).collect();
    let all: Vec<&Portion> = portions.iter().collect();
    group(&all, 0)
}

/// The file, or where it is too large for one scout, ranges of its lines.
fn ranges(file: &File) -> Vec<Portion> {
    let whole = Portion {
        path: file.path.clone(),
        from: 1,
        to: file.lines,
        whole: true,
        bytes: file.bytes,
    };
    let parts = file.bytes.div_ceil(MOST_BYTES).min(u64::from(file.lines));
    if parts <= 1 {
        return vec![whole];
    }
    // At least one line each: there are no more parts than lines.
    let start = |n: u64| u32::try_from(u64::from(file.lines) * n / parts).unwrap_or(u32::MAX);
    let part = |n| Portion {
        from: start(n) + 1,
        to: start(n + 1),
        whole: false,
        bytes: (file.bytes / parts).min(MOST_BYTES),
        ..whole.clone()
    };
    (0..parts).map(part).collect()
}

/// Slices of what is in one folder, whose name takes up `depth` bytes of each path.
fn group(portions: &[&Portion], depth: usize) -> Vec<Portions> {
    let whole = Portions(portions.iter().map(|portion| (*portion).clone()).collect());
    if whole.fits(&Portions::default()) || portions.len() == 1 {
        return if portions.is_empty() { Vec::new() } else { vec![whole] };
    }
    // The folder's own files first, then folder by folder.
    let folder =
        |portion: &&Portion| portion.path[depth..].find_byte(b'/').map(|at| depth + at + 1);
    let (own, below): (Vec<&Portion>, Vec<&Portion>) =
        portions.iter().partition(|portion| folder(portion).is_none());
    let mut pieces: Vec<Portions> =
        own.into_iter().map(|portion| Portions(vec![portion.clone()])).collect();
    let same = |a: &&Portion, b: &&Portion| {
        folder(a).is_some_and(|end| folder(b) == Some(end) && a.path[..end] == b.path[..end])
    };
    for folder_of in below.chunk_by(same) {
        let end = folder_of.first().and_then(folder).unwrap_or(depth);
        pieces.extend(group(folder_of, end));
    }
    let mut slices: Vec<Portions> = Vec::new();
    for piece in pieces {
        match slices.last_mut().filter(|last| last.fits(&piece)) {
            Some(last) => last.0.extend(piece.0),
            None => slices.push(piece),
        }
    }
    slices
}
