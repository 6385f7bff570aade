//! What comes of a round, from the engine's first look to the last line of the next brief: the rows of
//! DESIGN's table whose class is work, stuck or decision.

use sop::event::{Event, Outcome};
use sop::ledger::{Phase, WpState};
use sop::model::outcome::Class;

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp, wp_proven_by};

/// How each round of a WP ended.
fn classes(wp: &WpState) -> Vec<Option<Class>> {
    wp.rounds.iter().map(|round| round.class).collect()
}

/// A run of one WP whose first round fails and whose second passes. Gives the second brief.
fn second_brief(dod: &str, more: &str, script: &str, files: &[(&str, &str)]) -> (Rig, String) {
    let worker = worker(script);
    let files = [files, &[("worker.sh", worker.as_str())]].concat();
    let rig = Rig::new(&plan(&wp_proven_by("a", dod, more)), &files);
    rig.apply(0);
    assert_eq!(classes(&rig.wp("a")), [Some(Class::Work), None]);
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
    rig.until_quiet();
    let brief = rig.of_run("briefs/a-2.md");
    (rig, brief)
}

const GOOD: &str = "[\"grep -q good a.txt\"]";

#[test]
fn a_path_outside_the_whitelist_is_named_in_the_next_brief() {
    let script =
        "done_well\n[ $SOP_ROUND = 2 ] && rm 'out of it.txt' || echo x > 'out of it.txt'\ntrue";
    let (rig, brief) = second_brief(GOOD, "", script, &[]);
    assert!(brief.contains("out of it.txt"), "{brief}");
    assert!(!rig.git(&["ls-tree", "--name-only", "sop/o-1/a"]).contains("out of it"));
}

#[test]
fn a_failed_dod_goes_into_the_next_brief_with_its_last_40_lines() {
    let check = "seq -f 'line %g.' 60\ngrep -q good a.txt || exit 3\n";
    let script = "[ $SOP_ROUND = 2 ] && done_well || echo bad > a.txt";
    let (_, brief) = second_brief("[\"sh check.sh\"]", "", script, &[("check.sh", check)]);
    for wanted in ["sh check.sh", "exits 3", "line 60.", "line 21."] {
        assert!(brief.contains(wanted), "no `{wanted}` in {brief}");
    }
    assert!(!brief.contains("line 20."), "{brief}");
}

#[test]
fn a_dod_that_outlives_its_timeout_is_a_finding() {
    let dod = "[{ run = \"sh check.sh\", timeout = \"500ms\" }]";
    let check = "[ -e a.txt ] || exit 1\ngrep -q good a.txt || sleep 600\n";
    let script = "[ $SOP_ROUND = 2 ] && done_well || echo bad > a.txt";
    let (_, brief) = second_brief(dod, "", script, &[("check.sh", check)]);
    assert!(brief.contains("timeout of 500ms"), "{brief}");
}

#[test]
fn a_worker_that_changed_nothing_is_told_so() {
    let (_, brief) = second_brief(GOOD, "", "[ $SOP_ROUND = 1 ] || done_well", &[]);
    assert!(brief.contains("changed nothing"), "{brief}");
}

#[test]
fn where_the_plan_allows_it_nothing_need_be_changed() {
    let good = ("a.txt", "good already\n");
    let rig = Rig::new(&plan(&wp("a", "allow_empty = true")), &[("worker.sh", &worker("")), good]);
    rig.apply(0);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt, a.changed), (Phase::Passed, 1, 0));
    assert_eq!(classes(&a), [None]);
    assert_eq!(rig.git(&["diff", "--name-only", "main", "sop/o-1/a"]), "");
    // The DoD decides all the same.
    let rig =
        Rig::new(&plan(&wp("a", "allow_empty = true\nrounds = 1")), &[("worker.sh", &worker(""))]);
    rig.apply(3);
    assert_eq!(rig.wp("a").phase, Phase::Escalated);
}

#[test]
fn what_a_review_command_finds_goes_into_the_next_brief() {
    let review = r#"
cat > /dev/null
if grep -q better a.txt; then verdict=approve finding=
else verdict=request_changes
    finding='{"file":"a.txt","line":1,"severity":"major","message":"make it better"}'
fi
printf '{"verdict":"%s","summary":"","findings":[%s]}' $verdict "$finding" > "$SOP_VERDICT"
"#;
    let script = "done_well; [ $SOP_ROUND = 1 ] || echo better >> a.txt";
    let more = "review = { command = [\"sh\", \"review.sh\"] }";
    let (rig, brief) = second_brief(GOOD, more, script, &[("review.sh", review)]);
    assert!(brief.contains("a.txt:1") && brief.contains("make it better"), "{brief}");
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\nbetter\n");
}

