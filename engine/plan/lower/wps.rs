//! Work packages: what each says, and what it takes over from the plan.

use super::brief::Briefs;
use super::names::Names;
use super::{Notes, ONLY_STAGE, commands, texts};
use crate::model::ids::{StageId, TierId, WpId};
use crate::model::plan::{self as model, Kind, Review};
use crate::plan::document::Wp;
use crate::plan::mend::NAMELESS;
use crate::plan::scalar::{Name, Whole};
use crate::plan::shape::Table;
use crate::plan::wording::{known, quoted};

/// What holds for WPs that say nothing else.
pub struct Defaults {
    /// Who works.
    pub tier: Option<String>,
    /// Rounds before a person decides.
    pub rounds: u32,
    /// Who judges.
    pub review: Option<Review>,
    /// Template of the briefs of WPs that make a change.
    pub template: Option<String>,
}

/// Resolves the WPs. `None` when one of them has no tier: then there is no plan to speak of.
pub fn lower(
    wps: Vec<Table<Wp>>,
    defaults: &Defaults,
    names: &Names,
    briefs: &mut Briefs<'_>,
    notes: &mut Notes,
) -> Option<Vec<model::Wp>> {
    let resolved: Vec<Option<model::Wp>> = wps
        .into_iter()
        .enumerate()
        .map(|(i, wp)| One { i, names, notes }.lower(wp.0, defaults, briefs))
        .collect();
    resolved.into_iter().collect()
}

/// One WP, as it is looked at.
struct One<'a> {
    i: usize,
    names: &'a Names,
    notes: &'a mut Notes,
}

/// A WP by its id, for a sentence.
fn who(id: &str) -> String {
    match id.starts_with(NAMELESS) {
        true => "this work package".to_owned(),
        false => quoted(id),
    }
}

impl One<'_> {
    fn at(&self, key: &str) -> String {
        format!("/wp/{}/{key}", self.i)
    }

    fn lower(mut self, wp: Wp, defaults: &Defaults, briefs: &mut Briefs<'_>) -> Option<model::Wp> {
        let (i, names) = (self.i, self.names);
        let stage = self.stage(wp.stage.as_deref());
        // Of a WP that is not known by name, or not known to belong anywhere, nothing is to follow.
        let known = stage.is_some() && names.is_first(i) && !wp.id.starts_with(NAMELESS);
        let stage = stage.unwrap_or(names.stages().first().map_or(ONLY_STAGE, String::as_str));
        match (&wp.tier, &defaults.tier) {
            (Some(tier), _) => names.tier(tier, || format!("/wp/{i}/tier"), self.notes),
            (None, Some(_)) => {}
            (None, None) => names.no_tier(&self.at("tier"), self.notes),
        }
        let tier = wp.tier.map(String::from).or_else(|| defaults.tier.clone());
        let brief = self.brief(wp.brief.as_deref(), wp.brief_text.as_deref(), briefs);
        let kind = wp.kind.0;
        self.scope(kind, &wp.id, wp.whitelist.len(), wp.dod.len());
        let mut needs = wp.needs.map(|needs| self.needs(needs, &wp.id));
        let (mut id, mut whitelist) = (wp.id.0, texts(wp.whitelist));
        let title = wp.title.map_or_else(|| id.clone(), |title| title.0.trim().to_owned());
        if !known {
            whitelist.clear();
            needs.iter_mut().for_each(Vec::clear);
            if !names.is_first(i) {
                id = format!("{NAMELESS}{i}");
            }
        }
        let mut dod = Vec::with_capacity(wp.dod.len());
        for (j, entry) in wp.dod.into_iter().enumerate() {
            dod.extend(commands::dod(entry, || format!("/wp/{i}/dod/{j}"), self.notes));
        }
        let review = match wp.review {
            Some(review) => commands::review(review, &format!("/wp/{i}/review"), self.notes),
            None => defaults.review.clone().unwrap_or_default(),
        };
        let template = match (wp.template, &defaults.template, kind) {
            (Some(own), ..) => own.0,
            (None, Some(template), Kind::Change) => template.clone(),
            (None, None, Kind::Change) => "change".to_owned(),
            (None, _, Kind::Scout) => "scout".to_owned(),
        };
        let fork = |fork: Table<crate::plan::document::Fork>| model::Fork {
            question: fork.0.question.0,
            default: fork.0.default.0,
        };
        Some(model::Wp {
            title,
            id: WpId::new(id).ok()?,
            stage: StageId::new(stage).ok()?,
            kind,
            tier: TierId::new(tier.unwrap_or_else(|| NAMELESS.to_owned() + "tier")).ok()?,
            risk: wp.risk.0,
            whitelist,
            dod,
            brief: brief.unwrap_or_default(),
            template,
            needs,
            locks: wp.locks.into_iter().map(String::from).collect(),
            review,
            rounds: wp.rounds.map_or(defaults.rounds, |Whole(rounds)| rounds as u32),
            allow_empty: wp.allow_empty,
            forks: wp.forks.into_iter().map(fork).collect(),
            vars: wp.vars.0.into_iter().map(|(name, value)| (name.0, value)).collect(),
            budget: model::Budget::default(),
            consolidates: None,
        })
    }

    /// The stage that it is in. `None` when that cannot be said, which is noted.
    fn stage<'s>(&mut self, stage: Option<&'s str>) -> Option<&'s str> {
        let (i, names) = (self.i, self.names);
        if let Some(stage) = stage {
            names.stage(stage, || format!("/wp/{i}/stage"), self.notes)?;
            return Some(stage);
        }
        if names.stages().is_empty() {
            return Some(ONLY_STAGE);
        }
        let message = "the plan has stages, and this work package is in none";
        let stages = known(names.stages(), "or");
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
        let i = self.i;
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
            (Some(file), None) => briefs.get(file, || format!("/wp/{i}/brief"), self.notes),
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
        if dod == 0 {
            let message =
                format!("nothing proves {} done: its Definition of Done is empty", who(id));
            self.notes
                .error(self.at("dod"), "empty-dod", message)
                .help("add `dod`, commands that all exit 0 when the work is right");
        }
    }

    /// The WPs that it needs. Those that it cannot need are noted and left out.
    fn needs(&mut self, needs: Vec<Name>, own: &str) -> Vec<WpId> {
        let (i, names) = (self.i, self.names);
        let mut ids: Vec<WpId> = Vec::with_capacity(needs.len());
        for (j, need) in needs.into_iter().enumerate() {
            let at = || format!("/wp/{i}/needs/{j}");
            if need.0 == own {
                let message = format!("{} needs itself", quoted(own));
                self.notes.error(at(), "self-need", message).help("leave it out");
                continue;
            }
            let Some(other) = names.wp(&need, at, self.notes) else {
                continue;
            };
            let stages = (names.stage_of(i), names.stage_of(other));
            if let (Some(here), Some(there)) = stages
                && there > here
            {
                let stage = |n: usize| quoted(&names.stages()[n]);
                let (there, here) = (stage(there), stage(here));
                let message =
                    format!("{} is in stage {there}, which runs after {here}", quoted(&need));
                self.notes
                    .error(at(), "late-need", message)
                    .related("its stage", format!("/wp/{other}/stage"))
                    .help("a work package can need those of its own stage and of stages before");
                continue;
            }
            if let Ok(id) = WpId::new(need)
                && !ids.contains(&id)
            {
                ids.push(id);
            }
        }
        ids
    }
}
