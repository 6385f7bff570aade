//! What every check gets to see: the plan, where each part of it stands in the file, and what for.

use std::ops::Range;

use crate::finding::{Finding, Severity};
use crate::model::plan::Plan;
use crate::plan::wording::quoted;
use crate::plan::{Origins, Sites, is_nameless};

use super::Purpose;

/// A plan under check.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The plan as resolved.
    pub plan: &'a Plan,
    /// Which part of the file each of its WPs and stages comes from.
    pub origins: &'a Origins,
    /// Where its values stand, by JSON pointer.
    pub places: &'a Sites,
    /// The plan file, as the user named it.
    pub file: &'a str,
    /// Check, or run.
    pub purpose: Purpose,
}

impl Subject<'_> {
    /// An error at the value that `pointer` leads to.
    pub fn error(&self, code: &'static str, pointer: &str, message: String) -> Finding {
        Finding::error(code, self.places.file(pointer), message).at(self.place(pointer))
    }

    /// Pointer to what says `key` of WP `i`.
    pub fn wp(&self, i: usize, key: &str) -> String {
        self.origins.wp(i).at(key)
    }

    /// What WP `i` is called, if it has a name of its own.
    pub fn named(&self, i: usize) -> Option<&str> {
        Some(self.plan.wps[i].id.as_str()).filter(|id| !is_nameless(id))
    }

    /// WP `i`, for a sentence.
    pub fn who(&self, i: usize) -> String {
        match self.named(i) {
            Some(id) => format!("`{id}`"),
            None => match self.places.text(&self.wp(i, "id")) {
                Some(written) => quoted(&written),
                None => "a work package without an id".to_owned(),
            },
        }
    }

    /// A warning there.
    pub fn warning(&self, code: &'static str, pointer: &str, message: String) -> Finding {
        Finding::warning(code, self.places.file(pointer), message).at(self.place(pointer))
    }

    /// A finding about the clone at hand: it keeps the plan from running, not from being right.
    pub fn here(&self, code: &'static str, pointer: &str, message: String) -> Finding {
        let severity = match self.purpose {
            Purpose::Check => Severity::Warning,
            Purpose::Run => Severity::Error,
        };
        Finding { severity, ..self.error(code, pointer, message) }
    }

    /// Where the value stands; for a value that was left out, whatever would hold it.
    pub fn place(&self, pointer: &str) -> Range<usize> {
        self.places.nearest(pointer)
    }

    /// The first of `pointers` that is there; else the first.
    pub fn present(&self, pointers: [String; 2]) -> String {
        let [first, second] = pointers;
        if self.places.value(&first).is_none() && self.places.value(&second).is_some() {
            second
        } else {
            first
        }
    }

    /// `finding`, at the bytes `range` of the string that `pointer` leads to. An empty range says
    /// nothing that the whole string does not.
    pub fn inside(&self, finding: Finding, pointer: &str, range: Range<usize>) -> Finding {
        let span = (!range.is_empty()).then(|| self.places.inside(pointer, range)).flatten();
        match span {
            Some(span) => finding.at(span),
            None => finding,
        }
    }
}
