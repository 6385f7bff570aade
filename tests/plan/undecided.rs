//! Comments that leave something to be decided.

use super::{GOOD, good_but, lines, reading};

fn found(text: &str) -> Vec<String> {
    let (source, read) = reading(text);
    assert!(read.plan.is_some(), "they are no errors: {:?}", read.findings);
    lines(&source, &read.findings)
}

#[test]
fn each_is_a_warning_where_it_stands() {
    let text = good_but(
        "[[wp]]",
        "# DECIDE: who works?\n#DECIDE:   \n  # and no other\n[[wp]] # DECIDE: one or two?",
    );
    let help = "decide it, and take the comment out";
    assert_eq!(
        found(&text),
        [
            format!(
                "9:1 (warning) undecided: still to be decided: who works? at <# DECIDE: who works?>; {help}"
            ),
            format!("10:1 (warning) undecided: this is still to be decided at <#DECIDE:>; {help}"),
            format!(
                "12:8 (warning) undecided: still to be decided: one or two? at <# DECIDE: one or two?>; {help}"
            ),
        ]
    );
    assert_eq!(found(GOOD), Vec::<String>::new());
}

#[test]
fn what_only_looks_like_one_is_none() {
    let brief = "brief_text = \"\"\"\n# DECIDE: in a text\n\\\"\"\" # DECIDE: still in it\n\"\"\"\ntitle = '# DECIDE: here too'\n\
                 locks = [\"a\"] # the mark is `DECIDE:`\nvars = { a = \"# DECIDE: no\" } # is left to DECIDE: you\n";
    let text = GOOD.replace("brief_text = \"Rename it.\"\n", brief);
    assert_eq!(found(&text), Vec::<String>::new());
    // A comment may hold what would begin another.
    let text = good_but("name =", "# say # DECIDE: not this one\nname =");
    assert_eq!(found(&text), Vec::<String>::new());
}

#[test]
fn of_what_is_no_toml_only_that_is_told() {
    let (_, read) = reading("# DECIDE: x\nversion = = 1\n");
    assert!(read.findings.iter().all(|finding| finding.code == "syntax"), "{:?}", read.findings);
}
