//! Plans of any size.

use std::fmt::Write;

/// An independent plan of `count` WPs whose worker does nothing, `parallel` at a time.
pub fn nothing_to_do(count: usize, parallel: usize) -> String {
    let mut text = head("true-work", parallel, r#"["true"]"#);
    for n in 0..count {
        wp(&mut text, n, r#"dod = ["true"]"#);
        text.push_str("allow_empty = true\n");
    }
    text
}

/// A plan as people write them: stages, three patterns a WP with a subtraction, two DoD commands, a brief of some
/// lines. All WPs of a stage are compared with each other for overlap.
pub fn realistic(count: usize) -> String {
    let mut text = head("realistic", 8, r#"["scripts/work.sh", "{{ wp.id }}"]"#);
    if count > 1 {
        text.push_str("[[stage]]\nname = \"foundation\"\n\n");
    }
    text.push_str("[[stage]]\nname = \"features\"\n");
    for n in 0..count {
        let stage = if n < count.div_ceil(10) && count > 1 { "foundation" } else { "features" };
        write!(
            text,
            r#"
[[wp]]
id = "wp-{n}"
stage = "{stage}"
title = "Move module {n} to the new client"
risk = "medium"
whitelist = ["src/module{n}/**", "tests/module{n}/*.rs", "!src/module{n}/legacy/**"]
dod = ["cargo check -q -p module{n}", {{ run = "cargo test -p module{n}", timeout = "5m" }}]
brief_text = """
Module {n} still calls the old client. Replace each call by its new counterpart,
keep the public functions as they are, and extend the tests where a branch is new.
"""
"#
        )
        .expect("a string takes everything");
    }
    text
}

/// An independent plan of `count` WPs with this worker command, all at once.
pub fn scripted(count: usize, command: &str) -> String {
    let mut text = head("scripted", count, command);
    for n in 0..count {
        wp(&mut text, n, r#"dod = ["true"]"#);
    }
    text
}

fn head(name: &str, parallel: usize, command: &str) -> String {
    format!(
        r#"version = 1

[plan]
name = "{name}"
goal = "Measure."
base = "main"
max_parallel = {parallel}

[tiers.standard]
worker = "script"

[workers.script]
command = {command}

"#
    )
}

fn wp(text: &mut String, n: usize, dod: &str) {
    write!(
        text,
        r#"
[[wp]]
id = "wp-{n}"
title = "Package {n}"
whitelist = ["work/{n}/**"]
{dod}
brief_text = "Do {n}."
"#
    )
    .expect("a string takes everything");
}
