//! Words of a plan within sentences for people.

use serde_json::Value;

use super::stand_in::is_nameless;

/// Longest text that is quoted whole, in characters.
const LONGEST: usize = 60;

/// A text of the plan, quoted: control characters escaped, and cut where it is long.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(LONGEST) {
        match c.is_control()
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
        {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    let more = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("`{shown}{more}`")
}

/// A list: `` `a`, `b` or `c` ``.
pub fn list<'a>(words: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// Those of the names that a person gave.
fn given(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str).filter(|name| !is_nameless(name))
}

/// A list of names, cut where there are very many. Empty where nobody has given one.
#[must_use]
pub fn known(names: &[String], last: &str) -> String {
    match given(names).count() {
        0..=12 => list(given(names), last),
        many => {
            let first: Vec<String> = given(names).take(10).map(quoted).collect();
            format!("{} {last} {} more", first.join(", "), many - 10)
        }
    }
}

/// Which names there are: a sentence, or part of one. `None` where nobody has given one.
#[must_use]
pub fn there_are(names: &[String]) -> Option<String> {
    let verb = match given(names).take(2).count() {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    Some(format!("there {verb} {}", known(names, "and")))
}

/// A value as it is written in TOML on one line.
#[must_use]
pub fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        // Strings, numbers and booleans are written alike in JSON and TOML.
        other => other.to_string(),
    }
}
