//! Docker's networks: each package that brings up a compose project takes one, and the engine's address pools
//! hold few (31, unless somebody has set others).

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use bstr::BStr;
use serde_json::Value;

use super::Ask;
use crate::model::plan::{Command as Line, Dod, Does};
use crate::model::preflight::{DockerPool, Part, Word};
use crate::quick::{self, NoAnswer};
use crate::worker::Home;

/// How long an engine may take to answer: one that is there does so at once.
const LIMIT: Duration = Duration::from_secs(3);

/// Bytes of an answer.
const MOST: u64 = 1 << 20;

/// Networks in the address pools that Docker comes with: fifteen from 172.17 to 172.31, sixteen in 192.168.
const POOLS: u64 = 31;

/// Files that say that a repository uses compose.
const COMPOSE: [&str; 4] =
    ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];

pub(super) fn look(ask: &Ask) -> Part<DockerPool> {
    let max_parallel = ask.plan.max_parallel as u64;
    let mut facts = DockerPool { max_parallel, used_by: used_by(ask), ..DockerPool::default() };
    let program = Home::here(&BTreeMap::new()).find("docker");
    if program.is_none() {
        facts.docker = Some(false);
    }
    if facts.used_by.is_empty() {
        return Part::new(facts, "nothing here uses Docker", Vec::new());
    }
    let what = facts.used_by.join(", ");
    let Some(program) = program else {
        let words = vec![Word::warn(
            format!("there is no `docker` here, and {what}"),
            "install it, or leave out what needs it",
        )];
        return Part::new(facts, "", words);
    };
    let ask_docker = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args);
        let answer = quick::ask(command, LIMIT, MOST)?;
        let out = String::from_utf8_lossy(&answer.out).into_owned();
        Ok::<_, NoAnswer>(answer.status.success().then_some(out))
    };
    let asked = std::thread::scope(|scope| {
        let pools =
            scope.spawn(|| ask_docker(&["info", "--format", "{{json .DefaultAddressPools}}"]));
        let networks = ask_docker(&["network", "ls", "--format", "{{.Driver}}"]);
        (networks, pools.join().unwrap_or(Ok(None)))
    });
    let (networks, pools) = match asked {
        (Ok(Some(networks)), pools) => (networks, pools.ok().flatten().unwrap_or_default()),
        (no_answer, _) => {
            facts.docker = Some(false);
            let why = match no_answer {
                Err(why) => format!("`docker` {why}"),
                Ok(_) => "no Docker engine answers".to_owned(),
            };
            let words = vec![Word::warn(
                format!("{why}, and {what}"),
                "start the engine (`docker info` says what is wrong), or leave out what needs it",
            )];
            return Part::new(facts, "", words);
        }
    };
    facts.docker = Some(true);
    // Only these take an address pool of this machine.
    let taken =
        networks.lines().filter(|driver| ["bridge", "macvlan", "ipvlan"].contains(&driver.trim()));
    let taken = taken.count() as u64;
    let all = capacity(&pools).unwrap_or(POOLS);
    let free = all.saturating_sub(taken);
    (facts.networks, facts.taken, facts.free) = (Some(all), Some(taken), Some(free));
    let mut words = Vec::new();
    if free < max_parallel {
        words.push(Word::warn(
            format!(
                "Docker has {free} of {all} networks left, and up to {max_parallel} packages may bring one \
                 up at once"
            ),
            "`docker network prune` clears those that nothing uses; or lower `max_parallel`, or give the \
             engine smaller `default-address-pools`",
        ));
    }
    let fine =
        format!("Docker has {free} of {all} networks left for up to {max_parallel} packages");
    Part::new(facts, fine, words)
}

/// Networks that fit into the pools that an engine tells of: `[{"Base":"10.0.0.0/8","Size":24}]`.
fn capacity(pools: &str) -> Option<u64> {
    let pools: Value = serde_json::from_str(pools.trim()).ok()?;
    let pools = pools.as_array().filter(|pools| !pools.is_empty())?;
    let of = |pool: &Value| {
        let prefix: u32 = pool["Base"].as_str()?.rsplit_once('/')?.1.parse().ok()?;
        let size = u32::try_from(pool["Size"].as_u64()?).ok()?;
        1_u64.checked_shl(size.checked_sub(prefix)?)
    };
    pools.iter().map(of).try_fold(0_u64, |sum, networks| Some(sum.saturating_add(networks?)))
}

fn used_by(ask: &Ask) -> Vec<String> {
    let plan = &ask.plan;
    let mut used = Vec::new();
    let base = ask.repo.resolve(&plan.base).ok();
    let tracked = |name: &str| {
        let found = ask.repo.leaf_at(base.as_ref()?, BStr::new(name)).ok()?;
        found.map(|_| ())
    };
    if let Some(file) = COMPOSE.iter().find(|name| tracked(name).is_some()) {
        used.push(format!("the repository has {file}"));
    }
    if plan.provision.setup.iter().any(speaks) {
        used.push("a setup command runs it".to_owned());
    }
    let commands = plan.workers.iter().filter(|(_, worker)| match &worker.does {
        Does::Command { command, .. } => command.iter().any(|word| names(word)),
        Does::Agent { program, .. } => program.iter().any(|word| names(word)),
    });
    used.extend(commands.map(|(name, _)| format!("the worker `{name}` runs it")));
    let live = plan.verify.iter().flat_map(|verify| &verify.live);
    let checks = plan.wps.iter().flat_map(|wp| &wp.dod).chain(live);
    if checks.into_iter().any(|dod: &Dod| names(&dod.text)) {
        used.push("a check runs it".to_owned());
    }
    used
}

fn speaks(command: &Line) -> bool {
    match command {
        Line::Argv(words) => words.iter().any(|word| names(word)),
        Line::Shell(text) => names(text),
    }
}

/// Whether one of the words in a text is Docker, by itself or at the end of a path.
fn names(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-_/.".contains(c)));
    words
        .filter_map(|word| word.rsplit('/').next())
        .any(|word| ["docker", "docker-compose"].contains(&word))
}
