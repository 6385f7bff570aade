//! JSON pointers (RFC 6901), by which the parts of a plan are named: `/wp/3/whitelist/1`.

use std::borrow::Cow;
use std::fmt::Display;

/// The parts of a pointer, unescaped. A pointer without a leading slash has no parts.
pub fn parts(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(|part| match part.contains('~') {
        true => Cow::Owned(part.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(part),
    })
}

/// `pointer` and one more part.
#[must_use]
pub fn join(pointer: &str, part: impl Display) -> String {
    let part = part.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{part}")
}

/// The pointer to what holds this one; `None` for the root.
#[must_use]
pub fn parent(pointer: &str) -> Option<&str> {
    pointer.rfind('/').map(|cut| &pointer[..cut])
}

/// The pointer itself, then what holds it, and so on up to the root.
pub fn ancestors(pointer: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(pointer), |at| parent(at))
}
