//! What a request at the forge says: its title and body, made of one template. The first line of what that
//! renders is the title, the rest the body.

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::model::ids::{CommitId, RunId, WpId};
use crate::model::outcome::Ran;
use crate::model::plan::{Plan, Wp};

use super::{BriefError, Briefs, context, fence};

/// The template.
pub const REQUEST: &str = "request";

/// Characters of a title; forges cut at 255.
const TITLE: usize = 200;
/// Characters of a body; forges cut at 65,536.
const BODY: usize = 60_000;

/// A request for one WP, or for the whole.
#[derive(Debug, Clone)]
pub struct RequestContext<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The run.
    pub run: &'a RunId,
    /// What everything started from.
    pub base: &'a CommitId,
    /// What is asked to be merged.
    pub commit: &'a CommitId,
    /// Whether it is for the whole.
    pub whole: bool,
    /// The WPs in it.
    pub wps: Vec<RequestWp<'a>>,
    /// Commands that were run on the integrated tree.
    pub on_whole: Vec<&'a Ran>,
    /// WPs of the plan that are in no request, each with why.
    pub left_out: Vec<(&'a WpId, String)>,
    /// Corrections of the plan's facts.
    pub notes: Vec<&'a str>,
}

/// A WP and what was verified of it.
#[derive(Debug, Clone)]
pub struct RequestWp<'a> {
    /// The WP.
    pub wp: &'a Wp,
    /// Paths that it changed.
    pub paths: u64,
    /// Its Definition of Done, as it was run on what was committed.
    pub ran: Vec<&'a Ran>,
    /// Who approved it.
    pub approved_by: Option<&'a str>,
}

/// A request's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestText {
    /// One line.
    pub title: String,
    /// The body.
    pub body: String,
}

impl Briefs {
    /// Title and body of a request.
    ///
    /// # Errors
    /// If the repository's own template does not compile, asks for what is not there, or renders no title.
    pub fn request(&self, context: &RequestContext<'_>) -> Result<RequestText, BriefError> {
        self.template(REQUEST)?;
        let text = self.body(REQUEST, context.value())?;
        let text = fence::clean(text.trim()).into_owned();
        let (title, body) = text.split_once('\n').unwrap_or((&text, ""));
        let title = title.trim_start_matches(['#', ' ']).trim();
        // A template may leave its first line empty; a request without a title is none.
        let title = if title.is_empty() { context.title() } else { title.to_owned() };
        let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        Ok(RequestText { title: cut(&title, TITLE), body: cut(body.trim(), BODY) })
    }
}

impl RequestContext<'_> {
    /// What the request is about, in a line.
    fn title(&self) -> String {
        let line = |text: &str| text.lines().next().unwrap_or_default().trim().to_owned();
        match self.wps.first().filter(|_| !self.whole) {
            Some(RequestWp { wp, .. }) if line(&wp.title).is_empty() => wp.id.to_string(),
            Some(RequestWp { wp, .. }) => line(&wp.title),
            None => line(&self.plan.goal),
        }
    }

    pub(super) fn value(&self) -> Value {
        let left_out = self.left_out.iter();
        let left_out = left_out.map(|(wp, why)| context! { id => wp.as_str(), why });
        let attribution = self.plan.delivery.as_ref().is_some_and(|delivery| delivery.attribution);
        context! {
            title => self.title(),
            plan => context::plan(self.plan),
            run => context! {
                id => self.run.as_str(),
                base => self.base.as_str(),
                commit => self.commit.as_str(),
            },
            whole => self.whole,
            wps => self.wps.iter().map(of_wp).collect::<Vec<Value>>(),
            on_whole => self.on_whole.iter().map(|ran| of_ran(ran)).collect::<Vec<Value>>(),
            left_out => left_out.collect::<Vec<Value>>(),
            notes => self.notes.iter().map(|note| Value::from(*note)).collect::<Vec<Value>>(),
            attribution,
        }
    }
}

fn of_wp(it: &RequestWp<'_>) -> Value {
    context! {
        id => it.wp.id.as_str(),
        title => it.wp.title.as_str(),
        findings => it.wp.findings.join(", "),
        risk => Value::from(Serde(&it.wp.risk)),
        paths => it.paths,
        ran => it.ran.iter().map(|ran| of_ran(ran)).collect::<Vec<Value>>(),
        approved_by => it.approved_by,
    }
}

fn of_ran(ran: &Ran) -> Value {
    context! { run => fence::span(&ran.run), end => ran.end.to_string() }
}
