//! Cases 3 and 4: what stands in the way of cleaning up.

use std::time::{Duration, Instant};

use super::case::Case;
use crate::support::scratch::{Scratch, run};

#[test]
fn case_3_a_worktree_in_which_a_process_still_runs_is_left_alone_and_named() {
    let wait = "mkdir src; echo x > src/x; pwd > \"$OUT/at.tmp\"; mv \"$OUT/at.tmp\" \"$OUT/at\"\n\
         i=0; while ! test -e \"$OUT/go\"; do i=$((i+1)); test $i -lt 600; sleep 0.05; done";
    let case = Case::new(&[("README", "r\n")]).wp("a", "src/**", wait, "");
    let mut sop = case.command(&[]);
    let ran = std::thread::scope(|scope| {
        let engine = scope.spawn(move || run(&mut sop, ""));
        let deadline = Instant::now() + Duration::from_secs(60);
        let at = loop {
            if let Ok(at) = std::fs::read_to_string(case.outside().join("at")) {
                break at.trim().to_owned();
            }
            assert!(Instant::now() < deadline, "the worker did not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        // A shell of the user's, say: no child of the worker's.
        let mut stranger =
            case.scratch.command("sleep").arg("600").current_dir(&at).spawn().expect("it starts");
        std::fs::write(case.outside().join("go"), "").expect("a file");
        let said = engine.join().expect("no panic");
        let alive = stranger.try_wait().expect("a child").is_none();
        stranger.kill().expect("it was alive");
        let _ = stranger.wait();
        assert!(alive, "no foreign process is touched");
        assert!(std::path::Path::new(&at).join("src/x").exists());
        case.ran(said).expect(0)
    });
    let kept = ran.about("worktree_kept", "a");
    assert!(kept[0]["why"].as_str().is_some_and(|why| why.contains("sleep")), "{}", kept[0]);
    assert!(ran.said.out.contains("kept"), "{}", ran.said.out);
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/x"]);
}

#[test]
fn case_4_initialised_submodules_do_not_keep_a_clean_worktree() {
    let library = Scratch::repo(&[("lib.txt", "l\n")]);
    let scratch = Scratch::repo(&[("README", "r\n")]);
    let from = library.path().to_str().expect("a path").to_owned();
    let allow = "protocol.file.allow=always";
    scratch.git(&["-c", allow, "submodule", "--quiet", "add", &from, "lib"]);
    scratch.commit("a submodule");
    let setup = format!("git -c {allow} submodule --quiet update --init");
    let case = Case::of(scratch)
        .wp(
            "a",
            "src/**",
            "test -e lib/lib.txt; mkdir src; echo x > src/x",
            "stage = \"s\"\ndod = [\"true\"]",
        )
        .tables(&format!("[[stage]]\nname = \"s\"\n[provision]\nsetup = [\"{setup}\"]\n"));
    let before = case.checkout();
    let ran = case.apply().expect(0);
    assert_eq!(ran.of("worktree_kept").count(), 0, "{:?}", ran.about("worktree_kept", "a"));
    assert_eq!(ran.about("worktree_removed", "a").len(), 1);
    assert_eq!(case.scratch.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(case.changed_on("sop-stage/case-1/1"), ["src/x"]);
    assert_eq!(case.checkout(), before);
}

#[test]
fn case_4_a_commit_that_is_only_in_a_worktrees_submodule_is_kept() {
    let library = Scratch::repo(&[("lib.txt", "l\n")]);
    let scratch = Scratch::repo(&[("README", "r\n")]);
    let from = library.path().to_str().expect("a path").to_owned();
    let allow = "protocol.file.allow=always";
    scratch.git(&["-c", allow, "submodule", "--quiet", "add", &from, "lib"]);
    scratch.commit("a submodule");
    let setup = format!("git -c {allow} submodule --quiet update --init");
    let work = "mkdir src; echo x > src/x; cd lib; git checkout -q -b mine; echo y >> lib.txt; \
         git -c user.name=A -c user.email=a@localhost commit -qam more; git checkout -q --detach HEAD~";
    let case = Case::of(scratch)
        .wp("a", "src/**", work, "")
        .tables(&format!("[provision]\nsetup = [\"{setup}\"]\n"));
    let ran = case.apply().expect(0);
    let kept = ran.about("worktree_kept", "a");
    assert!(kept[0]["why"].as_str().is_some_and(|why| why.contains("lib")), "{}", kept[0]);
}
