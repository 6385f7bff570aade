//! The names of a plan: each declared once, each used as declared.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::Notes;
use crate::model::ids;
use crate::model::plan::{BUILT_IN_WORKERS, Kind};
use crate::plan::document::{Stage, Tier, Worker, Wp};
use crate::plan::nearest::Guesser;
use crate::plan::origins::Origin;
use crate::plan::scalar::Name;
use crate::plan::shape::{Named, Table};
use crate::plan::stand_in::{is_nameless, nameless};
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
    /// For each stage what its consolidation is called, if it ends with one.
    consolidations: Vec<Option<Consolidation>>,
    guesser: Guesser,
}

/// The consolidation of a stage.
struct Consolidation {
    /// `STAGE-shared`, or what stands in for it where it cannot be called so.
    id: String,
    /// Whether it is.
    free: bool,
}

impl Names {
    /// Gathers the names, and notes those that are declared twice and stages that nothing uses.
    pub fn gather(
        tiers: &Named<Name, Table<Tier>>,
        workers: &Named<Name, Table<Worker>>,
        stages_of: &[Table<Stage>],
        wps: &[Table<Wp>],
        notes: &mut Notes,
    ) -> Self {
        let names = stages_of.iter().map(|stage| stage.name.0.clone()).collect();
        let stages = Roll::call(names, "stage", "name", notes);
        let ids: Vec<String> = wps.iter().map(|wp| wp.id.0.clone()).collect();
        reserved(&ids, notes);
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
        let mut names = Self {
            tiers: tiers.0.keys().map(|name| name.0.clone()).collect(),
            workers: workers.0.keys().map(|name| name.0.clone()).collect(),
            wps: Roll::call(ids, "wp", "id", notes),
            stages,
            wp_stages,
            consolidations: Vec::new(),
            guesser: Guesser::default(),
        };
        names.name_consolidations(stages_of, wps, notes);
        names
    }

    /// A stage that shares files, and of which a WP changes any, ends with a consolidation.
    fn name_consolidations(
        &mut self,
        stages: &[Table<Stage>],
        wps: &[Table<Wp>],
        notes: &mut Notes,
    ) {
        let change =
            |(wp, stage): (&Table<Wp>, &Option<usize>)| stage.filter(|_| wp.kind.0 == Kind::Change);
        let changed: HashSet<usize> = wps.iter().zip(&self.wp_stages).filter_map(change).collect();
        for (s, stage) in stages.iter().enumerate() {
            let due = !stage.shared.is_empty() && changed.contains(&s) && self.stages.is_first(s);
            let consolidation = due.then(|| {
                let id = format!("{}-shared", stage.name.0);
                match is_nameless(&stage.name) || !self.free(s, &id, notes) {
                    true => Consolidation { id: nameless(&format!("shared-{s}")), free: false },
                    false => Consolidation { id, free: true },
                }
            });
            self.consolidations.push(consolidation);
        }
    }

    /// Whether the consolidation of stage `s` can be called `id`. What keeps it from that is noted.
    fn free(&self, s: usize, id: &str, notes: &mut Notes) -> bool {
        let stage = &self.stages.names[s];
        if let Err(fault) = ids::check(id) {
            let message = format!(
                "the consolidation of this stage would be called {}, which {fault}",
                quoted(id)
            );
            notes
                .error(format!("/stage/{s}/name"), "bad-id", message)
                .help("give the stage a shorter name");
            return false;
        }
        let wp = self.wps.like(id).map(|i| format!("/wp/{i}/id"));
        let taken = wp.or_else(|| self.stages.like(id).map(|i| format!("/stage/{i}/name")));
        let Some(at) = taken else { return true };
        let message = format!(
            "{} is what the consolidation of stage {} is called",
            quoted(id),
            quoted(stage)
        );
        notes
            .error(at, "reserved-id", message)
            .related("its shared files", format!("/stage/{s}/shared"))
            .help("choose another name");
        false
    }

