//! `sop deliver`, and the commands for after the merge.

use super::{LOW, Shop};
use crate::support::written::{plan, wp};

fn with_deploy() -> String {
    let after = "after_merge = [\"sh -c 'echo deployed >> ../marks/deployed'\"]\n";
    plan(&format!("{LOW}{after}{}", wp("a", "risk = \"low\"")))
}

#[test]
fn a_command_for_after_the_merge_needs_a_yes_each_time() {
    let Some(shop) = Shop::new(&with_deploy()) else { return };
    let said = shop.apply(0);
    assert!(said.out.contains("(asked about each time)"), "{}", said.out);
    assert!(said.out.contains("sop deliver o-1 --after-merge"), "{}", said.out);
    assert_eq!(shop.rig.lines("deployed"), [""; 0], "never by --yes");
    let said = shop.sop(4, &["deliver", "--after-merge"]);
    assert!(said.err.contains("a yes of its own"), "{}", said.err);
    for (keys, code, lines) in [("n\n", 0, 0), ("y\n", 0, 1), ("y\n", 0, 2)] {
        let config = format!("GH_CONFIG_DIR={}", shop.forge.gh_config());
        let (ended, shown) =
            shop.rig.types_with(&[&config], keys, "now? [y/N]", &["deliver", "--after-merge"]);
        assert_eq!(ended, code, "{shown}");
        assert_eq!(shop.rig.lines("deployed").len(), lines, "{shown}");
    }
    let after = shop.rig.ledger().delivery.unwrap().after;
    assert_eq!(after.len(), 2);
    assert!(after.iter().all(|it| it.ran.as_ref().unwrap().end.success()));
}

#[test]
fn nothing_is_run_before_everything_has_landed() {
    let Some(shop) = Shop::new(&with_deploy()) else { return };
    shop.sop(0, &["apply", "--approve", "commits,push,pull_request,cleanup"]);
    let said = shop.sop(4, &["deliver", "--after-merge"]);
    assert!(said.err.contains("not everything has landed"), "{}", said.err);
}

#[test]
fn the_report_says_for_each_what_merges_by_itself_and_where_it_goes() {
    let both = [wp("a", "risk = \"low\""), wp("b", "risk = \"high\"")].join("");
    let Some(shop) = Shop::new(&plan(&format!("{LOW}{both}"))) else { return };
    let said = shop.sop(0, &["plan"]);
    for text in [
        "by itself: its risk is low; once its checks are green",
        "not by itself: its risk is high, and up to low merges by itself",
        "2 branches to origin (http://127.0.0.1:",
        "2 requests into main, which is not protected (gh); 1 by itself, as one squash",
    ] {
        assert!(said.out.contains(text), "{text} is not in {}", said.out);
    }
    let said = shop.sop(0, &["plan", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["delivery"]["requests"][0]["merges"], true);
    assert_eq!(report["delivery"]["requests"][1]["branch"], "sop/o-1/b");
    assert_eq!(shop.branches(), ["main"]);
    assert_eq!(shop.forge.changes(), [""; 0], "a report changes nothing");
}

#[test]
fn a_base_that_is_no_branch_and_a_remote_that_is_not_there_are_found_before_the_run() {
    let Some(shop) = Shop::new(&super::one()) else { return };
    let text = super::one();
    for (from, to, says) in [
        ("base = \"main\"", "base = \"main~0\"", "the plan's base is no branch"),
        (LOW, "[delivery]\nremote = \"upstream\"\n", "there is no remote `upstream`"),
    ] {
        let path = shop.rig.root().join("other.toml");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let said = shop.sop(5, &["apply", "--yes", path.to_str().unwrap()]);
        assert!(said.err.contains(says), "{}", said.err);
        assert!(said.out.contains("it can start, and cannot be delivered"), "{}", said.out);
    }
    assert_eq!(shop.rig.lines("starts"), [""; 0]);
}

#[test]
fn a_remote_that_is_no_forge_is_told_with_what_would_do() {
    let Some(mut shop) = Shop::new(&super::one()) else { return };
    let bare = shop.forge.bare().to_str().unwrap().to_owned();
    shop.rig.git(&["remote", "set-url", "origin", &bare]);
    shop.before = super::users(&shop.rig);
    let said = shop.sop(5, &["plan"]);
    assert!(said.out.contains("set `pull_request = false` under `[delivery]`"), "{}", said.out);
    assert!(!said.out.contains("nothing stands in the way"), "{}", said.out);
    let path = shop.rig.root().join("pushed.toml");
    std::fs::write(&path, super::one().replace(LOW, "[delivery]\npull_request = false\n")).unwrap();
    shop.sop(0, &["apply", "--yes", path.to_str().unwrap()]);
    assert_eq!(shop.branches(), ["main", "sop/o-1/a"]);
}
