//! The gap report, from what an audit knew when it began and what its scouts have handed in since.

use std::collections::BTreeMap;

use super::check::{Checked, Commit, Fault};
use super::merge::merge;
use super::record::Audit;
use crate::event::Classed;
use crate::git::{GitError, Repo};
use crate::ledger::Ledger;
use crate::model::gap::lead::Malformed;
use crate::model::gap::{Format, Gap, GapReport, Ground, Lead, Leads, Rejected, Slice};
use crate::model::ids::WpId;
use crate::process::{self, escape};
use crate::run::directory::RunDir;
use crate::run::{freeze, handed_in};

/// Lines of the output of a command that did not pass.
const TAIL: usize = 40;

/// Most characters of a rejected lead that are kept.
const SAID: usize = 200;

/// The report of the audit `audit`, whose run is in `dir` and stands as `ledger` says.
///
/// # Errors
/// The commit cannot be read.
pub fn report(
    audit: &Audit,
    ledger: &Ledger,
    dir: &RunDir,
    repo: &Repo,
) -> Result<GapReport, GitError> {
    let scope = audit.scope();
    let mut commit = Commit::new(repo, &audit.commit, &scope, &audit.concerns)?;
    let (mut slices, mut found, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for slice in &audit.slices {
        let entries = match leads(&slice.wp, ledger, dir) {
            Ok(entries) => entries,
            Err(why) => {
                slices.push(Slice { unread: Some(why), ..slice.clone() });
                continue;
            }
        };
        slices.push(slice.clone());
        for entry in entries {
            match entry {
                Ok(lead) => {
                    let (place, said) = (place(&lead), said(&lead));
                    match commit.check(&slice.wp, lead) {
                        Ok(checked) => found.push(checked),
                        Err(Fault::Git(error)) => return Err(error),
                        Err(Fault::Rejected(why)) => {
                            rejected.push(Rejected { wp: slice.wp.clone(), place, said, why });
                        }
                    }
                }
                Err(Malformed { place, said, why }) => rejected.push(Rejected {
                    wp: slice.wp.clone(),
                    place: escape(place.as_bytes()),
                    said: short(&said),
                    why,
                }),
            }
        }
    }
    Ok(GapReport {
        format: Format::GapReport,
        version: GapReport::VERSION,
        run: dir.run().clone(),
        base: audit.base.clone(),
        commit: audit.commit.clone(),
        scope: audit.scope.iter().map(|path| escape(path)).collect(),
        concerns: audit.concerns.clone(),
        tier: audit.tier.clone(),
        ground: ground(audit, &freeze::classed(dir), dir),
        left_behind: audit.left_behind.clone(),
        slices,
        left_out: audit.left_out.clone(),
        findings: numbered(merge(found)),
        rejected,
    })
}

/// How the project's own commands went, in the order in which they were run.
#[must_use]
pub fn ground(audit: &Audit, classed: &[Classed], dir: &RunDir) -> Vec<Ground> {
    let told = audit.ground.iter().filter_map(|asked| {
        let Classed { class, ran } = classed.iter().find(|it| it.ran.run == asked.run)?.clone();
        let tail = match ran.end.success() {
            true => Vec::new(),
            false => process::tail(&dir.named(&ran.log), TAIL).unwrap_or_default(),
        };
        Some(Ground { kind: asked.kind, from: asked.from.clone(), class, ran, tail })
    });
    told.collect()
}

/// What a scout handed in, or why it handed in nothing.
fn leads(wp: &WpId, ledger: &Ledger, dir: &RunDir) -> Result<Vec<Result<Lead, Malformed>>, String> {
    Leads::in_answer(&handed_in::report(wp, ledger, dir)?)
}

fn place(lead: &Lead) -> String {
    format!("{}:{}", escape(lead.path.as_bytes()), lead.line)
}

fn said(lead: &Lead) -> String {
    let title = lead.title.trim();
    short(if title.is_empty() { lead.evidence.trim() } else { title })
}

fn short(text: &str) -> String {
    let text = escape(text.as_bytes());
    match text.char_indices().nth(SAID) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn numbered(found: Vec<Checked>) -> Vec<Gap> {
    let id = |n: usize| format!("G{}", n + 1);
    let named = found.iter().enumerate();
    let known: BTreeMap<&(WpId, String), usize> =
        named.flat_map(|(n, it)| it.names.iter().map(move |name| (name, n))).collect();
    let gap = |(n, it): (usize, &Checked)| {
        let mut notes = it.notes.clone();
        let (mut before, mut unknown) = (Vec::new(), Vec::new());
        for name in &it.after {
            match known.get(name) {
                Some(other) if *other == n || before.contains(other) => {}
                Some(other) => before.push(*other),
                None => unknown.push(escape(name.1.as_bytes())),
            }
        }
        before.sort_unstable();
        if !unknown.is_empty() {
            let names = unknown.join("`, `");
            notes.push(format!("it waits for `{names}`, of which nothing stands"));
        }
        Gap {
            id: id(n),
            path: escape(&it.path),
            line: it.span.from,
            end_line: it.span.to,
            severity: it.severity,
            concerns: it.concerns.clone(),
            title: it.title.clone(),
            quote: it.quote.clone(),
            evidence: it.evidence.clone(),
            fix: it.fix.clone(),
            files: it.files.iter().map(|path| escape(path)).collect(),
            depends_on: before.into_iter().map(id).collect(),
            found_in: it.found_in.clone(),
            notes,
        }
    };
    found.iter().enumerate().map(gap).collect()
}
