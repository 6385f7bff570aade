//! Cases 2, 9, 10, 13, 14, 15 and 19: what workers and their checks do.

use super::case::Case;

#[test]
fn case_2_an_untracked_file_in_the_checkout_where_the_work_has_one_too() {
    let case = Case::new(&[("README", "r\n")])
        .wp("a", "src/**", "mkdir src; echo theirs > src/x", "stage = \"s\"")
        .tables("[[stage]]\nname = \"s\"\n");
    case.scratch.write("src/x", "mine, never committed\n");
    let before = case.checkout();
    case.apply().expect(0);
    // Nothing is merged into a checkout, so nothing is in the way of anything.
    assert_eq!(case.checkout(), before);
    assert_eq!(case.scratch.git(&["show", "sop-stage/case-1/1:src/x"]), "theirs\n");
}

#[test]
fn case_9_what_upstream_did_is_not_held_against_the_worker_and_what_it_did_is() {
    // Somebody commits on the base's branch once the run is on its way; a later worker takes it in.
    let moves = "cd \"$OUT/work\" && echo up > lib.txt && git add lib.txt && \
         git -c user.name=A -c user.email=a@localhost commit -qm upstream";
    let merge = "git -c user.name=A -c user.email=a@localhost merge -q --no-edit main";
    let two = |case: Case, rest: &str| {
        case.head("max_parallel = 1")
            .wp("first", "f/**", &format!("mkdir f; echo x > f/x; {moves}"), "")
            .wp("a", "src/**", &format!("{merge}\n{rest}"), "")
    };
    let honest = two(Case::new(&[("lib.txt", "l\n"), ("src/x", "x\n")]), "echo more >> src/x");
    let ran = honest.apply().expect(0);
    assert_eq!(ran.about("scope_checked", "a")[0]["changed"], 1);
    assert_eq!(honest.changed_on("sop/case-1/a"), ["src/x"]);
    assert_eq!(honest.scratch.git(&["show", "sop/case-1/a:lib.txt"]), "up\n");
    let case = Case::new(&[("lib.txt", "l\n"), ("src/x", "x\n"), ("top", "t\n")]);
    let sly = two(case, "echo more >> src/x; echo x >> top");
    let ran = sly.apply().expect(3);
    let checked = &ran.about("scope_checked", "a")[0]["problems"];
    let named: Vec<_> = checked.as_array().expect("a list").iter().map(|p| &p["subject"]).collect();
    assert_eq!(named, ["top"]);
}

#[test]
fn case_10_provisioned_files_are_never_committed_and_never_a_finding() {
    let case = Case::new(&[("README", "r\n"), (".gitignore", "ignored.env\n")])
        .wp(
            "a",
            "src/**",
            "grep -q secret .env; echo changed >> .env; mkdir src; echo a > src/x",
            "stage = \"s\"",
        )
        .tables(
            "[[stage]]\nname = \"s\"\n[provision]\ncopy = [\".env\", \"ignored.env\", \"conf\"]\n",
        );
    case.scratch.write(".env", "secret\n");
    case.scratch.write("ignored.env", "secret\n");
    case.scratch.write("conf/deep/file", "secret\n");
    let before = case.checkout();
    case.apply().expect(0);
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/x"]);
    assert_eq!(case.changed_on("sop-stage/case-1/1"), ["src/x"]);
    assert_eq!(case.checkout(), before);
    assert_eq!(
        case.scratch.git(&["worktree", "list"]).lines().count(),
        1,
        "no copy keeps a worktree"
    );
}

#[test]
fn case_10_a_copy_never_goes_through_a_link() {
    // The folder of the copy is a link in the base: the copy would land on the file it is made from.
    let case = Case::new(&[("README", "r\n")]);
    std::fs::create_dir(case.outside().join("shared")).expect("a folder");
    std::fs::write(case.outside().join("shared/.env"), "secret\n").expect("a file");
    std::os::unix::fs::symlink(case.outside().join("shared"), case.scratch.path().join("conf"))
        .expect("a link");
    case.scratch.commit("a link");
    let case = case
        .wp("a", "src/**", "mkdir src; echo a > src/x", "")
        .tables("[provision]\ncopy = [\"conf/.env\"]\n");
    let ran = case.apply().expect(5);
    assert!(
        ran.said.err.contains("conf/.env") && ran.said.err.contains("link"),
        "{}",
        ran.said.err
    );
    let kept = std::fs::read_to_string(case.outside().join("shared/.env"));
    assert_eq!(kept.expect("the user's file"), "secret\n");
}

#[test]
fn case_13_a_check_that_cannot_run_stops_before_any_worker() {
    for dod in ["no-such-command-here", "./README", "true | no-such-command-here"] {
        let more = format!("dod = [\"{dod}\"]");
        let case = Case::new(&[("README", "r\n")]).wp("a", "src/**", "touch \"$OUT/ran\"", &more);
        let ran = case.apply().expect(5);
        assert!(ran.said.out.contains(dod), "{}", ran.said.out);
        assert!(!case.outside().join("ran").exists(), "{dod}: a worker was started");
        assert!(case.run_dir().is_none());
    }
}

