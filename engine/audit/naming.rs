//! Names for work packages, made of paths.

/// `text` as part of an id: lower case letters, digits and single dashes, at most `most` of them. Empty where
/// nothing of it can be one.
#[must_use]
pub fn slug(text: &str, most: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_end_matches('-');
    // It is ASCII: any byte is a place to cut. The end of a path says more than its beginning.
    let from = out.len().saturating_sub(most);
    match out[from..].find('-').filter(|_| from > 0) {
        // No word is cut in two, where there is more than one.
        Some(at) if at + 1 < most && out.as_bytes()[from - 1] != b'-' => {
            out[from + at + 1..].to_owned()
        }
        _ => out[from..].trim_start_matches('-').to_owned(),
    }
}

/// `head` and, where there is one, the slug of `text` after a dash.
#[must_use]
pub fn id(head: &str, text: &str) -> String {
    match slug(text, 32) {
        slug if slug.is_empty() => head.to_owned(),
        slug => format!("{head}-{slug}"),
    }
}
