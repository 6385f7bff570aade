//! Lessons that a run's failures suggest. They are taken from what is on record, and offered; nobody adds them by
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Ledger;
use super::wp::{PLAN, WpState};
use crate::event::Outcome;
use crate::model::ids::WpId;
use crate::model::lesson::Suggestion;
use crate::model::outcome::{Check, Problem};

/// Most bytes of one.
const LONGEST: usize = 1000;

/// Suggestions that are made at most.
const MOST: usize = 6;

impl Ledger {
    /// What the run has taught, as far as its failures tell.
    #[must_use]
    pub fn lessons(&self) -> Vec<Suggestion> {
        let mut all = self.refused_twice();
        all.extend(self.wps.iter().flat_map(flaky));
        all.extend(self.wps.iter().filter_map(unprovisioned));
        all.extend(self.wps.iter().flat_map(too_slow));
        all.extend(self.wps.iter().flat_map(answered));
        all.extend(self.notes.iter().map(|note| Suggestion {
            text: note.text.clone(),
            paths: Vec::new(),
            why: format!("corrected by {}", note.by),
        }));
        // A whole conversation is no lesson.
        all.retain(|it| it.text.len() <= LONGEST);
        let mut seen = BTreeSet::new();
        all.retain(|it| seen.insert((it.text.clone(), it.paths.clone())));
        // One that nobody has ended says more later.
        let over = self.outcome.is_some_and(|outcome| outcome != Outcome::Waiting);
        all.truncate(if over || self.stopped.is_some() { MOST } else { 0 });
        all
    }

    /// A file that more than one WP reached for and was refused.
    fn refused_twice(&self) -> Vec<Suggestion> {
        let mut by_file: BTreeMap<&str, BTreeSet<&WpId>> = BTreeMap::new();
        for wp in &self.wps {
            let scope = problems(wp).filter(|it| it.check == Check::Scope);
            let outside = scope.filter(|it| it.message.ends_with("outside the whitelist"));
            for file in outside.filter_map(|problem| problem.subject.as_deref()) {
                by_file.entry(file).or_default().insert(&wp.id);
            }
        }
        let twice = by_file.into_iter().filter(|(_, wps)| wps.len() > 1);
        let suggestion = |(file, wps): (&str, BTreeSet<&WpId>)| {
            let wps: Vec<String> = wps.into_iter().map(ToString::to_string).collect();
            Suggestion {
                text: format!(
                    "Work here reaches for {file}: put it on the whitelist of the package that needs it, or make it \
                     a shared file of the stage."
                ),
                paths: Vec::new(),
                why: format!("{file} was refused in {}", wps.join(" and ")),
            }
        };
        twice.map(suggestion).collect()
    }
}

/// Everything that was wrong in a WP, so far as it is on record.
fn problems(wp: &WpState) -> impl Iterator<Item = &Problem> {
    let of_lead = wp.hands.iter().flat_map(|hands| &hands.problems);
    wp.rounds.iter().flat_map(|round| &round.problems).chain(of_lead).chain(&wp.blocked_by)
}

/// A command that failed, and passed on the very same tree.
fn flaky(wp: &WpState) -> Vec<Suggestion> {
    let passed = wp.proved.iter().filter(|ran| ran.end.success());
    let again = passed.filter(|ran| {
        wp.rounds.iter().any(|round| {
            round.tree.is_some() && round.tree == wp.tree && failed(&round.problems, &ran.run)
        })
    });
    let suggestion = |run: &String| Suggestion {
        text: format!("`{run}` is flaky: it has failed and passed on the same files."),
        paths: Vec::new(),
        why: format!("it did so in {}", wp.id),
    };
    again.map(|ran| suggestion(&ran.run)).collect()
}

fn failed(problems: &[Problem], run: &str) -> bool {
    problems.iter().any(|it| it.check == Check::Dod && it.subject.as_deref() == Some(run))
}

/// A command that could not be run at all: what it needs is not made in a fresh worktree.
fn unprovisioned(wp: &WpState) -> Option<Suggestion> {
    let problem = wp.blocked_by.as_ref()?;
    let run = problem.subject.as_deref()?;
    let text = match problem.check {
        Check::Dod if problem.message.starts_with("could not be run") => format!(
            "A fresh worktree does not have what `{run}` needs: plans need a `[provision] setup` for it."
        ),
        Check::Provision => format!("`{run}` in `[provision]`: {}.", problem.message),
        _ => return None,
    };
    Some(Suggestion { text, paths: Vec::new(), why: format!("{} was blocked by it", wp.id) })
}

/// What took longer than it had.
fn too_slow(wp: &WpState) -> Vec<Suggestion> {
    let slow = problems(wp).filter(|problem| {
        let limit = ["ended at its timeout of", "ended after"];
        matches!(problem.check, Check::Dod | Check::Worker)
            && limit.iter().any(|words| problem.message.contains(words))
    });
    let suggestion = |problem: &Problem| {
        let what = match (&problem.subject, problem.check) {
            (Some(run), _) => {
                format!("`{run}` was {}: give it a longer `timeout`.", problem.message)
            }
            (None, _) => format!(
                "{}: work like that of `{}` needs a longer `timeout`, or smaller packages.",
                capital(&problem.message),
                wp.title
            ),
        };
        Suggestion { text: what, paths: Vec::new(), why: format!("it was so in {}", wp.id) }
    };
    slow.map(suggestion).collect()
}

/// What a person had to tell a worker.
fn answered(wp: &WpState) -> Vec<Suggestion> {
    let nobody = [PLAN, "default", "nobody"];
    let told = wp.forks.iter().filter_map(|fork| {
        let (answer, by) = (fork.answer.as_deref()?, fork.by.as_deref()?);
        (!answer.is_empty() && !nobody.contains(&by)).then(|| Suggestion {
            text: format!("{} {answer}", fork.question.trim()),
            paths: Vec::new(),
            why: format!("{by} had to tell the worker of {}", wp.id),
        })
    });
    told.collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
