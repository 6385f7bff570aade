//! Levels cut by `needs`, and a tier that hands on to the next.

use super::Example;

#[test]
fn tables_are_made_in_the_order_of_their_needs_and_the_second_tier_mends_the_first() {
    let example = Example::new("needs");
    let said = example.apply();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let result = "sop-stage/needs-1/3";
    let sums = example.on(result, "plans-examples/needs/out/sums");
    let sums: Vec<u32> = sums.lines().map(|line| line.parse().expect("a number")).collect();
    let right: Vec<u32> = (1..=10).map(|n: u32| n.pow(2) + n.pow(3)).collect();
    assert_eq!(sums, right);
    assert!(said.out.contains("2 rounds · light, then standard"), "{}", said.out);
    example.undisturbed();
}
