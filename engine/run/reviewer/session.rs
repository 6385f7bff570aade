//! One session of a reviewer: what it is told, the command line, its limits, and its process, started once
//! or adopted.

use std::path::Path;

use crate::brief::args::{self, ArgContext};
use crate::event::Event;
use crate::launch::{Capture, Spec, Stdin};
use crate::ledger::{Session, Sitting};
use crate::model::ids::{TierId, WpId};
use crate::model::plan::{
    BriefBy, Budget, Continue, Does, Kind, Plan, ReportForm, Review, Tier, Worker, Wp,
};
use crate::plain_file;
use crate::run::asking;
use crate::run::directory::{RunDir, write_whole};
use crate::run::site::Halt;
use crate::run::step;
use crate::worker::{self, Drive};

use super::{Bench, blocked};

/// Most bytes of what a command prints that is read for a verdict.
pub(super) const ANSWER_LIMIT: u64 = 1 << 20;

impl Bench {
    /// What the next session is told: a name within the run directory, and the agent's session that it
    /// goes on with. `again`: why the last answer was no verdict, and the session that gave it.
    pub(super) fn prompt(
        &self,
        lens: &str,
        tier: &TierId,
        number: u32,
        again: Option<(String, Option<Session>)>,
    ) -> Result<(String, Option<String>), Halt> {
        let Some((why, session)) = again else {
            let name = format!("{}.{lens}.md", self.name());
            self.write(&name, &self.text(lens, tier)?)?;
            return Ok((name, None));
        };
        let name = format!("{}.{lens}-{number}/again.md", self.name());
        let form = self.site.briefs.answer_again(&why);
        let form = form.map_err(|error| blocked(error.to_string()))?;
        let session = session.filter(|session| &session.tier == tier && self.resumes(tier));
        let text = match &session {
            Some(_) => form,
            None => format!("{}\n---\n\n{form}", self.text(lens, tier)?),
        };
        self.write(&name, &text)?;
        Ok((name, session.map(|session| session.id)))
    }

