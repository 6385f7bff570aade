//! The worker: started once under each number, seen through to its end.

use std::path::Path;

use crate::brief::args::{self, ArgContext};
use crate::event::Event;
use crate::launch::{Capture, Key, Spec, Stdin};
use crate::ledger::NextAttempt;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{BriefBy, Does, Kind, Worker};
use crate::plain_file;
use crate::process;

use super::Unit;
use super::brief::REPORT_LIMIT;
use super::told::printed_report;
use crate::run::directory::{DirectoryError, RunDir};
use crate::run::provision::log_name;
use crate::run::site::Halt;
use crate::run::step;

impl Unit {
    /// Takes down what the rest of the repository is like, and says that a worker comes.
    pub(super) async fn start(&mut self) -> Result<Event, Halt> {
        let (tier, not_before) = match self.site.next_attempt(&self.state) {
            NextAttempt::Start { tier, not_before } => (tier, not_before),
            NextAttempt::GiveUp(what) => {
                let problem = Problem::new(Check::Worker, format!("no worker could do it: {what}"));
                let problem = match &self.state.worked {
                    Some(ran) => {
                        let log = self.site.dir.named(&ran.log);
                        let tail = process::tail(&log, 40).unwrap_or_default();
                        problem.about(&ran.run).logged(&ran.log, tail.join("\n"))
                    }
                    None => problem,
                };
                return Err(Halt::blocked(problem));
            }
        };
        if not_before.is_some_and(|at| !self.site.due.is_over(at)) {
            // Whoever gives room out takes it up again when its time has come.
            return Err(Halt::Stopped);
        }
        let wp = self.state.id.clone();
        if let Err((limit, of_run)) =
            self.site.lookout.left(&self.site.plan, self.wp(), &self.state)
        {
            return Ok(Event::BudgetSpent { wp, limit, of_run, reviewer: None });
        }
        let attempt = self.state.attempt + 1;
        let session = self.session_for(&tier);
        let prompt = self.prompt(attempt, session.is_some())?;
        let guard = self.take_guard(attempt).await?;
        self.begin_afresh(attempt)?;
        self.begin_pushes(attempt)?;
        Ok(Event::AttemptStarted {
            wp,
            round: self.state.round,
            attempt,
            worker: self.site.plan.tiers[&tier].worker.clone(),
            tier,
            guard,
            prompt,
            session,
        })
    }

    /// Nothing that another worker left under the attempt's names is the attempt's: no question, no word
    /// to it, no report.
    fn begin_afresh(&self, attempt: u32) -> Result<(), Halt> {
        let (dir, wp) = (&self.site.dir, &self.state.id);
        let report = RunDir::report_name(wp, attempt);
        dir.fresh(&RunDir::turn_name(wp, attempt))
            .and_then(|_| dir.clear(&printed_report(&report)))
            .and_then(|()| dir.clear(&report))
            .map_err(|error| Halt::blocked(Problem::new(Check::Worker, error.to_string())))
    }

    /// Starts the worker, or finds it: at work, or with its result.
    pub(super) async fn work(&mut self) -> Result<Event, Halt> {
        let attempt = self.state.attempt;
        let key = self.site.key(self.state.id.as_str(), "work", attempt);
        let (spec, text) = self.worker_spec(&key)?;
        let failed = |error: crate::launch::LaunchError| {
            Halt::blocked(Problem::new(Check::Worker, error.to_string()))
        };
        if self.state.is_to_be_stopped() && self.never_started(&key).await.map_err(failed)? {
            return Ok(self.not_started(text));
        }
        let begun = step::begin(&self.site.launcher, &key, &spec, &self.orders).await;
        let Some(handle) = begun.map_err(failed)? else { return Err(Halt::Stopped) };
        let outcome =
            step::follow(&self.site.launcher, &handle, &mut self.orders).await.map_err(failed)?;
        // Its holder is its parent, and no secret: a worker can stop itself as an order would.
        let order = *self.orders.borrow();
        let outcome = step::unless_ordered(&self.site.launcher, &key, outcome, order);
        let ran = step::ran(&text, &log_name(&self.site, handle.log()), &outcome, &spec);
        let told = self.told(attempt, &outcome, &ran.end);
        let problems = match Self::is_unscoped(&told, &ran.end) {
            true => self.beside().await?,
            false => Vec::new(),
        };
        Ok(Event::AttemptEnded {
            wp: self.state.id.clone(),
            attempt,
            ran,
            left_behind: outcome.left_behind,
            report: told.report,
            turn: told.turn,
            fault: told.fault,
            asks: told.asks,
            problems,
        })
    }

