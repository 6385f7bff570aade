//! How an audit begins: what is to be read is cut, the project's own commands are run, and the run of the
//! scouts is made.

use std::io::{self, Write as _};

use bstr::BStr;

use super::{Args, places};
use crate::audit::ground::{self, Asked};
use crate::audit::scouts::{self, INSTRUCTIONS, Scouts};
use crate::audit::{Audit, Scope, slice};
use crate::cli::failure::{Failure, written};
use crate::cli::layers::{self, User};
use crate::cli::plan::{dry_run, obstacles};
use crate::cli::terminal::Color;
use crate::cli::{draft, drive, exit, plan_file};
use crate::event::{ApprovedBy, Classed};
use crate::git::{GitError, Repo};
use crate::model::approval::Covers;
use crate::model::baseline::Kept;
use crate::model::gap::{Concern, Ground, GroundKind};
use crate::model::ids::{CommitId, TierId};
use crate::model::plan::{Dod, Plan, Provision};
use crate::plan::{Layers, Source, command};
use crate::preflight::{self, Ask, Depth, Looked};
use crate::report::escape::visible;
use crate::report::words;
use crate::run::checkpoint::{DryRun, Traces};
use crate::run::compile::{Compiled, Outcome, Purpose, compile};
use crate::run::create::{self, NewRun};
use crate::run::directory::RunDir;

/// What came of it.
pub(super) enum Begun {
    /// A run of scouts, and what is known of it.
    Run(RunDir, Box<Audit>),
    /// Nothing is left to do: the exit code.
    Over(u8),
}

/// Begins an audit.
///
/// # Errors
/// There is nothing to look at, nobody to look, or the run cannot be made.
pub(super) fn begin(repo: &Repo, args: &Args, color: Color) -> Result<Begun, Failure> {
    let version = obstacles(repo)?;
    let (base, commit) = base(repo, args.base.as_deref())?;
    let (scope, tree) = places::tree(repo, &commit, &args.scope)?;
    let slices = slice::cut(&tree.files);
    let tier = TierId::new(args.tier.as_str())
        .map_err(|why| Failure::usage(format!("`{}` {why}", args.tier)))?;
    let concerns = concerns(&args.concerns);
    let layers = layers::gather(Some(repo), User::Heeded, &args.overrides)?;
    let instructions = instructions(repo, &commit)?;
    let scouts = Scouts {
        commit: &commit,
        tier: &tier,
        concerns: &concerns,
        instructions: &instructions,
        slices: &slices,
        ground: &[],
        budget_usd: args.budget_usd,
    };
    let Some(compiled) = compiled(repo, &scouts, &layers, color)? else {
        return Ok(Begun::Over(exit::FINDINGS));
    };
    let asked = asked(repo, args, &commit, &scope)?;
    if args.dry_run {
        return preview(&scouts, &compiled.plan, &asked).map(|()| Begun::Over(exit::DONE));
    }
    let kept = may_start(repo, &compiled.plan, version)?;
    announce(&scouts, &compiled.plan, tree.files.len());
    let dry = ground_truth(repo, &compiled, &asked, args)?;
    let mut audit = Audit {
        version: Audit::VERSION,
        base,
        commit: commit.clone(),
        scope: scope.paths().to_vec(),
        concerns: concerns.clone(),
        tier: tier.clone(),
        ground: asked,
        left_behind: dry.left_behind.clone(),
        slices: Vec::new(),
        left_out: tree.left_out,
        output: std::path::absolute(args.output())
            .ok()
            .and_then(|path| path.into_os_string().into_string().ok()),
    };
    let truth = known(&audit.ground, &dry);
    let scouts = Scouts { ground: &truth, ..scouts };
    audit.slices = scouts.slices();
    let Some(compiled) = self::compiled(repo, &scouts, &layers, color)? else {
        return Ok(Begun::Over(exit::FINDINGS));
    };
    let new = NewRun {
        plan: &compiled.plan,
        text: &scouts.plan(),
        graph: &compiled.graph,
        base: commit,
        // To type the command is to say yes to it: scouts change nothing.
        by: ApprovedBy::Flag,
        covers: Covers::asked_by(&compiled.plan),
        checkout: kept.as_ref(),
        who: &repo.identity().name,
        classed: dry.classes.values().cloned().collect(),
        audit: Some(audit.bytes()),
        critic: None,
        lessons: &compiled.lessons,
    };
    let dir = create::create(repo, &new).map_err(drive::refused)?;
    Ok(Begun::Run(dir, Box::new(audit)))
}

