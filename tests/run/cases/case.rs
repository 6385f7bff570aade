//! A repository, a plan whose workers are shell scripts kept outside it, and the run of it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::scratch::{Said, Scratch, run};

/// A repository and a plan in the making. Both lie in one temporary folder, the plan outside the repository.
pub struct Case {
    pub scratch: Scratch,
    /// Keys for `[plan]`.
    pub head: String,
    /// Further tables: stages, provisioning.
    pub tables: String,
    /// Further keys of the only tier.
    pub tier: String,
    wps: String,
}

/// A run that was made of it: the last one of this repository.
pub struct Ran {
    pub said: Said,
    pub events: Vec<Value>,
}

impl Case {
    /// A repository whose first commit holds these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::of(Scratch::repo(files))
    }

    /// A plan for a repository that is there.
    pub fn of(scratch: Scratch) -> Self {
        let (head, tables, tier) = (String::new(), String::new(), String::new());
        Self { scratch, head, tables, tier, wps: String::new() }
    }

    /// The folder around the repository.
    pub fn outside(&self) -> PathBuf {
        self.scratch.path().parent().expect("a folder above").to_owned()
    }

    /// Adds a WP whose worker runs `script`, with `OUT` naming the folder outside. `more`: keys, a line each.
    pub fn wp(mut self, id: &str, whitelist: &str, script: &str, more: &str) -> Self {
        let out = self.outside();
        std::fs::write(
            out.join(format!("{id}.sh")),
            format!("OUT='{}'\n{script}\n", out.display()),
        )
        .expect("a script");
        let dod = if more.contains("dod =") { "" } else { "dod = [\"true\"]\n" };
        self.wps.push_str(&format!(
            "[[wp]]\nid = \"{id}\"\nwhitelist = [\"{whitelist}\"]\nbrief_text = \"b\"\n{dod}{more}\n"
        ));
        self
    }

    /// Adds keys to `[plan]`.
    pub fn head(mut self, keys: &str) -> Self {
        self.head.push_str(keys);
        self.head.push('\n');
        self
    }

    /// Adds tables after the WPs.
    pub fn tables(mut self, text: &str) -> Self {
        self.tables.push_str(text);
        self
    }

    /// The plan as text.
    pub fn plan(&self) -> String {
        let base = if self.head.contains("base =") { "" } else { "base = \"main\"\n" };
        let rounds = if self.head.contains("rounds =") { "" } else { "rounds = 1\n" };
        format!(
            "version = 1\n[plan]\nname = \"case\"\ngoal = \"g\"\n{base}{rounds}{}\n[tiers.standard]\nworker = \"script\"\n{}\n\
             [workers.script]\ncommand = [\"sh\", \"-eu\", '{}/{{{{ wp.id }}}}.sh']\n{}{}",
            self.head,
            self.tier,
            self.outside().display(),
            self.wps,
            self.tables
        )
    }

    /// Writes the plan and gives where.
    pub fn written(&self) -> PathBuf {
        let path = self.outside().join("plan.toml");
        std::fs::write(&path, self.plan()).expect("the plan");
        path
    }

    /// `sop apply PLAN --yes`, ready to be started, with these arguments besides.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.command(env!("CARGO_BIN_EXE_sop"));
        command.arg("apply").arg(self.written()).arg("--yes").args(args);
        command
    }

    /// Applies the plan.
    pub fn apply(&self) -> Ran {
        let said = run(&mut self.command(&[]), "");
        self.ran(said)
    }

    /// What became of the last run.
    pub fn ran(&self, said: Said) -> Ran {
        Ran { said, events: self.events() }
    }

    /// The journal of the newest run; nothing where there is no run.
    pub fn events(&self) -> Vec<Value> {
        let Some(dir) = self.run_dir() else { return Vec::new() };
        let journal = std::fs::read_to_string(dir.join("journal.jsonl")).unwrap_or_default();
        journal.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }

    /// The directory of the run with the highest number.
    pub fn run_dir(&self) -> Option<PathBuf> {
        let runs = self.scratch.path().join(".git/sop-run");
        let entries = std::fs::read_dir(runs).ok()?.flatten().map(|entry| entry.path());
        entries.filter(|path| path.join("journal.jsonl").exists()).max()
    }

    /// Paths that differ between `main` and a branch, as git prints them.
    pub fn changed_on(&self, branch: &str) -> Vec<String> {
        let range = format!("main...refs/heads/{branch}");
        let names = self.scratch.git(&["diff", "--no-renames", "--name-only", "-z", &range]);
        names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Everything about the user's checkout that must stay as it was.
    pub fn checkout(&self) -> String {
        let look = "find . -path ./.git -prune -o -printf '%P %y %m %T@ %l\\n' -type f -exec sha256sum {} + | sort; \
             sha256sum .git/index .git/HEAD .git/config; git rev-parse HEAD";
        let said = run(self.scratch.command("sh").args(["-euc", look]), "");
        assert_eq!(said.code, 0, "{}", said.err);
        said.out
    }
}

impl Ran {
    /// The events of this sort.
    pub fn of<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |e| e["event"] == event)
    }

    /// The events of this sort about this WP.
    pub fn about<'a>(&'a self, event: &'a str, wp: &'a str) -> Vec<&'a Value> {
        self.of(event).filter(|e| e["wp"] == wp).collect()
    }

    /// Every problem that was recorded, as JSON text.
    pub fn problems(&self) -> String {
        let all =
            self.events.iter().filter(|e| !e["problems"].is_null() || !e["problem"].is_null());
        all.map(|e| format!("{} {} {}\n", e["event"], e["problems"], e["problem"])).collect()
    }

    /// Fails unless the run ended with this exit code.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.said.code,
            code,
            "{}\n{}\n{}",
            self.said.out,
            self.said.err,
            self.problems()
        );
        self
    }
}