    /// What is run for the attempt, and how people are told of it.
    fn worker_spec(&self, key: &Key) -> Result<(Spec, String), Halt> {
        let (site, wp) = (&self.site, self.wp());
        let tier = &site.plan.tiers[&self.state.tier];
        let attempt = key.attempt();
        let report = site.dir.named(&RunDir::report_name(&wp.id, attempt));
        let prompt = site.dir.named(self.prompt_name());
        let turn = RunDir::turn_name(&wp.id, attempt);
        let unmade =
            |error: DirectoryError| Halt::blocked(Problem::new(Check::Worker, error.to_string()));
        let folder = site.dir.own(&turn).map_err(unmade)?;
        for part in ["asks", "say"] {
            site.dir.own(Path::new(&turn).join(part)).map_err(unmade)?;
        }
        let (argv, stdin, text) = match &self.worker().does {
            Does::Agent { .. } => self.agent_command(tier, &prompt, &folder)?,
            Does::Command { command, brief } => {
                self.plain_command(command, *brief, &prompt, &report, attempt)?
            }
        };
        let mut spec = site.spec(wp.id.as_str(), key, argv);
        spec.outlives = true;
        spec.stdin = stdin;
        spec.timeout = Some(tier.timeout.0);
        spec.idle_timeout = tier.idle_timeout.map(|limit| limit.0);
        spec.log_limit = tier.log_limit;
        spec.grace = tier.grace.0;
        spec.env.extend(self.worker().env.iter().map(|(k, v)| (k.into(), v.into())));
        spec.env.extend([
            ("SOP_WP".into(), wp.id.as_str().into()),
            ("SOP_TIER".into(), self.state.tier.as_str().into()),
            ("SOP_ROUND".into(), self.state.round.to_string().into()),
            ("SOP_ATTEMPT".into(), attempt.to_string().into()),
            ("SOP_BRIEF".into(), prompt.into()),
            ("SOP_REPORT".into(), (&report).into()),
            ("SOP_ASKS".into(), folder.join("asks").into()),
        ]);
        self.refuse_pushes(&mut spec, self.worker())?;
        if matches!(self.worker().does, Does::Command { .. }) {
            spec.env.push(("SOP_TURN".into(), folder.join("turn.json").into()));
            if wp.kind == Kind::Scout {
                let path = site.dir.named(&printed_report(&report_name(&report)));
                spec.capture = Some(Capture { path, limit: REPORT_LIMIT });
            }
        }
        Ok((spec, text))
    }

    fn plain_command(
        &self,
        command: &[String],
        brief_by: BriefBy,
        prompt: &Path,
        report: &Path,
        attempt: u32,
    ) -> Result<(Vec<String>, Stdin, String), Halt> {
        let (site, wp, base) = (&self.site, self.wp(), self.base()?);
        let context = ArgContext {
            plan: &site.plan,
            wp,
            tier: &self.state.tier,
            run: site.dir.run(),
            base: &base,
            round: self.state.round,
            attempt,
            brief_file: &prompt.to_string_lossy(),
            report_file: &report.to_string_lossy(),
            verdict_file: None,
        };
        let mut argv = args::render(command, &context).map_err(|error| {
            let worker = &site.plan.tiers[&self.state.tier].worker;
            let text = format!("the command of worker `{worker}`: {error}");
            Halt::blocked(Problem::new(Check::Worker, text))
        })?;
        let text =
            shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| command.join(" "));
        let stdin = match brief_by {
            BriefBy::Stdin => Stdin::File(prompt.to_owned()),
            BriefBy::File => Stdin::Null,
            BriefBy::Arg => {
                let text = plain_file::read_own(prompt).map_err(|error| {
                    let text =
                        format!("cannot read {}: {error}", crate::process::escape_path(prompt));
                    Halt::blocked(Problem::new(Check::Worker, text))
                })?;
                argv.push(String::from_utf8_lossy(&text).into_owned());
                Stdin::Null
            }
        };
        Ok((argv, stdin, text))
    }

    pub(super) fn worker(&self) -> &Worker {
        &self.site.plan.workers[&self.site.plan.tiers[&self.state.tier].worker]
    }

    fn prompt_name(&self) -> &str {
        self.state.prompt.as_deref().unwrap_or_default()
    }
}

fn report_name(path: &Path) -> String {
    format!("reports/{}", path.file_name().unwrap_or_default().to_string_lossy())
}
