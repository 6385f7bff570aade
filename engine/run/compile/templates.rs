//! Templates: those that briefs are rendered with, and the arguments of workers and reviewers.

use std::collections::HashMap;

use crate::brief::args::{self, ArgError};
use crate::brief::{Briefs, TemplateFault};
use crate::finding::Finding;
use crate::git::Repo;
use crate::model::plan::{Does, Review};

use super::subject::Subject;

/// Checks them. Returns the templates, where they can be read, and the texts that findings point into.
pub(super) fn check(
    subject: Subject<'_>,
    repo: Option<&Repo>,
    findings: &mut Vec<Finding>,
) -> (Option<Briefs>, Vec<(String, String)>) {
    commands(subject, findings);
    let briefs = match repo.and_then(Repo::top) {
        Some(top) => Briefs::load(top),
        None => Ok(Briefs::built_in()),
    };
    let briefs = match briefs {
        Ok(briefs) => briefs,
        Err(error) => {
            let finding = Finding::error("template-unreadable", subject.file, error.to_string());
            findings.push(finding);
            return (None, Vec::new());
        }
    };
    let mut texts = Vec::new();
    for fault in briefs.check_plan(subject.plan) {
        let finding = finding(subject, fault);
        if finding.file != subject.file
            && !texts.iter().any(|(file, _)| *file == finding.file)
            && let Some(text) = briefs.text(&finding.file)
        {
            texts.push((finding.file.clone(), text.to_owned()));
        }
        findings.push(finding);
    }
    (Some(briefs), texts)
}

fn finding(subject: Subject<'_>, fault: TemplateFault) -> Finding {
    match fault {
        TemplateFault::Template(finding) => finding,
        TemplateFault::Unknown { wp, error } => {
            let own = format!("/wp/{wp}/template");
            let at = subject.present([own, "/plan/template".to_owned()]);
            let finding = subject.error("unknown-template", &at, error.to_string());
            match &error.near {
                Some(near) => finding.suggest(format!("\"{near}\"")),
                None => finding,
            }
        }
        TemplateFault::Wp { wp, error } => {
            let id = &subject.plan.wps[wp].id;
            let at = format!("/wp/{wp}/vars");
            let message = format!("the template does not fit `{id}`: {error}");
            subject
                .error("template-misfit", &at, message)
                .help("give the WP the missing value: vars = { NAME = \"…\" }")
        }
    }
}

/// Each argument of a worker or reviewer is a template of its own.
fn commands(subject: Subject<'_>, findings: &mut Vec<Finding>) {
    for (name, worker) in &subject.plan.workers {
        let list = format!("/workers/{name}/command");
        // An agent's arguments are its adapter's business: none of them is a template.
        let Does::Command { command, .. } = &worker.does else { continue };
        findings.extend(args::check(command).iter().map(|e| argument(subject, &list, e)));
    }
    // Most WPs share one reviewer, and its command is looked at once.
    let mut seen: HashMap<&[String], Vec<ArgError>> = HashMap::new();
    for (i, wp) in subject.plan.wps.iter().enumerate() {
        let Review::Command { command, .. } = &wp.review else {
            continue;
        };
        for fault in seen.entry(command).or_insert_with(|| args::check(command)).iter() {
            let own = format!("/wp/{i}/review/command");
            let list = subject.present([own, "/plan/review/command".to_owned()]);
            findings.push(argument(subject, &list, fault));
        }
    }
}

fn argument(subject: Subject<'_>, list: &str, fault: &ArgError) -> Finding {
    let at = format!("{list}/{}", fault.index);
    let finding = subject.error("command-template", &at, fault.to_string());
    let Some(span) = &fault.span else {
        return finding;
    };
    let placed = subject.inside(finding, &at, span.clone());
    match &fault.suggestion {
        // It mends those bytes of the argument, and nothing larger.
        Some(suggestion) if placed.span != Some(subject.place(&at)) => placed.suggest(suggestion),
        _ => placed,
    }
}
