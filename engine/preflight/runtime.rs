//! Who would work: each role's tier, whether its program is there, and how that is logged in. The method is
//! read from files and the names of variables before anything is started, and no secret is ever told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::Ask;
use super::config::session_split;
use crate::model::ids::TierId;
use crate::model::plan::{Adapter, Does, Plan, Review, Tier, Worker};
use crate::model::preflight::{Auth, Known, Method, Part, RoleTier, Runtime, Word};
use crate::plain_file;
use crate::process::{escape, escape_path};
use crate::worker::{self, Agent, Drive, Home, Login, look};

/// How long a program may take to tell its version.
const VERSION: Duration = Duration::from_secs(3);

/// Tiers that roles have, by the role.
const ROLES: [&[&str]; 5] =
    [&["lead"], &["lead_phase2", "lead"], &["standard"], &["light"], &["scout"]];

pub(super) fn look(ask: &Ask) -> Part<Runtime> {
    let plan = &ask.plan;
    let used = if ask.planned { used(plan) } else { BTreeSet::new() };
    let chosen = ROLES.map(|names| {
        names.iter().find_map(|name| {
            let id = TierId::new(*name).ok()?;
            plan.tiers.contains_key(&id).then_some(id)
        })
    });
    let others = used.iter().filter(|id| !chosen.iter().flatten().any(|it| it == *id));
    let all: BTreeSet<TierId> = chosen.iter().flatten().chain(others).cloned().collect();
    // How each is logged in is read before anything is started, if only for its version: a program may write
    // what another would be taken by.
    let mut found: Vec<(TierId, Found<'_>)> = all
        .iter()
        .filter_map(|id| {
            let tier = plan.tiers.get(id)?;
            let worker = plan.workers.get(&tier.worker)?;
            Some((id.clone(), Found::of(id, tier, worker, used.contains(id))))
        })
        .collect();
    if ask.depth.all() {
        // Each version is asked for beside the others.
        thread::scope(|scope| {
            for (_, found) in &mut found {
                scope.spawn(|| found.ask_version());
            }
        });
    }
    let tiers: BTreeMap<TierId, RoleTier> =
        found.into_iter().map(|(id, found)| (id, found.role)).collect();
    let words = words(ask, &tiers);
    let fine = match tiers.len() {
        0 => "no tier is set up, in no config file and no plan".to_owned(),
        _ => {
            let there = tiers.values().filter(|tier| tier.found != Some(false)).count();
            format!("{there} of {} tiers are ready", tiers.len())
        }
    };
    let fine = match tiers.len() {
        1 => "the tier is ready".to_owned(),
        _ => fine,
    };
    let of = |n: usize| tiers.get(chosen[n].as_ref()?).cloned();
    let facts = Runtime {
        lead: of(0),
        lead_phase2: of(1),
        worker: of(2),
        worker_light: of(3),
        scout: of(4),
        others: (tiers.iter())
            .filter(|(id, _)| !chosen.iter().flatten().any(|it| it == *id))
            .map(|(id, tier)| (id.to_string(), tier.clone()))
            .collect(),
        session_split: session_split(ask),
    };
    Part::new(facts, fine, words)
}

/// The tiers that a run of the plan starts on, or may come to.
fn used(plan: &Plan) -> BTreeSet<TierId> {
    let mut due: Vec<TierId> = plan.wps.iter().map(|wp| wp.tier.clone()).collect();
    due.extend(plan.wps.iter().filter_map(|wp| match &wp.review {
        Review::Worker { tier, .. } => Some(tier.clone()),
        _ => None,
    }));
    due.extend(plan.verify.iter().filter_map(|verify| verify.review_tier.clone()));
    due.extend(plan.critic_tier().cloned());
    let mut used = BTreeSet::new();
    while let Some(id) = due.pop() {
        if let Some(tier) = plan.tiers.get(&id)
            && used.insert(id)
        {
            due.extend(tier.escalate_to.iter().chain(&tier.fallback).cloned());
        }
    }
    used
}

/// A tier, and what it takes to ask its program for its version.
struct Found<'a> {
    role: RoleTier,
    agent: Option<&'a dyn Agent>,
    program: Vec<String>,
    home: Home,
}

