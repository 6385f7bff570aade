//! A plan compiled to run: what stands in its way here and now is an error, and what comes out is
//! everything that a run needs.

use std::path::Path;

use sop::finding::Severity;
use sop::git::Repo;
use sop::plan::{Layers, Source};
use sop::run::compile::{Outcome, Purpose, compile};

use crate::support::plan_text::{plan, two, wp};
use crate::support::scratch::Scratch;

fn compiled(scratch: &Scratch, text: &str, purpose: Purpose) -> Outcome {
    let repo = Repo::discover(scratch.path()).expect("a repository");
    let source = Source::new("plan.toml", text);
    compile(&source, scratch.path(), &Layers::default(), Some(&repo), purpose).expect("git answers")
}

fn said(outcome: &Outcome) -> Vec<(&str, Severity)> {
    outcome.findings.iter().map(|f| (f.code, f.severity)).collect()
}

#[test]
fn a_plan_that_may_run_has_its_base_pinned_and_a_whitelist_for_each_wp() {
    let scratch = Scratch::repo(&[("src/a/x.rs", "a\n"), ("README.md", "a\n")]);
    let text = plan(
        &(wp("a", "src/a/**", "")
            + &wp("b", "src/b/**", "needs = [\"a\"]\n")
            + "\n[[wp]]\nid = \"look\"\nkind = \"scout\"\nbrief_text = \"Look.\"\n"),
    );
    let outcome = compiled(&scratch, &text, Purpose::Run);
    assert_eq!(said(&outcome), []);
    let compiled = outcome.compiled.expect("no error, so a plan");
    let base = compiled.base.expect("pinned");
    assert_eq!(base.commit.as_str(), scratch.git(&["rev-parse", "main"]).trim());
    assert_eq!(base.paths, ["README.md", "src/a/x.rs"]);
    assert_eq!(compiled.whitelists.len(), 3);
    assert!(compiled.whitelists[0].matches(b"src/a/x.rs"));
    assert!(!compiled.whitelists[1].matches(b"src/a/x.rs"));
    assert!(compiled.whitelists[2].is_empty());
    let order: Vec<usize> = compiled.graph.order().collect();
    assert_eq!(order, [0, 2, 1]);
}

#[test]
fn pairs_that_could_meet_are_handed_on() {
    let scratch = Scratch::repo(&[]);
    let text =
        plan(&(wp("a", "docs/**/*.md", "") + &wp("b", "src/**", "") + &wp("c", "docs/api/*", "")));
    let outcome = compiled(&scratch, &text, Purpose::Run);
    assert_eq!(said(&outcome), [("possible-overlap", Severity::Warning)]);
    let compiled = outcome.compiled.expect("a warning keeps nothing from running");
    let pairs: Vec<(usize, usize)> = compiled.possible.iter().map(|o| (o.a, o.b)).collect();
    assert_eq!(pairs, [(0, 2)]);
}

#[test]
fn a_file_where_another_wp_needs_a_folder_is_told_with_both_paths() {
    let scratch = Scratch::repo(&[("lib/x.rs", "x\n")]);
    let wps = wp("a", "src/{api,web}/**", "") + &wp("b", "src/*", "") + &wp("c", "lib", "");
    let outcome = compiled(&scratch, &plan(&(wps + &wp("d", "lib/**", ""))), Purpose::Run);
    assert_eq!(said(&outcome), [("possible-overlap", Severity::Warning)]);
    let message = &outcome.findings[0].message;
    let expected = "POSSIBLE overlap: `b` could make `src/api` a file, where `a` needs a folder for `src/api/a`";
    assert_eq!(message, expected);
    let both = outcome.compiled.expect("a warning keeps nothing from running");
    let pairs: Vec<(usize, usize)> = both.possible.iter().map(|o| (o.a, o.b)).collect();
    assert_eq!(pairs, [(0, 1)]);
    // The files of a stage are no one's to hide.
    let text = "[[stage]]\nname = \"s\"\nshared = [\"etc/list\"]\n".to_owned()
        + &wp("a", "et?", "stage = \"s\"\n");
    let outcome = compiled(&scratch, &plan(&text), Purpose::Run);
    assert_eq!(said(&outcome), [("shared-file", Severity::Error)]);
    let message = &outcome.findings[0].message;
    assert!(message.starts_with("`a` could make `etc` a file, where stage `s` keeps"), "{message}");
}

#[test]
fn what_the_clone_lacks_keeps_the_plan_from_running_but_not_from_being_right() {
    let scratch = Scratch::repo(&[]);
    scratch.write("AGENTS.md", "new\n");
    let main = "base = \"main\"";
    let texts = [
        (two().replace(main, "base = \"mian\""), "unknown-base"),
        (two().replace(main, "base = \"main\"\ninstructions = [\"AGENTS.md\"]"), "not-in-base"),
    ];
    for (text, code) in texts {
        let checked = compiled(&scratch, &text, Purpose::Check);
        assert_eq!(said(&checked), [(code, Severity::Warning)]);
        assert!(checked.compiled.is_some());
        let run = compiled(&scratch, &text, Purpose::Run);
        assert_eq!(said(&run), [(code, Severity::Error)]);
        assert!(run.compiled.is_none());
    }
}

#[test]
fn a_repository_without_a_commit_says_so() {
    let scratch = Scratch::folder();
    scratch.git(&["init", "--quiet"]);
    let outcome = compiled(&scratch, &two(), Purpose::Run);
    let help = outcome.findings[0].help.as_deref().unwrap_or_default();
    assert!(help.contains("there is no commit yet"), "{help}");
}

