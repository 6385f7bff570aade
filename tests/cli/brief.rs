//! `sop brief`, through the binary.

use crate::support::plan_text::{plan, wp};
use crate::support::scratch::{Said, Scratch};

/// A scout, one that waits for it, and a template of the repository's own that the second one uses.
fn scratch(template: &str) -> Scratch {
    let scout = r#"
[[wp]]
id = "survey"
kind = "scout"
brief_text = "Look around."
"#;
    let more =
        "needs = [\"survey\"]\ntemplate = \"own\"\nrounds = 2\nvars = { language = \"Rust\" }";
    let tiers = "\n[tiers.lead]\nworker = \"script\"\n";
    let text = plan(&(tiers.to_owned() + scout + &wp("client", "src/**", more)));
    let text = text.replace("base =", "tier = \"standard\"\nbase =").replace(
        "worker = \"script\"\n\n[workers",
        "worker = \"script\"\nescalate_to = \"lead\"\n\n[workers",
    );
    Scratch::repo(&[("plan.toml", &text), (".sop/templates/own.md.j2", template)])
}

const OWN: &str = "{{ brief }}\nIn {{ wp.vars.language }} by {{ tier.name }}.\n\
    {% for r in reports %}{{ r.wp }}:\n{{ r.text }}\n{% endfor %}\
    {% for p in problems %}{{ p.number }}. {{ p.message }}\n{% endfor %}";

/// What comes after the contract and the facts.
fn body(said: &Said) -> &str {
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    said.out.split_once("\n---\n\n").unwrap().1
}

#[test]
fn one_brief_is_printed_as_its_worker_would_get_it() {
    let scratch = scratch(OWN);
    let first = scratch.sop(&["brief", "plan.toml", "client"]);
    insta::assert_snapshot!(body(&first), @r#"
Do client.
In Rust by standard.
survey:
```text
What `survey` reports will stand here.
```
"#);
    assert!(first.out.starts_with(sop::brief::CONTRACT));
    let commit = scratch.git(&["rev-parse", "main"]);
    assert!(first.out.contains(commit.trim()));
    assert!(first.out.contains("run `small-1`") && first.out.contains("stage `level-2`"));

    let second = scratch.sop(&["brief", "client", "--round", "2"]);
    insta::assert_snapshot!(body(&second), @r#"
Do client.
In Rust by lead.
survey:
```text
What `survey` reports will stand here.
```
1. what round 1 got wrong will stand here
"#);
}

#[test]
fn all_briefs_are_told_apart() {
    let scratch = scratch(OWN);
    let said = scratch.sop(&["brief"]);
    assert_eq!(said.code, 0);
    assert_eq!(said.out.matches(sop::brief::CONTRACT).count(), 2);
    let marks: Vec<&str> = said.out.lines().filter(|l| l.starts_with("<!--")).collect();
    assert_eq!(marks, ["<!-- brief of survey -->", "<!-- brief of client -->"]);

    let said = scratch.sop(&["brief", "-o", "out/briefs"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(scratch.read("out/briefs/survey.md").contains("Look around."));
    assert!(scratch.read("out/briefs/client.md").contains("In Rust by standard."));
    // Round 3 is one that only the scout has.
    scratch.sop(&["brief", "-o", "third", "--round", "3"]);
    assert!(scratch.path().join("third/survey.md").exists());
    assert!(!scratch.path().join("third/client.md").exists());
}

#[test]
fn what_is_not_there_is_named() {
    let scratch = scratch(OWN);
    for (args, words) in [
        (&["brief", "clinet"][..], &["`clinet`", "`survey`, `client`"][..]),
        (&["brief", "client", "--round", "3"], &["no round 3"]),
        (&["brief", "--round", "4"], &["no WP of this plan has a round 4"]),
        (&["brief", "none.toml"], &["none.toml"]),
        (&["brief", "plan.toml", "client", "survey"], &["survey is too many", "--check"]),
        (&["brief", "--round", "0"], &["--round"]),
    ] {
        let said = scratch.sop(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(words.iter().all(|w| said.err.contains(w)), "{args:?}: {}", said.err);
    }
}

#[test]
fn check_renders_everything_and_prints_nothing_but_findings() {
    let good = scratch(OWN);
    let said = good.sop(&["brief", "--check"]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""));

    let bad =
        scratch("{{ brief }}{% for p in problems %}{{ p.message }}{% endfor %}\n{{ wp.titel }}");
    bad.write("good.toml", good.read("plan.toml").replace("template = \"own\"\n", ""));
    let said = bad.sop(&["brief", "--check", "good.toml", "plan.toml"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    insta::assert_snapshot!(said.err, @r#"
error[template-unknown-variable]: `wp` has no `titel`
 --> .sop/templates/own.md.j2:2:7
  |
2 | {{ wp.titel }}
  |       ^^^^^
  |
  = help: did you mean `title`?
  = help: its keys: dod, forks, id, kind, locks, risk, tier, title, vars, whitelist

1 error in .sop/templates/own.md.j2
"#);

    // The first round is right, the second is not.
    let later = scratch("{{ brief }}{% for p in problems %}{{ p.mesage }}{% endfor %}");
    let said = later.sop(&["brief", "--check", "plan.toml"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("own.md.j2:1:") && said.err.contains("`p.mesage`"), "{}", said.err);

    // A value that one WP lacks.
    let lacking = scratch(OWN);
    lacking.write("plan.toml", lacking.read("plan.toml").replace("language", "lang"));
    let said = lacking.sop(&["brief", "--check"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("`wp.vars.language` is undefined"), "{}", said.err);
}
