//! Agents that write the driver's files themselves.

use sop::model::plan::Adapter;
use sop::model::turn::FaultClass;

use crate::support::driven::Driven;

const LIE: &str = r#"{"session":"lie","answered":true,"turns":1}"#;

#[test]
fn a_turn_that_an_agent_writes_itself_is_replaced() {
    let script = format!("echo '{LIE}' > ../turn.json; echo 'all done' > ../answer.md; exit 0");
    let done = Driven::script(Adapter::Codex, &script).run();
    let turn = done.turn();
    assert_eq!((turn.session.as_deref(), turn.answered), (None, false));
    assert_eq!(turn.fault.as_ref().unwrap().class, FaultClass::Crash);
    assert_eq!(done.answer.as_deref(), Some(""));
}

#[test]
fn links_in_their_place_lead_nowhere() {
    let script = "ln -s ../secret ../turn.json; ln -s ../secret ../answer.md; exit 0";
    let driven = Driven::script(Adapter::Codex, script);
    std::fs::write(driven.path("secret"), "secret").unwrap();
    let done = driven.run();
    assert_eq!(done.turn().fault.as_ref().unwrap().class, FaultClass::Crash);
    assert_eq!(driven.read("secret"), "secret");
}

#[test]
fn a_folder_in_its_place_is_no_turn() {
    let driven = Driven::script(Adapter::Codex, "mkdir ../turn.json ../turn.json/x; exit 0");
    let running = driven.start();
    let status = { running }.child.wait().unwrap();
    assert_eq!(status.code(), Some(125));
    assert!(driven.read("err").contains("cannot write"), "{}", driven.read("err"));
    assert!(sop::worker::read_turn(&driven.order.turn).is_err());
}