impl Found<'_> {
    /// Everything that can be told without starting anything.
    fn of(id: &TierId, tier: &Tier, worker: &Worker, used: bool) -> Self {
        let home = Home::here(&worker.env);
        let (adapter, program) = match &worker.does {
            Does::Command { command, .. } => (None, command.clone()),
            Does::Agent { agent, program, .. } => {
                let known = worker::adapter(*agent);
                let mut drive = Drive::new(*agent, PathBuf::new(), Path::new(""));
                drive.program.clone_from(program);
                let program = known.map(|known| drive.program_or(known)).unwrap_or_default();
                (known.map(|known| (*agent, known)), program)
            }
        };
        let name = program.first().cloned().unwrap_or_default();
        // What lies in the worktree, or is only known when there is a package, cannot be looked for here.
        let elsewhere = (name.contains('/') && !name.starts_with('/')) || name.contains("{{");
        let path = if elsewhere { None } else { home.find(&name) };
        let found = if elsewhere { None } else { Some(path.is_some()) };
        let own = worker.argv().is_empty();
        let role = RoleTier {
            tier: id.to_string(),
            worker: tier.worker.to_string(),
            adapter: adapter.map(|(adapter, _)| adapter.name().to_owned()),
            model: tier.model.clone(),
            effort: tier.effort.clone(),
            program: escape(program.join(" ").as_bytes()),
            auth: adapter.map(|(adapter, known)| auth(adapter, known, own, &home)),
            version: None,
            path: path.map(|path| escape_path(&path)),
            found,
            used,
        };
        Self { role, agent: adapter.map(|(_, known)| known), program, home }
    }

    /// Starts its program, if it is an agent's and there, for its version.
    fn ask_version(&mut self) {
        if let Some(agent) = self.agent.filter(|_| self.role.path.is_some()) {
            self.role.version = look::version_within(agent, &self.program, &self.home, VERSION);
        }
    }
}

/// How an agent is logged in. A program that is not the agent's own may have ways of its own.
fn auth(adapter: Adapter, agent: &dyn Agent, own: bool, home: &Home) -> Auth {
    let unknown = Auth { authenticated: Known::Unknown, method: None, from: None, help: None };
    match agent.login(home) {
        Login::Yes(from) => Auth {
            authenticated: Known::Yes,
            method: Some(method(adapter, &from)),
            from: Some(escape(from.as_bytes())),
            help: None,
        },
        Login::No(help) if own => Auth { authenticated: Known::No, help: Some(help), ..unknown },
        Login::No(_) | Login::Unknown => unknown,
    }
}

/// What kind of login stands in a variable of this name, or a file at this path.
fn method(adapter: Adapter, from: &str) -> Method {
    if !from.contains('/') {
        return if from.ends_with("TOKEN") { Method::Token } else { Method::ApiKey };
    }
    // codex keeps either in the same file; which one is told by what is filled, and nothing of it is kept.
    let file = plain_file::read_linked(Path::new(from), plain_file::DOCUMENT).unwrap_or_default();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap_or_default();
    let filled = |key: &str| file.get(key).is_some_and(|value| !value.is_null());
    match adapter {
        Adapter::Codex if filled("OPENAI_API_KEY") && !filled("tokens") => Method::ApiKey,
        _ => Method::Login,
    }
}

/// What is missing: of a plan's own tiers, or of all where there is no plan.
fn words(ask: &Ask, tiers: &BTreeMap<TierId, RoleTier>) -> Vec<Word> {
    let plan = &ask.plan;
    let mut words = Vec::new();
    for (id, role) in tiers.iter().filter(|(_, role)| role.used || !ask.planned) {
        let fallback = plan.tiers.get(id).is_some_and(|tier| {
            let ready = |id: &TierId| tiers.get(id).is_some_and(|it| it.found != Some(false));
            tier.fallback.iter().any(ready)
        });
        if role.found == Some(false) {
            let what = format!("the tier `{id}` runs `{}`, which is not found", role.program);
            let agent = role.adapter.as_deref().and_then(by_name);
            let help = match agent.map(Agent::install) {
                Some(install) if !install.is_empty() => format!("get it with: {install}"),
                _ => "install it, or name another worker for the tier".to_owned(),
            };
            // A step of the plan may bring it along, and another tier may take its place.
            let certain = role.used && !fallback;
            let brought = !plan.provision.setup.is_empty();
            match certain && !brought {
                true => words.push(Word::stop(what, help)),
                false => words.push(Word::warn(what, help)),
            }
        }
        if let Some(Auth { authenticated: Known::No, help, .. }) = &role.auth
            && role.found != Some(false)
        {
            words.push(Word::warn(
                format!("the tier `{id}` runs `{}`, which is not logged in", role.worker),
                help.clone().unwrap_or_else(|| "log in with it".to_owned()),
            ));
        }
    }
    words
}

fn by_name(name: &str) -> Option<&'static dyn Agent> {
    worker::adapter(Adapter::ALL.into_iter().find(|adapter| adapter.name() == name)?)
}