#[test]
fn case_13_a_check_that_the_work_breaks_is_no_pass_and_no_round() {
    let case = Case::new(&[("src/check.sh", "#!/bin/sh\n")]);
    std::fs::set_permissions(
        case.scratch.path().join("src/check.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("a mode");
    case.scratch.commit("executable");
    let case = case.head("rounds = 3").wp(
        "a",
        "src/**",
        "chmod -x src/check.sh",
        "dod = [\"src/check.sh\"]",
    );
    let ran = case.apply().expect(5);
    assert_eq!(ran.about("round_started", "a").len(), 1);
    assert_eq!(ran.about("wp_committed", "a").len(), 0);
    let problem = &ran.about("wp_blocked", "a")[0]["problem"];
    assert_eq!(problem["subject"], "src/check.sh", "{problem}");
}

#[test]
fn case_13_a_check_that_proves_nothing_is_what_expect_is_for() {
    let dod = "dod = [{ run = \"grep -c nothing-of-that-name README || true\", expect = \"red\" }]";
    let case = Case::new(&[("README", "r\n")]).wp("a", "src/**", "touch \"$OUT/ran\"", dod);
    let ran = case.apply().expect(5);
    assert!(ran.said.out.contains("expect"), "{}", ran.said.out);
    assert!(!case.outside().join("ran").exists());
}

#[test]
fn case_14_what_a_worker_says_and_what_it_did_are_told_apart() {
    let case = Case::new(&[("README", "r\n")])
        .wp("nothing", "n/**", "exit 0", "")
        .wp("uncommitted", "u/**", "mkdir u; echo x > u/x; exit 0", "dod = [\"test -e u/x\"]")
        .wp("modest", "m/**", "mkdir m; echo x > m/x; exit 1", "dod = [\"test -e m/x\"]")
        .wp("boastful", "b/**", "mkdir b; echo x > b/y; exit 0", "dod = [\"test -e b/x\"]");
    let ran = case.apply().expect(3);
    for (wp, path) in [("uncommitted", "u/x"), ("modest", "m/x")] {
        assert_eq!(case.changed_on(&format!("sop/case-1/{wp}")), [path]);
    }
    let ended = |wp| ran.about("attempt_ended", wp)[0]["ran"]["end"]["code"].clone();
    assert_eq!([ended("modest"), ended("uncommitted")], [1, 0]);
    let said = |wp| ran.about("round_ended", wp)[0]["problems"][0]["check"].clone();
    assert_eq!([said("nothing"), said("boastful")], ["worker", "dod"]);
}

#[test]
fn case_15_commits_that_were_there_before_are_not_the_workers() {
    let case = Case::new(&[("README", "r\n")])
        .wp("a", "a/**", "mkdir a; echo 1 > a/1; echo 2 > a/2", "")
        .wp("b", "b/**", "mkdir b; echo 1 > b/1", "needs = [\"a\"]");
    let ran = case.apply().expect(0);
    let changed = |wp| ran.about("scope_checked", wp)[0]["changed"].clone();
    assert_eq!([changed("a"), changed("b")], [2, 1]);
    assert_eq!(case.changed_on("sop-stage/case-1/2"), ["a/1", "a/2", "b/1"]);
}

#[test]
fn case_19_silence_the_clock_and_a_flood_are_three_things() {
    let mut case = Case::new(&[("README", "r\n")])
        .head("max_parallel = 3\ntier = \"standard\"")
        .wp("healthy", "h/**", "sleep 2; mkdir h; echo x > h/x", "")
        .wp("flood", "f/**", "mkdir f; echo x > f/x; head -c 30000000 /dev/zero | tr '\\0' y", "")
        .wp("stuck", "s/**", "sleep 600", "tier = \"quiet\"")
        .wp("slow", "w/**", "while :; do echo .; sleep 0.1; done", "tier = \"brief\"")
        .tables(
            "[tiers.quiet]\nworker = \"script\"\nidle_timeout = \"1s\"\n\
             [tiers.brief]\nworker = \"script\"\ntimeout = \"1s\"\nidle_timeout = \"10m\"\n",
        );
    case.tier = "log_limit = \"100KiB\"".to_owned();
    let ran = case.apply().expect(3);
    let end = |wp| ran.about("attempt_ended", wp)[0]["ran"]["end"]["how"].clone();
    assert_eq!([end("healthy"), end("flood")], ["exit", "exit"]);
    assert_eq!([end("stuck"), end("slow")], ["idle", "timeout"]);
    let log = case.run_dir().expect("a run").join("logs/flood-work-1.log");
    let size = std::fs::metadata(log).expect("a log").len();
    assert!(size <= 110 << 10, "{size} bytes of log");
    assert_eq!(ran.of("wp_committed").count(), 2);
}
