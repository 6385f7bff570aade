//! Commands that read, and commands that do not.

use serde_json::json;
use sop::worker::acp::reads::{only_reads, text_reads};

#[test]
fn what_agents_look_with_only_reads() {
    for line in [
        "ls -la src",
        "cat a.txt b.txt",
        "git status --short && git diff HEAD~1 -- src",
        "git --no-pager log --oneline -5",
        "grep -rn 'fn main' src | head -20",
        "rg --files -g '*.rs'",
        "sed -n 1,40p src/lib.rs",
        "find . -name '*.rs' -not -path './target/*' 2>/dev/null",
        "cd src; wc -l lib.rs 2>&1",
    ] {
        assert!(text_reads(line), "{line}");
    }
}

#[test]
fn what_could_change_something_does_not() {
    for line in [
        "",
        " ; ",
        "rm -rf .",
        "cat a > b",
        "cat a 2>/dev/nullish",
        "echo x >> b",
        "cat `rm a`",
        "cat $(rm a)",
        "ls & rm a",
        "ls\nrm a",
        "ls | tee b",
        "grep x a || rm a",
        "sed -i s/a/b/ a",
        "sed -n 'w b' a",
        "sed -n 1p -i a",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprint b",
        "git commit -am x",
        "git -c core.pager=evil log",
        "git -C ../other status",
        "git diff --output=b",
        "git grep --open-files=evil x",
        "git grep -Oevil x",
        "git show --ext-diff",
        "git branch x",
        "rg --pre evil x",
        "FOO=1 cat a",
        "/tmp/cat a",
        "sh -c 'rm a'",
        "cat 'a",
        "{ rm a; }",
    ] {
        assert!(!text_reads(line), "{line}");
    }
}

#[test]
fn a_command_may_come_as_words_or_in_a_shell() {
    assert!(only_reads(&json!({ "command": "cat a" })));
    assert!(only_reads(&json!({ "cmd": "cat a" })));
    assert!(only_reads(&json!({ "command": ["/bin/bash", "-lc", "cat a | head -1"] })));
    assert!(only_reads(&json!({ "command": ["cat", "a > b"] })));
    assert!(!only_reads(&json!({ "command": ["bash", "-lc", "cat a > b"] })));
    assert!(!only_reads(&json!({ "command": ["bash", "script.sh"] })));
    assert!(!only_reads(&json!({ "command": ["rm", "a"] })));
    assert!(!only_reads(&json!({ "command": [7] })));
    assert!(!only_reads(&json!({})));
    assert!(!only_reads(&json!(null)));
}
