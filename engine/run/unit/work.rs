//! The brief, and the worker it is for.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::brief::args::{self, ArgContext};
use crate::brief::{Context, ScoutReport};
use crate::event::Event;
use crate::launch::{Capture, Key, Launcher, Spec, Stdin};
use crate::ledger::NextAttempt;
use crate::model::ids::{TierId, WpId};
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{BriefBy, Kind, Tier, Worker};
use crate::model::time::Timestamp;
use crate::plain_file;
use crate::process;

use super::Unit;
use crate::run::directory::{RunDir, write_whole};
use crate::run::provision::log_name;
use crate::run::site::Halt;
use crate::run::step::{self, Order};

/// Most bytes of a scout's report: of what it prints, and of what briefs carry.
const REPORT_LIMIT: u64 = 1 << 20;

impl Unit {
    /// Writes the brief of the next round.
    pub(super) fn brief(&self) -> Result<Event, Halt> {
        let round = self.state.round + 1;
        let name = RunDir::brief_name(&self.state.id, round);
        let text = self.render_brief(round)?;
        write_whole(&self.site.dir.named(&name), text.as_bytes())
            .map_err(|error| Halt::blocked(Problem::new(Check::Worker, error.to_string())))?;
        Ok(Event::RoundStarted {
            wp: self.state.id.clone(),
            round,
            tier: self.state.tier.clone(),
            brief: name,
        })
    }

