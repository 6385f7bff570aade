//! What plans, workers and file names say reaches a terminal as text and as nothing else (case 20, and
//! everything that is shown beside file names).

use super::case::Case;
use crate::support::scratch::{Said, has_tool, run};

/// A clear screen, a window title, a question that the terminal would answer into the shell, a C1 control,
/// a turned text, a backspace, and a line that would pass for one of `sop`'s own.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;OWNED\u{7}\u{1b}[6n\u{9b}31m\u{202e}drow\u{8}\r\nFAKE ok";

/// As it is written in TOML.
fn toml(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() || c == '\u{202e}' {
                format!("\\u{:04X}", u32::from(c))
            } else {
                c.into()
            }
        })
        .collect()
}

/// A plan in which everything that may be free text is hostile, and whose work fails with hostile words.
fn hostile() -> Case {
    let evil = toml(EVIL);
    let script = "printf 'said \\033[2J\\033]0;OWNED\\007\\033[6n\\302\\233\\342\\200\\256\\010\\rx\\nFAKE ok\\n'\n\
         mkdir -p src; echo x > \"src/$(printf 'in \\033[2J\\nFAKE ok')\"\n\
         echo x > \"$(printf 'out \\033[2J\\007\\342\\200\\256\\377\\nFAKE ok')\"; echo x > ./-rf";
    let dod = "printf 'dod \\\\033]0;OWNED\\\\007\\\\nFAKE ok\\\\n'; test ! -e src";
    let title = format!("title = \"T{evil}\"\ndod = [\"{dod}\"]\nrounds = 1");
    let late = format!(
        "title = \"{evil}\"\ndod = [\"printf 'dod \\\\033]0;OWNED\\\\007\\\\nFAKE ok\\\\n'; test ! -e late; : \\u001B[2J\\u202E\"]"
    );
    Case::new(&[("README", "r\n")])
        .wp("a", "src/**", script, &title)
        .wp("b", "late/**", "mkdir late; echo x > late/x", &late)
        .wp("c", "fine/**", "mkdir fine; echo x > \"fine/$(printf 'a\\033[2J\\nFAKE ok')\"", "")
}

/// Nothing foreign in what was printed, once the colours that are `sop`'s own are taken out.
fn clean(what: &str, text: &str) {
    let mut rest = String::new();
    let mut pieces = text.split("\u{1b}[");
    rest.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';');
        let (code, after) = piece.split_at(end.unwrap_or(piece.len()));
        assert!(after.starts_with('m'), "{what}: \\e[{code}{after:.20?} is no colour\n{text:?}");
        rest.push_str(&after[1..]);
    }
    for c in rest.chars() {
        assert!(c == '\n' || !c.is_control() && c != '\u{202e}', "{what}: {c:?} in\n{rest:?}");
    }
    assert!(!rest.lines().any(|line| line.starts_with("FAKE")), "{what}: a forged line in\n{rest}");
}

#[test]
fn nothing_foreign_reaches_a_pipe() {
    let case = hostile();
    let junit = case.outside().join("junit.xml");
    let svg = case.outside().join("run.svg");
    let plan = case.written();
    let plan = plan.to_str().expect("a path");
    let text = std::fs::read_to_string(plan)
        .expect("the plan")
        .replace("goal = \"g\"", &format!("goal = \"G{}\"", toml(EVIL)));
    std::fs::write(plan, text).expect("the plan");
    let files =
        ["--junit", junit.to_str().expect("a path"), "--svg", svg.to_str().expect("a path")];
    let said =
        case.scratch.sop(&[&["--color", "always", "apply", plan, "--yes"], &files[..]].concat());
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    clean("apply", &said.out);
    clean("apply", &said.err);
    assert!(said.out.contains("\\xff"), "the name is shown, escaped: {}", said.out);
    for args in [
        &["status"][..],
        &["status", "--summary"],
        &["resume"],
        &["plan", plan],
        &["validate", plan],
        &["graph", plan],
        &["wait", "a", "--until", "passed", "--timeout", "1s"],
        &["retry", "a\u{1b}[2J"],
        &["logs", "a", "--step", "\u{1b}[2J"],
        &["status", "\u{1b}]0;OWNED\u{7}"],
        &["validate", "\u{1b}[2J.toml"],
    ] {
        let said = case.scratch.sop(&[&["--color", "always"], args].concat());
        clean(&format!("{args:?}"), &said.out);
        clean(&format!("{args:?}"), &said.err);
        assert!(!(said.out + &said.err).is_empty(), "{args:?}");
    }
    for file in [&junit, &svg] {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        clean(&file.display().to_string(), &text);
    }
}

