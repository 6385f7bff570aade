//! Whole runs that deliver, with real pushes over HTTP and the real gh, to a forge of the tests' own. Whatever
//! happens, the user's checkout, their index and their own refs are byte for byte as they were.

mod approval;
mod cleanup;
mod independent;
mod kills;
mod methods;
mod obstacles;
mod outages;
mod second_run;
mod staged;
mod verb;
mod where_to;

use std::collections::BTreeMap;
use std::path::PathBuf;

use sop::ledger::Item;
use sop::model::delivery::Hold;
use sop::model::ids::WpId;

use crate::support::forge::Forge;
use crate::support::rig::Rig;
use crate::support::scratch::Said;
use crate::support::written::{plan, worker, wp};

/// `[delivery]` in which low risk merges by itself.
const LOW: &str = "[delivery]\nauto_merge_risk = \"low\"\n";

/// A repository, and the forge that its `origin` is at.
struct Shop {
    rig: Rig,
    forge: Forge,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Shop {
    /// With this plan; nothing where there is no gh.
    fn new(plan: &str) -> Option<Self> {
        let forge = Forge::start()?;
        let rig = Rig::new(plan, &[("worker.sh", &worker("done_well"))]);
        rig.git(&["remote", "add", "origin", &forge.url()]);
        rig.git(&["push", "--quiet", forge.bare().to_str().unwrap(), "main"]);
        let before = users(&rig);
        Some(Self { rig, forge, before })
    }

    /// Runs `sop`, which must end so.
    fn sop(&self, code: i32, args: &[&str]) -> Said {
        self.sop_with(code, &[], args)
    }

    /// The same with these variables set.
    fn sop_with(&self, code: i32, env: &[(&str, &str)], args: &[&str]) -> Said {
        let config = self.forge.gh_config();
        let env = [&[("GH_CONFIG_DIR", config.as_str())][..], env].concat();
        let said = self.rig.sop_with(&env, args);
        assert_eq!(said.code, code, "sop {args:?}\n{}\n{}", said.out, said.err);
        said
    }

    /// `sop apply --yes`, which must end so.
    fn apply(&self, code: i32) -> Said {
        self.sop(code, &["apply", "--yes"])
    }

    /// The delivery of a WP, or of the whole.
    fn item(&self, wp: Option<&str>) -> Item {
        let state = self.rig.ledger().delivery.expect("it delivers");
        let wp = wp.map(|wp| WpId::new(wp).unwrap());
        state.item(wp.as_ref()).unwrap_or_else(|| panic!("{wp:?} is not delivered")).clone()
    }

    /// Why it goes no further.
    fn held(&self, wp: Option<&str>) -> (Hold, String) {
        let held = self.item(wp).held.expect("it is held");
        (held.why, held.text)
    }

    /// Branches at the forge.
    fn branches(&self) -> Vec<String> {
        let said = self.forge.sh("git for-each-ref --format='%(refname:short)' refs/heads");
        said.lines().map(str::to_owned).collect()
    }

    /// A file on a branch at the forge.
    fn there(&self, branch: &str, file: &str) -> String {
        self.forge.sh(&format!("git show {branch}:{file}"))
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let after = users(&self.rig);
        let differ = |path: &&PathBuf| self.before.get(*path) != after.get(*path);
        let all = self.before.keys().chain(after.keys());
        let differ: Vec<&PathBuf> = all.filter(differ).collect();
        assert!(differ.is_empty(), "the user's own is not as it was: {differ:?}");
    }
}

/// What is the user's: all but what a run that is not over keeps for itself.
fn users(rig: &Rig) -> BTreeMap<PathBuf, Vec<u8>> {
    let ours = rig.repo().join(".git/refs/sop");
    let mut all = rig.users();
    all.retain(|path, _| !path.starts_with(&ours));
    all
}

/// One independent WP of low risk, that merges by itself.
fn one() -> String {
    plan(&format!("{LOW}{}", wp("a", "risk = \"low\"")))
}
