//! What may run at once, and what a WP is told of the others.

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

/// Notes when it begins and ends. The first waits for a second, so that what may run at once does.
const TIMED: &str = r#"
echo "+ $SOP_WP $SOP_TIER" >> "$MARKS/times"
for n in $(seq 100); do
    [ "$(grep -c + "$MARKS/times")" -gt 1 ] && break
    sleep 0.1
done
sleep 0.1
done_well
echo "- $SOP_WP $SOP_TIER" >> "$MARKS/times"
"#;

fn times(text: &str) -> Vec<String> {
    let rig = Rig::new(text, &[("worker.sh", &worker(TIMED))]);
    rig.apply(0);
    rig.lines("times")
}

/// The most that were at work at once, of those whose lines are so.
fn most(times: &[String], so: impl Fn(&str) -> bool) -> usize {
    let (mut now, mut most) = (0, 0);
    for line in times.iter().filter(|line| so(line)) {
        now = if line.starts_with('+') { now + 1 } else { now - 1 };
        most = most.max(now);
    }
    most
}

fn several(more: &str) -> String {
    ["a", "b", "c", "d", "e"].iter().map(|id| wp(id, more)).collect()
}

#[test]
fn what_two_may_not_share_they_do_not_share() {
    let wps = wp("a", "locks = [\"port\"]")
        + &wp("b", "locks = [\"db\", \"port\"]")
        + &wp("c", "locks = [\"db\"]")
        + &wp("d", "");
    let times = times(&plan(&wps));
    assert_eq!(times.len(), 8);
    assert_eq!(most(&times, |line| line.contains(" a ") || line.contains(" b ")), 1, "{times:?}");
    assert_eq!(most(&times, |line| line.contains(" b ") || line.contains(" c ")), 1, "{times:?}");
    assert!(most(&times, |_| true) > 1, "{times:?}");
}

#[test]
fn no_more_run_at_once_than_the_plan_allows() {
    let times = times(&with_head("max_parallel = 2", &several("")));
    assert_eq!(times.len(), 10);
    assert_eq!(most(&times, |_| true), 2, "{times:?}");
}

#[test]
fn no_more_run_at_once_on_a_tier_than_it_allows() {
    let dear = "[tiers.dear]\nworker = \"script\"\nmax_parallel = 1\n";
    let wps = several("tier = \"dear\"")
        + &wp("y", "tier = \"standard\"")
        + &wp("z", "tier = \"standard\"");
    let times = times(&plan(&(dear.to_owned() + &wps)));
    assert_eq!(most(&times, |line| line.ends_with("dear")), 1, "{times:?}");
    assert!(most(&times, |_| true) > 1, "{times:?}");
}

#[test]
fn nor_when_they_come_to_it_in_a_later_round_or_start() {
    let tiers = "[tiers.light]\nworker = \"script\"\nescalate_to = \"dear\"\n\
                 [tiers.gone]\nworker = \"gone\"\nfallback = [\"dear\"]\n\
                 [workers.gone]\ncommand = [\"no-such-worker-here\"]\n\
                 [tiers.dear]\nworker = \"script\"\nmax_parallel = 1\n";
    let wps = wp("a", "tier = \"light\"")
        + &wp("b", "tier = \"light\"")
        + &wp("c", "tier = \"light\"")
        + &wp("d", "tier = \"gone\"")
        + &wp("e", "tier = \"dear\"");
    let script =
        worker(&format!("[ $SOP_TIER = light ] && {{ echo bad > $SOP_WP.txt; exit 0; }}\n{TIMED}"));
    let rig = Rig::new(&plan(&(tiers.to_owned() + &wps)), &[("worker.sh", &script)]);
    rig.apply(0);
    let times = rig.lines("times");
    assert_eq!(times.len(), 10, "{times:?}");
    assert_eq!(most(&times, |line| line.ends_with("dear")), 1, "{times:?}");
}

#[test]
fn what_a_scout_found_is_in_the_briefs_of_those_who_wait_for_it() {
    let scout =
        |id: &str| format!("\n[[wp]]\nid = \"{id}\"\nkind = \"scout\"\nbrief_text = \"Look.\"\n");
    let wps = scout("writes")
        + &scout("prints")
        + &wp("a", "needs = [\"writes\", \"prints\"]")
        + &wp("b", "");
    let script = worker(
        "case $SOP_WP in
            writes) echo 'the door is green' > \"$SOP_REPORT\"; echo noise ;;
            prints) echo 'the key is red' ;;
            *) done_well ;;
        esac",
    );
    let rig = Rig::new(&plan(&wps), &[("worker.sh", &script)]);
    rig.apply(0);
    let brief = rig.of_run("briefs/a-1.md");
    assert!(brief.contains("the door is green") && brief.contains("the key is red"), "{brief}");
    assert!(!brief.contains("noise"), "{brief}");
    assert!(!rig.of_run("briefs/b-1.md").contains("the door"));
}

#[test]
fn a_scout_reads_and_reports() {
    let wps = "\n[[wp]]\nid = \"s\"\nkind = \"scout\"\nbrief_text = \"Look.\"\n";
    let script = worker(
        "[ $SOP_ROUND = 1 ] && { echo x > seen.txt; exit 0; }\nrm -f seen.txt\n[ $SOP_ROUND = 2 ] || echo found",
    );
    let rig = Rig::new(&plan(wps), &[("worker.sh", &script)]);
    rig.apply(0);
    let said = |round: usize| format!("{:?}", rig.wp("s").rounds[round].problems);
    assert!(said(0).contains("seen.txt"), "{}", said(0));
    assert!(said(1).contains("left no report"), "{}", said(1));
    assert_eq!(rig.of_run(&rig.wp("s").report.expect("a report")), "found\n");
}
