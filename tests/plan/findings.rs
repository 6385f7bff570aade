//! What is said of a plan that its schema refuses: each kind in its words, at its place.

use super::{found, good_but, only, reading};

#[track_caller]
fn says(from: &str, to: &str, wanted: &str) {
    assert_eq!(only(&good_but(from, to)), wanted);
}

#[test]
fn syntax() {
    let all = found("version = 1\n[plan\nname = \"x\"\n[[wp]]\nid = \n");
    assert!(all.len() >= 2, "{all:#?}");
    assert!(all[0].starts_with("2:"), "{all:#?}");
    assert!(all.iter().all(|line| line.contains(" syntax: not TOML: ")), "{all:#?}");
    assert_eq!(
        found("version = 1\nversion = 1\n"),
        ["2:1 syntax: not TOML: duplicate key at <version>"]
    );
}

#[test]
fn unknown_keys() {
    says(
        "dod =",
        "dodd =",
        "12:1 unknown-key: `dodd` is not a key of `[[wp]]` `client` at <dodd>; did you mean `dod`? the keys here are \
         `allow_empty`, `brief`, `brief_text`, `budget_tokens`, `budget_usd`, `dod`, `findings`, `forks`, `id`, `kind`, `locks`, `needs`, `report`, `review`, `risk`, `rounds`, \
         `stage`, `template`, `tier`, `title`, `vars` and `whitelist`",
    );
    says(
        "goal =",
        "worker = \"x\"\ngoal =",
        "4:1 unknown-key: `worker` is not a key of `[plan]` at <worker>; `worker` is a key of `[tiers.NAME]`; the keys here \
         are `approval`, `autonomy`, `base`, `budget_tokens`, `budget_usd`, `checkout`, `decide_within`, `goal`, `instructions`, \
         `lead_may_fix`, `max_parallel`, `name`, `review`, `rounds`, `session_split`, `template` and `tier`",
    );
    says(
        "[workers.codemod]",
        "[worker.codemod]",
        "5:2 unknown-key: `worker` is not a key of the plan file at <worker>; did you mean `workers`? the keys here are \
         `critic`, `delivery`, `plan`, `provision`, `review`, `stage`, `tiers`, `verify`, `version`, `workers` and `wp`",
    );
}

#[test]
fn a_suggestion_takes_the_place_of_what_is_wrong() {
    for (from, to, mended) in [
        ("dod =", "dodd =", "dod ="),
        ("brief_text", "kind = \"scot\"\nbrief_text", "kind = \"scout\""),
        ("brief_text", "allow_empty = \"true\"\nbrief_text", "allow_empty = true"),
        ("[\"cargo test\"]", "\"cargo test\"", "dod = [\"cargo test\"]"),
        ("worker = \"codemod\"", "worker = \"codmod\"", "worker = \"codemod\""),
    ] {
        let (source, read) = reading(&good_but(from, to));
        let finding = &read.findings[0];
        let mut text = source.text.clone();
        text.replace_range(finding.span.clone().unwrap(), finding.suggestion.as_ref().unwrap());
        assert!(text.contains(mended), "{text}");
    }
}

#[test]
fn missing_keys() {
    says(
        "version = 1\n",
        "\n",
        "1:1 missing-key: the plan file has no `version` at <>; The version of this format. Always 1. For example: `version = 1`",
    );
    says(
        "id = \"client\"\n",
        "",
        "9:1 missing-key: this `[[wp]]` has no `id` at <[[wp]]>; Name of the work package: its branch and its files carry it. \
         Unique in the plan, whatever the case. For example: `id = \"client\"`",
    );
    says(
        "[\"cargo test\"]",
        "[{ expect = \"red\" }]",
        "12:8 missing-key: this table in `dod` has no `run` at <{ expect = \"red\" }>; The command: a line, or the program and \
         its arguments. For example: `run = \"npm test -- client\"`",
    );
}

