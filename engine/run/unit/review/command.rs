//! A command of the plan as the reviewer.

use std::path::PathBuf;
use std::sync::Arc;

use crate::brief::args::{self, ArgContext};
use crate::launch::{Capture, EndedBy, Key, Outcome, Stdin};
use crate::model::outcome::{Check, Problem};
use crate::model::time::Length;
use crate::model::verdict::Verdict;
use crate::plain_file;
use crate::process;

use super::blocked;
use crate::run::directory::{RunDir, write_whole};
use crate::run::provision::{log_name, snapshot_spec};
use crate::run::site::Halt;
use crate::run::step::{self, Order};
use crate::run::unit::Unit;

/// Most bytes of a verdict.
const VERDICT_LIMIT: u64 = 1 << 20;
/// How often a reviewer is asked for a verdict that can be read.
const ASKED: u32 = 2;

/// An answer that is no verdict.
#[derive(Debug, Default)]
struct Unread {
    why: String,
    /// What it printed.
    log: PathBuf,
}

impl Unit {
    /// The verdict of a command: printed, or left in its file. One that cannot be read is asked for once
    /// more.
    pub(super) async fn ask_command(
        &mut self,
        command: &[String],
        timeout: Length,
    ) -> Result<Verdict, Halt> {
        let (diff, _) = self.write_diff().await?;
        let mut last = None;
        for n in 1..=ASKED {
            match self.ask_once(command, timeout, &diff, n).await? {
                Ok(verdict) => return Ok(verdict),
                Err(unread) => last = Some(unread),
            }
        }
        let Unread { why, log } = last.unwrap_or_default();
        let text =
            format!("the reviewer gave no verdict that can be read: {why}; {}", Verdict::EXPECTED);
        let tail = process::tail(&log, 40).unwrap_or_default().join("\n");
        let problem = Problem::new(Check::Review, text);
        Err(Halt::blocked(problem.logged(log_name(&self.site, &log), tail)))
    }

    /// One call of the reviewer.
    async fn ask_once(
        &mut self,
        command: &[String],
        timeout: Length,
        diff: &std::path::Path,
        n: u32,
    ) -> Result<Result<Verdict, Unread>, Halt> {
        let site = Arc::clone(&self.site);
        let (id, round, base) = (self.state.id.clone(), self.state.round, self.base()?);
        let verdict = site.dir.named(&RunDir::verdict_name(&id, round));
        let printed = verdict.with_extension("out");
        let brief = site.dir.named(&RunDir::brief_name(&id, round));
        let argv = args::render(
            command,
            &ArgContext {
                plan: &site.plan,
                wp: site.wp(&id),
                tier: &self.state.tier,
                run: site.dir.run(),
                base: &base,
                round,
                attempt: self.state.attempt,
                brief_file: &brief.to_string_lossy(),
                report_file: "",
                verdict_file: Some(&verdict.to_string_lossy()),
            },
        )
        .map_err(|error| blocked(format!("the review command: {error}")))?;
        let spec = |key: &Key| {
            let mut spec = site.spec(id.as_str(), key, argv.clone());
            spec.timeout = Some(timeout.0);
            spec.stdin = Stdin::File(diff.to_owned());
            spec.capture = Some(Capture { path: printed.clone(), limit: VERDICT_LIMIT });
            spec.env.extend([
                ("SOP_WP".into(), id.as_str().into()),
                ("SOP_ROUND".into(), round.to_string().into()),
                ("SOP_BRIEF".into(), (&brief).into()),
                ("SOP_DIFF".into(), diff.into()),
                ("SOP_VERDICT".into(), (&verdict).into()),
            ]);
            spec
        };
        // Answers to what was there before do not count.
        let n = self.state.looks * ASKED + n;
        let step = format!("review.{round}.{n}");
        let key = |n| site.key(id.as_str(), &step, n);
        let fresh = |key: &Key| {
            // An earlier reviewer's answer is not this one's.
            let _ = std::fs::remove_file(&verdict);
            spec(key)
        };
        let answered = |outcome: &Outcome| {
            outcome.succeeded()
                && (read_verdict(&verdict).is_ok() || read_verdict(&printed).is_ok())
        };
        let (outcome, log) = step::bound(&site.launcher, key, fresh, answered, &mut self.orders)
            .await
            .map_err(|error| blocked(error.to_string()))?;
        if outcome.ended_by == EndedBy::Cancel && *self.orders.borrow() != Order::Go {
            return Err(Halt::Stopped);
        }
        self.unchanged().await?;
        if !outcome.succeeded() {
            let ran = step::ran(&argv.join(" "), "", &outcome, &spec(&outcome.key));
            let tail = process::tail(&log, 40).unwrap_or_default().join("\n");
            let problem = Problem::new(Check::Review, format!("the reviewer failed: {}", ran.end))
                .about(ran.run)
                .logged(log_name(&site, &log), tail);
            return Err(Halt::blocked(problem));
        }
        let unread = |why: String| Unread { why, log: log.clone() };
        Ok(read_verdict(&verdict).or_else(|missing| {
            let said = read_verdict(&printed);
            let verdict =
                said.map_err(|why| unread(format!("{missing}; on standard output: {why}")))?;
            let bytes = serde_json::to_vec_pretty(&verdict).unwrap_or_default();
            let kept = site.dir.named(&RunDir::verdict_name(&id, round));
            write_whole(&kept, &bytes).map_err(|error| unread(error.to_string()))?;
            Ok(verdict)
        }))
    }

    /// A reviewer reads. One that changed a file is refused, and named.
    async fn unchanged(&self) -> Result<(), Halt> {
        let worktree = self.worktree().await?;
        let spec = snapshot_spec(&self.site, &self.base()?);
        let now = self.site.blocking(Check::Review, move |_| worktree.snapshot(&spec)).await?;
        if Some(&now.tree) == self.state.tree.as_ref() {
            return Ok(());
        }
        let (tree, before) = (now.tree, self.state.tree.clone());
        let changed = self
            .site
            .blocking(Check::Review, move |site| match &before {
                Some(before) => site.repo.diff_trees(before, &tree),
                None => Ok(Vec::new()),
            })
            .await?;
        let paths: Vec<_> = changed.iter().map(|change| process::escape(&change.path)).collect();
        let text = "the reviewer changed files in the worktree; a reviewer only reads";
        Err(Halt::blocked(Problem::new(Check::Review, text).about(paths.join(", "))))
    }
}

fn read_verdict(path: &std::path::Path) -> Result<Verdict, String> {
    let bytes =
        plain_file::read(path, VERDICT_LIMIT).map_err(|error| format!("no file ({error})"))?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}
