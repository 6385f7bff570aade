//! The names of a plan: each declared once, each used as declared.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{LOG_LIMIT, Notes, WORK_TIMEOUT, commands};
use crate::model::ids::{TierId, WorkerId};
use crate::model::plan as model;
use crate::plan::document::{Stage, Tier, Worker, Wp};
use crate::plan::mend::NAMELESS;
use crate::plan::nearest::Guesser;
use crate::plan::pointer;
use crate::plan::scalar::{Name, Named, Table};
use crate::plan::wording::{quoted, there_are};

/// All names that a plan declares.
pub struct Names {
    /// Tiers in the order of their names.
    tiers: Vec<String>,
    /// Workers in the order of their names.
    workers: Vec<String>,
    stages: Roll,
    wps: Roll,
    wp_stages: Vec<Option<usize>>,
    guesser: Guesser,
}

impl Names {
    /// Gathers the names, and notes those that are declared twice and stages that nothing uses.
    pub fn gather(
        tiers: &Named<Name, Table<Tier>>,
        workers: &Named<Name, Table<Worker>>,
        stages: &[Table<Stage>],
        wps: &[Table<Wp>],
        notes: &mut Notes,
    ) -> Self {
        let names = stages.iter().map(|stage| stage.name.0.clone()).collect();
        let stages = Roll::call(names, "stage", "name", notes);
        let ids = wps.iter().map(|wp| wp.id.0.clone()).collect();
        let wp_stage = |wp: &Table<Wp>| stages.find(wp.stage.as_deref()?);
        let wp_stages: Vec<_> = wps.iter().map(wp_stage).collect();
        let used: HashSet<usize> = wp_stages.iter().flatten().copied().collect();
        for (i, name) in stages.names.iter().enumerate() {
            if !used.contains(&i) && stages.is_first(i) {
                let message = format!("no work package is in stage {}", quoted(name));
                notes
                    .warning(format!("/stage/{i}/name"), "unused-stage", message)
                    .looked_in("/wp")
                    .help(format!("give one `stage = \"{name}\"`, or leave the stage out"));
            }
        }
        Self {
            tiers: tiers.0.keys().map(|name| name.0.clone()).collect(),
            workers: workers.0.keys().map(|name| name.0.clone()).collect(),
            wps: Roll::call(ids, "wp", "id", notes),
            stages,
            wp_stages,
            guesser: Guesser::default(),
        }
    }

    /// The tier of WPs that name none: `[plan] tier`, or the only one.
    pub fn default_tier(&self, plan: Option<&str>, notes: &mut Notes) -> Option<String> {
        match (plan, self.tiers.as_slice()) {
            (Some(tier), _) => {
                self.tier(tier, || "/plan/tier".to_owned(), notes);
                Some(tier.to_owned())
            }
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
        }
    }

    /// Notes that a WP names no tier and there is no default.
    pub fn no_tier(&self, at: &str, notes: &mut Notes) {
        let note = notes.error(at, "missing-tier", "it is not said who works on this");
        note.looked_in("/tiers");
        match self.tiers.is_empty() {
            true => note.help("declare a tier, `[tiers.standard]`, and the worker that it uses"),
            false => {
                let there = there_are(&self.tiers);
                note.help(format!("name a tier here or as `[plan] tier`; {there}"))
            }
        };
    }

    /// Notes a tier that is not declared.
    pub fn tier(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) {
        if self.tiers.binary_search_by(|tier| tier.as_str().cmp(name)).is_err() {
            let lack = format!("declare it: `[tiers.{name}]` with a `worker`");
            self.unknown("/tiers", "tier", name, at(), &self.tiers, &lack, notes);
        }
    }

    /// Notes a worker that is not declared.
    pub fn worker(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) {
        if self.workers.binary_search_by(|worker| worker.as_str().cmp(name)).is_err() {
            let lack = format!("declare it: `[workers.{name}]` with a `command`");
            self.unknown("/workers", "worker", name, at(), &self.workers, &lack, notes);
        }
    }

    /// The number of the stage at `at`. `None` when it is not declared, which is noted.
    pub fn stage(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) -> Option<usize> {
        let stage = self.stages.find(name);
        if stage.is_none() {
            let lack = format!("declare it: a `[[stage]]` with `name = \"{name}\"`");
            self.unknown("/stage", "stage", name, at(), &self.stages.names, &lack, notes);
        }
        stage
    }

    /// The number of the WP at `at`. `None` when there is none, which is noted.
    pub fn wp(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) -> Option<usize> {
        let wp = self.wps.find(name);
        if wp.is_none() {
            self.unknown("/wp", "work package", name, at(), &self.wps.names, "", notes);
        }
        wp
    }

    /// The stage that WP `i` belongs to, by number.
    pub fn stage_of(&self, i: usize) -> Option<usize> {
        self.wp_stages[i]
    }

    /// Whether WP `i` is the first of its name.
    pub fn is_first(&self, i: usize) -> bool {
        self.wps.is_first(i)
    }

