//! A stage with shared files ends with one work package that alone may touch them.

use super::{found, reading};
use sop::graph::{self, Waits};
use sop::model::ids::StageId;
use sop::model::plan::{Kind, Plan, Review, Risk};
use sop::model::time::Length;
use sop::plan::Origin;

/// Two stages, of which the first shares files; `stage` and `rest` are put after each of the two.
fn staged(stage: &str, rest: &str) -> String {
    format!(
        r#"version = 1
[plan]
name = "p"
goal = "g"
tier = "light"
[tiers]
light.worker = "codex"
lead.worker = "claude"
[[stage]]
name = "one"
shared = ["index.txt", "list/**"]
{stage}
[[stage]]
name = "two"
[[wp]]
id = "a"
stage = "one"
whitelist = ["a"]
dod = ["guard", {{ run = "prove a", expect = "red", timeout = "1m" }}]
brief_text = "A."
[[wp]]
id = "b"
stage = "one"
whitelist = ["b"]
dod = ["prove b", {{ run = "guard", timeout = "20m" }}]
brief_text = "B."
[[wp]]
id = "c"
stage = "two"
whitelist = ["c"]
dod = ["prove c"]
brief_text = "C."
{rest}
"#
    )
}

#[track_caller]
fn plan(text: &str) -> Plan {
    let (source, read) = reading(text);
    assert_eq!(super::lines(&source, &read.findings), [""; 0]);
    read.plan.expect("a plan without findings")
}

fn stages(plan: &Plan) -> Vec<&str> {
    plan.stages.iter().map(|stage| stage.id.as_str()).collect()
}

#[test]
fn it_is_a_stage_of_its_own_right_after() {
    let (_, read) = reading(&staged("", ""));
    let plan = read.plan.as_ref().expect("a plan");
    assert_eq!(stages(plan), ["one", "one-shared", "two"]);
    assert!(plan.stages[1].shared.is_empty(), "it may touch what it is there for");
    let wp = &plan.wps[3];
    assert_eq!((wp.id.as_str(), wp.stage.as_str()), ("one-shared", "one-shared"));
    assert_eq!(wp.consolidates, Some(StageId::new("one").unwrap()));
    assert_eq!((wp.kind, wp.risk, wp.allow_empty), (Kind::Change, Risk::Medium, true));
    assert_eq!((wp.tier.as_str(), wp.template.as_str()), ("light", "consolidate"));
    assert_eq!(
        (wp.title.as_str(), &wp.review, wp.rounds),
        ("Shared files of one", &Review::None, 3)
    );
    assert_eq!(wp.whitelist, ["index.txt", "list/**"]);
    assert!(wp.brief.contains("shared files"), "{}", wp.brief);
    let dod: Vec<_> =
        wp.dod.iter().map(|dod| (dod.text.as_str(), dod.timeout, dod.expect)).collect();
    let limit = |minutes: u64| Length::secs(minutes * 60);
    assert_eq!(
        dod,
        [("guard", limit(20), None), ("prove a", limit(1), None), ("prove b", limit(10), None)]
    );

    // Findings about it stand where its stage does.
    let origins = &read.origins;
    assert_eq!((origins.wp(2), origins.wp(3)), (Origin::Wp(2), Origin::Consolidate(0)));
    assert_eq!(origins.wp(3).at("whitelist"), "/stage/0/shared");
    assert_eq!(
        (origins.stage(1), origins.stage(2)),
        ("/stage/0".to_owned(), "/stage/1".to_owned())
    );
    assert_eq!(read.brief_files.len(), plan.wps.len());
}

#[test]
fn its_table_says_what_is_different() {
    let table = r#"
[stage.consolidate]
title = "Wire it up"
tier = "lead"
risk = "low"
dod = [{ run = "wired", expect = "red" }]
brief_text = "Sort them."
template = "own"
locks = ["port"]
review = "human"
rounds = 1
budget_tokens = 9
"#;
    let plan = plan(&staged(table, ""));
    let wp = &plan.wps[3];
    assert_eq!((wp.title.as_str(), wp.tier.as_str(), wp.risk), ("Wire it up", "lead", Risk::Low));
    assert_eq!((wp.dod.len(), wp.dod[0].text.as_str()), (1, "wired"));
    assert!(wp.dod[0].expect.is_some());
    assert_eq!((wp.brief.as_str(), wp.template.as_str()), ("Sort them.", "own"));
    assert_eq!((&wp.review, wp.rounds, wp.budget.tokens), (&Review::Human, 1, Some(9)));
    assert_eq!(wp.locks, ["port"]);
}

