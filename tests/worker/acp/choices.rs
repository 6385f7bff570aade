//! Model, effort and mode, in the two ways that agents offer them.

use serde_json::{Value, json};
use sop::worker::acp::choices::{Choices, Set};

fn choices(told: &Value) -> Choices {
    let mut choices = Choices::default();
    choices.learn(told);
    choices
}

fn modes(current: &str, offered: &[&str]) -> Choices {
    let offered: Vec<Value> = offered.iter().map(|id| json!({ "id": id })).collect();
    choices(&json!({ "modes": { "currentModeId": current, "availableModes": offered } }))
}

fn mode(choices: &Choices, read_only: bool) -> Option<String> {
    let set = choices.set_mode(read_only)?;
    assert_eq!(set.method, "session/set_mode");
    Some(set.params["modeId"].as_str().expect("a mode").to_owned())
}

#[test]
fn a_model_is_set_the_way_it_is_offered() {
    let old = choices(&json!({
        "models": { "currentModelId": "a", "availableModels": [{ "modelId": "a" }, { "modelId": "b" }] },
    }));
    assert_eq!(old.set_model("a", false), Ok(None));
    assert!(matches!(old.set_model("a", true), Ok(Some(_))));
    let params = json!({ "modelId": "b" });
    assert_eq!(old.set_model("b", false), Ok(Some(Set { method: "session/set_model", params })));
    assert_eq!(old.models(), ["a", "b"]);

    let new = choices(&json!({
        "models": { "currentModelId": "a", "availableModels": [] },
        "configOptions": [{
            "id": "llm", "category": "model", "type": "select", "currentValue": "a",
            "options": [{ "group": "g", "options": [{ "value": "a" }] }, { "value": "b" }],
        }],
    }));
    let params = json!({ "configId": "llm", "value": "b" });
    assert_eq!(
        new.set_model("b", false),
        Ok(Some(Set { method: "session/set_config_option", params }))
    );
    assert_eq!(new.models(), ["a", "b"]);
    // What is not listed is tried.
    assert!(matches!(new.set_model("c", false), Ok(Some(_))));
    assert_eq!(new.current_model(), Some("a"));

    assert!(choices(&json!({})).set_model("a", false).is_err());
}

#[test]
fn efforts_may_change_with_the_model() {
    let effort = |value: &str| {
        json!({ "configOptions": [{
            "id": "reasoning", "category": "thought_level", "type": "select",
            "currentValue": value, "options": [],
        }] })
    };
    let mut choices = choices(&effort("low"));
    assert!(choices.has_effort());
    assert!(choices.set_effort("high").is_some());
    choices.learn(&effort("high"));
    assert_eq!(choices.set_effort("high"), None);
}

#[test]
fn a_session_that_works_leaves_a_mode_that_reads() {
    let codex = ["read-only", "auto", "full-access"];
    assert_eq!(mode(&modes("read-only", &codex), false).as_deref(), Some("auto"));
    assert_eq!(mode(&modes("auto", &codex), false), None);
    // Wider than it would be by itself: the user's own word.
    assert_eq!(mode(&modes("full-access", &codex), false), None);
    let claude = ["default", "acceptEdits", "plan", "bypassPermissions"];
    assert_eq!(mode(&modes("plan", &claude), false).as_deref(), Some("default"));
    assert_eq!(mode(&modes("default", &claude), false), None);
}

#[test]
fn a_session_that_reads_is_in_a_mode_that_reads_or_asks() {
    let codex = ["read-only", "auto", "full-access"];
    assert_eq!(mode(&modes("full-access", &codex), true).as_deref(), Some("read-only"));
    assert_eq!(mode(&modes("read-only", &codex), true), None);
    let gemini = ["default", "autoEdit", "yolo", "plan"];
    assert_eq!(mode(&modes("default", &gemini), true), None);
    assert_eq!(mode(&modes("yolo", &gemini), true).as_deref(), Some("default"));
    assert_eq!(mode(&modes("autoEdit", &gemini), true).as_deref(), Some("default"));
    assert_eq!(choices(&json!({})).set_mode(true), None);
}
