//! `[delivery]`.

use super::{Notes, WAIT_FOR_CHECKS, commands};
use crate::model::delivery::{self as model, AfterMerge};
use crate::model::plan::Risk;
use crate::plan::document::{AutoMerge, Delivery};

/// The remote of a delivery that names none.
const REMOTE: &str = "origin";

/// Delivery, as the table says. A key that has no effect because of another is noted.
pub fn lower(table: Delivery, notes: &mut Notes) -> model::Delivery {
    let push = table.push.unwrap_or(true);
    let pull_request = table.pull_request.unwrap_or(push);
    let auto_merge_risk = table.auto_merge_risk.and_then(|word| match word.0 {
        AutoMerge::None => None,
        AutoMerge::Low => Some(Risk::Low),
        AutoMerge::Medium => Some(Risk::Medium),
        AutoMerge::High => Some(Risk::High),
    });
    if pull_request && !push {
        notes
            .error(
                "/delivery/pull_request",
                "request-without-push",
                "a pull request is of a branch at the remote, and nothing is pushed",
            )
            .looked_in("/delivery/push")
            .help("leave `push` out, or `pull_request`");
    }
    for (key, said) in [
        ("auto_merge_risk", auto_merge_risk.is_some()),
        ("draft", table.draft == Some(true)),
        ("attribution", table.attribution == Some(true)),
    ] {
        if said && !pull_request {
            notes
                .warning(
                    format!("/delivery/{key}"),
                    "idle-key",
                    format!("`{key}` does nothing here: no pull request is opened"),
                )
                .key()
                .help("leave it out, or `pull_request`");
        }
    }
    if auto_merge_risk.is_some() && table.draft == Some(true) {
        notes
            .warning("/delivery/auto_merge_risk", "idle-key", "a draft does not merge by itself")
            .key()
            .help("leave it out, or `draft`");
    }
    let after = table.after_merge.into_iter().enumerate();
    model::Delivery {
        forge: table.forge.map(|word| word.0).unwrap_or_default(),
        remote: table.remote.map_or_else(|| REMOTE.to_owned(), String::from),
        push,
        pull_request,
        auto_merge_risk,
        merge_method: table.merge_method.map(|word| word.0).unwrap_or_default(),
        draft: table.draft.unwrap_or(false),
        attribution: table.attribution.unwrap_or(false),
        wait_for_checks: table.wait_for_checks.map_or(WAIT_FOR_CHECKS, |time| time.0),
        after_merge: after
            .filter_map(|(i, run)| {
                commands::run(run, || format!("/delivery/after_merge/{i}"), notes)
            })
            .map(|(text, command)| AfterMerge { text, command })
            .collect(),
        cleanup: table.cleanup.unwrap_or(true),
    }
}
