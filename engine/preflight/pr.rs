//! Where pull requests would go: the remote, the program that speaks to its host, and whether that is logged
//! in, as far as files and the environment tell. The forge itself is asked only where a fetch is allowed too.

use std::collections::BTreeMap;

use super::{Ask, Depth};
use crate::forge::{self, Place};
use crate::model::delivery::Delivery;
use crate::model::preflight::{Auth, Known, Method, Part, Requests, Word};
use crate::plain_file;
use crate::process::escape_path;
use crate::worker::Home;

pub(super) fn look(ask: &Ask) -> Part<Requests> {
    let repo = &ask.repo;
    // Without it nothing leaves the machine: what is missing is nothing to warn of.
    let delivery = ask.plan.delivery.as_ref().filter(|delivery| delivery.push);
    let mut facts = Requests { base_branch: repo.branch_of(&ask.plan.base), ..Requests::default() };
    let mut words = Vec::new();
    let remote = match delivery {
        Some(delivery) => Some(delivery.remote.clone()),
        None => repo.remote_for_pushes(),
    };
    let url = remote.as_deref().and_then(|remote| repo.remote_url(remote));
    let (Some(remote), Some(url)) = (remote.clone(), url) else {
        if let Some(remote) = remote.filter(|_| delivery.is_some()) {
            let help = "add it with `git remote add`, or name another under `[delivery]`";
            words.push(Word::stop(format!("there is no remote `{remote}` to deliver to"), help));
        }
        return Part::new(facts, "there is no remote that requests could be made at", words);
    };
    facts.remote = Some(remote.clone());
    let asks = delivery.filter(|delivery| delivery.pull_request);
    let Some(place) = Place::of(&url) else {
        let fine = format!("the remote `{remote}` is a folder, and no forge");
        if asks.is_some() {
            let help = "set `pull_request = false` under `[delivery]`, or name another remote";
            words.push(Word::stop(fine.clone(), help));
        }
        return Part::new(facts, fine, words);
    };
    let host = place.host.clone();
    facts.host = Some(host.clone());
    let program = asks.map_or_else(|| forge_of(&host), |delivery| delivery.forge.name());
    let home = Home::here(&BTreeMap::new());
    facts.forge = Some(program.to_owned());
    facts.path = home.find(program).map(|path| escape_path(&path));
    facts.auth = facts.path.is_some().then(|| auth(program, &host, &home));
    let state = match facts.auth.as_ref().map(|auth| (auth.authenticated, auth.method)) {
        None => "which is not here",
        // A variable holds whatever somebody put into it.
        Some((Known::Yes, Some(Method::Token))) => "for which a token is set, not tried",
        Some((Known::Yes, _)) => "which is logged in",
        Some((Known::No, _)) => "which is not logged in",
        Some((Known::Unknown, _)) => "whose login cannot be told from outside",
    };
    let fine = format!("requests at {host} would be made with {program}, {state}");
    if let Some(delivery) = asks {
        match &facts.auth {
            None => words.push(Word::stop(fine.clone(), "install it, and log in with it")),
            Some(Auth { authenticated: Known::No, help, .. }) => {
                words.push(Word::stop(fine.clone(), help.clone().unwrap_or_default()));
            }
            Some(_) if ask.depth == (Depth::All { fetch: true }) => {
                protection(delivery, place, &mut facts, &mut words);
            }
            Some(_) => {}
        }
    }
    Part::new(facts, fine, words)
}

/// Asks the forge whether the base is protected.
fn protection(delivery: &Delivery, place: Place, facts: &mut Requests, words: &mut Vec<Word>) {
    let Some(base) = &facts.base_branch else { return };
    match forge::at(delivery.forge, place).base(base) {
        Ok(found) => facts.protection = Some(found.protected),
        Err(error) => words.push(Word::warn(
            format!("how `{base}` is protected could not be found out: {error}"),
            "look at your login to the forge, and whether it answers",
        )),
    }
}

/// The program for a host.
fn forge_of(host: &str) -> &'static str {
    match host {
        host if host.contains("gitlab") => "glab",
        host if ["codeberg.org", "gitea.com"].contains(&host)
            || host.contains("gitea")
            || host.contains("forgejo") =>
        {
            "tea"
        }
        _ => "gh",
    }
}

fn auth(forge: &str, host: &str, home: &Home) -> Auth {
    let unknown = Auth { authenticated: Known::Unknown, method: None, from: None, help: None };
    let (variables, file, login): (&[&str], _, _) = match forge {
        "gh" if host == "github.com" || host.ends_with(".ghe.com") => {
            (&["GH_TOKEN", "GITHUB_TOKEN"], "gh/hosts.yml", "gh auth login")
        }
        "gh" => (
            &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
            "gh/hosts.yml",
            "gh auth login --hostname",
        ),
        "glab" => (&["GITLAB_TOKEN"], "glab-cli/config.yml", "glab auth login"),
        _ => return unknown,
    };
    if let Some(name) = variables.iter().find(|name| home.var(name).is_some()) {
        let (method, from) = (Some(Method::Token), Some((*name).to_owned()));
        return Auth { authenticated: Known::Yes, method, from, help: None };
    }
    let folder = match home.var("GH_CONFIG_DIR").filter(|_| forge == "gh") {
        Some(folder) => std::path::PathBuf::from(folder).join("hosts.yml"),
        None => home.folder("XDG_CONFIG_HOME", ".config").join(file),
    };
    let text = plain_file::read_linked(&folder, plain_file::DOCUMENT).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if text.lines().any(|line| line.trim_end().trim_end_matches(':').trim() == host) {
        let (method, from) = (Some(Method::Login), Some(escape_path(&folder)));
        return Auth { authenticated: Known::Yes, method, from, help: None };
    }
    Auth { authenticated: Known::No, help: Some(format!("run `{login}`")), ..unknown }
}