    /// The declared stages in order.
    pub fn stages(&self) -> &[String] {
        &self.stages.names
    }

    #[allow(clippy::too_many_arguments)]
    fn unknown(
        &self,
        table: &'static str,
        noun: &str,
        name: &str,
        at: String,
        names: &[String],
        lack: &str,
        notes: &mut Notes,
    ) {
        let code = match table {
            "/tiers" => "unknown-tier",
            "/workers" => "unknown-worker",
            "/stage" => "unknown-stage",
            _ => "unknown-wp",
        };
        let meant = self.guesser.nearest(name, names.iter().map(String::as_str));
        let note = notes.error(at, code, format!("there is no {noun} {}", quoted(name)));
        note.looked_in(table);
        match meant {
            Some(meant) => {
                let help = format!("did you mean {}?", quoted(meant));
                note.suggest(format!("\"{meant}\"")).help(help)
            }
            None if names.is_empty() => note.help(lack),
            None if lack.is_empty() => note.help(there_are(names)),
            None => note.help(format!("{}; or {lack}", there_are(names))),
        };
    }
}

/// Names in the order of the file. Names become paths, and not every file system tells `A` from `a`:
/// two that differ only in case are one name twice.
struct Roll {
    names: Vec<String>,
    /// The first of each name, by the name in small letters.
    first: HashMap<String, usize>,
    /// Those of which an earlier one has the name.
    twins: HashSet<usize>,
    /// The names of twins that are written in another way than the first.
    variants: HashMap<String, usize>,
}

impl Roll {
    /// Looks for names that are declared twice, and notes them.
    fn call(names: Vec<String>, table: &str, key: &str, notes: &mut Notes) -> Self {
        let first = HashMap::with_capacity(names.len());
        let (twins, variants) = (HashSet::new(), HashMap::new());
        let mut roll = Self { names, first, twins, variants };
        for (i, name) in roll.names.iter().enumerate() {
            let earlier = match roll.first.entry(name.to_ascii_lowercase()) {
                Entry::Vacant(place) => {
                    place.insert(i);
                    continue;
                }
                Entry::Occupied(place) => *place.get(),
            };
            let twin = &roll.names[earlier];
            let (message, help) = match twin == name {
                true => (
                    format!("{} is the {key} of two `[[{table}]]` tables", quoted(name)),
                    "give each its own",
                ),
                false => (
                    format!("{} and {} differ only in case", quoted(name), quoted(twin)),
                    "names become branches and folders, and not every file system tells case apart: \
                     give each its own",
                ),
            };
            notes
                .error(format!("/{table}/{i}/{key}"), "duplicate-id", message)
                .label("again")
                .related("first", format!("/{table}/{earlier}/{key}"))
                .help(help);
            if twin != name {
                roll.variants.entry(name.clone()).or_insert(i);
            }
            roll.twins.insert(i);
        }
        roll
    }

    /// The number of the first that has this very name.
    fn find(&self, name: &str) -> Option<usize> {
        let small = match name.bytes().any(|b| b.is_ascii_uppercase()) {
            true => self.first.get(&name.to_ascii_lowercase()),
            false => self.first.get(name),
        };
        let found = small.copied().filter(|i| self.names[*i] == name);
        found.or_else(|| self.variants.get(name).copied())
    }

    fn is_first(&self, i: usize) -> bool {
        !self.twins.contains(&i)
    }
}

/// Checks what tiers say of each other and of workers.
pub fn tiers(tiers: &Named<Name, Table<Tier>>, names: &Names, notes: &mut Notes) {
    for (name, tier) in &tiers.0 {
        let at = pointer::join("/tiers", &name.0);
        names.worker(&tier.worker, || format!("{at}/worker"), notes);
        if let Some(next) = &tier.escalate_to {
            names.tier(next, || format!("{at}/escalate_to"), notes);
        }
        for (i, next) in tier.fallback.iter().enumerate() {
            names.tier(next, || format!("{at}/fallback/{i}"), notes);
        }
    }
    let escalations = |name: &str| {
        let next = tiers
            .0
            .get_key_value(&Name(name.to_owned()))
            .and_then(|(_, tier)| tier.escalate_to.as_ref());
        next.map(|next| (next.0.clone(), "escalate_to".to_owned())).into_iter().collect()
    };
    cycles(tiers, escalations, "tier-cycle", "escalate to each other for ever", notes);
    let fallbacks = |name: &str| {
        let tier = tiers.0.get(&Name(name.to_owned()));
        let fallback = tier.map(|tier| tier.fallback.as_slice()).unwrap_or_default();
        let edge = |(i, next): (usize, &Name)| (next.0.clone(), format!("fallback/{i}"));
        fallback.iter().enumerate().map(edge).collect()
    };
    cycles(tiers, fallbacks, "fallback-cycle", "fall back on each other for ever", notes);
}

/// Where a step from a tier leads, and the key below the tier that says so.
type Step = (String, String);