/// That nothing keeps every run from starting: better told before anything is run. The user's checkout as it is.
fn may_start(repo: &Repo, plan: &Plan, version: String) -> Result<Option<Kept>, Failure> {
    let looking = preflight::start(Ask {
        repo: repo.clone(),
        plan: plan.clone(),
        settings: Vec::new(),
        wrong: Vec::new(),
        planned: true,
        version: Some(version),
        depth: Depth::Run,
    });
    let Looked { preflight, kept } = looking.finish();
    match preflight.stops().into_iter().next() {
        None => Ok(kept),
        Some((_, word)) => {
            let failure = Failure::infrastructure(word.what);
            Err(word.help.into_iter().fold(failure, Failure::help))
        }
    }
}

/// What is looked at: how a person calls it, and the commit.
fn base(repo: &Repo, asked: Option<&str>) -> Result<(String, CommitId), Failure> {
    let git = |error: GitError| Failure::infrastructure(error.to_string());
    let name = match asked {
        Some(asked) => asked.to_owned(),
        None => repo.current_branch().map_err(git)?.unwrap_or_else(|| "HEAD".to_owned()),
    };
    let commit = repo.resolve(&name).map_err(|error| Failure::usage(error.to_string()))?;
    // Without a branch there is no name that would mean the same tomorrow.
    let name = if name == "HEAD" { commit.as_str().to_owned() } else { name };
    Ok((name, commit))
}

/// Each once, in the order in which they are always told.
fn concerns(asked: &[Concern]) -> Vec<Concern> {
    let wanted = |concern: &Concern| asked.is_empty() || asked.contains(concern);
    Concern::ALL.into_iter().filter(wanted).collect()
}

/// The files for agents that a commit has.
///
/// # Errors
/// The commit cannot be read.
pub(in crate::cli) fn instructions(
    repo: &Repo,
    commit: &CommitId,
) -> Result<Vec<&'static str>, Failure> {
    let mut found = Vec::new();
    for name in INSTRUCTIONS {
        let leaf = repo.leaf_at(commit, BStr::new(name));
        if leaf.map_err(|error| Failure::infrastructure(error.to_string()))?.is_some() {
            found.push(name);
        }
    }
    Ok(found)
}

/// The plan of the scouts, compiled; nothing when it has findings, which have been said.
fn compiled(
    repo: &Repo,
    scouts: &Scouts<'_>,
    layers: &Layers,
    color: Color,
) -> Result<Option<Compiled>, Failure> {
    let source = Source::new("<the audit's plan>", scouts.plan());
    let dir = repo.top().unwrap_or(repo.common_dir());
    let outcome: Outcome = compile(&source, dir, layers, Some(repo), Purpose::Run)
        .map_err(|error| Failure::infrastructure(error.to_string()))?;
    if outcome.findings.iter().any(|finding| finding.code == "unknown-tier") {
        return Err(nobody(scouts.tier, layers));
    }
    if outcome.compiled.is_none() {
        plan_file::say(&source, &outcome, color);
    }
    Ok(outcome.compiled)
}

fn nobody(tier: &TierId, layers: &Layers) -> Failure {
    let known = draft::tiers(layers);
    let others = match known.as_slice() {
        [] => String::new(),
        known => format!("\nor take one that is: `--tier {}`", known.join("`, `--tier ")),
    };
    Failure::usage(format!("no tier `{tier}` is configured, so nobody can scout")).help(format!(
        "say who does, in `.sop/config.toml` or `~/.config/sop/config.toml`:\n[tiers.{tier}]\nworker = \
         \"claude\"{others}"
    ))
}

