//! What is said of a plan that its schema takes and that still means nothing, or nothing good.

use std::fs;
use std::path::Path;

use super::{found, good_but, lines, only};
use sop::plan::{Layers, Source, read};

#[track_caller]
fn says(from: &str, to: &str, wanted: &str) {
    assert_eq!(only(&good_but(from, to)), wanted);
}

const SECOND: &str = "[[wp]]\nid = \"page\"\nwhitelist = [\"src/page/**\"]\ndod = [\"true\"]\nbrief_text = \"Page.\"\n";

#[test]
fn unknown_names() {
    says(
        "worker = \"codemod\"",
        "worker = \"artist\"",
        "8:10 unknown-worker: there is no worker `artist` at <\"artist\">; there are `codemod`, `codex`, `claude`, `gemini`, \
         `opencode`, `aider`, `codex-acp`, `claude-acp`, `gemini-acp` and `opencode-acp`; or declare it: `[workers.artist]` with a \
         `command` or an `agent`",
    );
    says(
        "worker = \"codemod\"",
        "worker = \"cluade\"",
        "8:10 unknown-worker: there is no worker `cluade` at <\"cluade\">; did you mean `claude`?",
    );
    says(
        "brief_text",
        "tier = \"lihgt\"\nbrief_text",
        "13:8 unknown-tier: there is no tier `lihgt` at <\"lihgt\">; did you mean `light`?",
    );
    says(
        "worker = \"codemod\"",
        "worker = \"codemod\"\nescalate_to = \"lead\"",
        "9:15 unknown-tier: there is no tier `lead` at <\"lead\">; there is `light`; or declare it: `[tiers.lead]` with a `worker`",
    );
    says(
        "worker = \"codemod\"",
        "worker = \"codemod\"\nfallback = [\"Light\"]",
        "9:13 unknown-tier: there is no tier `Light` at <\"Light\">; did you mean `light`?",
    );
    says(
        "goal =",
        "tier = \"standard\"\ngoal =",
        "4:8 unknown-tier: there is no tier `standard` at <\"standard\">; there is `light`; or declare it: `[tiers.standard]` with \
         a `worker`",
    );
    says(
        "brief_text",
        "stage = \"first\"\nbrief_text",
        "13:9 unknown-stage: there is no stage `first` at <\"first\">; declare it: a `[[stage]]` with `name = \"first\"`",
    );
    says(
        "brief_text",
        "needs = [\"pages\"]\nbrief_text",
        "13:10 unknown-wp: there is no work package `pages` at <\"pages\">; there is `client`",
    );
}

#[test]
fn a_wp_without_a_tier() {
    says(
        "[tiers.light]\nworker = \"codemod\"\n",
        "",
        "7:1 missing-tier: it is not said who works on this at <[[wp]]>; declare a tier, `[tiers.standard]`, and the worker that \
         it uses",
    );
    let text = good_but("[tiers.light]", "[tiers.standard]\nworker = \"codemod\"\n[tiers.light]");
    assert_eq!(
        only(&text),
        "11:1 missing-tier: it is not said who works on this at <[[wp]]>; name a tier here or as `[plan] tier`; there are \
         `light` and `standard`"
    );
}

#[test]
fn stages() {
    let staged =
        good_but("[workers", "[[stage]]\nname = \"one\"\n[[stage]]\nname = \"two\"\n[workers");
    assert_eq!(
        found(&staged),
        [
            "6:8 (warning) unused-stage: no work package is in stage `one` at <\"one\">; give one `stage = \"one\"`, or leave \
             the stage out",
            "8:8 (warning) unused-stage: no work package is in stage `two` at <\"two\">; give one `stage = \"two\"`, or leave \
             the stage out",
            "13:1 missing-stage: the plan has stages, and this work package is in none at <[[wp]]>; add `stage`: `one` or `two`",
        ]
    );
    let first =
        staged.replace("id = \"client\"", "id = \"client\"\nstage = \"one\"\nneeds = [\"page\"]");
    let late =
        format!("{first}{}", SECOND.replace("id = \"page\"", "id = \"page\"\nstage = \"two\""));
    assert_eq!(
        only(&late),
        "16:10 late-need: `page` is in stage `two`, which runs after `one` at <\"page\">, its stage 22:9; a work package can need \
         those of its own stage and of stages before"
    );
    let twin = staged
        .replace("\"two\"", "\"One\"")
        .replace("id = \"client\"", "id = \"client\"\nstage = \"one\"");
    assert!(
        found(&twin)[0].starts_with("8:8 duplicate-id: `One` and `one` differ only in case"),
        "{:#?}",
        found(&twin)
    );
}