#[test]
fn wrong_types() {
    says(
        "[\"cargo test\"]",
        "[3]",
        "12:8 wrong-type: an entry of `dod` must be a string or a table, not a number at <3>",
    );
    says(
        "[\"cargo test\"]",
        "\"cargo test\"",
        "12:7 wrong-type: `dod` must be an array, not a string at <\"cargo test\">; put it into brackets: `[\"cargo test\"]`",
    );
    says(
        "goal =",
        "max_parallel = \"4\"\ngoal =",
        "4:16 wrong-type: `max_parallel` must be a whole number, not a string at <\"4\">; leave out the quotes: `4`",
    );
    says(
        "goal =",
        "max_parallel = 2.5\ngoal =",
        "4:16 wrong-type: `max_parallel` must be a whole number, not a fraction at <2.5>; For example: `max_parallel = 8`",
    );
    says(
        "brief_text",
        "rounds = 2024-01-01\nbrief_text",
        "13:10 wrong-type: `rounds` must be a whole number, not a date or time at <2024-01-01>; For example: `rounds = 2`",
    );
    says(
        "brief_text",
        "rounds = inf\nbrief_text",
        "13:10 wrong-type: `rounds` must be a whole number, not infinite at <inf>; For example: `rounds = 2`",
    );
    says(
        "brief_text",
        "review = 1\nbrief_text",
        "13:10 wrong-type: `review` must be a string or a table, not a number at <1>; For example: `review = { command = \
         [\"scripts/review.sh\", \"{{ wp.id }}\"], timeout = \"20m\" }`",
    );
    says(
        "[tiers.light]\nworker = \"codemod\"",
        "[tiers]\nlight = 1",
        "8:9 wrong-type: `light` must be a table, not a number at <1>",
    );
}

#[test]
fn words() {
    says(
        "brief_text",
        "risk = \"hgh\"\nbrief_text",
        "13:8 unknown-value: `risk` must be `low`, `medium` or `high`, not `hgh` at <\"hgh\">; did you mean `high`?",
    );
    says(
        "brief_text",
        "review = \"humans\"\nbrief_text",
        "13:10 unknown-value: `review` must be `none`, `human` or `worker`, not `humans` at <\"humans\">; did you mean `human`?",
    );
    says(
        "version = 1",
        "version = 2",
        "1:11 bad-version: version 2 of the plan format is not known to this `sop` at <2>; write `version = 1`",
    );
}

#[test]
fn ids() {
    says(
        "\"client\"",
        "\"my client\"",
        "10:6 bad-id: `my client` holds ' '; an id is made of letters, digits, `-`, `_` and single inner dots at <\"my client\">",
    );
    says("\"client\"", "\"\"", "10:6 bad-id: `id` is empty at <\"\">");
    says(
        "\"client\"",
        "\"a.lock\"",
        "10:6 bad-id: `a.lock` is not a name that git takes for a branch (dots in a row or at the end, or `.lock`) at <\"a.lock\">",
    );
    let long = format!("\"{}\"", "a".repeat(49));
    assert_eq!(
        only(&good_but("\"settings\"", &long)),
        format!(
            "3:8 bad-id: `{0}` is 49 characters long; `name` has at most 48 at <{long}>",
            "a".repeat(49)
        )
    );
    // The file's own escapes do not reach a terminal.
    let line = only(&good_but("\"client\"", "\"a\\u001b[31m\""));
    assert!(line.contains("`a\\u{1b}[31m` holds '\\u{1b}'"), "{line}");
}

