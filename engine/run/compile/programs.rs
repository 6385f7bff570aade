//! Programs that a plan names: better told now than when others have been paid. A name is looked for on `PATH` of
//! this machine, a path in what the worktree will hold: the base, what is copied, for the commands of a later look what
//! packages may write. Where `setup` could make a program, or a fallback stands in, it is only a warning.

use std::collections::BTreeMap;
use std::path::Path;

use bstr::BStr;

use super::Purpose;
use super::base::Base;
use super::files::exists;
use super::subject::Subject;
use crate::finding::{Finding, Severity};
use crate::model::ids::{TierId, WorkerId};
use crate::model::plan::{Command, Does, Review, Worker};
use crate::whitelist::Whitelist;
use crate::worker::Home;

/// Checks the programs of workers, of commands that review, and of the last look.
pub(super) fn check(subject: Subject<'_>, top: &Path, base: &Base, findings: &mut Vec<Finding>) {
    let looked = Looked { subject, top, base };
    looked.workers(findings);
    looked.later(findings);
    if subject.purpose == Purpose::Run {
        looked.unavailable(findings);
    }
}

/// Pointer to the `n`th word of a worker's command line.
pub(super) fn word(name: &WorkerId, worker: &Worker, n: usize) -> String {
    let key = match &worker.does {
        Does::Command { .. } => "command",
        Does::Agent { .. } => "program",
    };
    format!("/workers/{name}/{key}/{n}")
}

struct Looked<'a> {
    subject: Subject<'a>,
    top: &'a Path,
    base: &'a Base,
}

impl Looked<'_> {
    /// A worker's program that is named by a path is taken from its worktree, where only the base and
    /// provisioning have put anything.
    fn workers(&self, findings: &mut Vec<Finding>) {
        for (name, worker) in &self.subject.plan.workers {
            let Some(program) = worker.argv().first() else { continue };
            let help =
                "a worker's program is named from the top of its worktree, or is one on PATH";
            let missing = self.missing(program, &word(name, worker, 0), help);
            findings.extend(missing.map(|finding| self.weighed(finding)));
        }
    }

    /// Commands that run when packages have done their work: they may have made the program.
    fn later(&self, findings: &mut Vec<Finding>) {
        let plan = self.subject.plan;
        let live = plan.verify.iter().flat_map(|verify| &verify.live).enumerate();
        let live = live.filter_map(|(n, dod)| match &dod.command {
            Command::Argv(words) => Some((words.first()?, format!("/verify/live/{n}"))),
            // A line for the shell, which alone knows what in it is a program.
            Command::Shell(_) => None,
        });
        let reviews = plan.wps.iter().enumerate().filter_map(|(i, wp)| match &wp.review {
            Review::Command { command, .. } => {
                Some((command.first()?, self.subject.wp(i, "review")))
            }
            _ => None,
        });
        let here = Home::here(&BTreeMap::new());
        for (program, at) in live.chain(reviews) {
            if program.contains('/') {
                if !self.may_be_made(program) {
                    let help =
                        "it is named from the top of the worktree, where no package may make it";
                    let missing = self.missing(program, &at, help);
                    findings.extend(missing.map(|finding| self.weighed(finding)));
                }
            } else if self.subject.purpose == Purpose::Run && here.find(program).is_none() {
                let message = format!(
                    "there is no program `{program}` on PATH here, and it is run when workers have been paid"
                );
                let finding = self.subject.error("missing-program", &at, message);
                findings.push(self.weighed(finding.help("install it, or mend its name")));
            }
        }
    }

    /// Whether some package may write the path.
    fn may_be_made(&self, program: &str) -> bool {
        let path = BStr::new(program.strip_prefix("./").unwrap_or(program));
        self.subject.plan.wps.iter().any(|wp| {
            let parsed = Whitelist::parse(&wp.whitelist);
            parsed.is_ok_and(|parsed| parsed.whitelist.matches(path))
        })
    }

    /// That a path is nowhere that a worktree would have it from.
    fn missing(&self, program: &str, at: &str, help: &str) -> Option<Finding> {
        let (subject, base) = (self.subject, self.base);
        let path = program.strip_prefix("./").unwrap_or(program);
        let templated = path.contains("{{") || path.contains("{%");
        let copied = subject.plan.provision.copy.iter().any(|copy| {
            let copy = copy.trim_end_matches('/');
            path == copy || path.strip_prefix(copy).is_some_and(|rest| rest.starts_with('/'))
        });
        let elsewhere = path.starts_with('/') || path.split('/').any(|part| part == "..");
        if !program.contains('/') || templated || copied || elsewhere {
            return None;
        }
        if base.holds(BStr::new(path)) {
            return None;
        }
        Some(if exists(&self.top.join(path)) {
            let message = format!(
                "`{program}` is in the checkout but not in the base commit {}, so no worktree would have it",
                base.commit.short()
            );
            let help = format!("commit it to `{}` before the run", subject.plan.base);
            subject.here("not-in-base", at, message).help(help)
        } else {
            let message =
                format!("there is no `{program}`, neither in the checkout nor in the base");
            subject.here("missing-file", at, message).help(help)
        })
    }

    /// Where there is a setup, it may make what is missing.
    fn weighed(&self, finding: Finding) -> Finding {
        if self.subject.plan.provision.setup.is_empty() {
            return finding;
        }
        let severity = finding.severity.min(Severity::Warning);
        Finding { severity, ..finding }.help("fine if `[provision] setup` makes it")
    }

    /// Programs that this machine would have to find on `PATH`, and does not.
    fn unavailable(&self, findings: &mut Vec<Finding>) {
        let plan = self.subject.plan;
        let gone = |worker: &Worker| match worker.argv().first() {
            Some(program) if program.contains('/') || program.contains("{{") => false,
            Some(program) => Home::here(&worker.env).find(program).is_none(),
            None => false,
        };
        for (name, worker) in plan.workers.iter().filter(|(_, worker)| gone(worker)) {
            let mut tiers = plan.tiers.values().filter(|tier| &tier.worker == name).peekable();
            if tiers.peek().is_none() {
                // Nobody would start it.
                continue;
            }
            let there = |tier: &TierId| {
                let worker = plan.tiers.get(tier).and_then(|tier| plan.workers.get(&tier.worker));
                worker.is_some_and(|worker| !gone(worker))
            };
            let stands_in = tiers.all(|tier| tier.fallback.iter().any(there));
            let program = &worker.argv()[0];
            let (at, message) =
                (word(name, worker, 0), format!("there is no program `{program}` on PATH here"));
            findings.push(match stands_in {
                true => self
                    .subject
                    .warning("missing-program", &at, message)
                    .help("the tier's fallback would work in its place"),
                false => self.weighed(self.subject.error("missing-program", &at, message).help(
                    "install it, mend its name, or name a file of the repository with a `/` in its path",
                )),
            });
        }
    }
}
