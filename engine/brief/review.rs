//! What reviewers are told: the contract for those who only read, what their lens looks for, what is
//! under review, and the form of the answer. Only the lens is a template that a repository can change;
//! the rest is put there by [`Briefs::review`], so that no lens can leave it out.

use minijinja::value::merge_maps;
use minijinja::{Value, context};

use crate::model::ids::{CommitId, RunId, TierId};
use crate::model::outcome::{Problem, Ran};
use crate::model::plan::{Plan, Wp};

use super::context::{self, Correction};
use super::{BriefError, Briefs, fence};

/// The contract at the head of every review.
pub const CONTRACT: &str = include_str!("../../templates/review-contract.md");

/// How the names of templates begin that reviews look through.
pub const LENS: &str = "review-";

/// The template of the last look at the whole.
pub const VERIFY: &str = "verify";

/// What is under review, for every lens but that of the whole.
const SUBJECT: &str = "builtin/review";
/// The form of the answer.
const ANSWER: &str = "builtin/answer";
/// What is said to one whose answer could not be read.
const AGAIN: &str = "builtin/again";

/// Bytes of a diff that stand in the text itself; a longer one is read from its file.
const INLINE: usize = 48 * 1024;

/// A review of one WP's round, or of the whole.
#[derive(Debug, Clone, Copy)]
pub struct ReviewContext<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The WP; nothing for the whole.
    pub wp: Option<&'a Wp>,
    /// The tier of the reviewer.
    pub tier: &'a TierId,
    /// The run.
    pub run: &'a RunId,
    /// What the diff is against.
    pub base: &'a CommitId,
    /// The round, from 1; 0 for the whole.
    pub round: u32,
    /// The diff.
    pub diff: &'a [u8],
    /// Where it is: an absolute path, escaped for display.
    pub diff_file: &'a str,
    /// Where the worker's brief is, likewise; empty for the whole.
    pub brief_file: &'a str,
    /// Commands that were run on the tree.
    pub ran: &'a [RanBefore],
    /// Rounds that reviewers sent back.
    pub earlier: &'a [SentBack<'a>],
    /// Corrections of the plan's facts.
    pub notes: &'a [Correction<'a>],
}

/// A command that was run on the tree under review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanBefore {
    /// How it went.
    pub ran: Ran,
    /// Where its output is: an absolute path, escaped for display.
    pub log: String,
    /// The last lines of it.
    pub tail: String,
}

/// A round that reviewers sent back.
#[derive(Debug, Clone)]
pub struct SentBack<'a> {
    /// The round.
    pub number: u32,
    /// What they asked for.
    pub findings: Vec<&'a Problem>,
}

impl Briefs {
    /// What a reviewer is told: `template` is what its lens looks for.
    ///
    /// # Errors
    /// If there is no template of that name, or it does not compile or asks for what is not there.
    pub fn review(
        &self,
        template: &str,
        context: &ReviewContext<'_>,
    ) -> Result<String, BriefError> {
        self.template(template)?;
        let value = context.value();
        let lens = self.body(template, value.clone())?;
        let mut parts = vec![CONTRACT.to_owned(), lens];
        if context.wp.is_some() {
            parts.push(self.body(SUBJECT, value.clone())?);
        }
        parts.push(self.body(ANSWER, value)?);
        let parts: Vec<_> = parts.iter().map(|part| fence::clean(part.trim_end())).collect();
        Ok(format!("{}\n", parts.join("\n\n")))
    }

    /// What a reviewer is told whose answer was no verdict, for this reason.
    ///
    /// # Errors
    /// Never for the built-in text.
    pub fn answer_again(&self, why: &str) -> Result<String, BriefError> {
        let value = context! { again => fence::line_or_block(why) };
        let (said, form) = (self.body(AGAIN, value.clone())?, self.body(ANSWER, value)?);
        let (said, form) = (fence::clean(said.trim_end()), fence::clean(form.trim_end()));
        Ok(format!("{said}\n\n{form}\n"))
    }
}

impl ReviewContext<'_> {
    pub(super) fn value(&self) -> Value {
        let diff =
            (self.diff.len() <= INLINE).then(|| fence::block(&String::from_utf8_lossy(self.diff)));
        let shared = context! {
            plan => context::plan(self.plan),
            run => context! { id => self.run.as_str(), base => self.base.as_str() },
            tier => context::tier(self.plan, self.tier),
            files => context! { diff => self.diff_file, brief => self.brief_file },
            ran => self.ran.iter().map(ran).collect::<Vec<Value>>(),
            earlier => self.earlier.iter().map(sent_back).collect::<Vec<Value>>(),
            notes => self.notes.iter().map(context::note).collect::<Vec<Value>>(),
            diff,
        };
        let own = match self.wp {
            Some(wp) => context! {
                wp => context::wp(wp, context::vars(&wp.vars)),
                round => context! { number => self.round, of => wp.rounds },
                brief => fence::block(wp.brief.trim_end()),
            },
            None => context! {
                tasks => self.plan.wps.iter().map(task).collect::<Vec<Value>>(),
            },
        };
        merge_maps([own, shared])
    }
}

fn task(wp: &Wp) -> Value {
    context! {
        id => wp.id.as_str(),
        title => wp.title.as_str(),
        task => fence::block(wp.brief.trim_end()),
    }
}

fn ran(command: &RanBefore) -> Value {
    let tail = (!command.tail.trim().is_empty()).then(|| fence::block(&command.tail));
    context! {
        run => fence::span(&command.ran.run),
        end => command.ran.end.to_string(),
        log => fence::span(&command.log),
        tail,
    }
}

fn sent_back(round: &SentBack<'_>) -> Value {
    let findings: Vec<Value> = round
        .findings
        .iter()
        .map(|finding| {
            context! {
                subject => finding.subject.as_deref().map(fence::span),
                message => fence::line_or_block(&finding.message),
            }
        })
        .collect();
    context! { number => round.number, findings }
}
