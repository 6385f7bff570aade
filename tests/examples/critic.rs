//! A plan that is read before it is carried out.

use super::Example;

#[test]
fn nothing_starts_before_the_remark_is_answered() {
    let example = Example::new("critic");
    let said = example.apply();
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert!(
        said.out.contains("1  major  places  Every check of it passes on the base"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("2  major"), "{}", said.out);
    let plan = "plans-examples/critic/plan.toml";
    let answer = "1=refused: a guard is all we want there";
    let said = example.scratch.sop(&["apply", plan, "--yes", "--answer", answer]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("1 refused: a guard is all we want there"), "{}", said.out);
    let plans = example.on("sop/lists-1/plans", "plans-examples/critic/out/plans.txt");
    assert!(plans.lines().any(|line| line == "quickstart"), "{plans}");
    example.undisturbed();
}