#[test]
fn json_stays_json() {
    let case = hostile();
    let said = run(&mut case.command(&["--json"]), "");
    assert_eq!(said.code, 3, "{}", said.err);
    json_lines("apply", &said);
    let seen: Vec<u64> = said
        .out
        .lines()
        .map(|l| {
            serde_json::from_str::<serde_json::Value>(l).expect("JSON")["seq"]
                .as_u64()
                .expect("a number")
        })
        .collect();
    assert!(
        seen.iter().copied().eq(1..=seen.len() as u64),
        "the whole run, from its first record: {seen:?}"
    );
    for args in [
        &["status", "--json"][..],
        &["logs", "a", "--json"],
        &["wait", "a", "--until", "passed", "--timeout", "1s", "--json"],
    ] {
        let said = case.scratch.sop(args);
        let foreign = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!said.out.chars().any(foreign), "{args:?}: {:?}", said.out);
        let values = serde_json::Deserializer::from_str(&said.out).into_iter::<serde_json::Value>();
        let values: Vec<_> = values.map(|value| value.expect("JSON")).collect();
        assert!(!values.is_empty(), "{args:?}");
    }
}

fn json_lines(what: &str, said: &Said) {
    for line in said.out.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect(what);
        assert!(value["event"].is_string(), "{line}");
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
}

#[test]
fn nothing_foreign_reaches_a_terminal() {
    if !has_tool("script", "util-linux") {
        return;
    }
    let case = hostile();
    let sop = env!("CARGO_BIN_EXE_sop");
    let apply = format!("'{sop}' apply '{}' --yes", case.written().display());
    for line in
        [apply, format!("'{sop}' status"), format!("'{sop}' logs a"), format!("'{sop}' resume")]
    {
        let mut script = case.scratch.command("script");
        script.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        let said = run(script.args(["-qec", &line, "/dev/null"]), "");
        for foreign in
            ["\u{1b}[2J", "\u{1b}]0;", "\u{7}", "\u{1b}[6n", "\u{9b}", "\u{202e}", "\u{8}"]
        {
            assert!(!said.out.contains(foreign), "{line}: {foreign:?} in\n{:?}", said.out);
        }
        assert!(
            !said.out.lines().any(|line| line.trim_start().starts_with("FAKE"))
                || line.contains("logs"),
            "{line}: {}",
            said.out
        );
    }
}

#[test]
fn case_20_odd_names_are_matched_by_bytes_and_committed_as_they_are() {
    let script = "mkdir src; cd src\n\
         for n in 'a b' \"$(printf 'new\\nline')\" 'quo\"te' \"it's\" -rf '$(touch pwned)' '*' \"$(printf 'bad\\377')\" Twin twin 'é' .dot '\\\\n'; do\n\
         echo \"$n\" > \"./$n\"; done";
    let case = Case::new(&[("README", "r\n")])
        .wp(
            "a",
            "src/**",
            script,
            "stage = \"s\"\ndod = [\"test 13 = $(find src -type f -printf x | wc -c)\"]",
        )
        .tables("[[stage]]\nname = \"s\"\n");
    let ran = case.apply().expect(0);
    assert_eq!(ran.about("scope_checked", "a")[0]["changed"], 13);
    clean("apply", &ran.said.out);
    let mut git = case.scratch.command("git");
    git.args(["ls-tree", "-r", "-z", "--name-only", "sop-stage/case-1/1", "src/"]);
    let output = git.output().expect("git");
    let names: Vec<&[u8]> =
        output.stdout.split(|b| *b == 0).filter(|name| !name.is_empty()).collect();
    let expected: [&[u8]; 13] = [
        b"src/$(touch pwned)",
        b"src/*",
        b"src/-rf",
        b"src/.dot",
        b"src/Twin",
        b"src/\\\\n",
        b"src/a b",
        b"src/bad\xff",
        b"src/it's",
        b"src/new\nline",
        b"src/quo\"te",
        b"src/twin",
        "src/é".as_bytes(),
    ];
    assert_eq!(names, expected);
}
