//! Names that stand in for those that are missing, or are no names, in a plan that is wrong. They keep the rest
//! of it readable. Nobody is shown one: whatever is said of a plan is said in its own words.

/// How they begin.
const START: &str = "unnamed--";

/// A name that stands in for the one of `what`, which tells it from the others.
#[must_use]
pub fn nameless(what: &str) -> String {
    let what = what.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let mut name = format!("{START}{what}");
    // An id has a length; the end tells two apart.
    if let Some(over) = name.len().checked_sub(crate::model::ids::MAX_LEN) {
        name.replace_range(START.len()..START.len() + over, "");
    }
    name
}

/// Whether it is such a name.
#[must_use]
pub fn is_nameless(name: &str) -> bool {
    name.starts_with(START)
}
