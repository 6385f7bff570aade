//! A coding agent as the worker: its driver's order, and the session that it goes on with.

use std::path::Path;

use crate::launch::Stdin;
use crate::model::ids::TierId;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{Continue, Does, Kind, Tier};
use crate::model::turn::FaultClass;
use crate::worker::{self, Drive};

use super::Unit;
use crate::run::site::Halt;

impl Unit {
    /// The session that an attempt on `tier` goes on with: the last one, where the same tier left it, the
    /// plan wants that, the agent can, and it did not end in a way that would only be repeated.
    pub(super) fn session_for(&self, tier: &TierId) -> Option<String> {
        let (site, state) = (&self.site, &self.state);
        let plan = &site.plan.tiers[tier];
        let Does::Agent { agent, .. } = &site.plan.workers[&plan.worker].does else { return None };
        let fell_over = state.fault.as_ref().is_some_and(|last| {
            matches!(last.fault.class, FaultClass::Crash | FaultClass::EmptyTurn)
        });
        let resumes = worker::adapter(*agent).is_some_and(|agent| agent.abilities().resumes);
        let goes_on = plan.continues == Continue::Session && resumes && !fell_over;
        let session = state.session.as_ref().filter(|session| goes_on && &session.tier == tier)?;
        Some(session.id.clone())
    }

    /// The command line of the agent's driver, whose order lies in `folder`.
    pub(super) fn agent_command(
        &self,
        tier: &Tier,
        prompt: &Path,
        folder: &Path,
    ) -> Result<(Vec<String>, Stdin, String), Halt> {
        let site = &self.site;
        let worker = self.worker();
        let Does::Agent { agent, program, args } = &worker.does else {
            unreachable!("asked for an agent only");
        };
        let left = site.lookout.left(&site.plan, self.wp(), &self.state).unwrap_or_default();
        let mut drive = Drive::new(*agent, prompt.to_owned(), folder);
        drive.program.clone_from(program);
        drive.args.clone_from(args);
        drive.model.clone_from(&tier.model);
        drive.effort.clone_from(&tier.effort);
        drive.session.clone_from(&self.state.resumed);
        drive.read_only = self.wp().kind == Kind::Scout;
        drive.writable = vec![site.dir.named("reports"), folder.join("asks")];
        drive.max_turns = tier.max_turns;
        drive.usd = left.usd;
        drive.tokens = left.tokens;
        drive.grace = tier.grace;
        drive.stream_limit = tier.log_limit;
        let order = folder.join("drive.json");
        let unwritten = |error: std::io::Error| {
            let text = format!("cannot write {}: {error}", crate::process::escape_path(&order));
            Halt::blocked(Problem::new(Check::Worker, text))
        };
        drive.write(&order).map_err(unwritten)?;
        let text = [Some(tier.worker.as_str()), tier.model.as_deref(), tier.effort.as_deref()];
        let text = text.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let argv = drive.command(&order).map_err(unwritten)?;
        Ok((argv, Stdin::Null, text))
    }
}
