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

/// Reviewers that note when they begin and end, and take a moment.
const JUDGE: &str = "echo \"+ $SOP_WP $SOP_TIER\" >> $MARKS/times\nsleep 0.2\n\
                     echo \"- $SOP_WP $SOP_TIER\" >> $MARKS/times\necho '{\"verdict\": \"approve\"}'\n";

/// Two packages on `standard`, each reviewed through two lenses by `by`; `limits` are of the tier `dear`.
fn reviewed(by: &str, limits: &str) -> Rig {
    let tiers = format!(
        "[tiers.dear]\nworker = \"judge\"\n{limits}\n[workers.judge]\ncommand = [\"sh\", \"judge.sh\"]\n\
         [review]\ntier = \"{by}\"\nlenses = [\"quality\", \"tests\"]\n"
    );
    let wps = wp("a", "tier = \"standard\"") + &wp("b", "tier = \"standard\"");
    Rig::new(&plan(&(tiers + &wps)), &[("worker.sh", &worker("done_well")), ("judge.sh", JUDGE)])
}

#[test]
fn reviewers_count_on_their_tier_as_workers_do() {
    let at_once = |limits: &str| {
        let rig = reviewed("dear", limits);
        rig.apply(0);
        let times = rig.lines("times");
        assert_eq!(times.len(), 8, "{times:?}");
        rig.until_quiet();
        most(&times, |line| line.ends_with("dear"))
    };
    assert!(at_once("") > 1, "a package's two lenses look side by side");
    assert_eq!(at_once("max_parallel = 1"), 1);
}

#[test]
fn who_works_and_reviews_on_one_tier_waits_for_nobody_that_waits_for_it() {
    let judged = format!("[ -z \"$SOP_LENS\" ] || {{ {JUDGE} exit; }}\n{TIMED}");
    let tiers = "[tiers.dear]\nworker = \"script\"\nmax_parallel = 1\n[tiers.other]\nworker = \"script\"\n\
                 [review]\ntier = \"dear\"\nlenses = [\"quality\", \"tests\"]\n";
    let wps =
        wp("a", "tier = \"dear\"") + &wp("b", "tier = \"dear\"") + &wp("c", "tier = \"other\"");
    let rig = Rig::new(&plan(&(tiers.to_owned() + &wps)), &[("worker.sh", &worker(&judged))]);
    rig.apply(0);
    let times = rig.lines("times");
    assert_eq!(times.len(), 18, "{times:?}");
    assert_eq!(most(&times, |line| line.ends_with("dear")), 1, "{times:?}");
}

#[test]
fn a_reviewer_that_outlived_its_engine_keeps_its_place() {
    let rig = reviewed("dear", "max_parallel = 1");
    let slow = JUDGE.replace("sleep 0.2", "until [ -e $MARKS/go ]; do sleep 0.02; done");
    rig.write("judge.sh", &slow);
    rig.git(&["commit", "--quiet", "-am", "second"]);
    let first = rig.start(&["apply", "--yes"]);
    rig.until_lines("times", 1);
    first.signal(rustix::process::Signal::KILL);
    first.wait();
    let second = rig.start(&["resume"]);
    std::fs::write(rig.mark("go"), "").expect("a mark");
    assert_eq!(second.wait(), 0, "{}", rig.engine_said());
    let times = rig.lines("times");
    assert_eq!((times.len(), most(&times, |line| line.ends_with("dear"))), (8, 1), "{times:?}");
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
