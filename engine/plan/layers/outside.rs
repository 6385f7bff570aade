//! What a plan means is to be the same for everyone who has the repository. Where it depends on more, that
//! is said.

use super::settings::dotted;
use super::{Own, Whose};
use crate::finding::{Finding, Severity};
use crate::model::plan::Plan;
use crate::plan::Sites;
use crate::plan::wording::known;

/// Names what of `plan` comes from the user's own config or environment: a note for each of these.
pub fn note(plan: &Plan, own: &Own, file: &str, sites: &Sites) -> Vec<Finding> {
    let users = |whose| matches!(whose, Whose::User | Whose::Environment);
    let used = sites.lent().filter(|(at, layer, _)| users(layer.whose) && own.uses(plan, at));
    let mut used: Vec<_> =
        used.map(|(_, layer, from)| (layer.whose, &*layer.source.file, dotted(from))).collect();
    used.sort();
    let notes = used.chunk_by(|a, b| a.1 == b.1).map(|parts| {
        let (whose, from, _) = &parts[0];
        let keys: Vec<String> = parts.iter().map(|(_, _, key)| key.clone()).collect();
        let (what, verb) = (known(&keys, "and"), if keys.len() == 1 { "comes" } else { "come" });
        let (from, help) = match whose {
            Whose::Environment => (
                format!("{from} in your environment"),
                "unset it, or say it in the plan; `--no-user-config` checks without",
            ),
            _ => (
                format!("your own config {from}"),
                "say it in the plan or in `.sop/config.toml`; `--no-user-config` checks without",
            ),
        };
        let message = format!("{what} {verb} from {from}, which others do not have");
        let mut note = Finding::warning("user-config", file, message).help(help);
        note.severity = Severity::Note;
        note
    });
    notes.collect()
}