/// What a WP needs of an earlier stage is whole only with the stage's shared files.
#[test]
fn whoever_needs_of_its_stage_waits_for_it_too() {
    let further = r#"
[[wp]]
id = "d"
stage = "two"
whitelist = ["d"]
dod = ["prove d"]
brief_text = "D."
needs = ["b", "a", "c"]
[[wp]]
id = "e"
stage = "two"
whitelist = ["e"]
dod = ["prove e"]
brief_text = "E."
needs = ["one-shared"]
[[wp]]
id = "f"
stage = "one"
whitelist = ["f"]
dod = ["prove f"]
brief_text = "F."
needs = ["a"]
"#;
    let plan = plan(&staged("", further));
    let sealed = graph::seal(&plan).expect("no faults");
    let index = |id: &str| plan.wps.iter().position(|wp| wp.id.as_str() == id).unwrap();
    let waits = |id: &str| -> Vec<&str> {
        let mut wps: Vec<&str> =
            sealed.waits(index(id)).wps().iter().map(|wp| plan.wps[*wp].id.as_str()).collect();
        wps.sort_unstable();
        wps
    };
    assert_eq!(waits("one-shared"), ["a", "b", "f"]);
    assert!(matches!(sealed.waits(index("one-shared")), Waits::Stage(_)));
    assert_eq!(waits("c"), ["one-shared"]);
    assert_eq!(waits("d"), ["a", "b", "c", "one-shared"]);
    assert_eq!(waits("e"), ["one-shared"]);
    assert_eq!(waits("f"), ["a"]);
    let level = |id: &str| sealed.level_of(index(id));
    assert!(level("f") < level("one-shared") && level("one-shared") < level("c"));
    let named: Vec<&str> = sealed.stages().map(|(stage, _)| stage.as_str()).collect();
    assert_eq!(named, ["one", "one-shared", "two"]);
}

#[test]
fn scouts_leave_nothing_to_consolidate() {
    let scouts = staged("", "").replace("whitelist = [\"a\"]\ndod = [\"guard\", { run = \"prove a\", expect = \"red\", timeout = \"1m\" }]", "kind = \"scout\"")
        .replace("whitelist = [\"b\"]\ndod = [\"prove b\", { run = \"guard\", timeout = \"20m\" }]", "kind = \"scout\"");
    assert_eq!(stages(&plan(&scouts)), ["one", "two"]);
    let set =
        scouts.replace("[\"index.txt\", \"list/**\"]", "[\"index.txt\"]\n[stage.consolidate]");
    assert_eq!(
        found(&set),
        [
            "12:1 nothing-shared: no work package of stage `one` changes anything, so there is nothing to consolidate at \
          <[stage.consolidate]>; leave `[stage.consolidate]` out"
        ]
    );
}

#[test]
fn what_is_wrong_with_it() {
    let renamed = |from: &str, to: &str| staged("", "").replace(from, to);
    for (text, wanted) in [
        (
            renamed("shared = [\"index.txt\", \"list/**\"]", "[stage.consolidate]"),
            "11:1 nothing-shared: stage `one` shares no files, so there is nothing to consolidate at <[stage.consolidate]>; name the \
             files in the stage's `shared`, or leave `[stage.consolidate]` out",
        ),
        (
            renamed("\"c\"\nstage", "\"One-Shared\"\nstage"),
            "28:6 reserved-id: `one-shared` is what the consolidation of stage `one` is called at <\"One-Shared\">, its shared files \
             11:10; choose another name",
        ),
        (
            renamed("\"two\"", "\"one-shared\""),
            "14:8 reserved-id: `one-shared` is what the consolidation of stage `one` is called at <\"one-shared\">, its shared files \
             11:10; choose another name",
        ),
        (
            renamed("tier = \"light\"\n", "").replace("whitelist", "tier = \"light\"\nwhitelist"),
            "8:1 missing-tier: it is not said who consolidates the shared files of stage `one` at <[[stage]]>; name a tier in \
             `[stage.consolidate]` or as `[plan] tier`; there are `lead` and `light`",
        ),
        (
            staged("[stage.consolidate]\ntier = \"lght\"", ""),
            "13:8 unknown-tier: there is no tier `lght` at <\"lght\">; did you mean `light`?",
        ),
        (
            staged("[stage.consolidate]\ndod = []", ""),
            "13:7 empty-dod: nothing proves `one-shared` done: its Definition of Done is empty at <[]>; add `dod`, commands that all \
             exit 0 when the work is right",
        ),
        (
            staged("[stage.consolidate]\nbrief = \"x.md\"\nbrief_text = \"x\"", ""),
            "14:1 two-briefs: the brief is given twice, as a file and as text at <brief_text>, first 13:9; leave out `brief` or \
             `brief_text`",
        ),
        (
            renamed("brief_text = \"B.\"", "brief_text = \"B.\"\nneeds = [\"one-shared\"]"),
            "27:10 late-need: `one-shared` runs after `one`, which it consolidates at <\"one-shared\">, its stage 11:10; a work package \
             can need those of its own stage and of stages before",
        ),
        (
            staged("[stage.consolidate]\nwhitelist = [\"x\"]", ""),
            "13:1 unknown-key: `whitelist` is not a key of `[stage.consolidate]` at <whitelist>; `whitelist` is a key of `[[wp]]`; the keys \
             here are `brief`, `brief_text`, `budget_tokens`, `budget_usd`, `dod`, `locks`, `review`, `risk`, `rounds`, `template`, `tier` \
             and `title`",
        ),
    ] {
        assert_eq!(found(&text), [wanted]);
    }
    let long = renamed("\"one\"", &format!("\"{}\"", "o".repeat(60)));
    let [line] = found(&long).try_into().expect("one finding");
    assert!(
        line.starts_with("10:8 bad-id: the consolidation of this stage would be called `"),
        "{line}"
    );
}
