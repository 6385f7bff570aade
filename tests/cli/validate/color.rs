//! Colours: `--color` decides, else `NO_COLOR` and the terminal do.

use crate::support::plan_text::two;
use crate::support::scratch::{Scratch, has_tool, run};

fn wrong() -> Scratch {
    let scratch = Scratch::repo(&[]);
    scratch.write("plan.toml", two().replace("goal", "gaol"));
    scratch
}

#[test]
fn a_pipe_gets_none_unless_asked_for() {
    let scratch = wrong();
    let colored = |env: &[(&str, &str)], args: &[&str]| {
        let said = scratch.sop_with(env, args);
        assert_eq!(said.code, 1);
        said.out.contains('\u{1b}')
    };
    assert!(!colored(&[], &["validate"]));
    assert!(!colored(&[("TERM", "xterm-256color")], &["validate", "--color", "auto"]));
    assert!(colored(&[], &["validate", "--color", "always"]));
    assert!(colored(&[], &["--color=always", "validate"]));
    assert!(colored(&[("NO_COLOR", "1")], &["validate", "--color", "always"]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1")], &["validate", "--color", "never"]));
    assert!(colored(&[("CLICOLOR_FORCE", "1")], &["validate"]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &["validate"]));
}

/// `script` gives the process a real terminal.
#[test]
fn a_terminal_gets_them_unless_no_color_is_set() {
    let scratch = wrong();
    if !has_tool("script", "it comes with util-linux") {
        return;
    }
    let line = format!("{} validate", env!("CARGO_BIN_EXE_sop"));
    let on_terminal = |env: &[(&str, &str)]| {
        let mut command = scratch.command("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm-256color");
        run(command.envs(env.iter().copied()), "").out
    };
    let colored = on_terminal(&[]);
    assert!(colored.contains("\u{1b}["), "{colored:?}");
    let plain = on_terminal(&[("NO_COLOR", "1")]);
    assert!(plain.contains("error") && !plain.contains("\u{1b}["), "{plain:?}");
    let dumb = on_terminal(&[("TERM", "dumb")]);
    assert!(dumb.contains("error") && !dumb.contains("\u{1b}["), "{dumb:?}");
}
