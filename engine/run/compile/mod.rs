//! From plan text to a plan that may run: every check, all findings at once.
//!
//! What the file says is judged alike everywhere. What depends on the clone at hand (whether the base
//! resolves, what it holds, what lies in the checkout) keeps a plan from *running*, but is only a
//! warning to whoever checks the file: a pre-commit hook sees plans before their briefs are in any
//! commit, and a build machine may have fetched one branch.

mod base;
mod files;
mod order;
mod overlap;
mod programs;
mod subject;
mod templates;
mod twins;
mod whitelists;

use std::path::Path;

use crate::brief::Briefs;
use crate::finding::{Finding, any_error};
use crate::git::{GitError, Repo};
use crate::graph::Sealed;
use crate::model::lesson::Lesson;
use crate::model::plan::Plan;
use crate::plan::{self, Layers, Read, Source};
use crate::run::lessons;
use crate::whitelist::{Overlap, Whitelist};

pub use base::Base;
use order::Order;
use subject::Subject;

/// What a plan is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To see whether the file is right.
    Check,
    /// To run it in this repository, now.
    Run,
}

/// A plan with everything that a run needs to know before it starts.
pub struct Compiled {
    /// The plan as resolved.
    pub plan: Plan,
    /// Who waits for whom.
    pub graph: Sealed,
    /// The whitelist of each WP, in the order of the plan; a scout's matches nothing.
    pub whitelists: Vec<Whitelist>,
    /// Pairs of WPs that may be at work together and can meet on a path that does not exist yet, as
    /// indices into the plan's WPs. Pairs that meet on paths of the base are errors, and never get here.
    pub possible: Vec<Overlap>,
    /// The base, pinned. Always there when compiled to run.
    pub base: Option<Base>,
    /// The templates that the plan's briefs are rendered with.
    pub briefs: Briefs,
    /// What earlier runs have learned of the repository.
    pub lessons: Vec<Lesson>,
}

/// What came of it.
pub struct Outcome {
    /// The plan; `None` when a finding is an error.
    pub compiled: Option<Compiled>,
    /// Everything worth saying, in the order of the file; findings in other files come last.
    pub findings: Vec<Finding>,
    /// Texts of the template and config files that findings are in, by the name that the findings use.
    pub texts: Vec<(String, String)>,
}

/// Compiles the plan in `source`, whose file lies in `dir`, among `layers` and against `repo`.
///
/// Without a repository, what only one can answer is left unasked; whoever compiles to run has one.
///
/// # Errors
/// Git could not answer. A base that does not resolve is a finding, not an error.
pub fn compile(
    source: &Source,
    dir: &Path,
    layers: &Layers,
    repo: Option<&Repo>,
    purpose: Purpose,
) -> Result<Outcome, GitError> {
    let read = plan::read(source, dir, layers);
    // A draft is looked at as far as it goes: whoever mends the plan wants to hear of all faults now.
    let Some(plan) = read.readable() else {
        let texts = texts(layers, &read.findings);
        return Ok(Outcome { compiled: None, findings: read.findings, texts });
    };
    let mut findings = read.findings.clone();
    let Read { origins, places, .. } = &read;
    let subject = Subject { plan, origins, places, file: &source.file, purpose };
    let base = base::pin(subject, repo, &mut findings)?;
    files::check(subject, repo, base.as_ref(), (dir, &read.brief_files), &mut findings);
    let (briefs, mut texts) = templates::check(subject, repo, &mut findings);
    let (lessons, noted) = lessons::of(repo, &mut findings);
    texts.extend(noted);
    let whitelists = whitelists::read(subject, &mut findings);
    let order = order::seal(subject, &read.unplaced, &mut findings);
    let paths = base.as_ref().map_or(&[][..], |base| &base.paths);
    let possible = match &order {
        Some(order) => overlap::check(subject, order, &whitelists, paths, &mut findings),
        None => Vec::new(),
    };
    if let Some(order) = &order {
        twins::check(subject, order, &mut findings);
    }

    texts.extend(self::texts(layers, &findings));
    sort(&mut findings, &source.file);
    let plan = read.plan.filter(|_| !any_error(&findings));
    let compiled = match (plan, order, briefs) {
        (Some(plan), Some(Order { graph, .. }), Some(briefs)) => Some(Compiled {
            whitelists: whitelists.wps.into_iter().flatten().collect(),
            plan,
            graph,
            possible,
            base,
            briefs,
            lessons,
        }),
        _ => None,
    };
    Ok(Outcome { compiled, findings, texts })
}

/// The texts of those layers that findings are in.
fn texts(layers: &Layers, findings: &[Finding]) -> Vec<(String, String)> {
    let sources = layers.list().iter().map(|layer| &layer.source);
    let found = sources.filter(|source| findings.iter().any(|f| f.file == source.file));
    found.map(|source| (source.file.clone(), source.text.clone())).collect()
}

/// By place: the plan file from top to bottom, then what is about it as a whole, then other files.
/// WPs that share a template or a command share its findings, which are told once.
fn sort(findings: &mut Vec<Finding>, file: &str) {
    let place = |f: &Finding| {
        let (start, end) = match &f.span {
            Some(span) => (span.start, span.end),
            None => (usize::MAX, usize::MAX),
        };
        (f.file != file, start, end)
    };
    findings.sort_by(|a, b| {
        let (x, y) = (place(a), place(b));
        (x.0, &a.file, x.1, x.2)
            .cmp(&(y.0, &b.file, y.1, y.2))
            .then_with(|| b.severity.cmp(&a.severity))
            .then_with(|| (a.code, &a.message).cmp(&(b.code, &b.message)))
    });
    findings.dedup();
}