#[test]
fn names_that_are_there_are_listed_once_each() {
    let stages = "[[stage]]\nname = \"one\"\n[[stage]]\nname = \"one\"\n";
    let said = |stage: &str| {
        let wp = format!("{stages}[[wp]]\nid = \"client\"{stage}");
        found(&super::GOOD.replace("[[wp]]\nid = \"client\"", &wp)).join("\n")
    };
    let unknown = said("\nstage = \"elsewhere\"");
    assert!(unknown.contains("there is `one`") && !unknown.contains("and `one`"), "{unknown}");
    let none = said("");
    assert!(none.contains("add `stage`: `one`") && !none.contains("or `one`"), "{none}");
}

#[test]
fn ids_are_declared_once() {
    let twice =
        |id: &str| format!("{}{}", super::GOOD, SECOND.replace("page\"", &format!("{id}\"")));
    assert_eq!(
        only(&twice("client")),
        "15:6 duplicate-id: `client` is the id of two `[[wp]]` tables at <\"client\">, first 10:6; give each its own"
    );
    assert_eq!(
        only(&twice("Client")),
        "15:6 duplicate-id: `Client` and `client` differ only in case at <\"Client\">, first 10:6; names become branches and \
         folders, and not every file system tells case apart: give each its own"
    );
}

