//! What a plan means is to be the same for everyone who has the repository. Where it depends on more, that
//! is said.

use std::borrow::Cow;

use super::{Own, Whose};
use crate::finding::{Finding, Severity};
use crate::model::plan::Plan;
use crate::plan::wording::{known, list};
use crate::plan::{Sites, pointer};

/// Names what of `plan` comes from the user's own config or environment: a note for each of these.
pub fn note(plan: &Plan, own: &Own, file: &str, sites: &Sites) -> Vec<Finding> {
    let mut found: Vec<(Whose, &str, Part)> = Vec::new();
    for (at, layer, _) in sites.lent() {
        let users = matches!(layer.whose, Whose::User | Whose::Environment);
        if !users || !own.uses(plan, at) {
            continue;
        }
        let parts: Vec<_> = pointer::parts(at).map(Cow::into_owned).collect();
        let part = match parts.as_slice() {
            [table, name] if table == "tiers" => Part::Tier(name.clone()),
            [table, name] if table == "workers" => Part::Worker(name.clone()),
            [table, key] if table == "plan" => Part::Key(key.clone()),
            [table] => Part::Key(format!("[{table}]")),
            parts => Part::Key(parts.join(".")),
        };
        found.push((layer.whose, &layer.source.file, part));
    }
    found.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let notes = found.chunk_by(|a, b| a.1 == b.1).map(|parts| {
        let (whose, from, _) = parts[0];
        let parts: Vec<&Part> = parts.iter().map(|(_, _, part)| part).collect();
        let (what, verb) = told(&parts);
        let (of, help) = match whose {
            Whose::Environment => (
                "the environment, and others may have another",
                "unset it, or say it in the plan; `--no-user-config` checks without",
            ),
            _ => (
                "your own config, which others do not have",
                "say it in the plan or in `.sop/config.toml`; `--no-user-config` checks without",
            ),
        };
        let message = format!("{what} {verb} from {from}: {of}");
        let mut note = Finding::warning("user-config", file, message).help(help);
        note.severity = Severity::Note;
        note
    });
    notes.collect()
}

/// A part of the plan, for a sentence.
enum Part {
    Key(String),
    Tier(String),
    Worker(String),
}

/// These parts, and the verb for that many.
fn told(parts: &[&Part]) -> (String, &'static str) {
    let pick = |pick: fn(&Part) -> Option<&String>| -> Vec<String> {
        parts.iter().filter_map(|part| pick(part)).cloned().collect()
    };
    let keys = pick(|part| if let Part::Key(key) = part { Some(key) } else { None });
    let tiers = pick(|part| if let Part::Tier(name) = part { Some(name) } else { None });
    let workers = pick(|part| if let Part::Worker(name) = part { Some(name) } else { None });
    let named = |noun: &str, names: &[String]| match names {
        [] => None,
        [only] => Some(format!("{noun} {}", list([only.as_str()], "and"))),
        many => Some(format!("{noun}s {}", known(many, "and"))),
    };
    let keys = (!keys.is_empty()).then(|| list(keys.iter().map(String::as_str), "and"));
    let groups = [keys, named("tier", &tiers), named("worker", &workers)];
    let groups: Vec<String> = groups.into_iter().flatten().collect();
    let what = match groups.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => groups.concat(),
    };
    (what, if parts.len() == 1 { "comes" } else { "come" })
}
