//! Pull requests as this forge keeps them: what they are at, whether they can be merged, and merging them.

use serde_json::{Value, json};

use crate::support::git_repo::command;

use super::{HOST, Inner, REPO, State};

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    pub number: u64,
    pub head: String,
    pub base: String,
    pub title: String,
    pub body: String,
    pub draft: bool,
    /// `OPEN`, `MERGED` or `CLOSED`.
    pub state: String,
    /// Where its branch is, or was when it was merged.
    pub at: String,
}

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Passed,
    Failed,
    Pending,
    /// Passed, from the second look on.
    PassedSoon,
}

impl Pull {
    pub fn url(&self) -> String {
        format!("https://{HOST}/{REPO}/pull/{}", self.number)
    }
}

impl Inner {
    /// What git says to this in the bare repository; nothing when it fails.
    pub(super) fn git(&self, args: &[&str]) -> Option<String> {
        let output = command("git", &self.bare).args(args).output().expect("git");
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    }

    pub(super) fn tip(&self, branch: &str) -> Option<String> {
        self.git(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")])
    }

    /// Open requests follow their branches.
    pub(super) fn refresh(&self, state: &mut State) {
        for pull in state.pulls.iter_mut().filter(|pull| pull.state == "OPEN") {
            if let Some(at) = self.tip(&pull.head) {
                pull.at = at;
            }
        }
    }

    pub(super) fn open(&self, state: &mut State, input: &Value) -> Result<Pull, String> {
        let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        let (head, base) = (text("headRefName"), text("baseRefName"));
        let (Some(at), Some(onto)) = (self.tip(&head), self.tip(&base)) else {
            return Err("Head sha can't be blank, Base sha can't be blank".to_owned());
        };
        if at == onto {
            return Err(format!("No commits between {base} and {head}"));
        }
        if state.pulls.iter().any(|it| it.state == "OPEN" && (&it.head, &it.base) == (&head, &base))
        {
            return Err(format!("A pull request already exists for octo:{head}."));
        }
        let number = state.pulls.len() as u64 + 1;
        let (title, body) = (text("title"), text("body"));
        let draft = input["draft"].as_bool().unwrap_or(false);
        let state_word = "OPEN".to_owned();
        let pull = Pull { number, head, base, title, body, draft, state: state_word, at };
        state.pulls.push(pull.clone());
        Ok(pull)
    }

    fn merged_tree(&self, pull: &Pull) -> Option<String> {
        let onto = self.tip(&pull.base)?;
        self.git(&["merge-tree", "--write-tree", &onto, &pull.at])
            .and_then(|said| said.lines().next().map(str::to_owned))
    }

    /// `mergeable` and `mergeStateStatus`.
    fn can_merge(&self, state: &State, pull: &Pull) -> (&'static str, &'static str) {
        if self.merged_tree(pull).is_none() {
            return ("CONFLICTING", "DIRTY");
        }
        let checks = checks(state, pull);
        let passed = |name: &String| checks.contains(&(name.clone(), Ends::Passed));
        let blocked = state
            .protection
            .as_ref()
            .is_some_and(|(required, review)| *review || !required.iter().all(passed));
        let status = match () {
            () if blocked => "BLOCKED",
            () if checks.iter().any(|(_, ends)| *ends != Ends::Passed) => "UNSTABLE",
            () => "CLEAN",
        };
        ("MERGEABLE", status)
    }

    pub(super) fn merge(
        &self,
        state: &mut State,
        number: u64,
        how: &str,
        expected: Option<&str>,
    ) -> Result<(), String> {
        self.refresh(state);
        let pull = state.pulls.iter().find(|pull| pull.number == number).cloned();
        let pull = pull.filter(|pull| pull.state == "OPEN").ok_or("Pull Request is not open")?;
        if expected.is_some_and(|expected| expected != pull.at) {
            return Err("Head branch was modified. Review and try the merge again.".to_owned());
        }
        match self.can_merge(state, &pull) {
            (_, "DIRTY") => return Err("Pull Request is not mergeable".to_owned()),
            (_, "BLOCKED") if expected.is_some() => {
                return Err("At least 1 approving review is required.".to_owned());
            }
            _ => {}
        }
        let onto = self.tip(&pull.base).expect("its base");
        let message = format!("{} (#{number})", pull.title);
        let commit = match how {
            "REBASE" => self.rebased(&pull, &onto)?,
            "MERGE" => self.commit(&pull, &[&onto, &pull.at], &message),
            "SQUASH" => self.commit(&pull, &[&onto], &message),
            other => return Err(format!("{other} is no way to merge")),
        };
        let base = format!("refs/heads/{}", pull.base);
        self.git(&["update-ref", &base, &commit, &onto]).expect("its base moves");
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("it");
        pull.state = "MERGED".to_owned();
        Ok(())
    }

    /// What the request and its base come to, as one commit.
    fn commit(&self, pull: &Pull, parents: &[&str], message: &str) -> String {
        let tree = self.merged_tree(pull).expect("it merges");
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let args: Vec<&str> =
            ["commit-tree", &tree].into_iter().chain(parents).chain(["-m", message]).collect();
        self.git(&args).expect("a commit")
    }

    /// Each of the request's commits anew, one after the other, on top of `onto`. Merge commits are left out.
    fn rebased(&self, pull: &Pull, onto: &str) -> Result<String, String> {
        let range = format!("{onto}..{}", pull.at);
        let listed = self.git(&["rev-list", "--reverse", "--no-merges", &range]);
        let mut tip = onto.to_owned();
        for commit in listed.expect("its commits").lines() {
            let parent = format!("--merge-base={commit}^");
            let tree = self
                .git(&["merge-tree", "--write-tree", &parent, &tip, commit])
                .ok_or("This branch can't be rebased")?;
            let message = self.git(&["show", "--no-patch", "--format=%B", commit]);
            let message = message.expect("its message");
            let args = ["commit-tree", &tree, "-p", &tip, "-m", &message];
            tip = self.git(&args).expect("a commit");
        }
        Ok(tip)
    }

    /// A request as GraphQL gives it: every field that gh may have asked for.
    pub(super) fn node(&self, state: &State, pull: &Pull) -> Value {
        let (mergeable, status) = self.can_merge(state, pull);
        let contexts: Vec<Value> = checks(state, pull)
            .into_iter()
            .map(|(name, ends)| {
                let (status, conclusion) = match ends {
                    Ends::Passed => ("COMPLETED", "SUCCESS"),
                    Ends::Failed => ("COMPLETED", "FAILURE"),
                    Ends::Pending | Ends::PassedSoon => ("IN_PROGRESS", ""),
                };
                json!({
                    "__typename": "CheckRun", "name": name, "status": status,
                    "conclusion": conclusion, "startedAt": "2026-01-01T00:00:00Z",
                    "completedAt": "2026-01-01T00:00:00Z", "detailsUrl": "",
                    "checkSuite": { "workflowRun": { "workflow": { "name": "ci" } } },
                })
            })
            .collect();
        let page = json!({ "hasNextPage": false, "endCursor": "" });
        let rollup = match contexts.is_empty() {
            true => Value::Null,
            false => json!({ "contexts": { "nodes": contexts, "pageInfo": page } }),
        };
        let review = state.protection.as_ref().is_some_and(|(_, review)| *review);
        json!({
            "__typename": "PullRequest",
            "id": format!("PR_{}", pull.number),
            "number": pull.number,
            "url": pull.url(),
            "title": pull.title,
            "body": pull.body,
            "state": pull.state,
            "isDraft": pull.draft,
            "headRefName": pull.head,
            "headRefOid": pull.at,
            "baseRefName": pull.base,
            "isCrossRepository": false,
            "headRepositoryOwner": { "id": "U1", "login": "octo", "name": "octo" },
            "headRepository": { "id": "R1", "name": "demo" },
            "mergeable": mergeable,
            "mergeStateStatus": if pull.draft { "DRAFT" } else { status },
            "reviewDecision": if review { "REVIEW_REQUIRED" } else { "" },
            "author": { "login": "octo" },
            "commits": { "nodes": [{ "commit": { "oid": pull.at } }] },
            "statusCheckRollup": { "nodes": [{ "commit": { "statusCheckRollup": rollup } }] },
        })
    }
}

/// Its checks: those of the branches that end like its own, else one that passed.
fn checks(state: &State, pull: &Pull) -> Vec<(String, Ends)> {
    let own = state.checks.iter().find(|(ending, _)| pull.head.ends_with(ending.as_str()));
    own.map_or_else(|| vec![("ci".to_owned(), Ends::Passed)], |(_, checks)| checks.clone())
}

/// Somebody has looked: what passes soon has passed.
pub(super) fn looked(state: &mut State) {
    for ends in state.checks.values_mut().flatten().map(|(_, ends)| ends) {
        if *ends == Ends::PassedSoon {
            *ends = Ends::Passed;
        }
    }
}
