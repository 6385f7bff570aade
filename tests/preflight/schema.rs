//! The one line keeps to its schema, whatever there is to say; and people get all of it.

use super::Desk;

#[test]
fn the_line_keeps_to_its_schema() {
    let desk =
        Desk::new("echo 'services: {}' > compose.yaml; echo '* filter=lfs' > .gitattributes");
    let desk = desk.file(
        "main/plan.toml",
        "version = 1\n[plan]\nname = \"p\"\ngoal = \"Try it.\"\ninstructions = [\"AGENTS.md\"]\n\
         [tiers.standard]\nworker = \"codex\"\n\
         [[wp]]\nid = \"a\"\nwhitelist = [\"a\"]\ndod = [\"true\"]\nbrief_text = \"A.\"\n",
    );
    desk.repo
        .sh("git remote add origin https://user:pass@github.com/o/r.git; git branch sop/gone-1/a");
    let schema = serde_json::from_str(&desk.sop(&["schema", "preflight"]).out).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a JSON Schema");
    for args in [&[][..], &["plan.toml"]] {
        let found = desk.look(args);
        let errors: Vec<String> =
            schema.iter_errors(&found.all).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{:#}", found.all);
        let pr = found.part("pr");
        assert_eq!((&pr["host"], &pr["forge"]), (&"github.com".into(), &"gh".into()));
        assert!(!found.all.to_string().contains("pass@"), "{:#}", found.all);
    }
    assert!(!schema.is_valid(&serde_json::json!({ "state": "fine" })));
}

#[test]
fn people_get_what_to_do_below_what_was_found() {
    let desk = Desk::new("echo 1 > AGENTS.md");
    desk.repo.sh("echo 2 > AGENTS.md");
    let said = desk.sop(&["preflight", "--human"]);
    assert_eq!(said.code, 4, "{}", said.out);
    let found = "instructions  AGENTS.md in your checkout is not what the base has: workers read the base's\n";
    let (_, rest) = said.out.split_once(found).expect(&said.out);
    let todo = rest.lines().next().unwrap_or_default();
    assert!(
        todo.trim_start().ends_with(" commit it to the base, if they should read this one"),
        "{todo}"
    );
    assert!(said.out.ends_with("a run can start; look at what is marked first\n"), "{}", said.out);
    assert_eq!(said.out.lines().filter(|line| !line.starts_with(' ')).count(), 12, "{}", said.out);
}

#[test]
fn a_plan_with_errors_is_not_looked_at() {
    let desk = Desk::new("true").file("main/plan.toml", "version = 2\n");
    let said = desk.sop(&["preflight", "plan.toml"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    assert!(said.err.contains("version 2"), "{}", said.err);
    let said = desk.sop(&["preflight", "none.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
}
