//! A library that no one here wrote goes through a staged plan of 17 packages, compiled after each.

use std::path::PathBuf;
use std::process::Command;

use super::top;
use crate::support::scratch::{Said, Scratch, run};

/// A command that finds the compiler and the sources that `cargo test` itself has.
fn with_cargo(mut command: Command) -> Command {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    for (name, default) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let set = std::env::var_os(name).map(PathBuf::from);
        command.env(name, set.unwrap_or_else(|| home.join(default)));
    }
    if let Some(toolchain) = std::env::var_os("RUSTUP_TOOLCHAIN") {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    command
}

fn there(scratch: &Scratch, program: &str, args: &[&str]) -> Said {
    let mut command = with_cargo(scratch.command(program));
    run(command.current_dir(scratch.path().join("petgraph")).args(args), "")
}

#[test]
fn a_trait_is_renamed_across_petgraph_and_the_integrated_branch_builds() {
    let scratch = Scratch::folder();
    let script = top().join("plans-examples/codemod/make-repo.sh");
    let mut make = with_cargo(scratch.command("sh"));
    let made = run(make.arg(script).arg("petgraph"), "");
    assert_eq!(made.code, 0, "{}{}", made.out, made.err);
    let git = |args: &[&str]| {
        let said = there(&scratch, "git", args);
        assert_eq!(said.code, 0, "git {args:?}: {}", said.err);
        said.out
    };
    let files = git(&["ls-files"]);
    assert!(files.lines().count() >= 150, "{} files", files.lines().count());
    let before = git(&["rev-parse", "main"]) + &git(&["status", "--porcelain"]);

    let sop = env!("CARGO_BIN_EXE_sop");
    let checked = there(&scratch, sop, &["validate", "sop/plan.toml"]);
    assert!(checked.out.contains("no findings; 17 WPs in 3 stages"), "{}", checked.out);
    let said = there(&scratch, sop, &["apply", "sop/plan.toml", "--yes"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);

    let result = "sop-stage/rename-1/3";
    assert_eq!(git(&["rev-parse", "main"]) + &git(&["status", "--porcelain"]), before);
    let merges = git(&["rev-list", "--count", "--merges", &format!("main..{result}")]);
    assert_eq!(merges.trim(), "17");
    let changed = git(&["diff", "--name-only", "main", result]);
    assert!(changed.lines().count() >= 25, "{changed}");
    git(&["checkout", "--quiet", result]);
    let old = there(&scratch, "git", &["grep", "-n", "IndexType", "--", "src", "tests", "benches"]);
    assert_eq!(old.code, 1, "the old name is left: {}", old.out);
    assert!(git(&["grep", "-c", "IndexInt", "--", "src/algo"]).contains("src/algo/mod.rs"));
    let built = there(&scratch, "cargo", &["build", "--quiet"]);
    assert_eq!(built.code, 0, "{}", built.err);
}
