//! A scout's report reaches the brief of the package behind it, whose worker knows nothing else.

use super::Example;

#[test]
fn the_index_is_made_from_what_the_scout_reported() {
    let example = Example::new("scout");
    let said = example.apply();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let report = example.recorded("scout-1", "reports/errors-1.md");
    let found: Vec<&str> = report.lines().collect();
    assert!(found.iter().any(|line| line.ends_with(" LaunchError")), "{report}");
    let brief = example.recorded("scout-1", "briefs/index-1.md");
    assert!(found.iter().all(|line| brief.contains(line)), "{brief}");

    let file = "plans-examples/scout/out/errors.md";
    let index = example.on("sop-stage/scout-1/1", file);
    assert!(index.contains("- `LaunchError` in `engine/launch/error.rs`\n"), "{index}");
    assert_eq!(example.changed("sop-stage/scout-1/1"), [file]);
    example.undisturbed();
}