    /// Whether stage `s` ends with a consolidation.
    pub fn consolidates(&self, s: usize) -> bool {
        self.consolidations[s].is_some()
    }

    /// What the consolidation of stage `s` is called, if it ends with one.
    pub fn consolidation(&self, s: usize) -> Option<String> {
        self.consolidations[s].as_ref().map(|it| it.id.clone())
    }

    /// The stage whose consolidation is called so.
    pub fn consolidation_named(&self, name: &str) -> Option<usize> {
        let named =
            |it: &Option<Consolidation>| it.as_ref().is_some_and(|it| it.free && it.id == name);
        // Only names of this form can be one; looking on would cost a step for each need and stage.
        name.ends_with("-shared").then(|| self.consolidations.iter().position(named)).flatten()
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
    pub fn no_tier(&self, origin: Origin, notes: &mut Notes) {
        let (message, here) = match origin {
            Origin::Wp(_) => ("it is not said who works on this".to_owned(), "here"),
            Origin::Consolidate(s) => {
                let stage = quoted(&self.stages.names[s]);
                (
                    format!("it is not said who consolidates the shared files of stage {stage}"),
                    "in `[stage.consolidate]`",
                )
            }
        };
        let note = notes.error(origin.at("tier"), "missing-tier", message);
        note.looked_in("/tiers");
        match there_are(&self.tiers) {
            None => note.help("declare a tier, `[tiers.standard]`, and the worker that it uses"),
            Some(there) => note.help(format!("name a tier {here} or as `[plan] tier`; {there}")),
        };
    }

    /// Notes a tier that is not declared.
    pub fn tier(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) {
        if self.tiers.binary_search_by(|tier| tier.as_str().cmp(name)).is_err() {
            let lack = format!("declare it: `[tiers.{name}]` with a `worker`");
            self.unknown("/tiers", "tier", name, at(), &self.tiers, &lack, notes);
        }
    }

    /// Notes a worker that is neither declared nor built in.
    pub fn worker(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) {
        let built_in = || BUILT_IN_WORKERS.iter().map(|(worker, ..)| *worker);
        let declared = self.workers.binary_search_by(|worker| worker.as_str().cmp(name)).is_ok();
        if declared || built_in().any(|worker| worker == name) {
            return;
        }
        let own = self.workers.iter().map(String::as_str);
        let all: Vec<String> = own
            .chain(built_in().filter(|name| !self.workers.iter().any(|own| own == name)))
            .map(str::to_owned)
            .collect();
        let lack = format!("declare it: `[workers.{name}]` with a `command` or an `agent`");
        self.unknown("/workers", "worker", name, at(), &all, &lack, notes);
    }

    /// The number of the stage at `at`. `None` when it is not declared, which is noted.
    pub fn stage(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) -> Option<usize> {
        let stage = self.stages.find(name);
        if stage.is_none() {
            let lack = format!("declare it: a `[[stage]]` with `name = \"{name}\"`");
            self.unknown("/stage", "stage", name, at(), self.stages.each(), &lack, notes);
        }
        stage
    }

    /// The number of the WP at `at`. `None` when there is none, which is noted.
    pub fn wp(&self, name: &str, at: impl Fn() -> String, notes: &mut Notes) -> Option<usize> {
        let wp = self.wps.find(name);
        if wp.is_none() {
            self.unknown("/wp", "work package", name, at(), self.wps.each(), "", notes);
        }
        wp
    }

    /// The stage that WP `i` belongs to, by number.
    pub fn stage_of(&self, i: usize) -> Option<usize> {
        self.wp_stages[i]
    }

    /// Whether an earlier WP has the very name of WP `i`.
    pub fn wp_is_twin(&self, i: usize) -> bool {
        self.wps.is_twin(i)
    }

    /// Whether an earlier stage has the very name of stage `s`.
    pub fn stage_is_twin(&self, s: usize) -> bool {
        self.stages.is_twin(s)
    }

    /// The names of the declared stages in order, each once.
    pub fn stage_names(&self) -> &[String] {
        self.stages.each()
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
        if is_nameless(name) {
            // What it stands in for has been told.
            return;
        }
        let code = match table {
            "/tiers" => "unknown-tier",
            "/workers" => "unknown-worker",
            "/stage" => "unknown-stage",
            _ => "unknown-wp",
        };
        // Names that stand in for others are no one's to choose.
        let given = names.iter().map(String::as_str).filter(|name| !is_nameless(name));
        let meant = self.guesser.nearest(name, given);
        let note = notes.error(at, code, format!("there is no {noun} {}", quoted(name)));
        note.looked_in(table);
        match (meant, there_are(names)) {
            (Some(meant), _) => {
                let help = format!("did you mean {}?", quoted(meant));
                note.suggest(format!("\"{meant}\"")).help(help)
            }
            (None, None) if lack.is_empty() => note,
            (None, None) => note.help(lack),
            (None, Some(there)) if lack.is_empty() => note.help(there),
            (None, Some(there)) => note.help(format!("{there}; or {lack}")),
        };
    }
}

/// Notes ids that the gates of a run and its last look go by: worktrees, logs and steps of all of them
/// carry them.
fn reserved(ids: &[String], notes: &mut Notes) {
    for (i, id) in ids.iter().enumerate() {
        let lower = id.to_ascii_lowercase();
        for (prefix, what) in [("gate-", "a stage's gate"), ("verify-", "a last look at the whole")]
        {
            let Some(number) = lower.strip_prefix(prefix) else { continue };
            let number = number.strip_suffix(".review").unwrap_or(number);
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
                let message = format!("{} is what {what} is called", quoted(id));
                notes.error(format!("/wp/{i}/id"), "reserved-id", message).help(format!(
                    "choose another name; any other that starts with `{prefix}` will do"
                ));
            }
        }
    }
}

