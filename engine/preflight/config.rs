//! The settings of a run, and who says each.

use serde_json::Value;

use super::Ask;
use crate::model::preflight::{Config, Layout, Part, ProvisionSetting, Said, Word};
use crate::model::setting::Level;
use crate::plan::Setting;

pub(super) fn look(ask: &Ask) -> Part<Config> {
    let repo = &ask.repo;
    let top = repo.top().map(|top| crate::process::escape(top.as_os_str().as_encoded_bytes()));
    let plan = &ask.plan;
    let provision = ProvisionSetting {
        copy: as_said(ask, "provision.copy", plan.provision.copy.clone()),
        setup: as_said(ask, "provision.setup", plan.provision.setup.iter().map(shown).collect()),
        timeout: as_said(ask, "provision.timeout", plan.provision.timeout.to_string()),
    };
    let base = plan.base.clone();
    let layout = match repo.special().bare {
        true => Layout::Bare,
        false => Layout::Plain,
    };
    let facts = Config {
        source_worktree: Said::found(top),
        default_base: Said {
            from: Some(if ask.planned && base != "HEAD" { Level::Plan } else { Level::BuiltIn }),
            value: base,
            at: None,
        },
        provision,
        max_parallel: said(ask, "defaults.max_parallel", plan.max_parallel as u64, Value::as_u64),
        auto_merge_risk: said(ask, "delivery.auto_merge_risk", "none".to_owned(), text),
        merge_method: said(ask, "delivery.merge_method", "squash".to_owned(), text),
        auto_cleanup: said(ask, "delivery.cleanup", true, Value::as_bool),
        layout: Said::found(layout),
    };
    let fine = format!(
        "at most {} at once; the {} layout",
        count(plan.max_parallel as u64, "package"),
        if layout == Layout::Bare { "bare" } else { "plain" },
    );
    let words = ask.wrong.iter().cloned().chain(not_there(ask)).collect();
    Part::new(facts, fine, words)
}

/// What is to be copied into every worktree and cannot be: no run would get as far as its first worker.
fn not_there(ask: &Ask) -> Vec<Word> {
    let copy = &ask.plan.provision.copy;
    let Some(top) = ask.repo.top() else {
        let what = "`[provision] copy` brings files of a checkout into every worktree, and there is none here";
        let help = "start sop in a worktree beside the bare repository, or leave `copy` out";
        return copy.first().map(|_| Word::stop(what, help)).into_iter().collect();
    };
    let missing = copy.iter().filter(|entry| top.join(entry).symlink_metadata().is_err());
    let word = |entry: &String| {
        let entry = crate::process::escape(entry.as_bytes());
        Word::stop(
            format!("`{entry}` is to be copied into every worktree, and is not in your checkout"),
            "make it, or take it out of `[provision] copy`",
        )
    };
    missing.map(word).collect()
}

/// A value that is known, with who says it.
fn as_said<T>(ask: &Ask, key: &str, value: T) -> Said<T> {
    let found = ask.settings.iter().find(|setting| setting.key == key);
    let (from, at) = found.map_or((Level::BuiltIn, None), |it| (it.from, it.at.clone()));
    Said { value, from: Some(from), at }
}

/// The setting of this name as who says it has it; `built_in` where nobody does.
fn said<T>(ask: &Ask, key: &str, built_in: T, read: impl Fn(&Value) -> Option<T>) -> Said<T> {
    let found = ask.settings.iter().find(|setting| setting.key == key);
    let Some(Setting { value, from, at, .. }) = found else {
        return Said { value: built_in, from: Some(Level::BuiltIn), at: None };
    };
    Said { value: read(value).unwrap_or(built_in), from: Some(*from), at: at.clone() }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn shown(command: &crate::model::plan::Command) -> String {
    match command {
        crate::model::plan::Command::Argv(words) => {
            shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
        }
        crate::model::plan::Command::Shell(text) => text.clone(),
    }
}

fn count(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// The session split, as who says it has it.
pub(super) fn session_split(ask: &Ask) -> Said<String> {
    said(ask, "defaults.session_split", "never".to_owned(), text)
}
