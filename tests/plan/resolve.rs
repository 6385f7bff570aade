//! What a plan without findings means: defaults, modes, values.

use std::time::Duration;

use super::{GOOD, good_but, reading};
use sop::model::outcome::DodClass;
use sop::model::plan::{Approval, Checkout, Command, Kind, Mode, Plan, Review, Risk};
use sop::model::time::Length;

#[track_caller]
fn plan(text: &str) -> Plan {
    let (source, read) = reading(text);
    read.plan.unwrap_or_else(|| panic!("{:#?}", super::lines(&source, &read.findings)))
}

#[test]
fn defaults() {
    let plan = plan(GOOD);
    assert_eq!(
        (plan.name.as_str(), plan.base.as_str(), plan.max_parallel),
        ("settings", "HEAD", 4)
    );
    assert_eq!(
        (plan.approval, plan.checkout, plan.mode),
        (Approval::Ask, Checkout::Watched, Mode::Independent)
    );
    assert_eq!(plan.provision.timeout, Length::secs(600));
    let tier = &plan.tiers["light"];
    assert_eq!(
        (tier.worker.as_str(), tier.timeout, tier.idle_timeout),
        ("codemod", Length::secs(1800), None)
    );
    assert_eq!((tier.log_limit, tier.max_parallel), (64_000_000, None));
    let [stage] = plan.stages.as_slice() else { panic!("one stage") };
    let [wp] = plan.wps.as_slice() else { panic!("one wp") };
    assert_eq!(wp.stage, stage.id);
    assert_eq!(
        (wp.title.as_str(), wp.tier.as_str(), wp.template.as_str()),
        ("client", "light", "change")
    );
    assert_eq!(
        (wp.kind, wp.risk, wp.rounds, &wp.review),
        (Kind::Change, Risk::Medium, 3, &Review::None)
    );
    assert_eq!((wp.needs.as_ref(), wp.allow_empty), (None, false));
    assert_eq!(wp.dod[0].command, Command::Argv(vec!["cargo".into(), "test".into()]));
    assert_eq!((wp.dod[0].timeout, wp.dod[0].expect), (Length::secs(600), None));
    assert_eq!(wp.brief, "Rename it.");
}

#[test]
fn everything_said() {
    let plan = plan(
        r#"
version = 1
[plan]
name = "p"
goal = " g "
base = "main"
instructions = ["AGENTS.md"]
max_parallel = 2.0
approval = "auto"
checkout = "frozen"
tier = "two"
rounds = 2
review = "human"
template = "house"
[provision]
copy = [".env"]
setup = ["npm ci", ["npm", "run x"], "a && b"]
expect = ["node_modules"]
timeout = "1m"
[workers.w]
command = ["w", "{{ wp.id }}"]
brief = "arg"
env = { A = "1" }
[tiers.one]
worker = "w"
model = "m"
effort = "e"
escalate_to = "two"
fallback = ["two"]
max_parallel = 3
timeout = "1h30m"
idle_timeout = "1500ms"
log_limit = 1_000
[tiers.two]
worker = "w"
log_limit = "2 KiB"
[[stage]]
name = "s"
shared = ["a.json"]
[[stage]]
name = "t"
[[wp]]
id = "a"
stage = "s"
title = "A"
tier = "one"
risk = "high"
whitelist = ["a/**", "!a/b"]
dod = ["x | y", { run = ["z", "1 2"], timeout = "5m", expect = "red" }, { run = "q", expect = "green" }]
brief_text = "Do."
template = "own"
locks = ["port-3000"]
review = { command = ["r", "x"], timeout = "2m" }
rounds = 1
allow_empty = true
forks = [{ question = "Q?", default = "yes" }]
vars = { v = "1" }
[[wp]]
id = "b"
stage = "t"
kind = "scout"
brief_text = "Look."
needs = ["a", "a"]
"#,
    );
    assert_eq!((plan.goal.as_str(), plan.max_parallel, plan.mode), ("g", 2, Mode::Staged));
    let shell = Command::Shell("a && b".into());
    let argv = |words: &[&str]| Command::Argv(words.iter().map(|word| (*word).into()).collect());
    assert_eq!(plan.provision.setup, [argv(&["npm", "ci"]), argv(&["npm", "run x"]), shell]);
    let (one, two) = (&plan.tiers["one"], &plan.tiers["two"]);
    assert_eq!(one.timeout, Length::secs(5400));
    assert_eq!(one.idle_timeout, Some(Length(Duration::from_millis(1500))));
    assert_eq!((one.log_limit, two.log_limit), (1000, 2048));
    let [a, b, shared] = plan.wps.as_slice() else { panic!("two wps and a consolidation") };
    assert_eq!(
        (a.dod[0].text.as_str(), &a.dod[0].command),
        ("x | y", &Command::Shell("x | y".into()))
    );
    assert_eq!((a.dod[1].text.as_str(), a.dod[1].expect), ("z '1 2'", Some(DodClass::Red)));
    assert_eq!((a.dod[1].timeout, a.dod[2].expect), (Length::secs(300), Some(DodClass::Green)));
    let review =
        Review::Command { command: vec!["r".into(), "x".into()], timeout: Length::secs(120) };
    assert_eq!((&a.review, a.rounds, a.template.as_str()), (&review, 1, "own"));
    assert_eq!(
        (&b.review, b.rounds, b.tier.as_str(), b.template.as_str()),
        (&Review::Human, 2, "two", "scout")
    );
    assert_eq!(b.needs.as_deref(), Some([a.id.clone(), shared.id.clone()].as_slice()));
    assert_eq!(
        plan.stages.iter().map(|stage| stage.id.as_str()).collect::<Vec<_>>(),
        ["s", "s-shared", "t"]
    );
    assert_eq!((shared.id.as_str(), shared.tier.as_str(), shared.rounds), ("s-shared", "two", 2));

    // A run freezes its plan as JSON.
    let frozen = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&frozen).unwrap(), plan);
}

