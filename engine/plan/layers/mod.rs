//! Settings from outside of the plan, in layers: the user's config and the repository's below it, the
//! environment and flags above.
//!
//! Built-in values are below all of them: what no layer says is left to [`super::lower`]. A layer that cannot
//! be read as it stands has findings of its own, at its own places.

mod lend;
mod outside;
mod settings;

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use toml::de::{DeTable, Deserializer};

use super::document::{Config, Document};
use super::lower::{self, Note, Notes};
use super::mend::Mended;
use super::{Places, Sites, Source, schema, source};
use crate::finding::{Finding, Severity};
use crate::model::plan::Provision;

pub use lend::Own;
pub(super) use outside::note;
pub(super) use settings::NO_PLAN;
pub use settings::{Setting, settings};

/// Scalars that a variable of the environment can say: where they are in a config file, and the variable.
/// `SOP_TIER` is another thing already, and every worker has it in its environment.
pub const VARIABLES: [(&str, &str); 12] = [
    ("/defaults/max_parallel", "SOP_MAX_PARALLEL"),
    ("/defaults/approval", "SOP_APPROVAL"),
    ("/defaults/checkout", "SOP_CHECKOUT"),
    ("/defaults/autonomy", "SOP_AUTONOMY"),
    ("/defaults/decide_within", "SOP_DECIDE_WITHIN"),
    ("/defaults/lead_may_fix", "SOP_LEAD_MAY_FIX"),
    ("/defaults/session_split", "SOP_SESSION_SPLIT"),
    ("/defaults/tier", "SOP_DEFAULT_TIER"),
    ("/defaults/rounds", "SOP_ROUNDS"),
    ("/defaults/review", "SOP_REVIEW"),
    ("/defaults/template", "SOP_TEMPLATE"),
    ("/provision/timeout", "SOP_PROVISION_TIMEOUT"),
];

/// Whose settings a layer holds, from the lowest to the highest. The plan is between the repository and the
/// environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// The user's config.
    User,
    /// The repository's config.
    Repository,
    /// A variable of the environment.
    Environment,
    /// A flag.
    Flag,
}

impl Whose {
    /// Whether it goes before the plan.
    #[must_use]
    pub fn overrules(self) -> bool {
        self >= Self::Environment
    }
}

/// One layer.
#[derive(Debug)]
pub struct Layer {
    /// Whose it is.
    pub whose: Whose,
    /// The file and its text; for a variable or a flag its name, and what a file would have in its place.
    pub source: Source,
    config: Config,
    mended: Mended,
    /// Whether anything may be missing that is there, in what could not be read.
    broken: bool,
    places: Places,
    findings: Vec<Finding>,
}

impl Layer {
    /// Reads a config file.
    #[must_use]
    pub fn read(whose: Whose, source: Source) -> Self {
        let mut places = Places::new(&source.text);
        let (mut mended, mut broken) = (Mended::default(), false);
        let (config, findings) = match DeTable::parse(&source.text) {
            Err(_) => {
                broken = true;
                (Config::default(), source.syntax())
            }
            Ok(mut table) => {
                source::date_as_text(table.get_mut());
                match Config::deserialize(Deserializer::from(table)) {
                    Ok(config) => (config, Vec::new()),
                    Err(refusal) => {
                        let mut answer = schema::examine::<Config>(&source, &mut places, &refusal);
                        answer.findings.sort_by_key(|it| it.span.as_ref().map(|span| span.start));
                        broken = answer.document.is_none();
                        mended = answer.mended;
                        (answer.document.unwrap_or_default(), answer.findings)
                    }
                }
            }
        };
        Self { whose, source, config, mended, broken, places, findings }
    }

    /// A config file whose bytes are no text, and what is to be said of that.
    #[must_use]
    pub fn unreadable(whose: Whose, source: Source, finding: Finding) -> Self {
        let places = Places::new("");
        let (config, mended) = (Config::default(), Mended::default());
        Self { whose, source, config, mended, broken: true, places, findings: vec![finding] }
    }

    /// One setting that stands in no file: `value` for what a config file has at `at`. A number is one;
    /// everything else is a text.
    #[must_use]
    pub fn said(whose: Whose, name: &str, at: &str, value: &str) -> Self {
        let value = value.trim();
        let written = match value.parse::<i64>() {
            Ok(number) => number.to_string(),
            // JSON lets this one character through, and TOML does not.
            Err(_) => Value::from(value).to_string().replace('\u{7f}', "\\u007f"),
        };
        let key: Vec<_> = super::pointer::parts(at).collect();
        Self::read(whose, Source::new(name, format!("{} = {written}", key.join("."))))
    }

    /// Where in its text each part stands.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Whether it is a file: what a variable or a flag says has a name, and no line.
    #[must_use]
    pub fn is_file(&self) -> bool {
        !self.whose.overrules()
    }
}

/// The layers around a plan, from the lowest to the highest.
#[derive(Debug, Clone, Default)]
pub struct Layers(Arc<Vec<Layer>>);

impl Layers {
    /// These layers, in whatever order they are given.
    #[must_use]
    pub fn new(mut layers: Vec<Layer>) -> Self {
        layers.sort_by_key(|layer| layer.whose);
        Self(Arc::new(layers))
    }

    /// The layers.
    #[must_use]
    pub fn list(&self) -> &[Layer] {
        &self.0
    }

    /// What is wrong with them by their schema.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.0.iter().flat_map(|layer| layer.findings.iter().cloned())
    }

    /// What is wrong with their meaning, whatever plan they are used for. A tier or worker that no layer
    /// declares may be one of the plan's, so that is only a warning here.
    #[must_use]
    pub fn look(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.findings().collect();
        let none = Source::new("", NO_PLAN);
        let Ok(mut document) = toml::from_str::<Document>(&none.text) else { return findings };
        let mut sites = Sites::new(&none.file, Places::new(&none.text), self);
        self.lend(&mut document, &mut sites);
        for mut note in lower::lower(document, Path::new("")).notes {
            if sites.lender(&note.at).is_none() || self.settle(&note, &sites) {
                continue;
            }
            if ["unknown-tier", "unknown-worker"].contains(&note.finding.code) {
                note.finding.severity = Severity::Warning;
            }
            findings.push(note.place(&sites));
        }
        findings
    }

    /// What they say that a fresh worktree needs, where there is no plan. They are to be [without errors](Self::look).
    #[must_use]
    pub fn provision(&self) -> Provision {
        let none = Source::new("", NO_PLAN);
        let Ok(mut document) = toml::from_str::<Document>(&none.text) else {
            return Provision::default();
        };
        let mut sites = Sites::new(&none.file, Places::new(&none.text), self);
        self.lend(&mut document, &mut sites);
        lower::lower_provision(document.provision.0, &mut Notes::default())
    }

    /// Whether a note about the plan's meaning is not to be told: what it is about has been spoken of where it
    /// stands, or it calls idle what was not said of this plan alone.
    pub(super) fn settle(&self, note: &Note, sites: &Sites) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let lent = sites.lender(&note.at).is_some_and(|(layer, at)| {
            layer.mended.covers(&at) || ["idle-key", "unused-review"].contains(&note.finding.code)
        });
        // A review that a variable has put aside for once is idle, and that is as it should be.
        let aside = note.finding.code == "unused-review" && sites.lender("/plan/review").is_some();
        let lost =
            |table: &str| self.0.iter().any(|layer| layer.broken || layer.mended.covers(table));
        lent || aside || note.looked_in.is_some_and(lost)
    }
}
