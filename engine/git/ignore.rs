//! Ignore rules of one commit: only its own `.gitignore` files, never `info/exclude`, a configured
//! exclude file, or what a worker wrote into a `.gitignore` since.

use std::collections::HashMap;

use bstr::{BStr, BString, ByteSlice};

use super::wildmatch;

/// One line of a `.gitignore`.
#[derive(Debug, Clone)]
struct Rule {
    pattern: Vec<u8>,
    /// How much of the pattern is plain text. A rule with an inner slash matches this part first and the rest as
    /// a pattern of its own: `a**/b` therefore holds `a/x/b`, as it does for git.
    literal: usize,
    negated: bool,
    only_folders: bool,
    /// Has no inner slash, so it is held against the last part of a path at any depth.
    by_name: bool,
}

/// The rules of a whole tree, by the folder that holds each file (`""` is the top).
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules {
    by_folder: HashMap<BString, Vec<Rule>>,
}

impl IgnoreRules {
    /// Adds the `.gitignore` of a folder, given relative to the top.
    pub fn add(&mut self, folder: &BStr, content: &[u8]) {
        let rules = parse(content);
        if !rules.is_empty() {
            self.by_folder.insert(folder.to_owned(), rules);
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_folder.is_empty()
    }

    /// Whether a path is ignored, given that no folder above it is. `is_folder`: what stands there.
    #[must_use]
    pub fn ignores_here(&self, path: &BStr, is_folder: bool) -> bool {
        if self.by_folder.is_empty() {
            return false;
        }
        let mut end = path.rfind_byte(b'/');
        let name = &path[end.map_or(0, |end| end + 1)..];
        loop {
            let folder = &path[..end.unwrap_or(0)];
            let relative = &path[end.map_or(0, |end| end + 1)..];
            if let Some(rules) = self.by_folder.get(folder.as_bstr())
                && let Some(rule) =
                    rules.iter().rev().find(|rule| rule.matches(relative, name, is_folder))
            {
                return !rule.negated;
            }
            match end {
                None => return false,
                Some(at) => end = path[..at].rfind_byte(b'/'),
            }
        }
    }

    /// Whether a path is ignored, itself or through a folder above it.
    #[must_use]
    pub fn ignores(&self, path: &BStr, is_folder: bool) -> bool {
        let mut folders = path.find_iter("/").map(|at| &path[..at]);
        folders.any(|folder| self.ignores_here(folder.as_bstr(), true))
            || self.ignores_here(path, is_folder)
    }
}

impl Rule {
    fn matches(&self, relative: &[u8], name: &[u8], is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        if self.by_name {
            return wildmatch::matches(&self.pattern, name, false);
        }
        let (literal, rest) = self.pattern.split_at(self.literal);
        relative.strip_prefix(literal).is_some_and(|text| wildmatch::matches(rest, text, true))
    }
}

fn parse(content: &[u8]) -> Vec<Rule> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    content
        .split(|b| *b == b'\n')
        .filter_map(|line| rule(line.strip_suffix(b"\r").unwrap_or(line)))
        .collect()
}

fn rule(line: &[u8]) -> Option<Rule> {
    let line = line.split(|b| *b == 0).next()?;
    if line.starts_with(b"#") {
        return None;
    }
    let line = trim_trailing_spaces(line);
    let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
    let (only_folders, line) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
    let by_name = !line.contains(&b'/');
    let pattern = line.strip_prefix(b"/").unwrap_or(line).to_vec();
    let literal = pattern.iter().position(|b| b"*?[\\".contains(b)).unwrap_or(pattern.len());
    (!line.is_empty()).then_some(Rule { literal, pattern, negated, only_folders, by_name })
}

/// Spaces at the end do not count, unless a backslash keeps them.
fn trim_trailing_spaces(line: &[u8]) -> &[u8] {
    let (mut kept, mut escaped) = (0, false);
    for (at, byte) in line.iter().enumerate() {
        if escaped || *byte != b' ' {
            kept = at + 1;
        }
        escaped = !escaped && *byte == b'\\';
    }
    &line[..kept]
}
