//! What each rule is about and how to keep it, for readers of a finding who do not have the manual at
//! hand. A test holds the list to the codes that the rooms use.

/// A rule, by the code its findings carry.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable kebab-case name.
    pub code: &'static str,
    /// What it asks, in one sentence.
    pub about: &'static str,
    /// Why it asks, and how to mend it.
    pub help: &'static str,
}

/// The rule of this code.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}

/// Every rule, by name.
pub const RULES: &[Rule] = &[];
