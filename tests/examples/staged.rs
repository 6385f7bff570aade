//! Three stages: each starts from the merged result of the one before.

use super::{Example, next};

#[test]
fn the_last_stage_branch_holds_a_program_that_every_stage_has_a_part_in() {
    let example = Example::new("staged");
    let said = example.apply();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let out = "plans-examples/staged/out";
    assert_eq!(example.changed("sop-stage/staged-1/1"), [format!("{out}/length.sh")]);
    assert_eq!(example.changed("sop-stage/staged-1/2").len(), 4);
    let names = ["length.sh", "table.sh", "units/foot.sh", "units/mile.sh", "units/yard.sh"];
    assert_eq!(example.changed("sop-stage/staged-1/3"), names.map(|name| format!("{out}/{name}")));
    example.undisturbed();

    assert_eq!(next(&said), ["git merge sop-stage/staged-1/3"]);
    example.scratch.git(&["merge", "--quiet", "sop-stage/staged-1/3"]);
    let program = example.scratch.path().join(out).join("table.sh");
    let table = crate::support::scratch::run(&mut example.scratch.command(program), "");
    assert_eq!(table.out, "foot  0.305\nmile  1609.344\nyard  0.914\n", "{}", table.err);
}
