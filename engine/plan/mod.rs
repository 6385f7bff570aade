//! From the text of a plan file to the plan as resolved: source (spans) → schema → lower.
//!
//! A good plan is read once: TOML, then the types of [`document`], then [`lower`]. Only a plan with
//! something wrong pays for finding out all that is wrong: then the JSON Schema is compiled and run
//! ([`schema`]), its answers are put into our own words at their places in the file ([`explain`]), and
//! what they leave of the plan is mended just enough ([`mend`]) to be read for its meaning too.

pub mod command;
pub mod document;
pub mod explain;
pub mod generate;
pub mod literal;
pub mod lower;
pub mod mend;
pub mod nearest;
pub mod origins;
pub mod places;
pub mod pointer;
pub mod scalar;
pub mod schema;
pub mod shape;
pub mod source;
pub mod stand_in;
pub mod wording;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use crate::finding::{Finding, any_error};
use crate::model;

pub use origins::{Origin, Origins};
pub use places::Places;
pub use schema::schema_json;
pub use source::Source;
pub use stand_in::is_nameless;

use document::Document;
use lower::Lowered;

/// What a plan file says, and what is wrong with it.
#[derive(Debug)]
pub struct Read {
    /// The plan as resolved; `None` when a finding is an error.
    pub plan: Option<model::plan::Plan>,
    /// When `plan` is not there: as much of it as can be made out, whatever is wrong with it, so that
    /// further rooms can say at once what else is wrong. It is never to be run. Tiers and workers in it lead
    /// somewhere; what has no name of its own has one that [`is_nameless`].
    pub draft: Option<model::plan::Plan>,
    /// WPs of the draft of which it is not known in which order they run with others: their stage, or what they
    /// need, cannot be made out.
    pub unplaced: BTreeSet<usize>,
    /// The brief file of each WP of the plan or the draft, as named from the plan's folder; `None` where
    /// the brief stands in the plan itself.
    pub brief_files: Vec<Option<String>>,
    /// Which part of the file each WP and stage of the plan or the draft comes from.
    pub origins: Origins,
    /// Where in the file each part stands.
    pub places: Places,
    /// All that is wrong, in the order of the file.
    pub findings: Vec<Finding>,
}

impl Read {
    /// The plan, or else the draft of it: what can be looked at further, but not run.
    #[must_use]
    pub fn readable(&self) -> Option<&model::plan::Plan> {
        self.plan.as_ref().or(self.draft.as_ref())
    }
}

/// Reads a plan. Briefs are looked for from `dir`, the folder of the plan file.
///
/// All findings are reported, not the first: those of the schema and those of the meaning together.
/// Only a text that is not TOML is read no further.
#[must_use]
pub fn read(source: &Source, dir: &Path) -> Read {
    let mut places = Places::new(&source.text);
    let Ok(mut table) = DeTable::parse(&source.text) else {
        return Read {
            plan: None,
            draft: None,
            unplaced: BTreeSet::new(),
            brief_files: Vec::new(),
            origins: Origins::default(),
            findings: source.syntax(),
            places,
        };
    };
    source::date_as_text(table.get_mut());
    let (lowered, mut findings) = match Document::deserialize(Deserializer::from(table)) {
        Ok(document) => (lower::lower(document, dir), Vec::new()),
        Err(refusal) => {
            let answer = schema::examine(source, &mut places, &refusal);
            let lowered = answer.mended.map(|(document, mended)| {
                let mut lowered = lower::lower(document, dir);
                // What the schema has spoken of is not spoken of twice.
                lowered.notes.retain(|note| !mended.settles(note));
                lowered
            });
            (lowered.unwrap_or_default(), answer.findings)
        }
    };
    let Lowered { plan: draft, unplaced, brief_files, origins, notes } = lowered;
    findings.extend(notes.iter().map(|note| note.place(&source.file, &places)));
    findings.sort_by_key(|finding| finding.span.as_ref().map_or(0, |span| span.start));
    let (plan, draft) = match any_error(&findings) {
        true => (None, draft),
        false => (draft, None),
    };
    Read { plan, draft, unplaced, brief_files, origins, places, findings }
}
