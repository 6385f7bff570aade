//! What the README says can be done, it can: its verbs, its files, its copy of a plan.

use super::{Example, top};
use crate::support::scratch::Scratch;

fn readme() -> String {
    std::fs::read_to_string(top().join("README.md")).expect("a README")
}

#[test]
fn every_verb_is_in_the_table_of_commands_and_no_other() {
    let readme = readme();
    let (_, table) = readme.split_once("| command | what it does |").expect("the table");
    let (table, _) = table.split_once("\n\n").expect("its end");
    let verb = |rest: &str| rest.split([' ', '`']).next().unwrap_or_default().to_owned();
    let mut told: Vec<String> = table.split("`sop ").skip(1).map(verb).collect();

    let help = Scratch::folder().sop(&["--help"]).out;
    let (_, verbs) = help.split_once("Commands:\n").expect("a list of commands");
    let (verbs, _) = verbs.split_once("\n\n").expect("its end");
    let mut there: Vec<String> = verbs
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .map(verb)
        .collect();
    told.sort();
    there.sort();
    assert_eq!(told, there);
}

#[test]
fn every_path_it_names_is_there() {
    let readme = readme();
    let folders = ["plans-examples/", "templates/", "tests/", "engine/", "docs/", ".ci/"];
    let ends = |c: char| c.is_whitespace() || "`()\"|,;:".contains(c);
    let mut seen = 0;
    for word in readme.split(ends) {
        // What a run makes is not in the repository.
        if folders.iter().any(|folder| word.starts_with(folder)) && !word.contains("/out/") {
            assert!(top().join(word).exists(), "README: {word} is not there");
            seen += 1;
        }
    }
    assert!(seen > 15, "only {seen} paths");
}

#[test]
fn every_example_is_in_its_table() {
    let readme = readme();
    for example in std::fs::read_dir(top().join("plans-examples")).expect("the examples") {
        let name = example.expect("an entry").file_name().into_string().expect("plain");
        let row = format!("| `plans-examples/{name}` |");
        assert!(readme.contains(&row), "README has no row for {name}");
    }
}

#[test]
fn the_plan_it_explains_is_the_example_cut_short() {
    let readme = readme();
    let (_, text) = readme.split_once("```toml\n").expect("a plan");
    let (text, _) = text.split_once("```").expect("its end");
    let plan = std::fs::read_to_string(top().join("plans-examples/staged/plan.toml"));
    let plan = plan.expect("the example");
    for line in text.lines() {
        let line = line.split("    #").next().unwrap_or_default().trim();
        assert!(plan.contains(line), "plans-examples/staged/plan.toml does not say: {line}");
    }
}

#[test]
fn the_commands_that_it_begins_with_are_those_of_this_repository() {
    let readme = readme();
    let (_, block) = readme.split_once("```sh\n").expect("a block of shell");
    let (block, _) = block.split_once("```").expect("its end");
    let lines: Vec<&str> =
        block.lines().map(|line| line.split("  #").next().unwrap_or_default().trim()).collect();
    let [run, test] = lines.as_slice() else { panic!("two commands: {lines:?}") };
    // cargo is running this test; CI runs the line as it is.
    assert_eq!(*test, "cargo test");
    let ci = std::fs::read_to_string(top().join(".ci/run")).expect("what CI runs");
    assert!(ci.lines().any(|line| line.trim() == *test), "CI does not run `{test}`");

    let words: Vec<&str> = run.split_whitespace().collect();
    let ["cargo", "run", "--", args @ ..] = words.as_slice() else { panic!("{run}") };
    let example = Example::new("quickstart");
    let said = example.scratch.sop(args);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let branches = example.scratch.git(&["branch", "--list", "sop/*"]);
    assert_eq!(branches.lines().count(), 4, "four workers, four branches: {branches}");
    example.undisturbed();
}
