//! `sop completions` and `sop man`, through the binary.

use std::fs;
use std::process::Command;

use crate::support::scratch::Scratch;

#[test]
fn every_shell_gets_completions_that_name_the_verbs() {
    let scratch = Scratch::folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = scratch.sop(&["completions", shell]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{shell}");
        for verb in ["validate", "apply", "resume", "completions"] {
            assert!(said.out.contains(verb), "{shell} does not know {verb}");
        }
    }
    assert_eq!(scratch.sop(&["completions", "tcsh"]).code, 2);
}

#[test]
fn bash_itself_completes_with_them() {
    let scratch = Scratch::folder();
    let script = scratch.sop(&["completions", "bash"]).out;
    let ask = "COMP_WORDS=(sop app); COMP_CWORD=1; _sop sop app sop; echo \"${COMPREPLY[@]}\"";
    let bash = Command::new("bash").arg("-c").arg(format!("{script}\n{ask}")).output();
    let bash = bash.expect("bash is there");
    assert_eq!(String::from_utf8_lossy(&bash.stdout).trim(), "apply", "{bash:?}");
}

#[test]
fn the_manual_is_one_page_or_one_for_each_verb() {
    let scratch = Scratch::folder();
    let said = scratch.sop(&["man"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains(".TH sop 1") && said.out.contains("sop\\-apply(1)"), "{}", said.out);

    let folder = scratch.path().join("man/man1");
    let said = scratch.sop(&["man", "--dir", "man/man1"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    let page = fs::read_to_string(folder.join("sop-apply.1")).expect("a page for a verb");
    assert!(page.contains("SYNOPSIS") && page.contains("\\-\\-yes"), "{page}");
    assert!(folder.join("sop.1").exists());
}
