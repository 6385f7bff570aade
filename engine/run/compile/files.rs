//! Files that the plan names: workers see the base commit, and not what happens to lie in a checkout.

use std::path::{Component, Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use crate::finding::Finding;
use crate::git::Repo;
use crate::plain_file;
use crate::plan::is_nameless;
use crate::process;

use super::Purpose;
use super::base::Base;
use super::programs::{self, word};
use super::subject::Subject;

/// Checks instructions, brief files and provisioned copies. `named` is the folder of the plan file, and
/// the brief file that each WP names from there.
pub(super) fn check(
    subject: Subject<'_>,
    repo: Option<&Repo>,
    base: Option<&Base>,
    named: (&Path, &[Option<String>]),
    findings: &mut Vec<Finding>,
) {
    let top = repo.and_then(Repo::top);
    elsewhere(subject, top, named, findings);
    let Some(top) = top else {
        return;
    };
    copies(subject, top, base, findings);
    if let Some(base) = base {
        instructions(subject, top, base, findings);
        programs::check(subject, top, base, findings);
        if let Some(repo) = repo.filter(|_| subject.purpose == Purpose::Run) {
            stale(subject, repo, top, base, findings);
        }
        briefs(subject, top, base, named, findings);
    }
}

fn instructions(subject: Subject<'_>, top: &Path, base: &Base, findings: &mut Vec<Finding>) {
    for (i, file) in subject.plan.instructions.iter().enumerate() {
        if is_nameless(file) || base.holds(BStr::new(file)) {
            continue;
        }
        let at = format!("/plan/instructions/{i}");
        findings.push(if exists(&top.join(file)) {
            let message = format!(
                "`{file}` is in the checkout but not in the base commit {}, so no worker would see it",
                base.commit.short()
            );
            let help = format!("commit it to `{}` before the run", subject.plan.base);
            subject.here("not-in-base", &at, message).help(help)
        } else {
            let message = format!("there is no `{file}`, neither in the checkout nor in the base");
            subject
                .error("missing-file", &at, message)
                .help("instructions are named from the top of the repository")
        });
    }
}

/// What is mended in the checkout and not committed does not reach a worktree.
fn stale(subject: Subject<'_>, repo: &Repo, top: &Path, base: &Base, findings: &mut Vec<Finding>) {
    for (name, worker) in &subject.plan.workers {
        for (n, named) in worker.argv().iter().enumerate() {
            let path = named.strip_prefix("./").unwrap_or(named);
            if path.contains("{{") || !base.holds(BStr::new(path)) {
                continue;
            }
            let theirs = repo.blob_at(&base.commit, BStr::new(path)).ok().flatten();
            let ours = plain_file::read_own(&top.join(path)).ok();
            if let (Some(theirs), Some(ours)) = (theirs, ours)
                && theirs != ours
            {
                let message = format!(
                    "`{named}` is not the same in the checkout as in the base commit {}: the worker is the one \
                     in the base",
                    base.commit.short()
                );
                let help =
                    format!("commit it to `{}` if the newer one is meant", subject.plan.base);
                let at = word(name, worker, n);
                findings.push(subject.warning("stale-worker", &at, message).help(help));
            }
        }
    }
}

/// The text of a brief is read here and now, so a brief file outside the base runs; but whoever looks
/// for it in the worktree, or resumes from another clone, does not find it.
fn briefs(
    subject: Subject<'_>,
    top: &Path,
    base: &Base,
    (dir, files): (&Path, &[Option<String>]),
    findings: &mut Vec<Finding>,
) {
    let Ok(dir) = dir.canonicalize() else {
        return;
    };
    for (i, file) in files.iter().enumerate() {
        let Some(file) = file else {
            continue;
        };
        let Some(path) = within(top, &dir, file) else {
            continue;
        };
        // One that is nowhere is the plan room's finding.
        if !base.holds(path.as_bstr()) && exists(&dir.join(file)) {
            let message = format!(
                "the brief `{file}` is in the checkout but not in the base commit {}",
                base.commit.short()
            );
            let help = "it is used as it is now; commit it so that the plan can be run from another clone too";
            let at = subject.wp(i, "brief");
            findings.push(subject.warning("not-in-base", &at, message).help(help));
        }
    }
}

/// A link that leads a brief out of the repository, or out of the plan's folder where there is none: what
/// a worker is told would be of no commit, and of whatever lies there when the plan is run.
fn elsewhere(
    subject: Subject<'_>,
    top: Option<&Path>,
    (dir, files): (&Path, &[Option<String>]),
    findings: &mut Vec<Finding>,
) {
    let roots: Vec<PathBuf> = [Some(dir), top]
        .into_iter()
        .flatten()
        .filter_map(|root| root.canonicalize().ok())
        .collect();
    for (i, file) in files.iter().enumerate() {
        let Some(file) = file else { continue };
        // One that is nowhere is the plan room's finding.
        let Ok(real) = dir.join(file).canonicalize() else { continue };
        if roots.iter().any(|root| real.starts_with(root)) {
            continue;
        }
        let root = if top.is_some() { "the repository" } else { "the folder of the plan file" };
        let real = process::escape(real.as_os_str().as_encoded_bytes());
        let message = format!("the brief `{file}` is a link that leads out of {root}, to {real}");
        let help = "put the text into a file of the repository, next to the plan";
        let at = subject.wp(i, "brief");
        findings.push(subject.error("escaping-brief", &at, message).help(help));
    }
}

fn copies(subject: Subject<'_>, top: &Path, base: Option<&Base>, findings: &mut Vec<Finding>) {
    let copies = subject.plan.provision.copy.iter().enumerate();
    for (i, file) in copies.filter(|(_, file)| !is_nameless(file)) {
        let at = format!("/provision/copy/{i}");
        if base.is_some_and(|base| base.holds(BStr::new(file))) {
            let message =
                format!("`{file}` is tracked: every worktree has it from the base already");
            let help = "copy only untracked files; what is copied is never committed";
            findings.push(subject.error("copy-tracked", &at, message).help(help));
        } else if !exists(&top.join(file)) {
            let message = format!("there is no `{file}` in the checkout to copy");
            let help = "copies are named from the top of the repository";
            findings.push(subject.warning("missing-file", &at, message).help(help));
        }
    }
}

pub(super) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// `file`, named from `dir` (canonical, like `top`), as a path from `top`; `None` when it lies elsewhere.
fn within(top: &Path, dir: &Path, file: &str) -> Option<BString> {
    let mut whole = PathBuf::new();
    for part in dir.join(file).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    let path = whole.strip_prefix(top).ok()?;
    Some(BString::from(path.as_os_str().as_encoded_bytes()))
}
