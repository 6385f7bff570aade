//! "Did you mean": the known word that is closest to one that is not known.

use std::cell::Cell;

/// Guesses, until it has compared as much as one reading of a plan may: a plan in which every name is
/// wrong must not cost the square of its length.
#[derive(Debug)]
pub struct Guesser {
    left: Cell<usize>,
}

impl Default for Guesser {
    fn default() -> Self {
        Self { left: Cell::new(400_000) }
    }
}

impl Guesser {
    /// The candidate that `word` was probably meant to be. Case and the choice of `-` or `_` weigh
    /// nothing; otherwise a third of the letters may differ, and one of two.
    pub fn nearest<'a>(
        &self,
        word: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let plain = |text: &str| text.to_lowercase().replace('-', "_");
        let wanted = plain(word);
        let letters = wanted.chars().count();
        let allowed = (letters / 3).max(usize::from(letters > 1));
        let mut best: Option<(usize, &str)> = None;
        for candidate in candidates {
            self.left.set(self.left.get().checked_sub(1)?);
            let other = plain(candidate);
            // Of long words, one that starts the other is the same word cut short.
            let cut = letters >= 3 && (other.starts_with(&wanted) || wanted.starts_with(&other));
            let distance = strsim::osa_distance(&wanted, &other);
            let least = best.map_or(usize::MAX, |(least, _)| least);
            if (distance <= allowed || cut) && distance < least {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }
}
