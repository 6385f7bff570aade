//! What a person types next, as it can be typed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::event::{MovedBranch, Outcome, StopReason};
use crate::ledger::{GatePhase, Ledger, Phase, WpState};
use crate::model::approval::Cover;
use crate::model::ids::CommitId;
use crate::model::lesson::Suggestion;
use crate::model::plan::{Kind, Mode};
use crate::report::{commands, delivery, words};

/// A command, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextCommand {
    /// What to type.
    pub command: String,
    /// Why.
    pub why: String,
}

/// What to type, the most useful first; never empty.
pub(super) fn commands(ledger: &Ledger) -> Vec<NextCommand> {
    let run = &ledger.run;
    let mut next = Vec::new();
    let mut say = |command: String, why: &str| {
        next.push(NextCommand { command, why: why.to_owned() });
    };
    let of = |phase: Phase| ledger.wps.iter().filter(move |wp| wp.phase == phase);

    // A run that nobody is at work on may have nothing wrong with it at all: that comes first.
    let interrupted = ledger.outcome.is_none() && ledger.stopped == Some(StopReason::Interrupted);
    if interrupted {
        say(commands::resume(run), "go on where it stopped");
    } else if ledger.unbegun() {
        say(commands::resume(run), "it is approved and nothing has begun: go on, from any session");
    } else if ledger.goes_on() && !ledger.tampered() {
        say(commands::resume(run), "go on: no engine has the run");
    }
    for fork in of(Phase::AwaitingAnswer).flat_map(WpState::unanswered) {
        say(commands::answer(run, fork.number), &fork.question);
        if fork.default.is_some() {
            say(commands::take_default(run, fork.number), "or what the worker would do");
        }
    }
    for wp in of(Phase::AwaitingReview) {
        // The tree that was checked, new files and all; the worktree may hold more by now.
        if let (Some(against), Some(tree)) = (&wp.against, &wp.tree) {
            say(commands::diff(against.short(), tree.short()), "look at the work");
        }
        say(commands::approve(run, &wp.id), "or --request-changes FILE");
    }
    if of(Phase::Blocked).next().is_some() {
        say(
            commands::resume(run),
            "once what blocks it is mended around the run: its plan and base stay as they were; to change those, apply anew",
        );
    }
    for wp in of(Phase::Escalated) {
        say(
            commands::retry(run, &wp.id),
            "more rounds on the same plan and base, once you have decided",
        );
        if wp.kind == Kind::Change {
            say(commands::take(run, &wp.id), "or mend it by hand");
        }
    }
    for wp in of(Phase::Taken) {
        say(commands::recheck(run, &wp.id), "once you have mended it by hand");
        say(commands::give_back(run, &wp.id), "or leave it to a worker");
    }
    for wp in of(Phase::Cancelled) {
        say(commands::retry(run, &wp.id), "take it up again");
    }
    if ledger.tampered() {
        say(commands::resume(run), "once what was changed is put back, by the commands above");
    }
    if !ledger.tampering.is_empty() {
        say(
            commands::accept_changes(run),
            "or accept, in your name, what is nobody's to touch and was changed",
        );
    }
    if ledger.gates.last().is_some_and(|gate| gate.halted.is_some()) {
        say(commands::resume(run), "once what is in the way of the merge is mended");
    }
    if let Some(gate) = ledger.gates.last().filter(|gate| gate.phase == GatePhase::Failed) {
        let named = if gate.named.is_empty() { &gate.wps } else { &gate.named };
        for wp in
            named.iter().filter(|id| ledger.wp(id).is_some_and(|wp| wp.phase == Phase::Passed))
        {
            say(commands::retry(run, wp), "so that the stage holds together");
        }
    }
    if let Some(look) = &ledger.verify {
        if look.halted.is_some() {
            say(commands::resume(run), "once what is in the way of the last look is mended");
        } else if look.failed() {
            // The integrated commit is what it is: what is wrong with it is another plan's to mend.
            let why = "look once more, if what is wrong was around it; to mend the work itself, make a \
                       plan whose base is the branch below";
            say(commands::resume(run), why);
        }
    }
    if ledger.uncovered_gate() {
        say(
            commands::cover(run, Cover::Integration),
            "merge the stage: the approval does not cover that",
        );
    }
    let has_worktree = |wp: &&WpState| wp.phase.got_through() && wp.worktree.is_some();
    if !ledger.covers.has(Cover::Cleanup) && ledger.wps.iter().any(|wp| has_worktree(&wp)) {
        say(
            commands::cover(run, Cover::Cleanup),
            "remove the worktrees: the approval does not cover that",
        );
    }
    for (command, why) in delivery::next(ledger) {
        say(command, &why);
    }
    // What was asked for waits until an engine takes the run again.
    let resume = commands::resume(run);
    // Of a run that is done nothing waits: what may follow is its own command.
    let asks = !next.is_empty() && ledger.outcome != Some(Outcome::Done);
    if asks && !next.iter().any(|next| next.command == resume) {
        next.push(NextCommand {
            command: resume,
            why: "afterwards: go on with the run".to_owned(),
        });
    }
    take(ledger, asks, &mut next);
    if next.is_empty() {
        // Nothing failed, nothing is there to take: the run has more to do, or changed nothing.
        let (command, why) = match ledger.outcome {
            Some(Outcome::Done)
                if ledger.delivery.as_ref().is_some_and(|it| !it.items.is_empty()) =>
            {
                (commands::status(run), "everything has landed")
            }
            Some(Outcome::Done) => (commands::status(run), "nothing was to be merged"),
            _ => (commands::resume(run), "go on"),
        };
        next.push(NextCommand { command, why: why.to_owned() });
    }
    next
}

