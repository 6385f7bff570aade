//! The review after the DoD: nobody, a person, a command that gives a verdict, or workers of a tier.

mod command;
mod worker;

pub(in crate::run) use worker::{before, known_files};

use std::path::PathBuf;

use crate::event::Event;
use crate::model::outcome::{Check, Problem};
use crate::model::plan::Review;

use super::Unit;
use crate::run::directory::write_whole;
use crate::run::site::Halt;

impl Unit {
    /// Asks the reviewer that the plan names.
    pub(super) async fn review(&mut self) -> Result<Event, Halt> {
        let (wp, round) = (self.state.id.clone(), self.state.round);
        match self.wp().review.clone() {
            Review::None => Err(blocked("the plan names no reviewer, but the run waits for one")),
            Review::Human => Ok(Event::ReviewRequested {
                wp,
                round,
                tree: self.state.tree.clone().ok_or_else(|| blocked("nothing was checked yet"))?,
            }),
            Review::Worker { tier, lenses, block_from } => {
                self.ask_workers(tier, lenses, block_from).await
            }
            Review::Command { command, timeout } => {
                let verdict = self.ask_command(&command, timeout).await?;
                let by = command.first().cloned().unwrap_or_default();
                Ok(Event::Reviewed { wp, round, by, verdict })
            }
        }
    }

    /// The diff that is reviewed, against the recorded base: where it is, and what it says.
    async fn write_diff(&self) -> Result<(PathBuf, Vec<u8>), Halt> {
        let tree = self.state.tree.clone().ok_or_else(|| blocked("nothing was checked yet"))?;
        let base = self.base()?;
        let diff =
            self.site.blocking(Check::Review, move |site| site.repo.patch(&base, &tree)).await?;
        let name = format!("verdicts/{}-{}.diff", self.state.id, self.state.round);
        let path = self.site.dir.named(&name);
        write_whole(&path, &diff).map_err(|error| blocked(error.to_string()))?;
        Ok((path, diff))
    }
}

fn blocked(text: impl Into<String>) -> Halt {
    Halt::blocked(Problem::new(Check::Review, text))
}