#[test]
fn without_a_repository_only_the_file_is_judged() {
    let source = Source::new("plan.toml", two());
    let outcome =
        compile(&source, Path::new("."), &Layers::default(), None, Purpose::Check).expect("no git");
    assert_eq!(said(&outcome), []);
    let compiled = outcome.compiled.expect("a plan");
    assert_eq!((compiled.base, compiled.whitelists.len()), (None, 2));
}

#[test]
fn the_base_holds_folders_and_links_by_their_bytes() {
    let scratch = Scratch::repo(&[("a-b", "x\n"), ("a/b", "x\n"), ("a.c", "x\n"), ("ab/c", "x\n")]);
    std::os::unix::fs::symlink("gone", scratch.path().join("link")).expect("a link");
    scratch.commit("second");
    let outcome = compiled(&scratch, &two(), Purpose::Run);
    let base = outcome.compiled.and_then(|c| c.base).expect("pinned");
    for there in ["a", "a/", "a/b", "a-b", "a.c", "ab", "link"] {
        assert!(base.holds(there.into()), "{there}");
    }
    for not in ["a/c", "b", "a/b/c", "A", "a-", "lin", "link/x"] {
        assert!(!base.holds(not.into()), "{not}");
    }
}

#[test]
fn of_a_long_ring_enough_is_shown_to_cut_it() {
    let scratch = Scratch::repo(&[]);
    let of = |n: usize| {
        let wps = (0..n).map(|i| {
            let need = format!("needs = [\"w{}\"]\n", (i + 1) % n);
            wp(&format!("w{i}"), &format!("src/w{i}"), &need)
        });
        let outcome = compiled(&scratch, &plan(&wps.collect::<String>()), Purpose::Check);
        let ring = outcome.findings.into_iter().find(|f| f.code == "cycle").expect("a ring");
        (ring.related.len(), ring.message)
    };
    assert_eq!(of(3).0, 2);
    let (places, message) = of(200);
    assert_eq!(places, 11, "the cost is that of the places, and does not grow with the ring");
    assert!(
        message.contains("w0 → w1 → ") && message.contains("w11 → … 188 more … → w0"),
        "{message}"
    );
}

#[test]
fn two_spellings_of_one_path_are_told_where_wps_are_at_work_together() {
    let scratch = Scratch::repo(&[]);
    let twins = |a: &str, b: &str, more: &str| {
        let outcome =
            compiled(&scratch, &plan(&(wp("a", a, "") + &wp("b", b, more))), Purpose::Run);
        assert!(outcome.compiled.is_some(), "only a warning: {:?}", outcome.findings);
        let told = outcome.findings.into_iter().filter(|finding| finding.code == "case-twins");
        told.map(|finding| finding.message).collect::<Vec<_>>()
    };
    let told = twins("src/A.rs", "src/a.rs", "");
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("`a` and `b` name `src/A.rs` and `src/a.rs`"), "{told:?}");
    assert_eq!(twins("src/Net/**", "src/net/tcp/x.rs", "").len(), 1, "folders too");
    assert_eq!(twins("straße/É.txt", "straße/é.txt", "").len(), 1);
    for (a, b, more) in [
        ("src/A.rs", "src/b.rs", ""),
        ("src/A/*", "src/A.rs", ""),
        ("src/A.rs", "src/a.rs", "needs = [\"a\"]\n"),
        ("src/A*", "src/a*", ""),
    ] {
        assert_eq!(twins(a, b, more), Vec::<String>::new(), "{a} {b}");
    }
}

#[test]
fn programs_that_run_when_all_are_paid_are_looked_for_before() {
    let scratch = Scratch::repo(&[("bin/e2e.sh", "true\n")]);
    let verify = |live: &str, more: &str| {
        let stage = "[[stage]]\nname = \"s\"\n";
        let text = format!("[verify]\nlive = {live}\n{more}{stage}");
        let wps = wp("a", "tools/**", "stage = \"s\"\n");
        let text = plan(&(text + &wps));
        let outcome = compiled(&scratch, &text, Purpose::Run);
        said(&outcome).into_iter().map(|(code, how)| (code.to_owned(), how)).collect::<Vec<_>>()
    };
    let setup = "[provision]\nsetup = [\"sh make.sh\"]\n";
    for (live, code) in [
        ("[\"no-such-program-here e2e\"]", "missing-program"),
        ("[{ run = [\"no-such-program-here\"], timeout = \"1m\" }]", "missing-program"),
        ("[\"bin/e2e.hs\"]", "missing-file"),
    ] {
        assert_eq!(verify(live, ""), [(code.to_owned(), Severity::Error)], "{live}");
        assert_eq!(verify(live, setup), [(code.to_owned(), Severity::Warning)], "{live}");
    }
    for fine in [
        "[\"sh bin/e2e.sh\"]",
        "[\"bin/e2e.sh --all\"]",
        "[\"./tools/made-by-a\"]",
        "[\"no-such-program-here | true\"]",
    ] {
        assert_eq!(verify(fine, ""), [], "{fine}");
    }
}

#[test]
fn with_a_setup_a_worker_that_is_nowhere_is_a_warning() {
    let scratch = Scratch::repo(&[]);
    for (program, code) in
        [("no-such-program-here", "missing-program"), ("bin/none.sh", "missing-file")]
    {
        let text = plan(&wp("a", "src/**", ""))
            .replace("command = [\"true\"]", &format!("command = [\"{program}\"]"));
        let with = |setup: &str| {
            let outcome = compiled(&scratch, &(text.clone() + setup), Purpose::Run);
            said(&outcome).into_iter().map(|(code, how)| (code.to_owned(), how)).collect::<Vec<_>>()
        };
        assert_eq!(with(""), [(code.to_owned(), Severity::Error)]);
        let setup = "[provision]\nsetup = [\"sh make.sh\"]\n";
        assert_eq!(with(setup), [(code.to_owned(), Severity::Warning)]);
    }
}