/// What the run has taught, as commands that would keep it.
pub(super) fn lessons(ledger: &Ledger) -> Vec<NextCommand> {
    let command = |it: Suggestion| NextCommand {
        command: commands::add_lesson(&it.text, &it.paths),
        why: it.why,
    };
    ledger.lessons().into_iter().map(command).collect()
}

/// Where the result can be taken from.
fn take(ledger: &Ledger, partly: bool, next: &mut Vec<NextCommand>) {
    let mut say = |command: String, why: &str| {
        next.push(NextCommand { command, why: why.to_owned() });
    };
    match ledger.mode {
        Mode::Staged if delivery::has_request(ledger, None) => {}
        Mode::Staged => {
            let passed = ledger.gates.iter().rev().find(|gate| gate.phase == GatePhase::Passed);
            if let Some(branch) = passed.and_then(|gate| gate.branch.as_ref()) {
                let why = if partly { "take what holds so far" } else { "take the result" };
                let commit = passed.and_then(|gate| gate.commit.as_ref());
                let (command, why) = merge(ledger, branch, commit, why);
                say(command, &why);
            }
        }
        Mode::Independent => {
            let changed = |wp: &&WpState| {
                let changed = wp.kind == Kind::Change && wp.commit != wp.base;
                // What has a request is taken there.
                changed && wp.phase.got_through() && !delivery::has_request(ledger, Some(&wp.id))
            };
            for wp in ledger.wps.iter().filter(changed) {
                if let Some(branch) = &wp.branch {
                    let why = match words::title(&wp.id, &wp.title) {
                        "" => "take its work",
                        title => title,
                    };
                    let (command, why) = merge(ledger, branch, wp.commit.as_ref(), why);
                    say(command, &why);
                }
            }
        }
    }
}

/// What takes a branch's work: the branch or, when that holds something else by now, the commit that was
/// checked. Written out: a branch could be named like its first digits.
fn merge(ledger: &Ledger, branch: &str, commit: Option<&CommitId>, why: &str) -> (String, String) {
    match moved(ledger, Some(branch), commit) {
        Some(moved) => {
            let why = format!("{why} (as checked: {branch} was moved since)");
            (format!("git merge {}", moved.checked), why)
        }
        None => (format!("git merge {}", quoted(branch)), why.to_owned()),
    }
}

/// What is known to have become of a branch that should be at this commit.
pub(super) fn moved<'a>(
    ledger: &'a Ledger,
    branch: Option<&str>,
    commit: Option<&CommitId>,
) -> Option<&'a MovedBranch> {
    let of = |moved: &&MovedBranch| {
        Some(moved.branch.as_str()) == branch && Some(&moved.checked) == commit
    };
    ledger.moved.iter().find(of)
}

/// An argument that any shell takes as it is.
pub(super) fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}