#[test]
fn no_wp_is_called_like_a_gate() {
    assert_eq!(
        only(&good_but("id = \"client\"", "id = \"Gate-12\"")),
        "10:6 reserved-id: `Gate-12` is what a stage's gate is called at <\"Gate-12\">; choose another name; any other that \
         starts with `gate-` will do"
    );
    for fine in ["gate", "gate-", "gate-1a", "agate-1"] {
        let text = good_but("id = \"client\"", &format!("id = \"{fine}\""));
        assert_eq!(found(&text), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn needs() {
    says(
        "brief_text",
        "needs = [\"client\"]\nbrief_text",
        "13:10 self-need: `client` needs itself at <\"client\">; leave it out",
    );
}

#[test]
fn cycles_of_tiers_are_named_whole() {
    let tiers = |keys: [&str; 3]| {
        let [a, b, c] = keys.map(|keys| format!("worker = \"codemod\"\n{keys}\n"));
        let tiers = format!("[tiers.a]\n{a}[tiers.b]\n{b}[tiers.c]\n{c}");
        good_but("[tiers.light]\nworker = \"codemod\"\n", &tiers)
            .replace("brief_text", "tier = \"a\"\nbrief_text")
    };
    assert_eq!(
        only(&tiers(["escalate_to = \"b\"", "escalate_to = \"c\"", "escalate_to = \"b\""])),
        "15:15 tier-cycle: the tiers `b` → `c` → `b` escalate to each other for ever at <\"b\">; leave one of these steps out"
    );
    assert_eq!(
        only(&tiers(["escalate_to = \"a\"", "", ""])),
        "9:15 tier-cycle: tier `a` names itself at <\"a\">; leave one of these steps out"
    );
    assert_eq!(
        only(&tiers(["fallback = [\"c\", \"b\"]", "fallback = [\"c\", \"a\"]", ""])),
        "12:18 fallback-cycle: the tiers `a` → `b` → `a` fall back on each other for ever at <\"a\">; leave one of these steps out"
    );
    // A diamond is no cycle, nor is escalating one way and falling back the other.
    assert_eq!(found(&tiers(["fallback = [\"b\", \"c\"]", "fallback = [\"c\"]", ""])), [""; 0]);
    assert_eq!(found(&tiers(["escalate_to = \"b\"", "fallback = [\"a\"]", ""])), [""; 0]);
}

#[test]
fn scope_and_proof() {
    says(
        "[\"src/client/**\"]",
        "[]",
        "11:13 empty-whitelist: `client` may change no file: its whitelist is empty at <[]>; add `whitelist`, the paths that it may \
         touch; or `kind = \"scout\"` if it only reports",
    );
    says(
        "dod = [\"cargo test\"]\n",
        "",
        "9:1 empty-dod: nothing proves `client` done: its Definition of Done is empty at <[[wp]]>; add `dod`, commands that all \
         exit 0 when the work is right",
    );
    says(
        "brief_text",
        "kind = \"scout\"\nbrief_text",
        "11:13 scout-whitelist: `client` is a scout and may change no file at <[\"src/client/**\"]>; leave `whitelist` out, or \
         `kind = \"scout\"`",
    );
    let scout =
        good_but("whitelist = [\"src/client/**\"]\ndod = [\"cargo test\"]", "kind = \"scout\"");
    assert_eq!(found(&scout), [""; 0]);
}

#[test]
fn commands() {
    says(
        "[\"cargo test\"]",
        "[\"echo \\\"it's\\\" it's\"]",
        "12:25 open-quote: `echo \"it's\" it's` has a ' that is not closed at <'>",
    );
    says(
        "[\"cargo test\"]",
        "[{ run = \"a \\\\\" }]",
        "12:19 open-quote: `a \\` ends in a backslash that escapes nothing at <\\\\>",
    );
    says(
        "[\"cargo test\"]",
        "[\"# nothing\"]",
        "12:8 empty-command: `# nothing` says nothing to run at <\"# nothing\">; write a command, or leave the entry out",
    );
    says(
        "[\"cargo test\"]",
        "[{ run = [\" \", \"x\"] }]",
        "12:17 empty-command: the name of the program is blank at <\" \">; the first entry is the program, the others are its \
         arguments",
    );
    says(
        "[\"cargo test\"]",
        "[{ run = [\"x\", \"a\\u0000\"] }]",
        "12:22 nul: this argument holds a NUL character, which no command line can at <\"a\\u0000\">",
    );
    says(
        "goal =",
        "review = { command = [\"\"] }\ngoal =",
        "4:23 empty-command: the name of the program is blank at <\"\">; the first entry is the program, the others are its arguments",
    );
    says(
        "[tiers",
        "[provision]\nsetup = [\"echo 'a\"]\n[tiers",
        "8:16 open-quote: `echo 'a` has a ' that is not closed at <'>",
    );
}

#[test]
fn paths_stay_inside() {
    let provision = |keys: &str| good_but("[tiers", &format!("[provision]\n{keys}\n[tiers"));
    assert_eq!(
        only(&provision("copy = [\".env\", \"/etc/passwd\"]")),
        "8:17 absolute-path: `/etc/passwd` is an absolute path at <\"/etc/passwd\">; name a path within your checkout, from its top"
    );
    assert_eq!(
        only(&provision("expect = [\"a/../../b\", \"a/../b\"]")),
        "8:11 escaping-path: `a/../../b` leads out of the worktree at <\"a/../../b\">; name a path within the worktree, from its top"
    );
    assert_eq!(
        only(&good_but("goal =", "instructions = [\"C:/x\"]\ngoal =")),
        "4:17 absolute-path: `C:/x` is an absolute path at <\"C:/x\">; name a path within the repository, from its top"
    );
}

#[test]
fn a_plan_needs_work() {
    let start = super::GOOD.find("[[wp]]").unwrap();
    assert_eq!(
        only(&super::GOOD[..start]),
        "1:1 no-work: the plan has no work package at <version = 1>; add a `[[wp]]` table with at least `id`, `whitelist`, `dod` \
         and `brief`"
    );
}

/// Findings about a brief in `dir`, with the folder's own name left out.
fn briefs(dir: &Path, brief: &str) -> Vec<String> {
    let source = Source::new("plan.toml", good_but("brief_text = \"Rename it.\"", brief));
    let found = lines(&source, &read(&source, dir, &Layers::default()).findings);
    let here = format!("{}/", dir.display());
    found.into_iter().map(|line| line.replace(&here, "")).collect()
}

#[test]
fn briefs_are_files_beside_the_plan() {
    // A short path: a long one would be cut in the message.
    let dir = tempfile::Builder::new().prefix("b").rand_bytes(4).tempdir().unwrap();
    let dir = dir.path();
    fs::create_dir(dir.join("briefs")).unwrap();
    fs::write(dir.join("briefs/a.md"), "Do it.").unwrap();
    fs::write(dir.join("briefs/blank.md"), " \n").unwrap();
    fs::write(dir.join("briefs/bytes.md"), b"\xff\xfe").unwrap();
    fs::write(dir.join("briefs/big.md"), vec![b'a'; (1 << 20) + 1]).unwrap();
    for (brief, wanted) in [
        ("brief = \"briefs/a.md\"", ""),
        ("brief = \"./briefs/../briefs/a.md\"", ""),
        (
            "",
            "9:1 no-brief: this work package has no brief at <[[wp]]>; add `brief`, a file named from the folder of the plan file, \
             or `brief_text`",
        ),
        (
            "brief = \"briefs/a.md\"\nbrief_text = \"x\"",
            "14:1 two-briefs: the brief is given twice, as a file and as text at <brief_text>, first 13:9; leave out `brief` or \
             `brief_text`",
        ),
        (
            "brief = \"briefs/b.md\"",
            "13:9 missing-brief: there is no brief at `briefs/b.md` at <\"briefs/b.md\">; a brief is named from the folder of the \
             plan file; or write it here as `brief_text`",
        ),
        ("brief = \"briefs\"", "13:9 bad-brief: the brief `briefs` is not a file at <\"briefs\">"),
        (
            "brief = \"briefs/blank.md\"",
            "13:9 blank-brief: the brief `briefs/blank.md` is blank at <\"briefs/blank.md\">; say in it what is to be done",
        ),
        (
            "brief = \"briefs/bytes.md\"",
            "13:9 bad-brief: the brief `briefs/bytes.md` is not UTF-8 text at <\"briefs/bytes.md\">",
        ),
        (
            "brief = \"briefs/big.md\"",
            "13:9 bad-brief: the brief `briefs/big.md` is larger than 1 MiB at <\"briefs/big.md\">; let the brief name the files \
             that a worker should read",
        ),
        (
            "brief = \"/etc/passwd\"",
            "13:9 absolute-path: `/etc/passwd` is an absolute path at <\"/etc/passwd\">; name a path within the folder of the plan \
             file, from its top",
        ),
        (
            "brief = \"../a.md\"",
            "13:9 escaping-path: `../a.md` leads out of the folder of the plan file at <\"../a.md\">; name a path within the folder of \
             the plan file, from its top",
        ),
    ] {
        let wanted: Vec<&str> = Some(wanted).filter(|line| !line.is_empty()).into_iter().collect();
        assert_eq!(briefs(dir, brief), wanted, "{brief}");
    }
}

/// A pipe must not keep the reading waiting.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_brief() {
    let dir = tempfile::Builder::new().prefix("b").rand_bytes(4).tempdir().unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(
        briefs(dir.path(), "brief = \"pipe\""),
        ["13:9 bad-brief: the brief `pipe` is not a file at <\"pipe\">"]
    );
}
