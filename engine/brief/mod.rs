//! Briefs: what a worker is told, rendered from a template.
//!
//! At the head of every brief stands the contract (`templates/contract.md`), word for word, and
//! after it what the contract points to: instructions, whitelist, gates, where the report goes
//! (`templates/facts.md.j2`). Both are put there by [`Briefs::render`] and not by the template, so
//! that no template can leave them out.
//!
//! # Templates
//! Built in are `change`, `scout`, `audit`, `critic` and `consolidate`, and the pieces `known` and `report`, which they
//! include; `continue` is what a worker is told that goes on with a session. A file
//! `.sop/templates/NAME.md.j2` in the repository adds a template or takes the place of a built-in
//! one, which stays in reach as `builtin/NAME`, for `{% extends "builtin/change" %}`. Templates are
//! Jinja as minijinja has it, with `trim_blocks` and `lstrip_blocks` on; an unknown variable, and
//! printing a value that is not there, are errors.
//!
//! # Variables
//! | name | what |
//! | --- | --- |
//! | `wp` | `id`, `title`, `kind`, `tier`, `risk`, `whitelist`, `dod` (command lines), `locks`, `forks` (`question`, `default`), `vars` |
//! | `plan` | `name`, `goal`, `instructions` |
//! | `run` | `id`, `base` (commit id) |
//! | `stage` | `name`, `shared` |
//! | `tier` | `name`, `model`, `effort`: of this attempt, which escalation may have changed; the last two may be none; `runs_commands` |
//! | `round` | `number`, `of` |
//! | `brief` | the task as the plan has it: data, never evaluated |
//! | `problems` | of the round before: `number`, `check`, `message`, and `subject`, `tail`, `log`, which may be none |
//! | `reports` | of the scouts that the WP waits for: `wp`, `text` |
//! | `answers` | to what was asked in this WP: `question`, `answer` |
//! | `notes` | corrections of the plan's facts: `at`, `text` |
//! | `wiring` | for a consolidation: `wp`, `file`, `lines` |
//! | `lessons` | what earlier runs have learned of what the WP may change: `date`, `paths`, `text` |
//! | `cut_off` | in `continue`: why the turn before came to no end, or none |
//! | `files` | `report`: where to write the report |
//!
//! What other programs wrote (`tail`, `text`, a `message` of several lines) arrives inside a fence
//! longer than any run of backticks in it, a `subject` inside a code span, and control characters
//! arrive escaped: a template cannot forget to do so. The filters `code` and `fence` do the same for
//! other values.
//!
//! # Reviews
//! What reviewers are told is made alike ([`review`]): a contract of its own, then the lens, which is
//! the template `review-NAME` (`review-quality`, `review-security`, `review-tests`, or the
//! repository's own), then what is under review and the form of the answer. The last look at the whole
//! has the template `verify`. Their variables are `plan`, `run`, `tier` as above, `files` (`diff`,
//! `brief`), `diff` (none when it is long), `ran` (`run`, `end`, `log`, `tail`), `notes`, `earlier`
//! (`number`, `findings` of `subject`, `message`), and for a WP `wp`, `round`, `brief`, for the whole
//! `tasks` (`id`, `title`, `task`).
//!
//! # Requests
//! A pull request says what the template `request` makes of `title`, `plan`, `run` (`id`, `base`, `commit`),
//! `whole`, `wps` (`id`, `title`, `findings` in one text, `risk`, `paths`, `ran` of `run`, `end`, and `approved_by`,
//! which may be none), `on_whole` (`run`, `end`), `left_out` (`id`, `why`), `notes` and `attribution`. Its first line is the title
//! ([`request`]).
//!
//! # Command arguments
//! A worker's command line is made of templates too: [`args`].

pub mod args;
mod check;
mod context;
mod engine;
pub mod fence;
mod load;
pub mod request;
pub mod review;
mod sample;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use minijinja::Environment;

pub use check::TemplateFault;
pub use context::{Answer, Context, Correction, LessonLine, ScoutReport, WiringLine};
pub use request::{RequestContext, RequestText, RequestWp};
pub use review::{RanBefore, ReviewContext, SentBack};

/// The contract at the head of every brief.
pub const CONTRACT: &str = include_str!("../../templates/contract.md");

/// Where a repository keeps templates of its own, from its root.
pub const FOLDER: &str = ".sop/templates";

/// The template of whoever reads a plan before it is approved.
pub const CRITIC: &str = "critic";

/// The piece that comes after the contract, whatever the repository's own templates are called.
const FACTS: &str = "builtin/facts";