/// Names in the order of the file. Names become paths, and not every file system tells `A` from `a`:
/// two that differ only in case are one name twice.
struct Roll {
    names: Vec<String>,
    /// The first of each name, by the name in small letters.
    first: HashMap<String, usize>,
    /// Those of which an earlier one has the name, and whether it is written in the same way.
    twins: HashMap<usize, bool>,
    /// The names of twins that are written in another way than the first.
    variants: HashMap<String, usize>,
    /// Each name once, where there are twins.
    each: Option<Vec<String>>,
}

impl Roll {
    /// Looks for names that are declared twice, and notes them.
    fn call(names: Vec<String>, table: &str, key: &str, notes: &mut Notes) -> Self {
        let first = HashMap::with_capacity(names.len());
        let (twins, variants) = (HashMap::new(), HashMap::new());
        let mut roll = Self { names, first, twins, variants, each: None };
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
            let same = twin == name || roll.variants.contains_key(name);
            if !same {
                roll.variants.insert(name.clone(), i);
            }
            roll.twins.insert(i, same);
        }
        if !roll.twins.is_empty() {
            let names = roll.names.iter().enumerate();
            let names = names.filter(|(i, _)| !roll.is_twin(*i)).map(|(_, name)| name.clone());
            roll.each = Some(names.collect());
        }
        roll
    }

    /// Each name once, in order.
    fn each(&self) -> &[String] {
        self.each.as_deref().unwrap_or(&self.names)
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

    /// The number of the first that has this name, in whatever case.
    fn like(&self, name: &str) -> Option<usize> {
        self.first.get(&name.to_ascii_lowercase()).copied()
    }

    fn is_first(&self, i: usize) -> bool {
        !self.twins.contains_key(&i)
    }

    fn is_twin(&self, i: usize) -> bool {
        self.twins.get(&i).is_some_and(|same| *same)
    }
}
