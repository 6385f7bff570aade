//! The published schemas, by name: `schemas/NAME.schema.json` is what `sop schema NAME` prints. A test
//! holds the files to the types that they are made of.

use crate::event::Record;
use crate::ledger::Ledger;
use crate::model::checkpoint::Checkpoint;
use crate::model::critic::Remarks;
use crate::model::gap::{GapReport, Leads};
use crate::model::preflight::Preflight;
use crate::model::verdict::{Report, Verdict};
use crate::plan::{self, generate};
use crate::report::standing::Standing;
use crate::report::summary::Summary;

/// One published schema.
pub struct Published {
    /// Its name, as `sop schema` takes it.
    pub name: &'static str,
    /// What documents it describes, in a few words.
    pub about: &'static str,
    /// Its text, as the file has it.
    pub text: fn() -> String,
}

/// All published schemas.
pub const ALL: &[Published] = &[
    Published { name: "plan", about: "plan files", text: plan::schema_json },
    Published {
        name: "config",
        about: "config files",
        text: plan::schema::published::<plan::document::Config>,
    },
    Published {
        name: "event",
        about: "lines of `--json` and of a run's journal",
        text: || generate::published(&generate::of::<Record>()),
    },
    Published {
        name: "state",
        about: "a run's `state.json`",
        text: || generate::published(&generate::of::<Ledger>()),
    },
    Published {
        name: "status",
        about: "`sop status --json`: the state, and what waits and until when",
        text: || generate::published(&generate::of::<Standing>()),
    },
    Published {
        name: "summary",
        about: "`sop status --summary --json`",
        text: || generate::published(&generate::of::<Summary>()),
    },
    Published {
        name: "checkpoint",
        about: "`sop plan --json`",
        text: || generate::published(&generate::of::<Checkpoint>()),
    },
    Published {
        name: "preflight",
        about: "`sop preflight`",
        text: || generate::published(&generate::of::<Preflight>()),
    },
    Published {
        name: "verdict",
        about: "what a reviewer writes",
        text: || generate::published(&generate::of::<Verdict>()),
    },
    Published {
        name: "report",
        about: "what a worker reports",
        text: || generate::published(&generate::of::<Report>()),
    },
    Published {
        name: "leads",
        about: "what a scout of an audit reports",
        text: || generate::published(&generate::of::<Leads>()),
    },
    Published {
        name: "remarks",
        about: "what a critic says of a plan",
        text: || generate::published(&generate::of::<Remarks>()),
    },
    Published {
        name: "gap-report",
        about: "what `sop audit` writes",
        text: || generate::published(&generate::of::<GapReport>()),
    },
];

/// The published schema of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Published> {
    ALL.iter().find(|schema| schema.name == name)
}
