//! Sealing a plan's graph: levels, what waits for what, and every way in which it is refused.

mod properties;

use sop::graph::{Fault, Sealed, Waits, seal};
use sop::model::plan::{Mode, Plan};

use crate::support::small_plan::{plan, staged, wp};

/// The levels as `stage: ids`, for reading.
fn levels(plan: &Plan, sealed: &Sealed) -> Vec<String> {
    let line = |level: &sop::graph::Level| {
        let ids: Vec<&str> = level.wps.iter().map(|&i| plan.wps[i].id.as_str()).collect();
        format!("{}: {}", level.stage, ids.join(" "))
    };
    sealed.levels().iter().map(line).collect()
}

fn faults(plan: &Plan) -> Vec<String> {
    seal(plan).unwrap_err().iter().map(Fault::to_string).collect()
}

fn dependents(sealed: &Sealed, wp: usize) -> Vec<usize> {
    let mut all: Vec<usize> = sealed.dependents(wp).collect();
    all.sort_unstable();
    all
}

#[test]
fn an_independent_plan_is_one_level_without_edges() {
    let mut plan = staged(&["all"], &[("a", "all", None), ("b", "all", None)]);
    plan.mode = Mode::Independent;
    let sealed = seal(&plan).unwrap();
    assert_eq!(levels(&plan, &sealed), ["all: a b"]);
    assert_eq!(sealed.waits(0), Waits::Nothing);
    assert!(dependents(&sealed, 0).is_empty());
}

#[test]
fn a_wp_without_needs_waits_for_the_whole_stage_before() {
    let plan = staged(
        &["one", "empty", "two"],
        &[("c", "two", None), ("a", "one", None), ("b", "one", None), ("d", "two", Some(&["b"]))],
    );
    let sealed = seal(&plan).unwrap();
    assert_eq!(levels(&plan, &sealed), ["one: a b", "two: c d"]);
    assert_eq!(sealed.waits(0), Waits::Stage(&[1, 2]));
    assert_eq!(sealed.waits(3), Waits::Wps(&[2]));
    assert_eq!(sealed.level_of(3), 1);
    // `a` will not be done: `c` needs its whole stage and waits, `d` needs only `b` and goes on.
    assert_eq!(dependents(&sealed, 1), [0]);
    assert_eq!(dependents(&sealed, 2), [0, 3]);
    assert_eq!(sealed.order().collect::<Vec<_>>(), [1, 2, 0, 3]);
}

#[test]
fn a_stage_whose_wps_need_each_other_has_levels_of_its_own() {
    let plan = staged(
        &["one", "two"],
        &[
            ("a", "one", Some(&["c", "b"])),
            ("b", "one", Some(&["c"])),
            ("c", "one", None),
            ("d", "two", None),
        ],
    );
    let sealed = seal(&plan).unwrap();
    assert_eq!(levels(&plan, &sealed), ["one: c", "one: b", "one: a", "two: d"]);
    assert_eq!(sealed.waits(3), Waits::Stage(&[0, 1, 2]));
    let stages: Vec<_> = sealed.stages().map(|(id, wps)| (id.as_str(), wps.to_vec())).collect();
    assert_eq!(stages, [("one", vec![0, 1, 2]), ("two", vec![3])]);
    assert_eq!(dependents(&sealed, 2), [0, 1, 3]);
    assert_eq!(sealed.longest_chain(), [2, 1, 0, 3]);
}

#[test]
fn without_stages_levels_are_cut_by_the_longest_chain() {
    let plan = staged(
        &[],
        &[
            ("app", "x", Some(&["lib", "docs"])),
            ("lib", "x", Some(&["core"])),
            ("core", "x", None),
            ("docs", "x", Some(&["core"])),
            ("alone", "x", Some(&[])),
        ],
    );
    let sealed = seal(&plan).unwrap();
    assert_eq!(
        levels(&plan, &sealed),
        ["level-1: core alone", "level-2: lib docs", "level-3: app"]
    );
    assert_eq!(sealed.waits(2), Waits::Nothing);
    assert_eq!(sealed.stages().count(), 3);
    assert_eq!(dependents(&sealed, 1), [0]);
}

#[test]
fn every_fault_is_named_and_all_at_once() {
    let plan = staged(
        &["one", "two"],
        &[
            ("a", "one", Some(&["z"])),
            ("b", "one", Some(&["late", "ghost"])),
            ("late", "two", None),
            ("z", "one", Some(&["y"])),
            ("y", "one", Some(&["q", "a"])),
            ("q", "one", Some(&["y"])),
            ("self", "two", Some(&["self"])),
            ("lost", "three", None),
        ],
    );
    assert_eq!(
        faults(&plan),
        [
            "`lost` belongs to the stage `three`, which the plan does not declare",
            "`b` of stage `one` needs `late`, which belongs to the later stage `two`",
            "`b` needs `ghost`, and no WP has that id",
            "`a` needs `z` needs `y` needs `a`",
            "`self` needs itself",
        ]
    );
}

#[test]
fn a_plan_without_wps_has_no_levels() {
    for stages in [&["one"][..], &[]] {
        let sealed = seal(&plan(stages)).unwrap();
        assert!(sealed.is_empty() && sealed.levels().is_empty());
        assert!(sealed.longest_chain().is_empty());
    }
}

#[test]
fn two_wide_stages_meet_in_one_hub() {
    let mut plan = plan(&["one", "two", "three"]);
    for stage in ["one", "two", "three"] {
        plan.wps.extend((0..2000).map(|i| wp(&format!("{stage}-{i}"), stage, None)));
    }
    let sealed = seal(&plan).unwrap();
    assert_eq!(sealed.edges(), 4 * 2000);
    assert_eq!(sealed.dependents(0).count(), 4000);
    assert_eq!(sealed.longest_chain().len(), 3);
}
