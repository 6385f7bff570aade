//! What a second round goes on with: `continue` of a tier, with an agent that speaks as codex does.

use sop::event::Event;

use crate::support::pretender::Way;
use crate::support::rig::Rig;
use crate::support::written::wp_proven_by;

/// Fails its first round; each prompt is kept as the mark `prompt-<attempt>`.
const SCRIPT: &str = r#"
cat > "$MARKS/prompt-$SOP_ATTEMPT"
begin
if [ $SOP_ROUND = 1 ]; then echo bad > a.txt; else done_well; fi
says Done.
over
"#;

/// What each start was told.
struct Told {
    args: Vec<String>,
    prompts: [String; 2],
    sessions: Vec<Option<String>>,
}

fn told(tier: &str) -> Told {
    let dod = "[{ run = \"sh check.sh\", expect = \"red\" }]";
    let check = "grep -q good a.txt || { echo 'it is not good'; exit 1; }\n";
    let text = Way::Agent.plan("", tier, &wp_proven_by("a", dod, ""));
    let worker = Way::Agent.script(SCRIPT);
    let rig = Rig::new(&text, &[("worker.sh", &worker), ("check.sh", check)]);
    rig.apply(0);
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
    assert_eq!(rig.wp("a").rounds.len(), 2);
    let session = |record: sop::event::Record| match record.event {
        Event::AttemptStarted { session, .. } => Some(session),
        _ => None,
    };
    let prompt = |n: u32| std::fs::read_to_string(rig.mark(&format!("prompt-{n}"))).unwrap();
    let told = Told {
        args: rig.lines("args"),
        prompts: [prompt(1), prompt(2)],
        sessions: rig.records().into_iter().filter_map(session).collect(),
    };
    rig.until_quiet();
    assert!(told.prompts[0].contains("Make a.txt good."), "{}", told.prompts[0]);
    assert!(!told.args[0].contains("resume"), "{}", told.args[0]);
    let findings = &told.prompts[1];
    assert!(findings.contains("sh check.sh") && findings.contains("it is not good"), "{findings}");
    told
}

#[test]
fn by_itself_a_round_goes_on_in_the_same_session_with_only_the_findings() {
    for tier in ["", "continue = \"session\""] {
        let told = told(tier);
        assert_eq!(told.sessions, [None, Some("s-1".to_owned())]);
        assert!(told.args[1].ends_with("resume -- s-1 -"), "{}", told.args[1]);
        let [brief, findings] = &told.prompts;
        // What the session knows already.
        for known in ["Make a.txt good.", "Try it."] {
            assert!(brief.contains(known) && !findings.contains(known), "{known}: {findings}");
        }
        assert!(findings.len() < brief.len(), "{findings}");
    }
}

#[test]
fn fresh_is_a_new_session_with_the_whole_brief() {
    let told = told("continue = \"fresh\"");
    assert_eq!(told.sessions, [None, None]);
    assert!(!told.args[1].contains("resume") && !told.args[1].contains("s-1"), "{}", told.args[1]);
    for known in ["Make a.txt good.", "Try it."] {
        assert!(told.prompts[1].contains(known), "{}", told.prompts[1]);
    }
}
