//! All findings at once.

use insta::assert_snapshot;

use crate::support::plan_text::{plan, wp};
use crate::support::scratch::Scratch;

#[test]
fn every_kind_of_finding_comes_in_one_go_in_the_order_of_the_file() {
    let scratch = Scratch::repo(&[("README.md", "a\n")]);
    let text = plan(
        &("\n[[stage]]\nname = \"s\"\n".to_owned()
            + &wp("a", "src/a/**", "stage = \"s\"\nneeds = [\"c\"]\n")
            + &wp("b", "/src/b", "stage = \"s\"\nneeds = [\"a\"]\n")
            + &wp("c", "src/c[", "stage = \"s\"\nneeds = [\"b\"]\ntemplate = \"chagne\"\n")),
    )
    .replace("\"main\"", "\"mian\"")
    .replace("[\"true\"]\n\n[[stage", "[\"w\", \"{{ wp.ip }}\"]\n\n[[stage");
    scratch.write("plan.toml", text);
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.out, @r#"
    warning[unknown-base]: the base `mian` names no commit in this repository
     --> plan.toml:6:8
      |
    6 | base = "mian"
      |        ^^^^^^
      |
      = help: name a branch, a tag or a commit that is here, or fetch it first

    error[command-template]: argument 1 of the command: `wp.ip` is undefined
      --> plan.toml:12:21
       |
    12 | command = ["w", "{{ wp.ip }}"]
       |                     ^^^^^
       |
       = help: did you mean `wp.id`?

    error[cycle]: WPs wait for each other, so none of them can start: a → c → b → a
      --> plan.toml:23:10
       |
    23 | needs = ["c"]
       |          ^^^ `a` waits for `c`
    ...
    31 | needs = ["a"]
       |          --- `b` waits for `a`
    ...
    39 | needs = ["b"]
       |          --- `c` waits for `b`
       |
       = help: drop one of these entries

    error[pattern]: pattern `/src/b`: the pattern is absolute
      --> plan.toml:27:15
       |
    27 | whitelist = ["/src/b"]
       |               ^
       |
       = help: write the path relative to the root of the repository

    error[pattern]: pattern `src/c[`: `[` is not closed
      --> plan.toml:35:20
       |
    35 | whitelist = ["src/c["]
       |                    ^
       |
       = help: close it with `]`, or write `\[` for the character

    error[unknown-template]: there is no template "chagne"; there are `audit`, `change`, `consolidate`, `critic`, `scout`, and a file `.sop/templates/NAME.md.j2` makes one
      --> plan.toml:40:12
       |
    40 | template = "chagne"
       |            ^^^^^^^^
       |
       = help: did you mean `change`?

    5 errors, 1 warning in plan.toml
    "#);
}

#[test]
fn a_template_is_shown_in_its_own_file() {
    let scratch = Scratch::repo(&[]);
    let template = "# {{ wp.title }}\n\n{{ brief }}\n{{ problems }}\n\nTier: {{ wp.teir }}\n";
    scratch.write(".sop/templates/own.md.j2", template);
    scratch.write("plan.toml", plan(&wp("a", "src/a/**", "template = \"own\"\n")));
    let said = scratch.sop(&["validate"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.out, @r#"
    error[template-unknown-variable]: `wp` has no `teir`
     --> .sop/templates/own.md.j2:6:13
      |
    6 | Tier: {{ wp.teir }}
      |             ^^^^
      |
      = help: did you mean `tier`?
      = help: its keys: dod, forks, id, kind, locks, risk, tier, title, vars, whitelist

    1 error in .sop/templates/own.md.j2
    "#);
}
