//! Templates: those that briefs are rendered with, and the arguments of workers and reviewers.

use std::collections::HashMap;

use crate::brief::args::{self, ArgError};
use crate::brief::review::{LENS, VERIFY};
use crate::brief::{Briefs, CRITIC, FOLDER, TemplateFault};
use crate::finding::Finding;
use crate::git::Repo;
use crate::model::plan::{Does, Review};
use crate::plan::Origin;

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
    let reviews = lenses(subject, &briefs, findings);
    let mut texts = Vec::new();
    let of_wps = briefs.check_plan(subject.plan).into_iter().map(|fault| finding(subject, fault));
    for finding in of_wps.chain(reviews) {
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
            let own = subject.wp(wp, "template");
            let at = match subject.origins.wp(wp) {
                Origin::Wp(_) => subject.present([own, "/plan/template".to_owned()]),
                Origin::Consolidate(_) => own,
            };
            let finding = subject.error("unknown-template", &at, error.to_string());
            match &error.near {
                Some(near) => finding.suggest(format!("\"{near}\"")),
                None => finding,
            }
        }
        TemplateFault::Wp { wp, error } => {
            let who = subject.who(wp);
            let at = subject.wp(wp, "vars");
            let message = format!("the template does not fit {who}: {error}");
            subject
                .error("template-misfit", &at, message)
                .help("give the WP the missing value: vars = { NAME = \"…\" }")
        }
    }
}

/// A review looks through lenses, and each is a template. Returns what is wrong with those that there are.
fn lenses(subject: Subject<'_>, briefs: &Briefs, findings: &mut Vec<Finding>) -> Vec<Finding> {
    let mut faults = Vec::new();
    if subject.plan.verify.as_ref().is_some_and(|verify| verify.review_tier.is_some()) {
        faults.extend(briefs.check_review(VERIFY).into_iter().flatten());
    }
    if subject.plan.critic_tier().is_some() {
        faults.extend(briefs.check(CRITIC).into_iter().flatten());
    }
    if subject.plan.delivery.as_ref().is_some_and(|delivery| delivery.pull_request) {
        faults.extend(briefs.check_request());
    }
    // There is one `[review]`, and whoever is reviewed by a worker is reviewed so.
    let used = subject.plan.wps.iter().find_map(|wp| match &wp.review {
        Review::Worker { lenses, .. } => Some(lenses),
        _ => None,
    });
    for (i, lens) in used.into_iter().flatten().enumerate() {
        let error = match briefs.check_review(&format!("{LENS}{lens}")) {
            Ok(wrong) => {
                faults.extend(wrong);
                continue;
            }
            Err(error) => error,
        };
        let lens_of = |name: &str| name.strip_prefix(LENS).map(str::to_owned);
        let known: Vec<String> = error.known.iter().filter_map(|name| lens_of(name)).collect();
        let at = subject.present([format!("/review/lenses/{i}"), "/review".to_owned()]);
        let message = format!("there is no lens `{lens}`: no template `{LENS}{lens}`");
        let mut finding = subject.error("unknown-lens", &at, message);
        let make = format!("a file `{FOLDER}/{LENS}NAME.md.j2` makes one");
        finding = match (error.near.as_deref().and_then(lens_of), known.is_empty()) {
            (Some(near), _) => finding
                .suggest(format!("\"{near}\""))
                .help(format!("did you mean `{near}`? {make}")),
            (None, true) => finding.help(make),
            (None, false) => {
                let known: Vec<String> = known.iter().map(|lens| format!("`{lens}`")).collect();
                finding.help(format!("there are {}; {make}", known.join(", ")))
            }
        };
        findings.push(finding);
    }
    faults
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
            let own = subject.wp(i, "review/command");
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
