//! Three stages: each starts from the merged result of the one before.

use super::{Example, next};

#[test]
fn the_last_stage_branch_holds_a_program_that_every_stage_has_a_part_in() {
    let example = Example::new("staged");
    let said = example.apply();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let out = "plans-examples/staged/out";
    assert_eq!(example.changed("sop-stage/staged-1/1"), [format!("{out}/length.sh")]);
    let units = ["length.sh", "units/foot.sh", "units/mile.sh", "units/yard.sh"];
    let changed =
        |names: &[&str]| names.iter().map(|name| format!("{out}/{name}")).collect::<Vec<_>>();
    assert_eq!(example.changed("sop-stage/staged-1/2"), changed(&units));
    // Who consolidates starts from the merged units, and changes what they share and nothing else.
    let mut names = units.to_vec();
    names.insert(1, "units.txt");
    assert_eq!(example.changed("sop-stage/staged-1/3"), changed(&names));
    names.insert(1, "table.sh");
    assert_eq!(example.changed("sop-stage/staged-1/4"), changed(&names));
    example.undisturbed();

    assert_eq!(next(&said), ["git merge sop-stage/staged-1/4"]);
    example.scratch.git(&["merge", "--quiet", "sop-stage/staged-1/4"]);
    let program = example.scratch.path().join(out).join("table.sh");
    let table = crate::support::scratch::run(&mut example.scratch.command(program), "");
    assert_eq!(table.out, "foot  0.305\nmile  1609.344\nyard  0.914\n", "{}", table.err);
}
