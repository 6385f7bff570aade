//! Where pull requests would go: the remote, the program that speaks to its host, and whether that is logged
//! in, as far as files and the environment tell.

use std::collections::BTreeMap;

use super::Ask;
use crate::model::preflight::{Auth, Known, Method, Part, Requests};
use crate::plain_file;
use crate::process::escape;
use crate::worker::Home;

/// Whether a run of the plan has use for this.
pub(super) fn in_use(_: &Ask) -> bool {
    false
}

pub(super) fn look(ask: &Ask) -> Part<Requests> {
    let repo = &ask.repo;
    let base_branch = repo.branch_of(&ask.plan.base);
    let mut facts = Requests { base_branch, ..Requests::default() };
    let Some(remote) = repo.remote_for_pushes() else {
        return Part::new(facts, "there is no remote that requests could be made at", Vec::new());
    };
    let host = repo.remote_url(&remote).as_deref().and_then(host_of);
    facts.remote = Some(remote.clone());
    facts.host.clone_from(&host);
    let Some(host) = host else {
        let fine = format!("the remote `{remote}` is a folder, and no forge");
        return Part::new(facts, fine, Vec::new());
    };
    let forge = forge_of(&host);
    let home = Home::here(&BTreeMap::new());
    facts.forge = Some(forge.to_owned());
    facts.path = home.find(forge).map(|path| crate::process::escape_path(&path));
    let auth = facts.path.is_some().then(|| auth(forge, &host, &home));
    let state = match auth.as_ref().map(|auth| auth.authenticated) {
        None => "which is not here",
        Some(Known::Yes) => "which is logged in",
        Some(Known::No) => "which is not logged in",
        Some(Known::Unknown) => "whose login cannot be told from outside",
    };
    facts.auth = auth;
    // Nothing is delivered: what is missing is nothing to warn of.
    let fine = format!("requests at {host} would be made with {forge}, {state}");
    Part::new(facts, fine, Vec::new())
}

/// The host of a remote's URL, without user, password and port; nothing for a folder.
fn host_of(url: &str) -> Option<String> {
    let host = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split(['/', '?']).next()?,
        // host:path, where no slash stands before the colon.
        None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?.0,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => host.split(':').next()?,
    };
    Some(escape(host.to_ascii_lowercase().as_bytes())).filter(|host| !host.is_empty())
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
        let (method, from) = (Some(Method::Login), Some(crate::process::escape_path(&folder)));
        return Auth { authenticated: Known::Yes, method, from, help: None };
    }
    Auth { authenticated: Known::No, help: Some(format!("run `{login}`")), ..unknown }
}