    fn render_brief(&self, round: u32) -> Result<String, Halt> {
        let (site, wp, base) = (&self.site, self.wp(), self.base()?);
        let reports = self.scout_reports();
        let reports: Vec<ScoutReport<'_>> =
            reports.iter().map(|(wp, text)| ScoutReport { wp, text }).collect();
        // The number of the attempt is not known yet: infrastructure may spoil some. The worker is
        // told the exact path in SOP_REPORT as well.
        let report = site.dir.named(&RunDir::report_name(&wp.id, self.state.attempt + 1));
        let context = Context {
            plan: &site.plan,
            wp,
            stage: &self.state.stage,
            tier: &self.state.tier,
            run: site.dir.run(),
            base: &base,
            round,
            problems: self.state.carried(),
            reports: &reports,
            report_file: &escaped(&report),
        };
        site.briefs.render(&wp.template, &context).map_err(|error| {
            Halt::blocked(Problem::new(
                Check::Worker,
                format!("the brief cannot be rendered: {error}"),
            ))
        })
    }

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
        if let Some(at) = not_before {
            self.wait_until(at).await?;
        }
        let attempt = self.state.attempt + 1;
        let guard = self.take_guard(attempt).await?;
        self.forget_pushes(attempt)?;
        Ok(Event::AttemptStarted {
            wp: self.state.id.clone(),
            round: self.state.round,
            attempt,
            tier,
            guard,
        })
    }

    async fn wait_until(&mut self, at: Timestamp) -> Result<(), Halt> {
        let pause = at.since(Timestamp(jiff::Timestamp::now()));
        tokio::select! {
            () = tokio::time::sleep(pause.0) => Ok(()),
            _ = self.orders.wait_for(|order| *order != Order::Go) => Err(Halt::Stopped),
        }
    }

    /// Starts the worker, or finds it: at work, or with its result.
    pub(super) async fn work(&mut self) -> Result<Event, Halt> {
        let attempt = self.state.attempt;
        let key = self.site.key(self.state.id.as_str(), "work", attempt);
        let (spec, text) = self.worker_spec(&key)?;
        let failed = |error: crate::launch::LaunchError| {
            Halt::blocked(Problem::new(Check::Worker, error.to_string()))
        };
        let handle = self.site.launcher.submit(&key, &spec).map_err(failed)?;
        let outcome =
            step::follow(&self.site.launcher, &handle, &mut self.orders).await.map_err(failed)?;
        // Its holder is its parent, and no secret: a worker can stop itself as an order would.
        let order = *self.orders.borrow();
        let outcome = step::unless_ordered(&self.site.launcher, &key, outcome, order);
        Ok(Event::AttemptEnded {
            wp: self.state.id.clone(),
            attempt,
            ran: step::ran(&text, &log_name(&self.site, handle.log()), &outcome, &spec),
            left_behind: outcome.left_behind,
            report: self.report(attempt),
        })
    }

    fn worker_spec(&self, key: &Key) -> Result<(Spec, String), Halt> {
        let site = &self.site;
        let (wp, base) = (self.wp(), self.base()?);
        let tier = &site.plan.tiers[&self.state.tier];
        let worker = &site.plan.workers[&tier.worker];
        let brief = site.dir.named(&RunDir::brief_name(&wp.id, self.state.round));
        let report = site.dir.named(&RunDir::report_name(&wp.id, key.attempt()));
        let context = ArgContext {
            plan: &site.plan,
            wp,
            tier: &self.state.tier,
            run: site.dir.run(),
            base: &base,
            round: self.state.round,
            attempt: key.attempt(),
            brief_file: &brief.to_string_lossy(),
            report_file: &report.to_string_lossy(),
            verdict_file: None,
        };
        let mut argv = args::render(&worker.command, &context).map_err(|error| {
            let text = format!("the command of worker `{}`: {error}", tier.worker);
            Halt::blocked(Problem::new(Check::Worker, text))
        })?;
        let text = shlex::try_join(argv.iter().map(String::as_str))
            .unwrap_or_else(|_| worker.command.join(" "));
        if worker.brief == BriefBy::Arg {
            let text = plain_file::read_own(&brief).map_err(|error| {
                let text = format!("cannot read {}: {error}", escaped(&brief));
                Halt::blocked(Problem::new(Check::Worker, text))
            })?;
            argv.push(String::from_utf8_lossy(&text).into_owned());
        }
        let mut spec = site.spec(wp.id.as_str(), key, argv);
        spec.outlives = true;
        spec.stdin = match worker.brief {
            BriefBy::Stdin => Stdin::File(brief.clone()),
            BriefBy::File | BriefBy::Arg => Stdin::Null,
        };
        limits(&mut spec, tier);
        self.environment(&mut spec, worker, &self.state.tier, &brief, &report);
        self.refuse_pushes(&mut spec, worker)?;
        if wp.kind == Kind::Scout {
            let path = site.dir.named(&printed_report(&report_name(&report)));
            spec.capture = Some(Capture { path, limit: REPORT_LIMIT });
        }
        Ok((spec, text))
    }

    fn environment(
        &self,
        spec: &mut Spec,
        worker: &Worker,
        tier: &TierId,
        brief: &PathBuf,
        report: &PathBuf,
    ) {
        let wp = self.wp();
        spec.env.extend(worker.env.iter().map(|(k, v)| (k.into(), v.into())));
        spec.env.extend([
            ("SOP_WP".into(), wp.id.as_str().into()),
            ("SOP_TIER".into(), tier.as_str().into()),
            ("SOP_ROUND".into(), self.state.round.to_string().into()),
            ("SOP_ATTEMPT".into(), self.state.attempt.to_string().into()),
            ("SOP_BRIEF".into(), brief.into()),
            ("SOP_REPORT".into(), report.into()),
        ]);
    }

    /// The report that the attempt left: the file it was told of or, for a scout, what it printed.
    fn report(&self, attempt: u32) -> Option<String> {
        let name = RunDir::report_name(&self.state.id, attempt);
        let written = |name: &str| {
            // A link would let the report be any file of the user's.
            let meta = std::fs::symlink_metadata(self.site.dir.named(name));
            meta.is_ok_and(|meta| meta.is_file() && meta.len() > 0)
        };
        if written(&name) {
            return Some(name);
        }
        let printed = printed_report(&name);
        (self.wp().kind == Kind::Scout && written(&printed)).then_some(printed)
    }

    /// Reports of the scouts that this WP waits for, as far as they can be read.
    fn scout_reports(&self) -> Vec<(WpId, String)> {
        let read = |(scout, name): &(WpId, String)| {
            let mut bytes = Vec::new();
            let file = plain_file::open(&self.site.dir.named(name)).ok()?;
            file.take(REPORT_LIMIT).read_to_end(&mut bytes).ok()?;
            Some((scout.clone(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        self.reports.iter().filter_map(read).collect()
    }
}

fn limits(spec: &mut Spec, tier: &Tier) {
    spec.timeout = Some(tier.timeout.0);
    spec.idle_timeout = tier.idle_timeout.map(|limit| limit.0);
    spec.log_limit = tier.log_limit;
    spec.grace = Duration::from_secs(10);
}

fn report_name(path: &std::path::Path) -> String {
    format!("reports/{}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// What a scout prints, beside where it may write.
fn printed_report(name: &str) -> String {
    format!("{}.out", name.trim_end_matches(".md"))
}

fn escaped(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    process::escape(path.as_os_str().as_bytes())
}
