//! `sop brief`: what a worker would be told.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use super::plan_file;
use super::terminal::Color;
use crate::brief::{Context, ScoutReport};
use crate::model::ids::{CommitId, RunId, TierId, WpId};
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{Kind, Plan, Wp};
use crate::process::escape_path;
use crate::run::compile::Compiled;
use crate::run::lessons;

/// Render the briefs of a plan as its workers would get them.
///
/// What only a run knows is made up: the run's id is that of a first run, and where findings of an
/// earlier round or a scout's report would stand, a sentence says so.
///
/// Exit code 0: rendered. 1: a plan or a template has findings, which are on standard error. 2: a
/// file cannot be read, or the plan has no such WP.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan file, and one of its WPs; without a WP, all of them. A name that is no path and does
    /// not end in `.toml` is a WP of `plan.toml`. With --check, any number of plan files.
    #[arg(value_name = "FILE [WP]")]
    pub targets: Vec<PathBuf>,
    /// The round to render.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub round: u32,
    /// Write each brief to WP.md in this folder, instead of to standard output.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print nothing: render the first and a later round of every WP, and report what fails.
    #[arg(long, conflicts_with_all = ["round", "output"])]
    pub check: bool,
}

/// The plan that is looked for where none is named.
const PLAN: &str = "plan.toml";

/// Runs the verb.
///
/// # Errors
/// A plan cannot be read or has no such WP (usage); git, the disk or standard output fails
/// (infrastructure).
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    if args.check {
        return check(&args.targets, color);
    }
    let (file, wp) = target(&args.targets)?;
    let Some(compiled) = plan_file::compiled(file, color)? else {
        return Ok(exit::FINDINGS);
    };
    let wps = wanted(&compiled.plan, wp, args.round)?;
    let mut out = io::stdout().lock();
    for (n, &wp) in wps.iter().enumerate() {
        let id = &compiled.plan.wps[wp].id;
        let brief = render(&compiled, wp, args.round)?;
        match &args.output {
            Some(folder) => save(folder, id, &brief)?,
            None if wps.len() == 1 => written(out.write_all(brief.as_bytes()))?,
            None => {
                let gap = if n == 0 { "" } else { "\n" };
                written(write!(out, "{gap}<!-- brief of {id} -->\n\n{brief}"))?;
            }
        }
    }
    Ok(exit::DONE)
}

/// Renders everything there is in these plans, and keeps none of it.
fn check(files: &[PathBuf], color: Color) -> Result<u8, Failure> {
    let default = [PathBuf::from(PLAN)];
    let files = if files.is_empty() { &default } else { files };
    let mut answer = exit::DONE;
    for file in files {
        let Some(compiled) = plan_file::compiled(file, color)? else {
            answer = exit::FINDINGS;
            continue;
        };
        for (wp, it) in compiled.plan.wps.iter().enumerate() {
            for round in [1, 2].into_iter().filter(|&round| round <= it.rounds) {
                render(&compiled, wp, round)?;
            }
        }
    }
    Ok(answer)
}

/// Which plan, and which WP of it.
fn target(targets: &[PathBuf]) -> Result<(&Path, Option<&Path>), Failure> {
    let is_file = |path: &Path| {
        path.components().count() > 1
            || path == Path::new("-")
            || path.extension().is_some_and(|e| e == "toml")
            || path.is_file()
    };
    match targets {
        [] => Ok((Path::new(PLAN), None)),
        [one] if is_file(one) => Ok((one, None)),
        [wp] => Ok((Path::new(PLAN), Some(wp))),
        [file, wp] => Ok((file, Some(wp))),
        [_, _, third, ..] => Err(Failure::usage(format!(
            "one plan and one WP at a time; {} is too many",
            escape_path(third)
        ))
        .help("to check several plans: sop brief --check FILE…")),
    }
}

/// The WPs to render: the one named, or all that have such a round.
fn wanted(plan: &Plan, wp: Option<&Path>, round: u32) -> Result<Vec<usize>, Failure> {
    let has_round = |wp: &Wp| wp.rounds >= round;
    let Some(name) = wp else {
        let all = plan.wps.iter().enumerate();
        let found: Vec<usize> = all.filter(|(_, wp)| has_round(wp)).map(|(i, _)| i).collect();
        return if found.is_empty() {
            Err(Failure::usage(format!("no WP of this plan has a round {round}")))
        } else {
            Ok(found)
        };
    };
    let named = |wp: &Wp| Path::new(wp.id.as_str()) == name;
    match plan.wps.iter().position(named) {
        Some(i) if has_round(&plan.wps[i]) => Ok(vec![i]),
        Some(i) => {
            let wp = &plan.wps[i];
            let message =
                format!("`{}` has no round {round}: its plan gives it {}", wp.id, wp.rounds);
            Err(Failure::usage(message))
        }
        None => {
            let ids: Vec<String> = plan.wps.iter().map(|wp| format!("`{}`", wp.id)).collect();
            let name = escape_path(name);
            Err(Failure::usage(format!("the plan has no WP `{name}`; it has {}", ids.join(", "))))
        }
    }
}

/// The brief of one WP, with sentences in the places that only a run can fill.
fn render(compiled: &Compiled, wp: usize, round: u32) -> Result<String, Failure> {
    let (plan, graph) = (&compiled.plan, &compiled.graph);
    let it = &plan.wps[wp];
    let unknown = CommitId("0".repeat(40));
    let problems = [Problem::new(
        Check::Dod,
        format!("what round {} got wrong will stand here", round.saturating_sub(1)),
    )];
    let scouts = graph.waits(wp).wps().iter().map(|&i| &plan.wps[i]);
    let texts: Vec<(&WpId, String)> = scouts
        .filter(|scout| scout.kind == Kind::Scout)
        .map(|scout| (&scout.id, format!("What `{}` reports will stand here.", scout.id)))
        .collect();
    let reports: Vec<ScoutReport<'_>> =
        texts.iter().map(|(wp, text)| ScoutReport { wp, text }).collect();
    let context = Context {
        plan,
        wp: it,
        stage: &graph.levels()[graph.level_of(wp)].stage,
        tier: tier(plan, &it.tier, round),
        run: &first_run(plan),
        base: compiled.base.as_ref().map_or(&unknown, |base| &base.commit),
        round,
        problems: if round > 1 { &problems } else { &[] },
        reports: &reports,
        report_file: "$SOP_REPORT",
        answers: &[],
        notes: &[],
        wiring: &[],
        lessons: &lessons::concerning(&compiled.lessons, it),
        cut_off: None,
    };
    let rendered = compiled.briefs.render(&it.template, &context);
    rendered
        .map_err(|error| Failure::new(exit::FINDINGS, format!("the brief of `{}`: {error}", it.id)))
}

/// The tier of a round, if every round before it failed.
fn tier<'a>(plan: &'a Plan, first: &'a TierId, round: u32) -> &'a TierId {
    (1..round).fold(first, |tier, _| {
        let next = plan.tiers.get(tier).and_then(|t| t.escalate_to.as_ref());
        next.unwrap_or(tier)
    })
}

/// What a first run of this plan would be called.
fn first_run(plan: &Plan) -> RunId {
    // A name of full length has no room for the number.
    RunId::new(format!("{}-1", plan.name)).unwrap_or_else(|_| plan.name.clone())
}

fn save(folder: &Path, id: &WpId, brief: &str) -> Result<(), Failure> {
    let path = folder.join(format!("{id}.md"));
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, brief)).map_err(|error| {
        Failure::infrastructure(format!("could not write {}: {error}", escape_path(&path)))
    })
}
