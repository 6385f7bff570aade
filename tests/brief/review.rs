//! What reviewers are told: nothing of it can be left out by a lens, and nothing that others wrote can
//! pass for it.

use std::fs;

use sop::brief::Briefs;

#[test]
fn the_built_in_lenses_and_the_last_look_are_whole() {
    let briefs = Briefs::built_in();
    let lenses: Vec<&str> = briefs.lenses().collect();
    assert_eq!(lenses, ["review-quality", "review-security", "review-tests"]);
    for name in lenses.into_iter().chain(["verify"]) {
        assert_eq!(briefs.check_review(name), Ok(Vec::new()), "{name}");
        assert!(!briefs.names().any(|known| known == name), "no brief is made of {name}");
    }
}

#[test]
fn a_lens_of_the_repositorys_own_is_tried_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join(sop::brief::FOLDER);
    fs::create_dir_all(&own).expect("folders");
    for (text, code) in [
        ("Look at {{ wp.title }}, of {{ ran | length }} commands.", None),
        ("{{ wp.titel }}", Some("template-unknown-variable")),
        ("{% if %}", Some("template-syntax")),
        ("{{ diff | no_such_filter }}", Some("template-render")),
        ("{{ tasks }}", Some("template-unknown-variable")),
    ] {
        fs::write(own.join("review-own.md.j2"), text).expect("a file");
        let briefs = Briefs::load(folder.path()).expect("templates");
        let findings = briefs.check_review("review-own").expect("it is there");
        assert_eq!(findings.first().map(|f| f.code), code, "{text}: {findings:?}");
        assert!(!briefs.names().any(|name| name == "review-own"));
        let error = briefs.check_review("review-onw").expect_err("there is none");
        assert_eq!(error.near.as_deref(), Some("review-own"));
        assert!(error.known.contains(&"review-quality".to_owned()));
    }
}
