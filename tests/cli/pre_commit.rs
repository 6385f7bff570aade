//! `.pre-commit-hooks.yaml`, with the real `pre-commit` on a scratch repository.
//!
//! `language: rust` would build the whole crate from the network, so the hooks run as `repo: local` with
//! `language: system` and the binary that is under test; id, entry, files and types are read from our file.

use std::path::Path;

use crate::support::plan_text::two;
use crate::support::scratch::{Said, Scratch, has_tool, run};

const HOOKS: &str = include_str!("../../.pre-commit-hooks.yaml");

/// Our hooks as a configuration of their own: the same lines, two levels deeper, in another language.
fn config() -> String {
    let mut config = "repos:\n  - repo: local\n    hooks:\n".to_owned();
    let mut languages = 0;
    for line in HOOKS.lines().filter(|line| !line.trim().is_empty()) {
        let line = match line.trim_start().strip_prefix("language:") {
            Some(language) => {
                assert_eq!(language.trim(), "rust", "pre-commit builds sop with cargo");
                languages += 1;
                line.replace("rust", "system")
            }
            None => line.to_owned(),
        };
        config.push_str(&format!("      {line}\n"));
    }
    assert_eq!(languages, 2, "every hook says how it is built");
    config
}

struct Hooked {
    scratch: Scratch,
    path: String,
}

impl Hooked {
    /// A repository with the hooks installed; `None` when there is no `pre-commit` here.
    fn new() -> Option<Self> {
        if !has_tool("pre-commit", "pip install pre-commit") {
            return None;
        }
        let scratch = Scratch::repo(&[("README.md", "a\n")]);
        scratch.write(".pre-commit-config.yaml", config());
        let folder = Path::new(env!("CARGO_BIN_EXE_sop")).parent().expect("a folder");
        let rest = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{rest}", folder.display());
        let hooked = Self { scratch, path };
        let said = hooked.run(&["pre-commit", "install"]);
        assert_eq!(said.code, 0, "{}", said.out);
        hooked.scratch.git(&["add", "--all"]);
        Some(hooked)
    }

    fn run(&self, args: &[&str]) -> Said {
        let mut command = self.scratch.command(args[0]);
        command.args(&args[1..]).env("PATH", &self.path);
        run(&mut command, "")
    }

    /// Commits what is staged, through git and so through its hook.
    fn commit(&self) -> Said {
        self.scratch.git(&["add", "--all"]);
        let mut said = self.run(&["git", "commit", "-m", "a plan"]);
        said.out.push_str(&said.err);
        said
    }
}

#[test]
fn the_hooks_are_what_pre_commit_takes_for_a_manifest() {
    if !has_tool("pre-commit", "pip install pre-commit") {
        return;
    }
    let scratch = Scratch::folder();
    let check = |manifest: &str| {
        scratch.write("hooks.yaml", manifest);
        run(scratch.command("pre-commit").args(["validate-manifest", "hooks.yaml"]), "")
    };
    let said = check(HOOKS);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let said = check(&HOOKS.replacen("entry: ", "entri: ", 1));
    assert_eq!(said.code, 1, "one that lacks an entry is refused: {}{}", said.out, said.err);
}

#[test]
fn a_good_plan_is_committed_and_a_bad_one_is_not() {
    let Some(hooked) = Hooked::new() else { return };
    let scratch = &hooked.scratch;
    scratch.write("plan.toml", two());
    let said = hooked.commit();
    assert_eq!(said.code, 0, "{}", said.out);
    for hook in ["validate sop plans", "render the briefs of sop plans"] {
        let line = said.out.lines().find(|line| line.starts_with(hook));
        assert!(line.is_some_and(|line| line.ends_with("Passed")), "{hook}: {}", said.out);
    }

    let before = scratch.git(&["rev-parse", "HEAD"]);
    scratch.write("plans/settings.plan.toml", two().replace("\"src/b/**\"", "\"/src/b/**\""));
    let said = hooked.commit();
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("plans/settings.plan.toml:22:15"), "{}", said.out);
    assert_eq!(scratch.git(&["rev-parse", "HEAD"]), before);
}

#[test]
fn a_template_that_asks_for_what_is_not_there_is_not_committed() {
    let Some(hooked) = Hooked::new() else { return };
    let template = "{{ brief }}{{ problems }}{{ wp.teir }}\n";
    hooked.scratch.write(".sop/templates/change.md.j2", template);
    hooked.scratch.write("plan.toml", two());
    let said = hooked.commit();
    assert_eq!(said.code, 1, "{}", said.out);
    let line = said.out.lines().find(|line| line.starts_with("render the briefs"));
    assert!(line.is_some_and(|line| line.ends_with("Failed")), "{}", said.out);
}

#[test]
fn other_files_are_left_alone() {
    let Some(hooked) = Hooked::new() else { return };
    hooked.scratch.write("Cargo.toml", "[package]\n");
    hooked.scratch.write("plan.toml.md", "x\n");
    hooked.scratch.write("explan.toml", "x = 1\n");
    let said = hooked.commit();
    assert_eq!(said.code, 0, "{}", said.out);
    assert_eq!(said.out.matches("Skipped").count(), 2, "{}", said.out);
}