/// Notes each cycle once, whole, at the step that closes it.
fn cycles(
    tiers: &Named<Name, Table<Tier>>,
    steps: impl Fn(&str) -> Vec<Step>,
    code: &'static str,
    what: &str,
    notes: &mut Notes,
) {
    let mut done: BTreeMap<String, bool> = BTreeMap::new();
    for start in tiers.0.keys() {
        if done.contains_key(&start.0) {
            continue;
        }
        // Depth first: the path down to here, each with the steps that are left.
        done.insert(start.0.clone(), false);
        let mut path: Vec<(String, Vec<Step>)> = vec![(start.0.clone(), steps(&start.0))];
        while let Some((name, left)) = path.last_mut() {
            if left.is_empty() {
                done.insert(name.clone(), true);
                path.pop();
                continue;
            }
            let (next, key) = left.remove(0);
            let at = format!("{}/{key}", pointer::join("/tiers", &*name));
            match done.get(&next) {
                Some(true) => {}
                Some(false) => {
                    let round = path
                        .iter()
                        .skip_while(|(name, _)| *name != next)
                        .map(|(name, _)| name.as_str());
                    let round: Vec<String> = round.chain([next.as_str()]).map(quoted).collect();
                    let message = match round.as_slice() {
                        [only, _] => format!("tier {only} names itself"),
                        _ => format!("the tiers {} {what}", round.join(" → ")),
                    };
                    notes.error(at, code, message).help("leave one of these steps out");
                }
                None => {
                    done.insert(next.clone(), false);
                    let further = steps(&next);
                    path.push((next, further));
                }
            }
        }
    }
}

/// The tiers as resolved.
pub fn lower_tiers(tiers: Named<Name, Table<Tier>>) -> Option<BTreeMap<TierId, model::Tier>> {
    let lower = |(name, tier): (Name, Table<Tier>)| {
        let tier = tier.0;
        let resolved = model::Tier {
            worker: WorkerId::new(tier.worker).ok()?,
            model: tier.model.map(String::from),
            effort: tier.effort.map(String::from),
            escalate_to: tier.escalate_to.and_then(|next| TierId::new(next).ok()),
            fallback: tier.fallback.into_iter().filter_map(|next| TierId::new(next).ok()).collect(),
            max_parallel: tier.max_parallel.map(|most| most.0 as usize),
            timeout: tier.timeout.map_or(WORK_TIMEOUT, |time| time.0),
            idle_timeout: tier.idle_timeout.map(|time| time.0),
            log_limit: tier.log_limit.map_or(LOG_LIMIT, |size| size.0),
        };
        Some((TierId::new(name).ok()?, resolved))
    };
    tiers.0.into_iter().map(lower).collect()
}

/// The workers as resolved.
pub fn lower_workers(
    workers: Named<Name, Table<Worker>>,
    notes: &mut Notes,
) -> Option<BTreeMap<WorkerId, model::Worker>> {
    let mut lower = |(name, worker): (Name, Table<Worker>)| {
        let worker = worker.0;
        let at = format!("{}/command", pointer::join("/workers", &name.0));
        for (variable, value) in &worker.env.0 {
            if value.contains('\0') {
                let at = format!("{}/env/{}", pointer::join("/workers", &name.0), variable.0);
                notes.error(
                    at,
                    "nul",
                    "this value holds a NUL character, which no environment can",
                );
            }
        }
        let resolved = model::Worker {
            command: commands::words(worker.command, || at.clone(), notes).unwrap_or_default(),
            brief: worker.brief.0,
            env: worker.env.0.into_iter().map(|(name, value)| (name.0, value)).collect(),
        };
        Some((WorkerId::new(name).ok()?, resolved))
    };
    workers.0.into_iter().map(&mut lower).collect()
}

/// Makes every name of a draft lead somewhere. In a plan without findings they all do.
pub fn close(plan: &mut model::Plan) {
    let Ok(worker) = WorkerId::new(format!("{NAMELESS}worker")) else {
        return;
    };
    for wp in &plan.wps {
        if !plan.tiers.contains_key(&wp.tier) {
            let tier = model::Tier {
                worker: worker.clone(),
                model: None,
                effort: None,
                escalate_to: None,
                fallback: Vec::new(),
                max_parallel: None,
                timeout: WORK_TIMEOUT,
                idle_timeout: None,
                log_limit: LOG_LIMIT,
            };
            plan.tiers.insert(wp.tier.clone(), tier);
        }
    }
    let names: HashSet<TierId> = plan.tiers.keys().cloned().collect();
    for tier in plan.tiers.values_mut() {
        tier.escalate_to = tier.escalate_to.take().filter(|next| names.contains(next));
        tier.fallback.retain(|next| names.contains(next));
        plan.workers.entry(tier.worker.clone()).or_insert_with(|| model::Worker {
            command: vec!["true".to_owned()],
            brief: model::BriefBy::default(),
            env: BTreeMap::new(),
        });
    }
}
