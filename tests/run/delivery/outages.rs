//! The forge is down, or lets nobody in. The work is safe, and no round is spent.

use std::time::Duration;

use sop::event::Event;
use sop::model::delivery::Hold;

use super::{Shop, one};

#[test]
fn a_forge_that_is_down_for_a_while_is_tried_again_and_the_run_goes_on() {
    let Some(shop) = Shop::new(&one()) else { return };
    // The checkpoint report asks once, and goes on without an answer.
    shop.forge.is_down_for(4);
    let said = shop.apply(0);
    assert_eq!(shop.forge.cut(), 4);
    assert!(said.out.contains("how `main` is protected there"), "{}", said.out);
    assert!(shop.item(Some("a")).landed.is_some());
    assert_eq!(shop.rig.wp("a").round, 1);
    assert_eq!(shop.rig.count(|event| matches!(event, Event::RequestOpened { .. })), 1);
}

#[test]
fn a_forge_that_refuses_everybody_for_ten_seconds_costs_nothing_but_the_time() {
    let Some(mut shop) = Shop::new(&one()) else { return };
    shop.forge.goes_away_for(Duration::from_secs(10));
    shop.apply(0);
    assert!(shop.item(Some("a")).landed.is_some());
    assert_eq!((shop.rig.wp("a").round, shop.rig.lines("starts").len()), (1, 1));
    assert_eq!(shop.rig.count(|event| matches!(event, Event::RequestOpened { .. })), 1);
    // It was out of reach when it was first wanted, and reached in the end by the same engine.
    let records = shop.rig.records();
    let first = |name: &str| records.iter().find(|it| it.event.name() == name).expect(name).at;
    let waited = first("branch_pushed").since(first("wp_committed"));
    assert!(waited.0 > Duration::from_secs(2), "{waited}");
    assert_eq!(shop.rig.count(|event| matches!(event, Event::EngineStarted { .. })), 1);
}

#[test]
fn without_a_token_that_is_known_before_anybody_works() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.log_out();
    for args in [&["plan"][..], &["apply", "--yes"]] {
        let said = shop.sop(5, args);
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains("gh auth login --hostname 127.0.0.1"), "{all}");
    }
    assert_eq!(shop.rig.lines("starts"), [""; 0]);
    let said = shop.sop(5, &["apply", "--yes"]);
    assert!(said.err.contains("--approve commits,cleanup"), "{}", said.err);
    // Delivery left for later, the plan runs.
    shop.sop(0, &["apply", "--approve", "commits,cleanup"]);
    assert_eq!(shop.branches(), ["main"]);
}

#[test]
fn a_token_that_is_gone_when_it_is_needed_holds_the_delivery_and_nothing_else() {
    let Some(shop) = Shop::new(&one()) else { return };
    let fault = [("SOP_FAULT", "kill:3")];
    shop.sop_with(256, &fault, &["apply", "--yes"]);
    shop.forge.log_out();
    let said = shop.sop(5, &["resume"]);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::NoToken);
    assert!(text.contains("token; log in with `gh auth login --hostname 127.0.0.1`"), "{text}");
    assert!(said.out.contains("sop resume o-1"), "{}", said.out);
    assert!(shop.rig.wp("a").phase.got_through());
    assert_eq!(shop.rig.on("sop/o-1/a", "a.txt"), "good a\n");
    shop.forge.log_in();
    shop.sop(0, &["resume"]);
    assert!(shop.item(Some("a")).landed.is_some());
    assert_eq!(shop.rig.lines("starts"), ["a/1"]);
}
