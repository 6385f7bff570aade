//! A yes to pushing and merging is said to one place. Elsewhere nothing goes, whoever changed where the remote is.

use sop::model::delivery::Hold;

use super::{LOW, Shop, one};
use crate::support::forge::Ends;
use crate::support::written::{plan, wp};

/// Another bare repository, beside the user's.
fn another(shop: &Shop) -> String {
    let path = shop.rig.root().join("other.git");
    let path = path.to_str().unwrap().to_owned();
    shop.rig.git(&["init", "--quiet", "--bare", "--template=", &path]);
    path
}

fn branches_of(shop: &Shop, path: &str) -> String {
    shop.rig.git(&["--git-dir", path, "for-each-ref", "--format=%(refname:short)"])
}

#[test]
fn a_remote_that_is_elsewhere_by_now_is_not_pushed_to_until_that_is_approved() {
    let delivery = "[delivery]\npull_request = false\n";
    let plan = plan(&format!("{delivery}{}", wp("a", "review = \"human\"")));
    let Some(mut shop) = Shop::new(&plan) else { return };
    shop.apply(4);
    let other = another(&shop);
    shop.rig.git(&["config", "remote.origin.pushurl", &other]);
    shop.sop(0, &["review", "a", "--approve"]);
    shop.sop(4, &["resume"]);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::Refused);
    assert!(text.contains(&other) && text.contains(&shop.forge.url()), "{text}");
    assert!(text.contains("`sop resume o-1 --approve push`"), "{text}");
    // Neither does the verb that delivers: it would say yes to what nobody has read.
    shop.sop(4, &["deliver"]);
    assert_eq!(branches_of(&shop, &other), "");
    assert_eq!(shop.branches(), ["main"]);
    shop.sop(0, &["resume", "o-1", "--approve", "push"]);
    assert_eq!(branches_of(&shop, &other).trim(), "sop/o-1/a");
    shop.before = super::users(&shop.rig);
}

#[test]
fn a_worker_that_turns_the_remote_elsewhere_gets_nothing_pushed_there() {
    let delivery = "[delivery]\npull_request = false\n";
    let dod = "dod = [\"grep -q good a.txt\", \"sh turn.sh\"]";
    let plan =
        plan(&format!("{delivery}{}", wp("a", "").replace("dod = [\"grep -q good a.txt\"]", dod)));
    let Some(mut shop) = Shop::new(&plan) else { return };
    let other = another(&shop);
    shop.rig.write(
        "turn.sh",
        &format!("test -e a.txt || exit 0\ngit config remote.origin.url {other}\n"),
    );
    shop.rig.git(&["add", "turn.sh"]);
    shop.rig.git(&["commit", "--quiet", "-m", "turn"]);
    shop.rig.touches(&[".git/config"], "the worker turns the remote elsewhere");
    let said = shop.rig.sop(&["apply", "--yes"]);
    assert_ne!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(branches_of(&shop, &other), "");
    assert_eq!(shop.branches(), ["main"]);
    shop.before = super::users(&shop.rig);
}

#[test]
fn a_url_that_git_would_rewrite_once_more_is_refused_by_name() {
    let Some(mut shop) = Shop::new(&one()) else { return };
    let (url, other) = (shop.forge.url(), another(&shop));
    shop.rig.git(&["config", "remote.origin.pushurl", &url]);
    shop.rig.git(&["config", &format!("url.{other}.pushInsteadOf"), &url]);
    let said = shop.rig.sop(&["apply", "--yes"]);
    assert_ne!(said.code, 0, "{}{}", said.out, said.err);
    let told = format!("{}{}", said.out, said.err);
    assert!(
        told.contains("rewrites its URL once more") && told.contains("pushinsteadof"),
        "{told}"
    );
    assert!(shop.rig.lines("starts").is_empty());
    assert_eq!(branches_of(&shop, &other), "");
    // One that leads where it says is none.
    shop.rig.git(&["config", "--unset", &format!("url.{other}.pushInsteadOf")]);
    shop.rig.git(&["config", &format!("url.{url}.insteadOf"), &url]);
    shop.before = super::users(&shop.rig);
    shop.apply(0);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a MERGED"]);
}

#[test]
fn a_request_that_somebody_turned_to_another_base_is_not_merged() {
    let Some(shop) = Shop::new(&plan(&format!("{LOW}{}", wp("a", "risk = \"low\"")))) else {
        return;
    };
    shop.forge.sh("git branch production main");
    shop.forge.checks("/a", &[("ci", Ends::Failed)]);
    shop.apply(4);
    shop.forge.turn(1, "production");
    shop.forge.checks("/a", &[("ci", Ends::Passed)]);
    shop.sop(4, &["resume"]);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::Conflict);
    assert!(text.contains("into `production` by now, and the yes was to `main`"), "{text}");
    assert!(!shop.forge.changes().iter().any(|line| line.starts_with("merge")));
}
