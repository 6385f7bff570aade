//! The work package that a stage with shared files ends with. It is a stage of its own, right after: it
//! starts from the merged work of the stage, and what comes later starts from its result.

use super::brief::Briefs;
use super::names::Names;
use super::wps::{Common, Defaults, One};
use super::{Notes, id, texts};
use crate::model::ids::{StageId, WpId};
use crate::model::plan::{self as model, Kind, ReportForm};
use crate::plan::document::{Consolidate, Stage};
use crate::plan::origins::{Origin, Origins};
use crate::plan::shape::Table;
use crate::plan::stand_in::{is_nameless, nameless};
use crate::plan::wording::quoted;

/// What is asked of it where the plan does not say.
const TASK: &str = "Put into the shared files what the reports of this stage's work packages ask for them, and \
                    nothing else. Keep to the order and the style that each file has.";

/// The template of its brief where the plan names none.
const TEMPLATE: &str = "consolidate";

/// Resolves the stages, each followed by the one that consolidates it, and adds the WPs that do to `wps` and
/// their brief files to `files`.
pub fn lower(
    stages: Vec<Table<Stage>>,
    (wps, files): (&mut Vec<model::Wp>, &mut Vec<Option<String>>),
    defaults: &Defaults,
    names: &Names,
    briefs: &mut Briefs<'_>,
    notes: &mut Notes,
) -> (Vec<model::Stage>, Origins) {
    let mut origins = Origins { written: wps.len(), ..Origins::default() };
    let mut resolved = Vec::with_capacity(stages.len());
    for (s, stage) in stages.into_iter().enumerate() {
        let Stage { name, shared, consolidate } = stage.0;
        idle(s, &name.0, shared.is_empty(), consolidate.is_some(), names, notes);
        let shared = texts(shared);
        let of: StageId = match names.stage_is_twin(s) {
            true => id(nameless(&format!("stage-{s}"))),
            false => id(name.0),
        };
        origins.stages.push(s);
        resolved.push(model::Stage { id: of.clone(), shared: shared.clone() });
        let Some(own) = names.consolidation(s) else { continue };
        let stage: StageId = id(own.clone());
        let consolidate = consolidate.map(|table| table.0).unwrap_or_default();
        files.push(consolidate.brief.clone().map(String::from));
        let one = One { origin: Origin::Consolidate(s), names, notes: &mut *notes };
        let place = Place { wp: id(own), stage: stage.clone(), of, shared };
        let wp = one.consolidate(place, consolidate, wps, defaults, briefs);
        wps.push(wp);
        origins.consolidated.push(s);
        origins.stages.push(s);
        resolved.push(model::Stage { id: stage, shared: Vec::new() });
    }
    (resolved, origins)
}

/// Notes settings of a consolidation that there is none of.
fn idle(s: usize, name: &str, bare: bool, set: bool, names: &Names, notes: &mut Notes) {
    // Nobody can say that they are in a stage without a name.
    if !set || names.consolidates(s) || is_nameless(name) {
        return;
    }
    let at = format!("/stage/{s}/consolidate");
    if bare {
        let message =
            format!("stage {} shares no files, so there is nothing to consolidate", quoted(name));
        notes
            .error(at, "nothing-shared", message)
            .help("name the files in the stage's `shared`, or leave `[stage.consolidate]` out");
    } else {
        let message = format!(
            "no work package of stage {} changes anything, so there is nothing to consolidate",
            quoted(name)
        );
        notes
            .error(at, "nothing-shared", message)
            .looked_in("/wp")
            .help("leave `[stage.consolidate]` out");
    }
}

/// Which consolidation it is.
struct Place {
    wp: WpId,
    stage: StageId,
    /// The stage whose shared files it may touch.
    of: StageId,
    shared: Vec<String>,
}

impl One<'_> {
    fn consolidate(
        mut self,
        place: Place,
        wp: Consolidate,
        wps: &[model::Wp],
        defaults: &Defaults,
        briefs: &mut Briefs<'_>,
    ) -> model::Wp {
        let Place { wp: id, stage, of, shared } = place;
        let said = wp.dod.is_some();
        let common = Common {
            tier: wp.tier,
            dod: wp.dod.unwrap_or_default(),
            brief: wp.brief,
            brief_text: wp.brief_text,
            review: wp.review,
            rounds: wp.rounds,
            locks: wp.locks,
            budget: (wp.budget_usd, wp.budget_tokens),
        };
        let mut lowered = self.common(common, Kind::Change, Some(TASK), defaults, briefs);
        if said {
            self.nothing_proves(id.as_str(), lowered.dod.len());
        } else {
            lowered.dod = guards(wps, &of);
        }
        model::Wp {
            title: wp
                .title
                .map_or_else(|| format!("Shared files of {of}"), |title| title.0.trim().to_owned()),
            id,
            stage,
            kind: Kind::Change,
            tier: lowered.tier,
            risk: wp.risk.0,
            whitelist: shared,
            dod: lowered.dod,
            brief: lowered.brief,
            template: wp.template.map_or_else(|| TEMPLATE.to_owned(), String::from),
            needs: None,
            locks: lowered.locks,
            review: lowered.review,
            rounds: lowered.rounds,
            allow_empty: true,
            forks: Vec::new(),
            vars: std::collections::BTreeMap::new(),
            budget: lowered.budget,
            consolidates: Some(of),
            report: ReportForm::default(),
            findings: Vec::new(),
        }
    }
}

/// The commands of all WPs of the stage, each once, with the longest of its limits: on the merged tree they all
/// have to hold, whatever they said on the base.
fn guards(wps: &[model::Wp], stage: &StageId) -> Vec<model::Dod> {
    let mut all: Vec<model::Dod> = Vec::new();
    for dod in wps.iter().filter(|wp| wp.stage == *stage).flat_map(|wp| &wp.dod) {
        match all.iter_mut().find(|known| known.command == dod.command) {
            Some(known) => known.timeout = known.timeout.max(dod.timeout),
            None => all.push(model::Dod { expect: None, ..dod.clone() }),
        }
    }
    all
}
