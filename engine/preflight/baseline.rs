//! The checkout as it is now: what is compared with when the run is over.

use super::{Ask, LIMIT};
use crate::model::baseline::{Baseline, Kept};
use crate::model::preflight::{Part, Word};

pub(super) fn look(ask: &Ask) -> (Part<Baseline>, Option<Kept>) {
    match ask.repo.baseline(LIMIT) {
        Ok(Some(kept)) => {
            let baseline = kept.baseline.clone();
            let fine = match baseline.changes {
                0 => "the checkout is clean".to_owned(),
                1 => "1 path of the checkout is changed or untracked; it stays as it is".to_owned(),
                n => format!(
                    "{n} paths of the checkout are changed or untracked; they stay as they are"
                ),
            };
            (Part::new(baseline, fine, Vec::new()), Some(kept))
        }
        Ok(None) => {
            let fine = "there is no checkout here whose state could be taken down";
            (Part::unknown(Word::fine(fine)), None)
        }
        Err(error) => {
            let word = Word::warn(
                format!("the state of the checkout could not be taken down: {error}"),
                "look at `git status`; a run would not be able to say what became of the checkout",
            );
            (Part::unknown(word), None)
        }
    }
}
