//! Words of a plan within sentences for people.

use serde_json::Value;

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

/// A list of names, cut where there are very many.
#[must_use]
pub fn known(names: &[String], last: &str) -> String {
    let names = names.iter().map(String::as_str);
    match names.len() {
        0..=12 => list(names, last),
        many => {
            let first: Vec<String> = names.take(10).map(quoted).collect();
            format!("{} {last} {} more", first.join(", "), many - 10)
        }
    }
}

/// Which names there are: a sentence, or part of one.
#[must_use]
pub fn there_are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("there {verb} {}", known(names, "and"))
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