#[test]
fn a_worker_that_outlives_its_wall_clock_is_told_so() {
    let plan =
        plan(&wp("a", "")).replace("worker = \"script\"", "worker = \"script\"\ntimeout = \"1s\"");
    let script = worker("[ $SOP_ROUND = 1 ] && sleep 600\ndone_well");
    let rig = Rig::new(&plan, &[("worker.sh", &script)]);
    rig.apply(0);
    assert_eq!(classes(&rig.wp("a")), [Some(Class::Work), None]);
    let brief = rig.of_run("briefs/a-2.md");
    assert!(brief.contains("timeout of 1s"), "{brief}");
    rig.until_quiet();
}

#[test]
fn how_a_worker_ends_is_told_apart_and_the_diff_and_the_dod_decide() {
    let script = "case $SOP_WP in
        nothing) [ $SOP_ROUND = 1 ] && exit 0 ;;
        loud) done_well; exit 1 ;;
        half) [ $SOP_ROUND = 1 ] && { echo half > half.txt; exit 1; } ;;
    esac
    done_well";
    let wps = wp("nothing", "") + &wp("loud", "") + &wp("half", "") + &wp("quiet", "");
    let rig = Rig::new(&plan(&wps), &[("worker.sh", &worker(script))]);
    rig.apply(0);
    for (id, rounds) in [("nothing", 2), ("loud", 1), ("half", 2), ("quiet", 1)] {
        assert_eq!(rig.wp(id).rounds.len(), rounds, "{id}");
        assert_eq!(rig.on(&format!("sop/o-1/{id}"), &format!("{id}.txt")), format!("good {id}\n"));
    }
    let said = |id: &str| rig.wp(id).rounds[0].problems[0].message.clone();
    assert!(said("nothing").contains("exit 0"), "{}", said("nothing"));
    assert!(said("half").contains("exits 1"), "{}", said("half"));
}

#[test]
fn the_same_failure_with_the_same_diff_is_not_tried_a_third_time() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("echo bad > a.txt"))]);
    let said = rig.apply(3);
    let wp = rig.wp("a");
    assert_eq!(classes(&wp), [Some(Class::Work), Some(Class::Stuck)]);
    assert_eq!(wp.phase, Phase::Escalated);
    assert!(said.out.contains("sop retry a --run o-1"), "{}", said.out);
}

#[test]
fn a_light_tier_gives_way_after_its_first_round() {
    let light = "[tiers.light]\nworker = \"script\"\nescalate_to = \"standard\"\n";
    let text = plan(&(light.to_owned() + &wp("a", "tier = \"light\"")));
    let script = worker(
        "echo $SOP_TIER >> $MARKS/tiers\n[ $SOP_TIER = standard ] && done_well || echo bad > a.txt",
    );
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    rig.apply(0);
    assert_eq!(rig.lines("tiers"), ["light", "standard"]);
}

#[test]
fn after_three_rounds_a_person_decides_and_the_rest_goes_on() {
    let wps =
        wp("a", "") + &wp("b", "needs = [\"a\"]") + &wp("c", "") + &wp("d", "needs = [\"c\"]");
    let script = "[ $SOP_WP = a ] && [ ! -e $MARKS/mended ] && { echo $SOP_ROUND > a.txt; exit 0; }\ndone_well";
    let rig = Rig::new(&plan(&wps), &[("worker.sh", &worker(script))]);
    rig.apply(3);
    let a = rig.wp("a");
    assert_eq!(classes(&a), [Some(Class::Work), Some(Class::Work), Some(Class::Decision)]);
    assert_eq!(a.phase, Phase::Escalated);
    let b = rig.wp("b");
    assert_eq!((b.phase, b.because.as_ref().map(|wp| wp.as_str())), (Phase::Deferred, Some("a")));
    assert_eq!(rig.wp("c").phase, Phase::Integrated);
    assert_eq!(rig.wp("d").phase, Phase::Integrated);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Failed));
    // Its work is kept for whoever decides.
    assert!(a.worktree.as_ref().is_some_and(|path| std::path::Path::new(path).is_dir()));

    // Nothing is left to be done by itself.
    rig.sop_ends(3, &["resume"]);
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["resume"]);
    let ledger = rig.ledger();
    assert_eq!(ledger.outcome, Some(Outcome::Done));
    let last = ledger.gates.last().and_then(|gate| gate.branch.clone()).expect("a gate");
    for id in ["a", "b", "c", "d"] {
        assert_eq!(rig.on(&last, &format!("{id}.txt")), format!("good {id}\n"));
    }
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
    let brief = rig.of_run("briefs/a-4.md");
    assert!(brief.contains("grep -q good a.txt"), "{brief}");
}

