//! What gh answers, as far as it is heeded.

use serde::Deserialize;

use crate::forge::error::{ForgeError, Kind};
use crate::forge::{BaseBranch, Checks, Look, MergeState, Request, State};
use crate::model::ids::CommitId;
use crate::process::escape;

/// A request of `gh pr list`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    number: u64,
    url: String,
    head_ref_name: String,
    head_ref_oid: String,
    base_ref_name: String,
    title: String,
    body: String,
    is_cross_repository: bool,
}

impl Listed {
    pub(super) const FIELDS: &str =
        "number,url,headRefName,headRefOid,baseRefName,title,body,isCrossRepository";

    /// The request, unless its branch is of another repository.
    pub(super) fn own(self) -> Option<Request> {
        (!self.is_cross_repository).then(|| Request {
            number: self.number,
            url: link(&self.url),
            head: self.head_ref_name,
            at: CommitId(self.head_ref_oid),
            base: self.base_ref_name,
            title: self.title,
            body: self.body,
        })
    }
}

/// A link, or what was given for one, harmless.
fn link(url: &str) -> String {
    let web = url.starts_with("https://") || url.starts_with("http://");
    if web { escape(url.as_bytes()) } else { String::new() }
}

/// What `gh pr view` says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Viewed {
    state: String,
    head_ref_oid: String,
    base_ref_name: String,
    is_draft: bool,
    mergeable: String,
    merge_state_status: String,
    #[serde(default)]
    review_decision: Option<String>,
    #[serde(default)]
    status_check_rollup: Option<Vec<Check>>,
}

/// A check run, or a status, of which each has other fields.
#[derive(Debug, Deserialize)]
struct Check {
    /// Of a check run.
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    conclusion: String,
    /// Of a status.
    #[serde(default)]
    context: String,
    #[serde(default)]
    state: String,
}

impl Check {
    fn called(&self) -> String {
        let name = if self.name.is_empty() { &self.context } else { &self.name };
        escape(name.as_bytes())
    }

    /// Whether it passed; nothing while it is not over.
    fn passed(&self) -> Option<bool> {
        match (self.state.as_str(), self.status.as_str(), self.conclusion.as_str()) {
            ("SUCCESS", ..) => Some(true),
            ("FAILURE" | "ERROR", ..) => Some(false),
            ("PENDING" | "EXPECTED", ..) => None,
            (_, "COMPLETED", "SUCCESS" | "NEUTRAL" | "SKIPPED") => Some(true),
            (_, "COMPLETED", _) => Some(false),
            _ => None,
        }
    }
}

impl Viewed {
    pub(super) const FIELDS: &str = "state,headRefOid,baseRefName,isDraft,mergeable,mergeStateStatus,reviewDecision,statusCheckRollup";

    pub(super) fn look(self) -> Result<Look, ForgeError> {
        let state = match self.state.as_str() {
            "OPEN" => State::Open,
            "MERGED" => State::Merged,
            "CLOSED" => State::Closed,
            other => {
                let text = format!("gh calls a request `{}`", escape(other.as_bytes()));
                return Err(ForgeError::new(Kind::Refused, text));
            }
        };
        let checks = checks(self.status_check_rollup.as_deref().unwrap_or_default());
        let merge = match (self.mergeable.as_str(), self.merge_state_status.as_str()) {
            _ if self.is_draft => MergeState::Draft,
            ("CONFLICTING", _) | (_, "DIRTY") => MergeState::Conflict,
            (_, "CLEAN" | "HAS_HOOKS") => MergeState::Clean,
            (_, "BEHIND") => MergeState::Behind,
            (_, "BLOCKED") => MergeState::Blocked(match self.review_decision.as_deref() {
                Some("REVIEW_REQUIRED") => "a review is required".to_owned(),
                Some("CHANGES_REQUESTED") => "a reviewer asks for changes".to_owned(),
                _ => String::new(),
            }),
            // Among them `UNSTABLE`: a check is not over, or failed; which of the two, the checks say.
            _ => MergeState::Unknown,
        };
        let (at, base) = (CommitId(self.head_ref_oid), self.base_ref_name);
        Ok(Look { state, at, base, checks, merge })
    }
}

fn checks(all: &[Check]) -> Checks {
    let named = |so: Option<bool>| -> Vec<String> {
        all.iter().filter(|check| check.passed() == so).map(Check::called).collect()
    };
    let (failed, pending) = (named(Some(false)), named(None));
    match (failed.is_empty(), pending.is_empty()) {
        (false, _) => Checks::Failed(failed),
        (true, false) => Checks::Pending(pending),
        (true, true) if all.is_empty() => Checks::None,
        (true, true) => Checks::Passed,
    }
}

/// A branch of `gh api`.
#[derive(Debug, Deserialize)]
pub(super) struct Branch {
    #[serde(default)]
    protected: bool,
    #[serde(default)]
    protection: Option<Protection>,
}

#[derive(Debug, Default, Deserialize)]
struct Protection {
    #[serde(default)]
    required_status_checks: Option<Required>,
}

#[derive(Debug, Default, Deserialize)]
struct Required {
    #[serde(default)]
    contexts: Vec<String>,
}

impl From<Branch> for BaseBranch {
    fn from(branch: Branch) -> Self {
        let protection = branch.protection.unwrap_or_default();
        let required = protection.required_status_checks.unwrap_or_default();
        let required = required.contexts.iter().map(|name| escape(name.as_bytes()));
        Self { protected: branch.protected, required: required.collect() }
    }
}
