//! `sop graph`, through the binary.

use crate::support::plan_text::{plan, wp};
use crate::support::scratch::Scratch;

fn needs() -> Scratch {
    let text = plan(
        &(wp("a", "src/a/**", "")
            + &wp("b", "src/b/**", "needs = [\"a\"]")
            + &wp("c", "src/c/**", "needs = [\"b\"]")),
    );
    Scratch::repo(&[("plan.toml", &text)])
}

#[test]
fn levels_that_nobody_declared_are_numbered() {
    let said = needs().sop(&["graph", "--format", "mermaid"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let stages: Vec<&str> =
        said.out.lines().filter(|l| l.contains("subgraph")).map(str::trim).collect();
    let expected =
        ["subgraph s0[\"level-1\"]", "subgraph s1[\"level-2\"]", "subgraph s2[\"level-3\"]"];
    assert_eq!(stages, expected);
    assert!(said.out.ends_with("  w0 --> w1\n  w1 --> w2\n"), "{}", said.out);
}

#[test]
fn the_ending_of_the_output_decides_what_is_drawn() {
    let scratch = needs();
    for (name, start) in [("x.svg", "<svg "), ("x.dot", "digraph "), ("x.mmd", "flowchart ")] {
        let said = scratch.sop(&["graph", "plan.toml", "-o", name]);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""));
        assert!(scratch.read(name).starts_with(start), "{name}");
    }
    assert!(scratch.sop(&["graph"]).out.starts_with("digraph "));
    let said = scratch.sop(&["graph", "-o", "x.png"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("x.png") && said.err.contains("--format svg"), "{}", said.err);
    assert_eq!(scratch.sop(&["graph", "-o", "no/such/x.svg"]).code, 5);
}

#[test]
fn a_plan_with_findings_is_not_drawn() {
    let text =
        plan(&(wp("a", "src/a/**", "needs = [\"b\"]") + &wp("b", "src/b/**", "needs = [\"a\"]")));
    let scratch = Scratch::repo(&[("plan.toml", &text)]);
    let said = scratch.sop(&["graph", "-o", "x.svg"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("a → b → a"), "{}", said.err);
    assert!(!scratch.path().join("x.svg").exists());
    assert_eq!(scratch.sop(&["graph", "none.toml"]).code, 2);
}