#[test]
fn values_with_a_form() {
    says(
        "worker = \"codemod\"",
        "worker = \"codemod\"\ntimeout = \"5 min\"",
        "9:11 bad-duration: `5 min` is not a length of time at <\"5 min\">; write `90s`, `5m` or `1h30m`: hours, minutes, \
         seconds and milliseconds, in this order",
    );
    says(
        "worker = \"codemod\"",
        "worker = \"codemod\"\nlog_limit = \"64 megs\"",
        "9:13 bad-size: `64 megs` is not a size at <\"64 megs\">; write `512KiB`, `64MB` or `1GB`, or a number of bytes",
    );
    says(
        "goal =",
        "rounds = 7\ngoal =",
        "4:10 out-of-range: `rounds` must be from 1 to 3, not 7 at <7>",
    );
    says("\"Move the settings page.\"", "\" \\n\"", "4:8 blank: `goal` is blank at <\" \\n\">");
    says("\"cargo test\"", "\" \"", "12:8 blank: an entry of `dod` is blank at <\" \">");
    says(
        "[\"scripts/codemod.sh\", \"{{ wp.id }}\"]",
        "[]",
        "6:11 empty-command: `command` is an empty array: a command needs at least the program's name at <[]>; For example: \
         `command = [\"scripts/codemod.sh\", \"{{ wp.id }}\"]`",
    );
    says(
        "brief_text",
        "vars = { \"a b\" = \"1\" }\nbrief_text",
        "13:10 bad-variable: `a b` is not the name of a variable at <\"a b\">; use letters, digits and `_`, and start with no digit",
    );
}

#[test]
fn names_of_tables() {
    let text = good_but("[tiers.light]", "[tiers.light]\nworker = \"codemod\"\n[tiers.\"a b\"]")
        .replace("brief_text", "tier = \"light\"\nbrief_text");
    let line = only(&text);
    assert_eq!(
        line,
        "9:8 bad-id: `a b` holds ' '; an id is made of letters, digits, `-`, `_` and single inner dots at <\"a b\">"
    );
}

/// A fault of the schema keeps none of the meaning from being looked at, and is not told twice.
#[test]
fn schema_and_meaning_are_told_together() {
    let text = good_but(
        "whitelist = [\"src/client/**\"]",
        "whitelst = [\"src/client/**\"]\nneeds = [\"clint\"]",
    )
    .replace("worker = \"codemod\"", "worker = \"codmod\"");
    let codes = |text: &str| -> Vec<String> {
        found(text).iter().map(|line| line.split(": ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(codes(&text), ["8:10 unknown-worker", "11:1 unknown-key", "12:10 unknown-wp"]);
    // What is under a misspelt key is read as if it were under the right one.
    let text = good_but("dod = [\"cargo test\"]", "dodd = [\"it's\"]");
    assert_eq!(codes(&text), ["12:1 unknown-key", "12:12 open-quote"]);
    // A tier that is not a table is a tier, and one whose whole section is misspelt is too.
    let text = good_but("[tiers.light]", "[tier.light]");
    assert_eq!(codes(&text), ["7:2 unknown-key"]);
    // And the schema speaks of what is under it.
    let text = good_but("[tiers.light]\nworker = \"codemod\"", "[tier.light]\nworker = 3");
    assert_eq!(codes(&text), ["7:2 unknown-key", "8:10 wrong-type"]);
}

#[test]
fn findings_come_in_the_order_of_the_file() {
    let text = "version = 3\nx = 1\n[plan]\nname = ''\n[[wp]]\nrisk = 'no'\n[[wp]]\nid = 'a'\nid2 = 1\nrounds = 9\n";
    let (_, read) = reading(text);
    let starts: Vec<usize> = read.findings.iter().map(|f| f.span.clone().unwrap().start).collect();
    assert!(starts.is_sorted() && starts.len() > 8, "{starts:?}");
    assert!(read.plan.is_none());
}

#[test]
fn windows_files_have_the_same_places() {
    let text = good_but("dod =", "dodd =").replace('\n', "\r\n");
    let unix = only(&good_but("dod =", "dodd ="));
    assert_eq!(only(&text), unix);
    assert_eq!(only(&format!("\u{feff}{text}")), unix);
}
