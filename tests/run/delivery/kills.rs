//! Killed anywhere on the way, another engine finds what is there and opens nothing twice.

use super::{Shop, one};
use crate::support::forge::Ends;
use crate::support::rig::until;

#[test]
fn a_run_that_is_killed_at_any_of_its_steps_delivers_once() {
    let Some(whole) = Shop::new(&one()) else { return };
    whole.apply(0);
    let records = whole.rig.records();
    let of_delivery = records.iter().filter(|it| it.event.of_delivery());
    let places: Vec<u64> = of_delivery.map(|it| it.seq).collect();
    assert!(places.len() >= 8, "{places:?}");
    // Those at which something has been done and is not on record, in a developer's own run.
    let all = std::env::var_os("SOP_TEST_FULL").is_some();
    let some = |seq: &u64| all || (seq - places[0]).is_multiple_of(2);
    std::thread::scope(|scope| {
        for seq in places.iter().copied().filter(some) {
            scope.spawn(move || killed_at(seq));
        }
    });
}

fn killed_at(seq: u64) {
    let Some(shop) = Shop::new(&one()) else { return };
    let fault = format!("kill:{seq}");
    shop.sop_with(256, &[("SOP_FAULT", &fault)], &["apply", "--yes"]);
    let said = shop.sop(0, &["resume"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a MERGED"], "killed at {seq}\n{}", said.out);
    let created = shop.forge.changes().iter().filter(|line| line.starts_with("create")).count();
    assert_eq!(created, 1, "killed at {seq}");
    assert!(shop.item(Some("a")).landed.is_some(), "killed at {seq}");
    assert_eq!(shop.rig.lines("starts"), ["a/1"]);
    assert_eq!(shop.rig.trees().len(), 0, "killed at {seq}");
}

#[test]
fn somebody_who_waits_for_no_checks_stops_it_at_once_and_goes_on_later() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.checks("/a", &[("e2e", Ends::Pending)]);
    let config = shop.forge.gh_config();
    let engine = shop.rig.start_with(&[("GH_CONFIG_DIR", &config)], &["apply", "--yes"]);
    until(|| match shop.rig.engine_said() {
        said if said.contains("request #1 is open") => Ok(()),
        said => Err(said),
    });
    engine.signal(rustix::process::Signal::INT);
    assert_eq!(engine.wait(), 130);
    shop.forge.checks("/a", &[("e2e", Ends::Passed)]);
    shop.sop(0, &["resume"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a MERGED"]);
}
