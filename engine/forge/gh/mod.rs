//! GitHub, by its own program. What it must do everywhere it does through verbs that have long been there, or
//! through `gh api`, whose answers are the forge's own: `gh pr edit` of the versions that distributions have
//! asks for parts of GitHub that are gone.

mod answers;
mod said;

use serde::de::DeserializeOwned;

use crate::model::delivery::MergeMethod;
use crate::model::ids::CommitId;

use super::error::{ForgeError, Kind};
use super::program::{self, Done};
use super::{BaseBranch, Forge, Look, NewRequest, Place, Request};

/// The program.
const GH: &str = "gh";
/// Open requests that are looked through, the newest first, for one of an earlier run.
const MOST: &str = "1000";

/// GitHub, for one repository of it.
#[derive(Debug, Clone)]
pub struct Gh {
    place: Place,
}

impl Gh {
    /// For the repository at `place`.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self { place }
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, ForgeError> {
        let done = program::run(GH, args, input)?;
        match done.code {
            Some(0) => Ok(done.out),
            _ => Err(self.failed(&done)),
        }
    }

    fn failed(&self, done: &Done) -> ForgeError {
        let kind = said::kind(&done.err, &String::from_utf8_lossy(&done.out));
        let shown = done.shown();
        let text = match kind {
            Kind::NoToken => {
                let shown = shown.trim_end_matches('.');
                format!("{shown}; log in with `gh auth login --hostname {}`", self.place.host)
            }
            _ if shown.is_empty() => "gh failed and did not say why".to_owned(),
            _ => shown,
        };
        ForgeError::new(kind, text)
    }

    fn ask<T: DeserializeOwned>(&self, args: &[&str]) -> Result<T, ForgeError> {
        let out = self.run(args, b"")?;
        serde_json::from_slice(&out).map_err(|error| {
            let text = format!("gh gave an answer that cannot be read: {error}");
            ForgeError::new(Kind::Refused, text)
        })
    }

    /// A path of the forge's interface below the repository.
    fn path(&self, below: &str) -> String {
        format!("repos/{}/{}/{below}", self.place.owner, self.place.name)
    }
}

impl Forge for Gh {
    fn ready(&self) -> Result<(), ForgeError> {
        // What it prints is a secret: nobody looks at it.
        let done = program::run(GH, &["auth", "token", "--hostname", &self.place.host], b"")?;
        match done.code {
            Some(0) => Ok(()),
            _ => {
                let host = &self.place.host;
                let text =
                    format!("nobody is logged in to {host}: `gh auth login --hostname {host}`");
                Err(ForgeError::new(Kind::NoToken, text))
            }
        }
    }

    fn base(&self, branch: &str) -> Result<BaseBranch, ForgeError> {
        let path = self.path(&format!("branches/{}", quoted(branch)));
        let found: answers::Branch =
            self.ask(&["api", "--hostname", &self.place.host, "--method", "GET", &path])?;
        Ok(found.into())
    }

    fn open_requests(&self, head: Option<&str>) -> Result<Vec<Request>, ForgeError> {
        let repo = self.place.to_string();
        let mut args = vec!["pr", "list", "--repo", &repo, "--state", "open", "--limit", MOST];
        args.extend(["--json", answers::Listed::FIELDS]);
        args.extend(head.iter().flat_map(|head| ["--head", head]));
        let listed: Vec<answers::Listed> = self.ask(&args)?;
        Ok(listed.into_iter().filter_map(answers::Listed::own).collect())
    }

    fn create(&self, new: &NewRequest<'_>) -> Result<(), ForgeError> {
        let repo = self.place.to_string();
        let title = format!("--title={}", new.title);
        let mut args =
            vec!["pr", "create", "--repo", &repo, "--head", new.head, "--base", new.base];
        args.extend([title.as_str(), "--body-file", "-"]);
        args.extend(new.draft.then_some("--draft"));
        self.run(&args, new.body.as_bytes()).map(drop)
    }

    fn update(&self, number: u64, title: &str, body: &str) -> Result<(), ForgeError> {
        let path = self.path(&format!("pulls/{number}"));
        let input = serde_json::json!({ "title": title, "body": body }).to_string();
        let args =
            ["api", "--hostname", &self.place.host, "--method", "PATCH", &path, "--input", "-"];
        self.run(&args, input.as_bytes()).map(drop)
    }

    fn look(&self, number: u64) -> Result<Look, ForgeError> {
        let (repo, number) = (self.place.to_string(), number.to_string());
        let fields = answers::Viewed::FIELDS;
        let viewed: answers::Viewed =
            self.ask(&["pr", "view", &number, "--repo", &repo, "--json", fields])?;
        viewed.look()
    }

    fn merge(&self, number: u64, how: MergeMethod, head: &CommitId) -> Result<(), ForgeError> {
        let (repo, number) = (self.place.to_string(), number.to_string());
        let how = format!("--{how}");
        let args = ["pr", "merge", &number, "--repo", &repo, &how];
        let args = [&args[..], &["--match-head-commit", head.as_str()]].concat();
        self.run(&args, b"").map(drop)
    }
}

/// A branch's name as part of a path.
fn quoted(branch: &str) -> String {
    let mut out = String::with_capacity(branch.len());
    for byte in branch.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(byte.into()),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