#[test]
fn needs_alone_make_a_staged_plan_whose_stages_the_graph_cuts() {
    let second = GOOD[GOOD.find("[[wp]]").unwrap()..]
        .replace("\"client\"", "\"page\"\nneeds = [\"client\"]");
    let plan = plan(&format!("{GOOD}{second}"));
    assert_eq!((plan.mode, plan.stages.len()), (Mode::Staged, 0));
}

#[test]
fn lengths_of_time() {
    for (text, millis) in [
        ("90s", 90_000),
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        ("5ms", 5),
        ("1m5ms", 60_005),
        ("0h1s", 1000),
    ] {
        assert_eq!(text.parse(), Ok(Length::millis(millis)), "{text}");
    }
    for text in [
        "",
        "5",
        "0s",
        "5 m",
        "5min",
        "1.5h",
        "1m1h",
        "1h1h",
        "-5m",
        "5M",
        "PT5M",
        "m",
        "1234567890s",
        "５m",
    ] {
        assert!(text.parse::<Length>().is_err(), "{text}");
    }
    let longest: Length = "999999999h999999999m".parse().unwrap();
    assert_eq!(longest.to_string().parse(), Ok(longest));
}

/// What can be made out of a wrong plan can be looked at further, and names in it lead somewhere.
#[test]
fn a_draft_is_whole_and_is_no_plan() {
    let second = GOOD[GOOD.find("[[wp]]").unwrap()..].to_owned();
    let text = good_but("worker = \"codemod\"", "worker = \"codmod\"\nescalate_to = \"x\"")
        + &second
        + "tier = \"y\"\nneeds = [\"nobody\", \"client\"]\n";
    let (_, read) = reading(&text);
    assert!(read.plan.is_none());
    let draft = read.readable().unwrap();
    assert_eq!(draft.wps.len(), 2);
    assert!(draft.wps[0].id != draft.wps[1].id);
    assert_eq!(draft.wps[0].whitelist, ["src/client/**"]);
    assert_eq!(draft.wps[1].whitelist, ["src/client/**"], "a twin is looked at too");
    for wp in &draft.wps {
        let tier = &draft.tiers[&wp.tier];
        assert!(draft.workers.contains_key(&tier.worker));
        assert!(tier.escalate_to.is_none());
        assert!(wp.needs.iter().flatten().all(|need| draft.wp(need).is_some()));
    }
    let (_, good) = reading(GOOD);
    assert!(good.draft.is_none() && good.readable() == good.plan.as_ref());
}
