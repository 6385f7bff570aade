//! Work packages: what each says, and what it takes over from the plan.

use std::collections::BTreeSet;

use super::brief::Briefs;
use super::names::Names;
use super::{Notes, ONLY_STAGE, commands, id, texts};
use crate::model::ids::{TierId, WpId};
use crate::model::plan::{self as model, Kind, Review};
use crate::model::turn::Usd;
use crate::plan::document::{self, Dod, Tokens, Wp};
use crate::plan::origins::Origin;
use crate::plan::scalar::{Filled, Money, Name, Whole};
use crate::plan::shape::Table;
use crate::plan::stand_in::{is_nameless, nameless};
use crate::plan::wording::{known, quoted};

/// What holds for WPs that say nothing else.
pub struct Defaults {
    /// Who works.
    pub tier: Option<String>,
    /// Rounds before a person decides.
    pub rounds: u32,
    /// Who judges, as `[plan] review` says.
    pub review: Option<Review>,
    /// Review by a worker, as `[review]` says.
    pub worker: Option<Review>,
    /// Template of the briefs of WPs that make a change.
    pub template: Option<String>,
}

/// Resolves the WPs, and tells those of which it is not known in which order they run with others.
pub fn lower(
    wps: Vec<Table<Wp>>,
    defaults: &Defaults,
    names: &Names,
    briefs: &mut Briefs<'_>,
    notes: &mut Notes,
) -> (Vec<model::Wp>, BTreeSet<usize>) {
    let mut unplaced = BTreeSet::new();
    let mut resolved = Vec::with_capacity(wps.len());
    for (i, wp) in wps.into_iter().enumerate() {
        let (wp, placed) =
            One { origin: Origin::Wp(i), names, notes }.lower(i, wp.0, defaults, briefs);
        resolved.push(wp);
        if !placed {
            unplaced.insert(i);
        }
    }
    (resolved, unplaced)
}

/// One WP, as it is looked at.
pub struct One<'a> {
    pub(super) origin: Origin,
    pub(super) names: &'a Names,
    pub(super) notes: &'a mut Notes,
}

/// What a `[[wp]]` and a consolidation both say of themselves.
pub struct Common {
    pub(super) tier: Option<Name>,
    pub(super) dod: Vec<Dod>,
    pub(super) brief: Option<Filled>,
    pub(super) brief_text: Option<Filled>,
    pub(super) review: Option<document::Review>,
    pub(super) rounds: Option<Whole<1, 3>>,
    pub(super) locks: Vec<Name>,
    pub(super) budget: (Option<Money>, Option<Tokens>),
}

/// The same as resolved.
pub struct Resolved {
    pub(super) tier: TierId,
    pub(super) dod: Vec<model::Dod>,
    pub(super) brief: String,
    pub(super) review: Review,
    pub(super) rounds: u32,
    pub(super) locks: Vec<String>,
    pub(super) budget: model::Budget,
}

/// A budget as resolved.
pub fn budget(usd: Option<Money>, tokens: Option<Tokens>) -> model::Budget {
    model::Budget {
        usd: usd.map(|Money(dollars)| Usd::from(dollars)),
        tokens: tokens.map(|Whole(tokens)| tokens),
    }
}

/// A WP by its id, for a sentence.
fn who(id: &str) -> String {
    match is_nameless(id) {
        true => "this work package".to_owned(),
        false => quoted(id),
    }
}

