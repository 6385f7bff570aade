//! The Definition of Done: run once on the base, and on every snapshot that passed the scope check.

use std::sync::Arc;

use crate::event::{Classed, Event};
use crate::launch::{EndedBy, Key, Outcome};
use crate::model::outcome::{Check, DodClass, Problem, Ran};
use crate::model::plan::Dod;
use crate::process;

use super::Unit;
use crate::run::in_flight::since_begun;
use crate::run::provision::{leaves_nothing, log_name};
use crate::run::site::{Halt, Site, argv};
use crate::run::step::{self, Order, Orders};

/// Lines of a failed command's output that are shown and go into the next brief.
const TAIL: usize = 40;

impl Unit {
    /// Runs each DoD command once on the base. One that is known from another WP of the same base is
    /// not run again: what a command says depends on the tree, not on who asks.
    pub(super) async fn class(&mut self) -> Result<Event, Halt> {
        let site = Arc::clone(&self.site);
        let (id, base) = (self.state.id.to_string(), self.base()?);
        let dods = self.wp().dod.clone();
        let mut classes = Vec::with_capacity(dods.len());
        let mut ran_here = false;
        let turn = site.classing.lock().await;
        for (n, dod) in dods.iter().enumerate() {
            let known = (base.clone(), dod.text.clone());
            let cached = site.classed.lock().ok().and_then(|map| map.get(&known).cloned());
            let classed = match cached {
                Some(classed) => classed,
                None => {
                    ran_here = true;
                    let step = format!("{}{}", since_begun("base", self.state.begun), n + 1);
                    class_one(&site, &id, &step, dod, &mut self.orders).await?
                }
            };
            refuse(&site, dod, &classed)?;
            // What is refused may be mended: it is asked again then.
            if let Ok(mut map) = site.classed.lock() {
                map.insert(known, classed.clone());
            }
            classes.push(classed);
        }
        if ran_here {
            leaves_nothing(&site, &self.worktree().await?, "the Definition of Done").await?;
        }
        drop(turn);
        Ok(Event::DodClassed { wp: self.state.id.clone(), classes })
    }

    /// Runs the next command of the DoD on the snapshot.
    pub(super) async fn prove(&mut self) -> Result<Event, Halt> {
        let site = Arc::clone(&self.site);
        let index = self.state.proved.len();
        let dod = self.wp().dod[index].clone();
        let (round, pass) = (self.state.round, self.state.pass);
        let step = format!("dod.{round}.{pass}.{}", index + 1);
        let id = self.state.id.to_string();
        let (ran, tail) = run_one(&site, &id, &step, &dod, &mut self.orders).await?;
        if ran.end.broken() {
            let text = format!("could not be run: {}; this is nobody's work", ran.end);
            let problem = Problem::new(Check::Dod, text).about(&ran.run).logged(&ran.log, tail);
            return Err(Halt::blocked(problem));
        }
        Ok(Event::DodRan {
            wp: self.state.id.clone(),
            round,
            pass,
            index: u32::try_from(index).unwrap_or(u32::MAX),
            tail: (!ran.end.success()).then_some(tail),
            ran,
        })
    }
}

/// Runs a DoD command in `unit`'s worktree. The tail is empty when it exits 0.
///
/// # Errors
/// When it was stopped, or its holder failed.
pub async fn run_one(
    site: &Arc<Site>,
    unit: &str,
    step: &str,
    dod: &Dod,
    orders: &mut Orders,
) -> Result<(Ran, String), Halt> {
    let spec = |key: &Key| {
        let mut spec = site.spec(unit, key, argv(&dod.command));
        spec.timeout = Some(dod.timeout.0);
        spec
    };
    let key = |n| site.key(unit, step, n);
    let ran_at_all = |outcome: &Outcome| !step::end(outcome, &spec(&outcome.key)).broken();
    let (outcome, log) = step::bound(&site.launcher, key, spec, ran_at_all, orders)
        .await
        .map_err(|error| Halt::blocked(Problem::new(Check::Dod, error.to_string())))?;
    if outcome.ended_by == EndedBy::Cancel && *orders.borrow() != Order::Go {
        return Err(Halt::Stopped);
    }
    let name = log_name(site, &log);
    let ran = step::ran(&dod.text, &name, &outcome, &spec(&outcome.key));
    let tail = match ran.end.success() {
        true => String::new(),
        false => process::tail(&log, TAIL).unwrap_or_default().join("\n"),
    };
    Ok((ran, tail))
}

/// Runs a DoD command on a base and says what it is there.
///
/// # Errors
/// As [`run_one`].
pub async fn class_one(
    site: &Arc<Site>,
    unit: &str,
    step: &str,
    dod: &Dod,
    orders: &mut Orders,
) -> Result<Classed, Halt> {
    let (ran, _) = run_one(site, unit, step, dod, orders).await?;
    let class = match &ran.end {
        end if end.success() => DodClass::Green,
        end if end.broken() => DodClass::Broken,
        _ => DodClass::Red,
    };
    Ok(Classed { class, ran })
}

/// A command that could not run, or that is not what the plan says it must be on the base.
fn refuse(site: &Site, dod: &Dod, classed: &Classed) -> Result<(), Halt> {
    let text = match (classed.class, dod.expect) {
        (DodClass::Broken, _) => format!(
            "could not be run on the base ({}); mend the command, or add what it needs to \
             `[provision] setup`",
            classed.ran.end
        ),
        (class, Some(expected)) if class != expected => format!(
            "is {class} on the base ({}), but the plan says `expect = \"{expected}\"`: it would \
             prove nothing",
            classed.ran.end
        ),
        _ => return Ok(()),
    };
    let tail = process::tail(&site.dir.named(&classed.ran.log), TAIL).unwrap_or_default();
    let problem =
        Problem::new(Check::Dod, text).about(&dod.text).logged(&classed.ran.log, tail.join("\n"));
    Err(Halt::Blocked { problem, everywhere: true })
}