/// What a worker is told that goes on with a session.
const CONTINUE: &str = "continue";

/// All templates that a plan may name.
pub struct Briefs {
    env: Environment<'static>,
    templates: BTreeMap<String, Template>,
}

/// One template's text and where it came from.
#[derive(Debug, Clone)]
struct Template {
    /// As a person would name the file.
    file: String,
    text: String,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Part of `sop`, and meant to be named by a plan.
    BuiltIn,
    /// Part of `sop`, and meant to be included.
    Piece,
    /// Part of `sop`, and what a review looks for.
    Lens,
    /// From the repository's own folder.
    Repository,
}

/// Templates cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the template {path:?}: {source}")]
pub struct LoadError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// A plan names a template that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no template {name:?}; there are {known}, and a file `{FOLDER}/NAME.md.j2` makes one",
    known = .known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
)]
pub struct UnknownTemplate {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
    /// The one that was probably meant.
    pub near: Option<String>,
}

/// Why a template cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct RenderError {
    /// `file:line`, or the file alone.
    pub place: String,
    /// The file alone.
    pub file: String,
    /// Byte range in that file's text.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
}

/// Why there is no brief.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BriefError {
    /// No such template.
    #[error(transparent)]
    Unknown(#[from] UnknownTemplate),
    /// The template is wrong.
    #[error("{0}\n  mend the template, or name another with `template = \"…\"` in the plan")]
    Render(#[from] RenderError),
}

impl Briefs {
    /// Names that a plan may use in `template = "…"`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let nameable = self.templates.iter().filter(|(name, t)| match t.origin {
            Origin::BuiltIn => !name.starts_with(load::BUILT_IN),
            Origin::Piece | Origin::Lens => false,
            Origin::Repository => {
                !name.starts_with(review::LENS)
                    && ![review::VERIFY, request::REQUEST].contains(&name.as_str())
            }
        });
        nameable.map(|(name, _)| name.as_str())
    }

    /// Names of templates that a review may look through: `review-…`.
    pub fn lenses(&self) -> impl Iterator<Item = &str> {
        self.templates.keys().map(String::as_str).filter(|name| name.starts_with(review::LENS))
    }

    /// The text of a template file that a finding or an error is about, for drawing it.
    #[must_use]
    pub fn text(&self, file: &str) -> Option<&str> {
        let mut all = self.templates.values();
        all.find(|t| t.file == file).map(|t| t.text.as_str())
    }

    /// The brief of one WP for one round: the contract, then what the template makes of `context`.
    ///
    /// # Errors
    /// If there is no template of that name, or it does not compile or asks for what is not there.
    pub fn render(&self, name: &str, context: &Context<'_>) -> Result<String, BriefError> {
        self.template(name)?;
        let value = context.value();
        let facts = self.body(FACTS, value.clone())?;
        let body = self.body(name, value)?;
        let (facts, body) = (fence::clean(facts.trim_end()), fence::clean(body.trim_end()));
        Ok(format!("{CONTRACT}\n{facts}\n\n---\n\n{body}\n"))
    }

    /// What a worker is told that goes on with its session: it has the brief already, so only what is
    /// new.
    ///
    /// # Errors
    /// If the template does not compile or asks for what is not there.
    pub fn go_on(&self, context: &Context<'_>) -> Result<String, BriefError> {
        self.template(CONTINUE)?;
        let body = self.body(CONTINUE, context.value())?;
        Ok(format!("{}\n", fence::clean(body.trim_end())))
    }

    fn body(&self, name: &str, value: minijinja::Value) -> Result<String, RenderError> {
        let rendered = self.env.get_template(name).and_then(|t| t.render(value));
        rendered.map_err(|e| self.place(name, &e))
    }

    fn template(&self, name: &str) -> Result<&Template, UnknownTemplate> {
        self.templates.get(name).ok_or_else(|| {
            let known: Vec<String> = match name.starts_with(review::LENS) {
                true => self.lenses().map(str::to_owned).collect(),
                false => self.names().map(str::to_owned).collect(),
            };
            UnknownTemplate {
                name: name.to_owned(),
                near: engine::near(name, known.iter().map(String::as_str)),
                known,
            }
        })
    }

    /// The engine's error, with the file that it is about: a template may fail within a piece.
    fn place(&self, name: &str, error: &minijinja::Error) -> RenderError {
        let cause = engine::innermost(error);
        let template = cause.name().and_then(|n| self.templates.get(n));
        let file = template.or_else(|| self.templates.get(name));
        engine::error(cause, file.map_or(name, |t| &t.file), file.map(|t| t.text.as_str()))
    }
}
