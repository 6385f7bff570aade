//! Command lines: which run without a shell, and which are none.

use sop::model::plan::Command;
use sop::plan::command::{CommandError, parse};

#[track_caller]
fn argv(line: &str, words: &[&str]) {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(parse(line), Ok(Command::Argv(words)), "{line}");
}

#[test]
fn a_line_without_shell_syntax_is_split_into_words() {
    argv("npm test -- client", &["npm", "test", "--", "client"]);
    argv("  cargo  test \n", &["cargo", "test"]);
    argv("grep -q 'a | b' \"x y\"", &["grep", "-q", "a | b", "x y"]);
    argv(r"grep a\ b", &["grep", "a b"]);
    argv(r#"say "it's" 'so "so"' "" end"#, &["say", "it's", "so \"so\"", "", "end"]);
    argv("cc --std=c99 -DA=1", &["cc", "--std=c99", "-DA=1"]);
    argv(r#"echo "a\"b" \$HOME '$HOME'"#, &["echo", "a\"b", "$HOME", "$HOME"]);
    argv("test -f a,b:c@d%e+f^g", &["test", "-f", "a,b:c@d%e+f^g"]);
}

#[test]
fn a_line_that_a_shell_would_read_otherwise_goes_to_a_shell() {
    for line in [
        "a | b",
        "a && b",
        "a; b",
        "a > f",
        "a < f",
        "a &",
        "(a)",
        "{ a; }",
        "echo $HOME",
        "echo \"$HOME\"",
        "echo `a`",
        "echo \"`a`\"",
        "ls *.rs",
        "ls a?",
        "ls [ab]",
        "ls {a,b}",
        "ls ~",
        "! a",
        "a # b",
        "A=1 b",
        "a\nb",
        "a \\\n b",
        "\"a\\\nb\"",
        "cd x",
        "exit 0",
        "export A",
        ". ./env",
        ": x",
        "[ -f x ]",
        "if true",
        "\"\" x",
        "echo $(it's)",
        "cat <<E\nit's\nE",
    ] {
        assert_eq!(parse(line), Ok(Command::Shell(line.to_owned())), "{line}");
    }
}

#[test]
fn what_is_no_command_is_refused_with_its_place() {
    assert_eq!(parse(""), Err(CommandError::Empty));
    assert_eq!(parse(" \n # only a comment\n"), Err(CommandError::Empty));
    assert_eq!(parse("a\0b"), Err(CommandError::Nul));
    assert_eq!(parse(" echo it's"), Err(CommandError::Quote { quote: '\'', at: 8..9 }));
    assert_eq!(parse("a \"b\\\""), Err(CommandError::Quote { quote: '"', at: 2..3 }));
    assert_eq!(parse("a && echo 'b"), Err(CommandError::Quote { quote: '\'', at: 10..11 }));
    assert_eq!(parse("a \\"), Err(CommandError::Backslash { at: 2..3 }));
    // An apostrophe in a comment opens nothing.
    assert_eq!(parse("a # it's"), Ok(Command::Shell("a # it's".to_owned())));
}

/// What is run without a shell is what a shell would have run.
#[test]
fn words_are_those_of_the_shell() {
    for line in [
        r#"printf '%s\n' a 'b c' "d e" f\ g h"i"'j' "" 'k"l' "m'n" "o\"p" "q\\r" "s\t""#,
        r"printf '%s\n' a=b --c=d e:f g,h %i +j @k ^l m\'n \\ \# \; -",
        "printf\t'%s\\n' 'tab\there'   spaced  'é 😀'",
    ] {
        let Ok(Command::Argv(words)) = parse(line) else {
            panic!("{line} needs no shell");
        };
        let run = |command: &mut std::process::Command| command.output().unwrap().stdout;
        let alone = run(std::process::Command::new(&words[0]).args(&words[1..]));
        let shell = run(std::process::Command::new("sh").arg("-c").arg(line));
        assert_eq!(String::from_utf8(alone), String::from_utf8(shell), "{line}");
    }
}