    /// What the names of the review's files in the run directory begin with.
    pub(super) fn name(&self) -> String {
        format!("verdicts/{}", self.subject.stem)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Halt> {
        if let Some(folder) = Path::new(name).parent() {
            self.site.dir.own(folder).map_err(|error| blocked(error.to_string()))?;
        }
        write_whole(&self.site.dir.named(name), text.as_bytes())
            .map_err(|error| blocked(error.to_string()))
    }

    /// Whether a session of this tier can be gone on with.
    fn resumes(&self, tier: &TierId) -> bool {
        let plan = &self.site.plan.tiers[tier];
        match &self.site.plan.workers[&plan.worker].does {
            Does::Agent { agent, .. } => {
                let resumes = worker::adapter(*agent).is_some_and(|a| a.abilities().resumes);
                plan.continues == Continue::Session && resumes
            }
            Does::Command { .. } => false,
        }
    }

    /// Name of the folder of a session.
    fn folder_name(&self, lens: &str, number: u32) -> String {
        RunDir::sitting_name(&self.subject.stem, lens, number)
    }

    /// Makes the folder of a session that is yet to begin: what lies there is nobody's answer.
    pub(super) fn fresh(&self, lens: &str, number: u32) -> Result<(), Halt> {
        let made = self.site.dir.fresh(&self.folder_name(lens, number));
        made.map(drop).map_err(|error| blocked(error.to_string()))
    }

    /// What an earlier engine gave the session that it began, as its driver was told.
    pub(super) fn given_before(&self, lens: &str, sitting: &Sitting) -> Option<Budget> {
        let folder = self.site.dir.named(&self.folder_name(lens, sitting.number));
        let order = Drive::read(&folder.join("drive.json")).ok()?;
        Some(Budget { usd: order.usd, tokens: order.tokens })
    }

    /// Sees a session through: started now, found at work, or found with its result.
    pub(super) async fn session(
        &self,
        lens: &str,
        sitting: &Sitting,
        left: Budget,
    ) -> Result<Event, Halt> {
        let site = &self.site;
        let key = site.key(&self.subject.unit, &self.step(lens), sitting.number);
        let folder = site.dir.own(self.folder_name(lens, sitting.number));
        let folder = folder.map_err(|error| blocked(error.to_string()))?;
        let (spec, text) = self.spec(lens, sitting, &key, &folder, left)?;
        let failed = |error: crate::launch::LaunchError| blocked(error.to_string());
        let begun = step::begin(&site.launcher, &key, &spec, &self.orders).await;
        let Some(handle) = begun.map_err(failed)? else { return Err(Halt::Stopped) };
        let mut orders = self.orders.clone();
        let outcome = step::follow(&site.launcher, &handle, &mut orders).await.map_err(failed)?;
        let order = *orders.borrow();
        let outcome = step::unless_ordered(&site.launcher, &key, outcome, order);
        let ran =
            step::ran(&text, &crate::run::provision::log_name(site, handle.log()), &outcome, &spec);
        self.account(lens, sitting, &folder, &outcome, ran).await
    }

    /// The step's name. A lens with a long name goes by its place.
    fn step(&self, lens: &str) -> String {
        let round = match self.subject.wp {
            Some(_) => format!("review.{}", self.subject.round),
            None => "review".to_owned(),
        };
        let named = format!("{round}.{lens}");
        if crate::model::ids::check(&named).is_ok() {
            return named;
        }
        let n = self.subject.lenses.iter().position(|known| known == lens).unwrap_or_default();
        format!("{round}.{}", n + 1)
    }

    fn spec(
        &self,
        lens: &str,
        sitting: &Sitting,
        key: &crate::launch::Key,
        folder: &Path,
        left: Budget,
    ) -> Result<(Spec, String), Halt> {
        let site = &self.site;
        let tier = &site.plan.tiers[&sitting.tier];
        let worker = self.worker(&sitting.tier);
        let prompt = site.dir.named(&sitting.prompt);
        let (argv, stdin, text) = match &worker.does {
            Does::Agent { .. } => self.agent(tier, worker, sitting, &prompt, folder, left)?,
            Does::Command { command, brief } => {
                self.plain(command, *brief, sitting, &prompt, folder)?
            }
        };
        let mut spec = site.spec(&self.subject.unit, key, argv);
        spec.outlives = true;
        spec.slot_shared = true;
        spec.stdin = stdin;
        spec.timeout = Some(tier.timeout.0);
        spec.idle_timeout = tier.idle_timeout.map(|limit| limit.0);
        spec.log_limit = tier.log_limit;
        spec.grace = tier.grace.0;
        spec.env.extend(worker.env.iter().map(|(k, v)| (k.into(), v.into())));
        let path = asking::path_with(worker, asking::folder_of_sop());
        spec.env.extend(path.map(|path| ("PATH".into(), path)));
        if let Some(wp) = &self.subject.wp {
            spec.env.push(("SOP_WP".into(), wp.as_str().into()));
        }
        spec.env.extend([
            ("SOP_LENS".into(), lens.into()),
            ("SOP_TIER".into(), sitting.tier.as_str().into()),
            ("SOP_ROUND".into(), self.subject.round.to_string().into()),
            ("SOP_BRIEF".into(), prompt.into()),
            ("SOP_DIFF".into(), (&self.subject.diff_file).into()),
        ]);
        if matches!(worker.does, Does::Command { .. }) {
            spec.env.push(("SOP_VERDICT".into(), folder.join("verdict.json").into()));
            spec.env.push(("SOP_TURN".into(), folder.join("turn.json").into()));
            spec.capture = Some(Capture { path: folder.join("printed"), limit: ANSWER_LIMIT });
        }
        Ok((spec, text))
    }

    pub(super) fn worker(&self, tier: &TierId) -> &Worker {
        &self.site.plan.workers[&self.site.plan.tiers[tier].worker]
    }

    fn agent(
        &self,
        tier: &Tier,
        worker: &Worker,
        sitting: &Sitting,
        prompt: &Path,
        folder: &Path,
        left: Budget,
    ) -> Result<(Vec<String>, Stdin, String), Halt> {
        let Does::Agent { agent, program, args } = &worker.does else {
            unreachable!("asked for an agent only");
        };
        let mut drive = Drive::new(*agent, prompt.to_owned(), folder);
        drive.program.clone_from(program);
        drive.args.clone_from(args);
        drive.model.clone_from(&tier.model);
        drive.effort.clone_from(&tier.effort);
        drive.session.clone_from(&sitting.resumed);
        drive.read_only = true;
        drive.max_turns = tier.max_turns;
        drive.usd = left.usd;
        drive.tokens = left.tokens;
        drive.grace = tier.grace;
        drive.stream_limit = tier.log_limit;
        let order = folder.join("drive.json");
        let unwritten = |error: std::io::Error| {
            blocked(format!("cannot write {}: {error}", crate::process::escape_path(&order)))
        };
        drive.write(&order).map_err(unwritten)?;
        let text = [Some(tier.worker.as_str()), tier.model.as_deref(), tier.effort.as_deref()];
        let text = text.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Ok((drive.command(&order).map_err(unwritten)?, Stdin::Null, text))
    }

    fn plain(
        &self,
        command: &[String],
        brief_by: BriefBy,
        sitting: &Sitting,
        prompt: &Path,
        folder: &Path,
    ) -> Result<(Vec<String>, Stdin, String), Halt> {
        let site = &self.site;
        let whole;
        let wp = match &self.subject.wp {
            Some(wp) => site.wp(wp),
            None => {
                whole = the_whole(&site.plan, &sitting.tier);
                &whole
            }
        };
        let verdict = folder.join("verdict.json");
        let context = ArgContext {
            plan: &site.plan,
            wp,
            tier: &sitting.tier,
            run: site.dir.run(),
            base: &self.subject.base,
            round: self.subject.round,
            attempt: sitting.number,
            brief_file: &prompt.to_string_lossy(),
            report_file: "",
            verdict_file: Some(&verdict.to_string_lossy()),
        };
        let mut argv = args::render(command, &context).map_err(|error| {
            blocked(format!("the command of worker `{}`: {error}", sitting.worker))
        })?;
        let text =
            shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| command.join(" "));
        let stdin = match brief_by {
            BriefBy::Stdin => Stdin::File(prompt.to_owned()),
            BriefBy::File => Stdin::Null,
            BriefBy::Arg => {
                let text = plain_file::read_own(prompt).map_err(|error| {
                    blocked(format!("cannot read {}: {error}", crate::process::escape_path(prompt)))
                })?;
                argv.push(String::from_utf8_lossy(&text).into_owned());
                Stdin::Null
            }
        };
        Ok((argv, stdin, text))
    }
}

/// What stands for the WP in the arguments of a command that looks at the whole.
fn the_whole(plan: &Plan, tier: &TierId) -> Wp {
    let first = &plan.wps[0];
    Wp {
        id: WpId::new("verify").expect("a valid id"),
        stage: first.stage.clone(),
        title: plan.goal.clone(),
        kind: Kind::Scout,
        tier: tier.clone(),
        risk: first.risk,
        whitelist: Vec::new(),
        dod: Vec::new(),
        brief: String::new(),
        template: String::new(),
        needs: None,
        locks: Vec::new(),
        review: Review::None,
        rounds: 1,
        allow_empty: true,
        forks: Vec::new(),
        vars: plan.wps.iter().flat_map(|wp| wp.vars.clone()).collect(),
        budget: Budget::default(),
        consolidates: None,
        report: ReportForm::default(),
        findings: Vec::new(),
    }
}