impl One<'_> {
    fn at(&self, key: &str) -> String {
        self.origin.at(key)
    }

    fn lower(
        mut self,
        i: usize,
        wp: Wp,
        defaults: &Defaults,
        briefs: &mut Briefs<'_>,
    ) -> (model::Wp, bool) {
        let stage = self.stage(wp.stage.as_deref()).map(str::to_owned);
        let mut placed = stage.is_some();
        let kind = wp.kind.0;
        self.scope(kind, &wp.id, wp.whitelist.len(), wp.dod.len());
        let common = Common {
            tier: wp.tier,
            dod: wp.dod,
            brief: wp.brief,
            brief_text: wp.brief_text,
            review: wp.review,
            rounds: wp.rounds,
            locks: wp.locks,
            budget: (wp.budget_usd, wp.budget_tokens),
        };
        let common = self.common(common, kind, None, defaults, briefs);
        let needs = wp.needs.map(|needs| self.needs(i, needs, &wp.id, &mut placed));
        let title = wp.title.map_or_else(|| wp.id.0.clone(), |title| title.0.trim().to_owned());
        let own = match self.names.wp_is_twin(i) {
            true => nameless(&format!("wp-{i}")),
            false => wp.id.0,
        };
        let template = match (wp.template, &defaults.template, kind) {
            (Some(own), ..) => own.0,
            (None, Some(template), Kind::Change) => template.clone(),
            (None, None, Kind::Change) => "change".to_owned(),
            (None, _, Kind::Scout) => "scout".to_owned(),
        };
        let fork = |fork: Table<document::Fork>| model::Fork {
            question: fork.0.question.0,
            default: fork.0.default.0,
        };
        let resolved = model::Wp {
            title,
            id: id(own),
            stage: id(stage.unwrap_or_else(|| nameless("stage"))),
            kind,
            tier: common.tier,
            risk: wp.risk.0,
            whitelist: texts(wp.whitelist),
            dod: common.dod,
            brief: common.brief,
            template,
            needs,
            locks: common.locks,
            review: common.review,
            rounds: common.rounds,
            allow_empty: wp.allow_empty,
            forks: wp.forks.into_iter().map(fork).collect(),
            vars: wp.vars.0.into_iter().map(|(name, value)| (name.0, value)).collect(),
            budget: common.budget,
            consolidates: None,
            report: wp.report.0,
            findings: texts(wp.findings),
        };
        (resolved, placed)
    }

    /// What every WP says. Without a brief of its own it has `task`.
    pub(super) fn common(
        &mut self,
        wp: Common,
        kind: Kind,
        task: Option<&str>,
        defaults: &Defaults,
        briefs: &mut Briefs<'_>,
    ) -> Resolved {
        let origin = self.origin;
        let brief = self.brief(
            wp.brief.as_deref(),
            wp.brief_text.as_deref().or(task_for(&wp, task)),
            briefs,
        );
        let mut dod = Vec::with_capacity(wp.dod.len());
        for (j, entry) in wp.dod.into_iter().enumerate() {
            dod.extend(commands::dod(entry, || origin.at(&format!("dod/{j}")), self.notes));
        }
        let worker = defaults.worker.as_ref();
        let review = match (wp.review, &defaults.review) {
            (Some(own), _) => commands::review(own, || origin.at("review"), worker, self.notes),
            (None, Some(review)) => review.clone(),
            // A scout changes nothing that a reviewer could read.
            (None, None) => worker.filter(|_| kind == Kind::Change).cloned().unwrap_or_default(),
        };
        Resolved {
            tier: self.tier(wp.tier, defaults),
            dod,
            brief: brief.unwrap_or_default(),
            review,
            rounds: wp.rounds.map_or(defaults.rounds, |Whole(rounds)| rounds as u32),
            locks: wp.locks.into_iter().map(String::from).collect(),
            budget: budget(wp.budget.0, wp.budget.1),
        }
    }

    fn tier(&mut self, own: Option<Name>, defaults: &Defaults) -> TierId {
        let at = self.origin;
        match (&own, &defaults.tier) {
            (Some(tier), _) => self.names.tier(tier, || at.at("tier"), self.notes),
            (None, Some(_)) => {}
            (None, None) => self.names.no_tier(at, self.notes),
        }
        let tier = own.map(String::from).or_else(|| defaults.tier.clone());
        id(tier.unwrap_or_else(|| nameless("tier")))
    }

    /// The stage that it is in. `None` when that cannot be said, which is noted.
    fn stage<'s>(&mut self, stage: Option<&'s str>) -> Option<&'s str> {
        let (origin, names) = (self.origin, self.names);
        if let Some(stage) = stage {
            names.stage(stage, || origin.at("stage"), self.notes)?;
            return Some(stage);
        }
        if names.stages().is_empty() {
            return Some(ONLY_STAGE);
        }
        let message = "the plan has stages, and this work package is in none";
        let stages = known(names.stage_names(), "or");
        self.notes
            .error(self.at("stage"), "missing-stage", message)
            .looked_in("/stage")
            .help(format!("add `stage`: {stages}"));
        None
    }

    fn brief(
        &mut self,
        file: Option<&str>,
        text: Option<&str>,
        briefs: &mut Briefs<'_>,
    ) -> Option<String> {
        let origin = self.origin;
        match (file, text) {
            (Some(_), Some(_)) => {
                let first = self.at("brief");
                self.notes
                    .error(
                        self.at("brief_text"),
                        "two-briefs",
                        "the brief is given twice, as a file and as text",
                    )
                    .key()
                    .label("again")
                    .related("first", first)
                    .help("leave out `brief` or `brief_text`");
                None
            }
            (Some(file), None) => briefs.get(file, || origin.at("brief"), self.notes),
            (None, Some(text)) => Some(text.to_owned()),
            (None, None) => {
                self.notes
                    .error(self.at("brief"), "no-brief", "this work package has no brief")
                    .help("add `brief`, a file named from the folder of the plan file, or `brief_text`");
                None
            }
        }
    }

    fn scope(&mut self, kind: Kind, id: &str, whitelist: usize, dod: usize) {
        if kind == Kind::Scout {
            if whitelist > 0 {
                let message = format!("{} is a scout and may change no file", who(id));
                self.notes
                    .error(self.at("whitelist"), "scout-whitelist", message)
                    .help("leave `whitelist` out, or `kind = \"scout\"`");
            }
            return;
        }
        if whitelist == 0 {
            let message = format!("{} may change no file: its whitelist is empty", who(id));
            self.notes
                .error(self.at("whitelist"), "empty-whitelist", message)
                .help("add `whitelist`, the paths that it may touch; or `kind = \"scout\"` if it only reports");
        }
        self.nothing_proves(id, dod);
    }

    /// Notes a Definition of Done without commands.
    pub(super) fn nothing_proves(&mut self, id: &str, dod: usize) {
        if dod == 0 {
            let message =
                format!("nothing proves {} done: its Definition of Done is empty", who(id));
            self.notes
                .error(self.at("dod"), "empty-dod", message)
                .help("add `dod`, commands that all exit 0 when the work is right");
        }
    }

    /// The WPs that it needs. Those that it cannot need are noted and left out, and if another was meant
    /// that may change its place.
    fn needs(&mut self, i: usize, needs: Vec<Name>, own: &str, placed: &mut bool) -> Vec<WpId> {
        let names = self.names;
        let here = names.stage_of(i);
        let mut ids: Vec<WpId> = Vec::with_capacity(needs.len());
        for (j, need) in needs.into_iter().enumerate() {
            let at = || format!("/wp/{i}/needs/{j}");
            if need.0 == own {
                let message = format!("{} needs itself", quoted(own));
                self.notes.error(at(), "self-need", message).help("leave it out");
                continue;
            }
            let consolidated = names.consolidation_named(&need);
            let (there, its_stage) = match consolidated {
                Some(stage) => (Some(stage), format!("/stage/{stage}/shared")),
                None => match names.wp(&need, at, self.notes) {
                    Some(other) => (names.stage_of(other), format!("/wp/{other}/stage")),
                    None => {
                        *placed = false;
                        continue;
                    }
                },
            };
            if let (Some(here), Some(there)) = (here, there)
                && (there > here || (there == here && consolidated.is_some()))
            {
                let stage = |n: usize| quoted(&names.stages()[n]);
                let message = match consolidated {
                    Some(_) => format!(
                        "{} runs after {}, which it consolidates",
                        quoted(&need),
                        stage(there)
                    ),
                    None => format!(
                        "{} is in stage {}, which runs after {}",
                        quoted(&need),
                        stage(there),
                        stage(here)
                    ),
                };
                self.notes
                    .error(at(), "late-need", message)
                    .related("its stage", its_stage)
                    .help("a work package can need those of its own stage and of stages before");
                *placed = false;
                continue;
            }
            // What is merged of an earlier stage is whole only with its shared files.
            let shared = there.filter(|there| here.is_some_and(|here| *there < here));
            let shared = shared.and_then(|there| names.consolidation(there));
            for name in [Some(need.0), shared].into_iter().flatten() {
                if !ids.iter().any(|id| id.as_str() == name) {
                    ids.push(id(name));
                }
            }
        }
        ids
    }
}

/// The task that stands in for a brief, where there is none.
fn task_for<'t>(wp: &Common, task: Option<&'t str>) -> Option<&'t str> {
    task.filter(|_| wp.brief.is_none())
}
