//! What a template may ask for. The table in the room's header is this file in words.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::model::ids::{CommitId, RunId, StageId, TierId, WpId};
use crate::model::outcome::Problem;
use crate::model::plan::{Adapter, Does, Plan, Wp};
use crate::model::time::Timestamp;

use super::fence;

/// One WP in one round of one run.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// One of its WPs.
    pub wp: &'a Wp,
    /// Its stage, as the sealed graph names it.
    pub stage: &'a StageId,
    /// The tier of this attempt.
    pub tier: &'a TierId,
    /// The run.
    pub run: &'a RunId,
    /// The commit that the worktree starts from.
    pub base: &'a CommitId,
    /// This round, from 1.
    pub round: u32,
    /// What was wrong with the round before.
    pub problems: &'a [Problem],
    /// What the scouts found that this WP waits for.
    pub reports: &'a [ScoutReport<'a>],
    /// Where the worker writes its report: an absolute path, escaped for display.
    pub report_file: &'a str,
    /// What was asked in this WP and has been answered.
    pub answers: &'a [Answer<'a>],
    /// Corrections of the plan's facts.
    pub notes: &'a [Correction<'a>],
    /// Lines that WPs of the stage want in shared files, for the one who consolidates.
    pub wiring: &'a [WiringLine<'a>],
    /// What earlier runs have learned of what this WP may change.
    pub lessons: &'a [LessonLine<'a>],
    /// Why the turn before came to no end, where the worker goes on with its session.
    pub cut_off: Option<&'a str>,
}

/// A question and what was answered.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// What the worker asked.
    pub question: &'a str,
    /// The answer.
    pub answer: &'a str,
}

/// A correction of the plan's facts.
#[derive(Debug, Clone, Copy)]
pub struct Correction<'a> {
    /// When it was made.
    pub at: Timestamp,
    /// What is right.
    pub text: &'a str,
}

/// What an earlier run has learned.
#[derive(Debug, Clone, Copy)]
pub struct LessonLine<'a> {
    /// The day it was learned.
    pub date: &'a str,
    /// The paths that it is about; none where it is about all.
    pub paths: &'a [String],
    /// What.
    pub text: &'a str,
}

/// Lines for a shared file.
#[derive(Debug, Clone, Copy)]
pub struct WiringLine<'a> {
    /// Who wants them.
    pub wp: &'a WpId,
    /// Where.
    pub file: &'a str,
    /// What.
    pub lines: &'a str,
}

/// A scout's report, for a WP that waits for the scout.
#[derive(Debug, Clone, Copy)]
pub struct ScoutReport<'a> {
    /// The scout.
    pub wp: &'a WpId,
    /// What it wrote.
    pub text: &'a str,
}

impl Context<'_> {
    pub(super) fn value(&self) -> Value {
        self.value_with(vars(&self.wp.vars))
    }

    /// The same, with `vars` in place of the WP's own.
    pub(super) fn value_with(&self, vars: Value) -> Value {
        let reports: Vec<Value> =
            self.reports.iter().map(|r| report(r.wp.as_str(), r.text)).collect();
        context! {
            wp => wp(self.wp, vars),
            plan => plan(self.plan),
            run => context! { id => self.run.as_str(), base => self.base.as_str() },
            stage => stage(self.plan, self.stage),
            tier => tier(self.plan, self.tier),
            round => context! { number => self.round, of => self.wp.rounds },
            brief => self.wp.brief.trim_end(),
            problems => problems(self.problems),
            reports,
            answers => self.answers.iter().map(answer).collect::<Vec<Value>>(),
            notes => self.notes.iter().map(note).collect::<Vec<Value>>(),
            wiring => self.wiring.iter().map(wiring).collect::<Vec<Value>>(),
            lessons => self.lessons.iter().map(lesson).collect::<Vec<Value>>(),
            cut_off => self.cut_off.map(fence::line_or_block),
            files => context! { report => self.report_file },
        }
    }
}

pub(super) fn wp(wp: &Wp, vars: Value) -> Value {
    let dod: Value = wp.dod.iter().map(|d| d.text.as_str()).collect();
    context! {
        id => wp.id.as_str(),
        title => wp.title.as_str(),
        kind => Value::from(Serde(&wp.kind)),
        tier => wp.tier.as_str(),
        risk => Value::from(Serde(&wp.risk)),
        whitelist => texts(&wp.whitelist),
        dod,
        locks => texts(&wp.locks),
        forks => Value::from(Serde(&wp.forks)),
        vars,
    }
}

pub(super) fn plan(plan: &Plan) -> Value {
    context! {
        name => plan.name.as_str(),
        goal => plan.goal.as_str(),
        instructions => texts(&plan.instructions),
    }
}

pub(super) fn tier(plan: &Plan, id: &TierId) -> Value {
    let tier = plan.tiers.get(id);
    context! {
        name => id.as_str(),
        model => tier.and_then(|t| t.model.as_deref()),
        effort => tier.and_then(|t| t.effort.as_deref()),
        runs_commands => runs_commands(plan, id),
    }
}

/// Whether a worker of this tier can run a command while it works: aider, without a person, cannot.
fn runs_commands(plan: &Plan, id: &TierId) -> bool {
    let worker = plan.tiers.get(id).and_then(|tier| plan.workers.get(&tier.worker));
    !worker.is_some_and(|it| matches!(it.does, Does::Agent { agent: Adapter::Aider, .. }))
}

pub(super) fn vars(vars: &BTreeMap<String, String>) -> Value {
    Value::from_pairs(vars.iter().map(|(k, v)| (k.as_str(), v.as_str())))
}

fn stage(plan: &Plan, id: &StageId) -> Value {
    let stage = plan.stages.iter().find(|s| &s.id == id);
    let shared = stage.map_or(&[][..], |s| &s.shared);
    context! { name => id.as_str(), shared => texts(shared) }
}

fn problems(problems: &[Problem]) -> Vec<Value> {
    let value = |(i, problem): (usize, &Problem)| {
        context! {
            number => i + 1,
            check => Value::from(Serde(&problem.check)),
            message => fence::line_or_block(&problem.message),
            subject => problem.subject.as_deref().map(fence::span),
            tail => problem.tail.as_deref().map(fence::block),
            log => problem.log.as_deref().map(fence::span),
        }
    };
    problems.iter().enumerate().map(value).collect()
}

fn answer(answer: &Answer<'_>) -> Value {
    context! {
        question => fence::line_or_block(answer.question),
        answer => fence::line_or_block(answer.answer),
    }
}

pub(super) fn note(note: &Correction<'_>) -> Value {
    context! { at => note.at.0.strftime("%Y-%m-%d %H:%M UTC").to_string(), text => fence::line_or_block(note.text) }
}

fn lesson(line: &LessonLine<'_>) -> Value {
    context! { date => line.date, paths => texts(line.paths), text => fence::line_or_block(line.text) }
}

fn wiring(line: &WiringLine<'_>) -> Value {
    context! {
        wp => line.wp.as_str(),
        file => fence::span(line.file),
        lines => fence::block(line.lines),
    }
}

fn report(wp: &str, text: &str) -> Value {
    context! { wp, text => fence::block(text) }
}

fn texts(texts: &[String]) -> Value {
    texts.iter().map(String::as_str).collect()
}
