//! Plan files as text, small and right, to be made wrong in one place.

/// A plan with a tier, a worker, and what `rest` adds: `[[wp]]` and `[[stage]]` tables.
pub fn plan(rest: &str) -> String {
    format!(
        r#"version = 1

[plan]
name = "small"
goal = "Try it."
base = "main"

[tiers.standard]
worker = "script"

[workers.script]
command = ["true"]
{rest}"#
    )
}

/// A `[[wp]]` table; `more` holds further keys, one a line.
pub fn wp(id: &str, whitelist: &str, more: &str) -> String {
    format!(
        r#"
[[wp]]
id = "{id}"
whitelist = ["{whitelist}"]
dod = ["true"]
brief_text = "Do {id}."
{more}"#
    )
}

/// Two WPs that have nothing to do with each other.
pub fn two() -> String {
    plan(&(wp("a", "src/a/**", "") + &wp("b", "src/b/**", "")))
}