/// The commands for ground truth.
fn asked(
    repo: &Repo,
    args: &Args,
    commit: &CommitId,
    scope: &Scope,
) -> Result<Vec<Asked>, Failure> {
    if args.no_run {
        return Ok(Vec::new());
    }
    if !args.run.is_empty() {
        let named = |run: &String| Asked {
            kind: GroundKind::Named,
            from: "--run".to_owned(),
            run: run.clone(),
        };
        let mut asked: Vec<Asked> = Vec::new();
        for run in &args.run {
            // One that is named twice is run once.
            if !asked.iter().any(|known| known.run == *run) {
                asked.push(named(run));
            }
        }
        return Ok(asked);
    }
    let read = |path: &BStr| {
        let content = repo.blob_at(commit, path).ok().flatten()?;
        String::from_utf8(content).ok()
    };
    Ok(ground::find(scope, &read))
}

/// Runs the commands, once, in a worktree of the commit that is gone afterwards.
fn ground_truth(
    repo: &Repo,
    compiled: &Compiled,
    asked: &[Asked],
    args: &Args,
) -> Result<DryRun, Failure> {
    if asked.is_empty() {
        return Ok(DryRun::default());
    }
    let mut plan = compiled.plan.clone();
    plan.provision = Provision::default();
    plan.wps.truncate(1);
    let dod = asked.iter().map(|asked| {
        let command = command::parse(&asked.run)
            .map_err(|error| Failure::usage(format!("`{}` {error}", asked.run)))?;
        Ok(Dod { text: asked.run.clone(), command, timeout: args.run_timeout, expect: None })
    });
    let dod: Vec<Dod> = dod.collect::<Result<_, Failure>>()?;
    for wp in &mut plan.wps {
        wp.dod.clone_from(&dod);
    }
    let base = compiled.base.as_ref().ok_or_else(|| Failure::infrastructure("the base is gone"))?;
    dry_run(repo, &plan, base, Traces::Told)
}

/// How the commands went, for the scouts' briefs.
fn known(asked: &[Asked], dry: &DryRun) -> Vec<Ground> {
    let told = asked.iter().filter_map(|asked| {
        let (Classed { class, ran }, _) = dry.classes.get(&asked.run)?.clone();
        Some(Ground { kind: asked.kind, from: asked.from.clone(), class, ran, tail: Vec::new() })
    });
    told.collect()
}

fn who(plan: &Plan, tier: &TierId) -> String {
    match plan.tiers.get(tier) {
        Some(known) => format!("{tier} ({})", known.worker),
        None => tier.to_string(),
    }
}

/// Says on standard error what begins: it may cost something.
fn announce(scouts: &Scouts<'_>, plan: &Plan, files: usize) {
    let text = format!(
        "{} on {} read {} of commit {}",
        words::count(scouts.slices.len() as u64, "scout"),
        who(plan, scouts.tier),
        words::count(files as u64, "file"),
        scouts.commit.short()
    );
    // Where standard error is gone, there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{}", visible(&text));
}

/// Shows what would be read and run.
fn preview(scouts: &Scouts<'_>, plan: &Plan, asked: &[Asked]) -> Result<(), Failure> {
    let mut text = format!(
        "{} of plan `{}` on {}, commit {}\n",
        words::count(scouts.slices.len() as u64, "scout"),
        scouts::NAME,
        who(plan, scouts.tier),
        scouts.commit.short()
    );
    for (slice, portions) in scouts.slices().iter().zip(scouts.slices) {
        let files = words::count(slice.files.len() as u64, "file");
        let lines = words::count(slice.lines, "line");
        let size = words::about(portions.bytes());
        text.push_str(&format!("  {}  {files}, {lines}, {size} bytes\n", slice.wp));
    }
    text.push_str(match asked {
        [] => "no command of the project is run\n",
        _ => "run first, in a worktree of its own:\n",
    });
    for asked in asked {
        text.push_str(&format!("  {}  # {}, {}\n", asked.run, asked.kind.name(), asked.from));
    }
    let mut out = io::stdout().lock();
    written(out.write_all(crate::report::escape::visible_lines(&text).as_bytes()))
}
