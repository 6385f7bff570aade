//! The graph as dot, Mermaid and SVG.

mod svg;

use std::collections::BTreeMap;

use sop::graph::seal;
use sop::model::ids::WpId;
use sop::model::plan::{Kind, Mode, Plan, Risk};
use sop::report::graph::{Drawing, State, Tone, dot, mermaid};

use crate::support::small_plan::staged;

/// Two stages: `page` waits for all of the first, `export` for one of it, `last` for `export`.
fn small() -> Plan {
    let mut plan = staged(
        &["foundation", "features"],
        &[
            ("client", "foundation", None),
            ("schema", "foundation", None),
            ("page", "features", None),
            ("export", "features", Some(&["client"])),
            ("last", "features", Some(&["export"])),
        ],
    );
    plan.wps[1].title = "A \"<b>\" & `c` # \\ \u{1b}[31m".to_owned();
    plan.wps[1].risk = Risk::High;
    plan.wps[4].kind = Kind::Scout;
    plan
}

fn states(plan: &Plan) -> BTreeMap<WpId, State> {
    let state = |name: &str, tone| State { name: name.to_owned(), tone };
    BTreeMap::from([
        (plan.wps[0].id.clone(), state("done", Tone::Done)),
        (plan.wps[2].id.clone(), state("round 2", Tone::Active)),
        (plan.wps[3].id.clone(), state("escalated", Tone::Bad)),
    ])
}

#[test]
fn dot_shows_stages_needs_and_hubs() {
    let plan = small();
    let sealed = seal(&plan).unwrap();
    insta::assert_snapshot!(dot::dot(&Drawing::of(&plan, &sealed)), @r#"
digraph "settings" {
  rankdir=LR;
  graph [fontname="sans-serif", style=rounded, color=gray];
  node [fontname="sans-serif", shape=box, style="rounded,filled", fillcolor=white];
  subgraph cluster_0 {
    label="foundation";
    w0 [label="client\nThe client package\nstandard, medium risk"];
    w1 [label="schema\nA \"<b>\" & `c` # \\ \\u{1b}[31m\nstandard, high risk"];
  }
  subgraph cluster_1 {
    label="features";
    w2 [label="page\nThe page package\nstandard, medium risk"];
    w3 [label="export\nThe export package\nstandard, medium risk"];
    w4 [label="last\nThe last package\nscout, standard, medium risk"];
  }
  s0 [shape=point, fillcolor=black];
  w0 -> s0 [arrowhead=none, style=dashed];
  w1 -> s0 [arrowhead=none, style=dashed];
  s0 -> w2 [style=dashed];
  w0 -> w3;
  w3 -> w4;
}
"#);
}

#[test]
fn mermaid_shows_stages_needs_and_states() {
    let plan = small();
    let sealed = seal(&plan).unwrap();
    let states = states(&plan);
    let drawing = Drawing { states: Some(&states), ..Drawing::of(&plan, &sealed) };
    insta::assert_snapshot!(mermaid::mermaid(&drawing), @r#"
flowchart LR
  subgraph s0["foundation"]
    w0["client<br/>The client package<br/>standard, medium risk<br/>done"]
    w1["schema<br/>A #34;#60;b#62;#34; #38; #96;c#96; #35; #92; #92;u#123;1b#125;#91;31m<br/>standard, high risk"]
  end
  subgraph s1["features"]
    w2["page<br/>The page package<br/>standard, medium risk<br/>round 2"]
    w3["export<br/>The export package<br/>standard, medium risk<br/>escalated"]
    w4["last<br/>The last package<br/>scout, standard, medium risk"]
  end
  s0 ==> s1
  w0 --> w3
  w3 --> w4
  classDef active fill:#c8e1ff,color:#1f2328
  class w2 active
  classDef done fill:#c9f0d0,color:#1f2328
  class w0 done
  classDef bad fill:#ffd0d0,color:#1f2328
  class w3 bad
"#);
}

#[test]
fn an_independent_plan_has_no_arrows() {
    let mut plan = staged(&["all"], &[("a", "all", None), ("b", "all", None)]);
    plan.mode = Mode::Independent;
    let sealed = seal(&plan).unwrap();
    let drawing = Drawing::of(&plan, &sealed);
    for text in [dot::dot(&drawing), mermaid::mermaid(&drawing)] {
        assert!(text.contains("independent"), "{text}");
        assert!(!text.contains("->") && !text.contains("==>"), "{text}");
    }
}
