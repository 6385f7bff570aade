//! From a gap report to a plan that mends what it names. What a rule can decide is decided ([`rules`]);
//! the rest is marked `# DECIDE:` where it stands in the plan, and told.

mod brief;
pub mod parts;
pub mod rules;
mod text;

use std::collections::BTreeSet;

use super::naming;
use crate::model::gap::draft::{Draft, Drafted, Undecided};
use crate::model::gap::{Concern, Gap, GapReport, Ground, GroundKind};
use crate::model::ids::{CommitId, WpId};
use crate::model::outcome::DodClass;
use crate::whitelist::{Whitelist, literal};

use parts::Part;

/// What a draft needs to know beside the report.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// Name of the plan.
    pub name: &'a str,
    /// Tiers that plans may name here.
    pub tiers: &'a [String],
    /// The commit that the report's base names now; `None` when it names none here.
    pub stands_at: Option<&'a CommitId>,
    /// Files for agents that the commit has.
    pub instructions: &'a [&'a str],
}

/// Why there is no draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// Two findings have one name.
    #[error("two findings of the report are called `{0}`")]
    Twice(String),
    /// A finding has a name that could be none of a work package.
    #[error("a finding of the report is called `{0}`, which is no name")]
    Name(String),
    /// It is of another version.
    #[error("the report is of version {found}, and this sop knows version {}", GapReport::VERSION)]
    Version {
        /// The version that it says.
        found: u32,
    },
    /// Nothing to do.
    #[error("the report has no finding that a work package can be made of")]
    Nothing,
}

/// Drafts the plan.
///
/// # Errors
/// The report is not one that `sop` writes, or holds nothing to do.
pub fn draft(report: &GapReport, around: &Around<'_>) -> Result<Draft, DraftError> {
    if report.version != GapReport::VERSION {
        return Err(DraftError::Version { found: report.version });
    }
    names(&report.findings)?;
    let (nameable, left): (Vec<&Gap>, Vec<&Gap>) = report
        .findings
        .iter()
        .partition(|gap| gap.files.iter().all(|path| pattern(path).is_some()));
    if nameable.is_empty() {
        return Err(DraftError::Nothing);
    }
    let findings: Vec<Gap> = nameable.into_iter().cloned().collect();
    let parts = parts::cut(&findings);
    let ids: Vec<String> = parts.iter().map(|part| id_of(part, &findings)).collect();
    let mut undecided = about_all(report, around, &left);
    let mut wps = Vec::with_capacity(parts.len());
    for (part, id) in parts.iter().zip(&ids) {
        let gaps: Vec<&Gap> = part.findings.iter().map(|n| &findings[*n]).collect();
        let ruling = rules::rule(&gaps, &part.files, around.tiers);
        let open = about_one(part, &gaps, &ruling, around);
        undecided.extend(open.into_iter().map(|what| Undecided { wp: Some(id.clone()), what }));
        wps.push(Drafted {
            id: id.clone(),
            title: title(&gaps),
            findings: gaps.iter().map(|gap| gap.id.clone()).collect(),
            whitelist: part.files.iter().filter_map(|path| pattern(path)).collect(),
            tier: ruling.tier,
            risk: ruling.risk,
            needs: part.needs.iter().map(|n| ids[*n].clone()).collect(),
            brief: brief::of(&gaps, &report.commit),
        });
    }
    let plan = text::plan(report, around, &wps, &undecided);
    let left_out = left.iter().map(|gap| gap.id.clone()).collect();
    Ok(Draft { plan, wps, undecided, left_out })
}

/// Commands that passed on the commit: they must pass afterwards too.
fn guards(report: &GapReport) -> impl Iterator<Item = &Ground> {
    report.ground.iter().filter(|it| it.kind != GroundKind::Setup && it.class == DodClass::Green)
}

/// Commands that made the commit ready for the others.
fn setup(report: &GapReport) -> impl Iterator<Item = &Ground> {
    report.ground.iter().filter(|it| it.kind == GroundKind::Setup && it.class == DodClass::Green)
}

/// The pattern that matches this path and no other. Nothing for one that is shown with escapes: what it is
/// in bytes is not known.
fn pattern(path: &str) -> Option<String> {
    let pattern = literal(path);
    let parsed = Whitelist::parse(&[&pattern]).ok().filter(|it| it.warnings.is_empty())?;
    let exact = !path.contains('\\') && parsed.whitelist.matches(path.as_bytes());
    exact.then_some(pattern)
}