#[test]
fn a_dod_that_changes_a_file_is_run_again_on_what_it_made() {
    let dod = "[\"sh format.sh\", \"grep -q good a.txt\"]";
    let format = "[ -e a.txt ] || exit 1\nsed -i 's/ *$//' a.txt\n";
    let rig = Rig::new(
        &plan(&wp_proven_by("a", dod, "")),
        &[("worker.sh", &worker("echo 'good   ' > a.txt")), ("format.sh", format)],
    );
    rig.apply(0);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good\n");
    assert_eq!(rig.count(|event| matches!(event, Event::DodRan { .. })), 4);
    assert_eq!(rig.wp("a").rounds.len(), 1);
}

#[test]
fn a_dod_that_never_stops_changing_files_proves_nothing() {
    let dod = "[\"sh count.sh\"]";
    let count = "[ -e a.txt ] || exit 1\necho x >> a.txt\n";
    let text = plan(&wp_proven_by("a", dod, "rounds = 1"));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("count.sh", count)]);
    rig.apply(3);
    let problems = rig.wp("a").rounds[0].problems.clone();
    assert!(problems[0].message.contains("change files each time"), "{problems:?}");
}

const STAGE: &str = "[[stage]]\nname = \"one\"\n";

#[test]
fn what_is_green_alone_and_red_together_stops_at_the_gate() {
    let check =
        "[ -e a.txt ] || [ -e b.txt ] || exit 1\n[ \"$(cat a.txt)\" != \"$(cat b.txt)\" ]\n";
    let dod = "[\"sh check.sh 2> /dev/null\"]";
    let wps =
        wp_proven_by("a", dod, "stage = \"one\"") + &wp_proven_by("b", dod, "stage = \"one\"");
    let script =
        worker("[ $SOP_ATTEMPT = 1 ] && echo same > $SOP_WP.txt || echo other > $SOP_WP.txt");
    let rig =
        Rig::new(&plan(&(STAGE.to_owned() + &wps)), &[("worker.sh", &script), ("check.sh", check)]);
    let said = rig.apply(3);
    assert!(said.out.contains("sh check.sh"), "{}", said.out);
    let ledger = rig.ledger();
    assert_eq!(ledger.outcome, Some(Outcome::Failed));
    assert_eq!(ledger.trunk, ledger.base, "nothing may start from what does not hold");
    rig.sop_ends(0, &["retry", "b"]);
    rig.sop_ends(0, &["resume"]);
    let ledger = rig.ledger();
    let last = ledger.gates.last().and_then(|gate| gate.branch.clone()).expect("a gate");
    assert_eq!(
        (rig.on(&last, "a.txt"), rig.on(&last, "b.txt")),
        ("same\n".into(), "other\n".into())
    );
    assert!(rig.of_run("briefs/b-2.md").contains("on the merged tree"));
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_dod_that_changes_the_merged_tree_stops_at_the_gate() {
    // Alone it is happy with what is there; both files together it joins.
    let join = "[ -e a.txt ] || [ -e b.txt ] || exit 1\n\
                if [ -e a.txt ] && [ -e b.txt ]; then cat a.txt >> b.txt; fi\n";
    let dod = "[\"sh join.sh\"]";
    let wps =
        wp_proven_by("a", dod, "stage = \"one\"") + &wp_proven_by("b", dod, "stage = \"one\"");
    let rig = Rig::new(
        &plan(&(STAGE.to_owned() + &wps)),
        &[("worker.sh", &worker("done_well")), ("join.sh", join)],
    );
    rig.apply(3);
    let gate = rig.ledger().gates[0].clone();
    assert_eq!(gate.problems[0].subject.as_deref(), Some("b.txt"));
    assert!(gate.problems[0].message.contains("changes files on the merged tree"), "{gate:?}");
    let left = rig.worktrees();
    assert!(!left.iter().any(|path| path.ends_with("gate-1")), "{left:?}");
}

#[test]
fn what_only_the_checks_made_is_not_held_against_the_worker() {
    let dod = "[\"grep -q good a.txt && mkdir -p cache && echo x > cache/x\"]";
    let text = with_head("rounds = 2", &wp_proven_by("a", dod, ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well; echo $SOP_ROUND >> a.txt"))]);
    rig.apply(3);
    let a = rig.wp("a");
    for round in &a.rounds {
        let told: Vec<_> = round.problems.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("made by the checks (DoD), not by the worker"), "{told:?}");
        assert_eq!(round.problems[0].subject.as_deref(), Some("cache/x"));
    }
    assert_eq!(a.rounds.len(), 2);
}
