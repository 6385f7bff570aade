//! A file of one work package where another one needs a folder: `src/a` and `src/a/**` share no path, but
//! no tree holds both.
//!
//! Only folders that a pattern spells out count, in letters or in braces full of letters. Any `**` could make a folder of any name, `src/a.rs/`
//! too, and a warning of that would be true of every plan and of use in none. Of these folders the
//! answer is exact: each is one path, which a whitelist allows as a file or does not.

use bstr::BString;

use super::overlap::{MAX_PAIRS, OverlapKind, Pairs, Stage};
use super::search::{self, Answer, MAX_STEPS};
use super::sequence::Sequence;
use super::universe;

impl Stage<'_> {
    /// Adds the pairs of which one can make a file where the other one needs a folder. Says whether
    /// there are too many.
    pub(super) fn clashes<P: AsRef<[u8]>>(&mut self, base: &[P], pairs: &mut Pairs) -> bool {
        let entries = self.entries.iter().enumerate();
        let mut folders: Vec<(Vec<Vec<u8>>, usize)> = entries
            .flat_map(|(at, entry)| entry.sequence.folders().into_iter().map(move |f| (f, at)))
            .collect();
        folders.sort_unstable();
        let mut paths: Option<Vec<&[u8]>> = None;
        for group in folders.chunk_by(|x, y| x.0 == y.0) {
            let folder = &group[0].0;
            let path: BString = folder.join(&b'/').into();
            let Some(key) = universe::key(&path) else { continue };
            let mut makers = self.reaching(&key);
            makers.retain(|maker| !self.whitelists[*maker].subtracts(&key));
            if makers.is_empty() {
                continue;
            }
            let paths = paths.get_or_insert_with(|| {
                let mut paths: Vec<&[u8]> = base.iter().map(AsRef::as_ref).collect();
                paths.sort_unstable();
                paths
            });
            makers.retain(|maker| self.may_become_a_file(*maker, &path, paths));
            for maker in makers {
                for (_, at) in group {
                    let owner = self.entries[*at].owner;
                    let pair = (maker.min(owner), maker.max(owner));
                    if maker == owner || pairs.contains_key(&pair) {
                        continue;
                    }
                    let Some(within) = self.within(*at, folder) else { continue };
                    if pairs.len() == MAX_PAIRS {
                        return true;
                    }
                    let (path, file_by_a) = (path.clone(), maker < owner);
                    pairs.insert(pair, OverlapKind::Clash { path, file_by_a, within });
                }
            }
        }
        false
    }

    /// Whether the whitelist `maker`, which allows `path`, can come to have a file there. What is a file
    /// in the base already keeps the other one from its folder, and a folder goes away only with
    /// all that is in it.
    fn may_become_a_file(&self, maker: usize, path: &[u8], base: &[&[u8]]) -> bool {
        let inside = [path, b"/"].concat();
        let from = base.partition_point(|other| *other < &inside[..]);
        let mut held = base[from..].iter().take_while(|other| other.starts_with(&inside));
        base.binary_search(&path).is_err() && held.all(|path| self.whitelists[maker].matches(path))
    }

    /// A path in `folder` that the pattern `at` matches and its whitelist does not take away, if there is
    /// one: `Some(None)` when that could not be decided.
    fn within(&mut self, at: usize, folder: &[Vec<u8>]) -> Option<Option<BString>> {
        let entry = &self.entries[at];
        let subtracted = self.whitelists[entry.owner].negative.items();
        let none: Vec<&Sequence> =
            subtracted.iter().filter(|none| none.may_meet(entry.sequence)).collect();
        let inside = Sequence::inside(folder);
        match search::find(entry.sequence, Some(&inside), &none, MAX_STEPS, &mut self.effort) {
            Answer::Empty => None,
            Answer::GaveUp => Some(None),
            Answer::Witness(_, path) => Some(Some(path.into())),
        }
    }
}
