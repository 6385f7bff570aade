//! The plan that an audit runs: a scout for each slice.

use bstr::BString;

use super::naming;
use super::slice::Portions;
use crate::brief::fence;
use crate::model::gap::{Concern, Ground, Slice};
use crate::model::ids::{CommitId, TierId, WpId};
use crate::model::outcome::DodClass;
use crate::plan::write::Writer;
use crate::process::escape;

/// Name of the plan: runs are called `audit-1`, `audit-2`, …
pub const NAME: &str = "audit";

/// Name of the template of its briefs.
pub const TEMPLATE: &str = "audit";

/// Answers that a scout is asked for: one that no program can read is asked for once more.
const ANSWERS: u64 = 2;

/// Files for agents that are pointed to where the commit has them.
pub const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// What the plan is made of.
#[derive(Debug, Clone, Copy)]
pub struct Scouts<'a> {
    /// The commit.
    pub commit: &'a CommitId,
    /// Who scouts.
    pub tier: &'a TierId,
    /// What is looked for.
    pub concerns: &'a [Concern],
    /// [`INSTRUCTIONS`] that the commit has.
    pub instructions: &'a [&'a str],
    /// What is to be read.
    pub slices: &'a [Portions],
    /// How the project's own commands went.
    pub ground: &'a [Ground],
    /// Dollars that all scouts may cost together.
    pub budget_usd: Option<f64>,
}

impl Scouts<'_> {
    /// The slices by the names of their scouts, which nobody has read yet.
    #[must_use]
    pub fn slices(&self) -> Vec<Slice> {
        let digits = self.slices.len().to_string().len();
        let named = self.slices.iter().enumerate().filter_map(|(n, portions)| {
            let head = format!("s{:0digits$}", n + 1);
            let id = naming::id(&head, &escape(portions.place()));
            Some(Slice {
                wp: WpId::new(id).or_else(|_| WpId::new(head)).ok()?,
                files: portions.0.iter().map(super::slice::Portion::shown).collect(),
                lines: portions.lines(),
                unread: None,
            })
        });
        named.collect()
    }

    /// The plan's text.
    #[must_use]
    pub fn plan(&self) -> String {
        let concerns: Vec<&str> = self.concerns.iter().map(|concern| concern.name()).collect();
        let concerns = concerns.join(", ");
        let mut plan = Writer::new();
        plan.comment("Written by `sop audit`: each scout reads a part of the commit and reports what it finds.");
        plan.number("version", 1);
        plan.blank();
        plan.table(&["plan"]);
        plan.text("name", NAME);
        plan.text("goal", &format!("Find where this repository falls short: {concerns}."));
        plan.text("base", self.commit.as_str());
        if !self.instructions.is_empty() {
            plan.texts("instructions", self.instructions);
        }
        if let Some(usd) = self.budget_usd {
            plan.decimal("budget_usd", usd);
        }
        for (slice, portions) in self.slices().iter().zip(self.slices) {
            let place: BString = portions.place().to_owned();
            let place = if place.is_empty() { "the top".to_owned() } else { escape(&place) };
            plan.blank();
            plan.one_more("wp");
            plan.text("id", slice.wp.as_str());
            plan.text("title", &format!("Scout {place}"));
            plan.text("kind", "scout");
            plan.text("report", "leads");
            plan.text("tier", self.tier.as_str());
            plan.text("template", TEMPLATE);
            plan.text("review", "none");
            plan.number("rounds", ANSWERS);
            plan.small_table("vars", &[("concerns", concerns.clone())]);
            plan.long("brief_text", &self.brief(slice));
        }
        plan.finish()
    }

    fn brief(&self, slice: &Slice) -> String {
        let mut text = String::from(
            "These files of this worktree, from the repository's root. Where lines are named, only these:\n\n",
        );
        let list = slice.files.join("\n");
        text.push_str(&fence::block(&list));
        text.push('\n');
        if !self.ground.is_empty() {
            text.push_str("\nThe project's own commands were run on this commit; no need to run them again:\n\n");
            let line = |ground: &Ground| {
                let how = match ground.class {
                    DodClass::Green => "passes".to_owned(),
                    DodClass::Red => format!("fails ({})", ground.ran.end),
                    DodClass::Broken => format!("cannot run here ({})", ground.ran.end),
                };
                format!("{}: {how}", ground.ran.run.replace('\n', " "))
            };
            let lines: Vec<String> = self.ground.iter().map(line).collect();
            text.push_str(&fence::block(&lines.join("\n")));
            text.push('\n');
        }
        text
    }
}