fn names(findings: &[Gap]) -> Result<(), DraftError> {
    let mut seen = BTreeSet::new();
    for gap in findings {
        let slug = naming::slug(&gap.id, 16);
        if slug.is_empty() {
            return Err(DraftError::Name(gap.id.clone()));
        }
        if !seen.insert(slug) {
            return Err(DraftError::Twice(gap.id.clone()));
        }
    }
    Ok(())
}

/// Named after its first finding, which no other work package has, and that one's file.
fn id_of(part: &Part, findings: &[Gap]) -> String {
    let Some(first) = part.findings.first().map(|n| &findings[*n]) else { return String::new() };
    let head = naming::slug(&first.id, 16);
    let file = first.path.rsplit('/').next().unwrap_or_default();
    let id = naming::id(&head, file);
    if WpId::new(id.as_str()).is_ok() { id } else { head }
}

fn title(gaps: &[&Gap]) -> String {
    let Some(first) = gaps.first() else { return String::new() };
    let about = match first.title.trim() {
        "" => first.path.clone(),
        title => title.to_owned(),
    };
    match gaps.len() {
        1 => about,
        2 => format!("{about}, and one more"),
        n => format!("{about}, and {} more", n - 1),
    }
}

fn about_all(report: &GapReport, around: &Around<'_>, left: &[&Gap]) -> Vec<Undecided> {
    let mut open = Vec::new();
    if around.stands_at != Some(&report.commit) {
        open.push(match around.stands_at {
            Some(now) => format!(
                "`{}` has moved on to {} since the audit; the plan starts from the commit that was looked at. Audit \
                 again, or name a base and check that the lines still stand",
                report.base,
                now.short()
            ),
            None => format!(
                "`{}` names no commit here; the plan starts from the commit that was looked at",
                report.base
            ),
        });
    }
    if around.tiers.is_empty() {
        let text = "no tier is configured; `standard` below is a guess. Say who works, here or in `.sop/config.toml`";
        open.push(text.to_owned());
    }
    if guards(report).next().is_none() {
        let text = "no command of the project is known to pass on the base, so nothing can prove the work. The `dod` \
                    of each work package fails until you name one";
        open.push(text.to_owned());
    }
    for ground in report.ground.iter().filter(|it| it.class != DodClass::Green) {
        open.push(format!(
            "`{}` does not pass on the base ({}) and is in no `dod`: mend it first, or leave it",
            ground.ran.run, ground.ran.end
        ));
    }
    for gap in left {
        open.push(format!(
            "{} is in no work package: no whitelist can name one of its files (`{}`)",
            gap.id,
            gap.files.join("`, `")
        ));
    }
    let unread = report.unread().count();
    if unread > 0 {
        open.push(format!(
            "{unread} of {} parts of the tree were not read: what is in them is not in this plan",
            report.slices.len()
        ));
    }
    open.into_iter().map(|what| Undecided { wp: None, what }).collect()
}

fn about_one(
    part: &Part,
    gaps: &[&Gap],
    ruling: &rules::Ruling,
    around: &Around<'_>,
) -> Vec<String> {
    let mut open = Vec::new();
    if rules::is_large(gaps.len(), part.files.len()) {
        open.push(format!(
            "{} findings share {} files, so they cannot be cut apart by rule: cut by hand, or leave it whole",
            gaps.len(),
            part.files.len()
        ));
    }
    if part.circular {
        open.push(
            "findings here wait for each other in a circle, so they are one package".to_owned(),
        );
    }
    if let Some(wanted) = ruling.wanted.filter(|_| !around.tiers.is_empty()) {
        open.push(format!(
            "tier `{wanted}` would fit and is not configured; `{}` it is",
            ruling.tier
        ));
    }
    let of_spec = |gap: &&&Gap| gap.concerns.contains(&Concern::SpecGaps);
    let of_spec: Vec<&str> = gaps.iter().filter(of_spec).map(|gap| gap.id.as_str()).collect();
    if !of_spec.is_empty() {
        let ids = of_spec.join(", ");
        open.push(format!("{ids}: which is right, what is promised or what is done?"));
    }
    let unfixed: Vec<&str> =
        gaps.iter().filter(|gap| gap.fix.trim().is_empty()).map(|gap| gap.id.as_str()).collect();
    if !unfixed.is_empty() {
        open.push(format!("{}: no fix is proposed; say what would be right", unfixed.join(", ")));
    }
    open
}
