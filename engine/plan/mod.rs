//! From the text of a plan file to the plan as resolved: source (spans) → schema → lower.
//!
//! A good plan is read once: TOML, then the types of [`document`], then [`lower`]. Only a plan with
//! something wrong pays for finding out all that is wrong: then the JSON Schema is compiled and run
//! ([`schema`]), its answers are put into our own words at their places in the file ([`explain`]), and
//! what they leave of the plan is mended just enough ([`mend`]) to be read for its meaning too.
//!
//! What a plan leaves out comes from the [`layers`] around it: config files, the environment, flags. Each
//! part of it is then found where it stands ([`sites`]).

pub mod command;
pub mod document;
pub mod explain;
pub mod generate;
pub mod layers;
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
pub mod sites;
pub mod source;
pub mod stand_in;
pub mod undecided;
pub mod wording;
pub mod write;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use crate::finding::{Finding, any_error};
use crate::model;

pub use layers::{Layer, Layers, Setting, Whose, settings};
pub use origins::{Origin, Origins};
pub use places::Places;
pub use schema::schema_json;
pub use sites::Sites;
pub use source::Source;
pub use stand_in::is_nameless;

use document::Document;
use lower::Lowered;
use mend::Mended;

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
    /// Where each part stands, in the file or in a layer.
    pub places: Sites,
    /// All that is wrong: with the plan, in the order of the file, then with the layers.
    pub findings: Vec<Finding>,
}

impl Read {
    /// The plan, or else the draft of it: what can be looked at further, but not run.
    #[must_use]
    pub fn readable(&self) -> Option<&model::plan::Plan> {
        self.plan.as_ref().or(self.draft.as_ref())
    }
}

/// Reads a plan among `layers`. Briefs are looked for from `dir`, the folder of the plan file.
///
/// All findings are reported, not the first: those of the schema and those of the meaning together.
/// Only a text that is not TOML is read no further.
#[must_use]
pub fn read(source: &Source, dir: &Path, layers: &Layers) -> Read {
    let mut places = Places::new(&source.text);
    let (document, mended, mut findings) = match DeTable::parse(&source.text) {
        Err(_) => (None, Mended::default(), source.syntax()),
        Ok(mut table) => {
            source::date_as_text(table.get_mut());
            match Document::deserialize(Deserializer::from(table)) {
                Ok(document) => (Some(document), Mended::default(), Vec::new()),
                Err(refusal) => {
                    let answer = schema::examine::<Document>(source, &mut places, &refusal);
                    (answer.document, answer.mended, answer.findings)
                }
            }
        }
    };
    let mut sites = Sites::new(&source.file, places, layers);
    let mut own = None;
    let lowered = document.map(|mut document| {
        own = layers.lend(&mut document, &mut sites);
        lower::lower(document, dir)
    });
    let Lowered { plan: mut draft, unplaced, brief_files, origins, mut notes } =
        lowered.unwrap_or_default();
    // What the schema has spoken of is not spoken of twice.
    notes.retain(|note| !mended.settles(note) && !layers.settle(note, &sites));
    let mut outside = Vec::new();
    if let Some((own, plan)) = own.zip(draft.as_mut()) {
        own.prune(plan);
        notes.retain(|note| sites.lender(&note.at).is_none() || own.uses(plan, &note.at));
        outside = layers::note(plan, &own, &source.file, &sites);
    }
    findings.extend(notes.iter().map(|note| note.place(&sites)));
    findings.extend(undecided::find(source));
    let place = |finding: &Finding| {
        (finding.file != source.file, finding.span.as_ref().map_or(0, |span| span.start))
    };
    findings.sort_by_key(place);
    findings.extend(layers.findings());
    findings.extend(outside);
    let (plan, draft) = match any_error(&findings) {
        true => (None, draft),
        false => (draft, None),
    };
    Read { plan, draft, unplaced, brief_files, origins, places: sites, findings }
}

/// All that a plan has at hand, tiers that nothing in it uses among it; without a plan, what every plan would
/// have. `None` where it cannot be read at all. Neither is to be run: what is wrong with it is [`read`]'s to say.
#[must_use]
pub fn at_hand(source: Option<&Source>, dir: &Path, layers: &Layers) -> Option<model::plan::Plan> {
    let none = Source::new("", layers::NO_PLAN);
    let source = source.unwrap_or(&none);
    let mut table = DeTable::parse(&source.text).ok()?;
    source::date_as_text(table.get_mut());
    let mut document = Document::deserialize(Deserializer::from(table)).ok()?;
    let mut sites = Sites::new(&source.file, Places::new(&source.text), layers);
    layers.lend(&mut document, &mut sites);
    lower::lower(document, dir).plan
}
