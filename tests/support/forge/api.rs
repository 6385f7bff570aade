//! The part of GitHub's interface that gh needs.

use serde_json::{Value, json};

use super::http::{Request, Response};
use super::pulls::looked;
use super::{Inner, State};

impl Inner {
    pub(super) fn api(&self, request: &Request) -> Response {
        if !request.headers.contains_key("authorization") {
            return Response::json(401, &json!({ "message": "Requires authentication" }));
        }
        let mut state = self.state();
        self.refresh(&mut state);
        let path = request.path.trim_start_matches("/api/v3").trim_start_matches("/api");
        match (request.method.as_str(), path) {
            ("POST", "/graphql") => self.graphql(&mut state, &request.json()),
            ("GET", path) => match path.strip_prefix("/repos/octo/demo/branches/") {
                Some(branch) => self.branch(&mut state, branch),
                None => not_found(),
            },
            ("PATCH", path) => {
                let number = path.strip_prefix("/repos/octo/demo/pulls/");
                let number = number.and_then(|number| number.parse().ok());
                number.map_or_else(not_found, |number| change(&mut state, number, &request.json()))
            }
            _ => not_found(),
        }
    }

    fn branch(&self, state: &mut State, branch: &str) -> Response {
        state.log.push(format!("read branch {branch}"));
        let Some(at) = self.tip(&branch.replace("%2F", "/")) else { return not_found() };
        let required = state.protection.iter().flat_map(|(required, _)| required);
        let required: Vec<&String> = required.collect();
        let document = json!({
            "name": branch,
            "commit": { "sha": at },
            "protected": state.protection.is_some(),
            "protection": { "required_status_checks": { "contexts": required } },
        });
        Response::json(200, &document)
    }

    fn graphql(&self, state: &mut State, asked: &Value) -> Response {
        let query = asked["query"].as_str().unwrap_or_default();
        let variables = &asked["variables"];
        let answer = if query.contains("createPullRequest") {
            let input = &variables["input"];
            state.log.push(format!("create {}", input["headRefName"].as_str().unwrap_or_default()));
            self.open(state, input).map(
                |pull| json!({ "createPullRequest": { "pullRequest": self.node(state, &pull) } }),
            )
        } else if query.contains("mergePullRequest") {
            self.merge_asked(state, &variables["input"])
        } else if query.contains("__type(") {
            state.log.push("read types".to_owned());
            let alias = query.split('{').nth(1).and_then(|text| text.split(':').next());
            Ok(json!({ alias.unwrap_or_default().trim(): { "fields": [] } }))
        } else if let Some(number) = variables["pr_number"].as_u64() {
            state.log.push(format!("read request {number}"));
            let pull = state.pulls.iter().find(|pull| pull.number == number);
            let node = pull.map(|pull| self.node(state, pull));
            looked(state);
            match node {
                Some(node) => Ok(json!({ "repository": { "pullRequest": node } })),
                None => {
                    Err(format!("Could not resolve to a PullRequest with the number of {number}."))
                }
            }
        } else if query.contains("pullRequests(") {
            state.log.push("read requests".to_owned());
            Ok(json!({ "repository": self.listed(state, variables) }))
        } else {
            state.log.push("read repository".to_owned());
            Ok(json!({ "repository": repository(), "viewer": { "login": "octo", "id": "U1" } }))
        };
        Response::json(
            200,
            &match answer {
                Ok(data) => json!({ "data": data }),
                Err(message) => json!({
                    "data": null,
                    "errors": [{ "type": "UNPROCESSABLE", "message": message }],
                }),
            },
        )
    }

    fn merge_asked(&self, state: &mut State, input: &Value) -> Result<Value, String> {
        let id = input["pullRequestId"].as_str().unwrap_or_default();
        let number = id.trim_start_matches("PR_").parse().map_err(|_| "no such id".to_owned())?;
        let how = input["mergeMethod"].as_str().unwrap_or("MERGE");
        let expected = input["expectedHeadOid"].as_str();
        state.log.push(format!("merge {number} {how}"));
        self.merge(state, number, how, expected.or(Some("none was named")))?;
        Ok(json!({ "mergePullRequest": { "clientMutationId": null } }))
    }

    /// The repository with the open requests that are asked for, the newest first.
    fn listed(&self, state: &State, variables: &Value) -> Value {
        let head = variables["headBranch"].as_str().or(variables["headRefName"].as_str());
        let wanted = |head_of: &str| head.is_none_or(|head| head == head_of);
        let open = state.pulls.iter().rev().filter(|it| it.state == "OPEN" && wanted(&it.head));
        let nodes: Vec<Value> = open.map(|pull| self.node(state, pull)).collect();
        let mut repository = repository();
        repository["pullRequests"] = json!({
            "totalCount": nodes.len(),
            "nodes": nodes,
            "pageInfo": { "hasNextPage": false, "endCursor": "" },
        });
        repository
    }
}

fn change(state: &mut State, number: u64, to: &Value) -> Response {
    state.log.push(format!("update {number}"));
    let Some(pull) = state.pulls.iter_mut().find(|pull| pull.number == number) else {
        return not_found();
    };
    let text = |key: &str| to[key].as_str().map(str::to_owned);
    pull.title = text("title").unwrap_or(std::mem::take(&mut pull.title));
    pull.body = text("body").unwrap_or(std::mem::take(&mut pull.body));
    Response::json(200, &json!({ "number": number }))
}

fn not_found() -> Response {
    Response::json(404, &json!({ "message": "Not Found" }))
}

fn repository() -> Value {
    json!({
        "__typename": "Repository",
        "id": "R1",
        "name": "demo",
        "owner": { "id": "U1", "login": "octo" },
        "hasIssuesEnabled": true,
        "hasWikiEnabled": false,
        "description": "",
        "viewerPermission": "ADMIN",
        "defaultBranchRef": { "name": "main" },
        "isPrivate": false,
        "parent": null,
        "mergeCommitAllowed": true,
        "rebaseMergeAllowed": true,
        "squashMergeAllowed": true,
    })
}
