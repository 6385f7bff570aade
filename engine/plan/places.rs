//! Where in the file each part of a plan stands, by JSON pointer.
//!
//! Spans are wanted only for findings, and a good plan has none: the index is made when the first
//! one is asked for.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use toml::de::{DeTable, DeValue};

use super::{literal, pointer};

/// Byte ranges of the keys and values of one plan file.
///
/// The value of a table with a header of its own (`[tiers.light]`, `[[wp]]`) is that header. A table
/// that only its children imply stands where its name is first written. The whole file (`""`) is its
/// first place.
#[derive(Debug)]
pub struct Places {
    text: String,
    root: OnceLock<Node>,
    renamed: HashMap<String, String>,
}

#[derive(Debug)]
struct Node {
    key: Option<Range<usize>>,
    value: Range<usize>,
    inside: Inside,
}

#[derive(Debug)]
enum Inside {
    Table(BTreeMap<String, Node>),
    Array(Vec<Node>),
    Nothing,
}

impl Places {
    /// The places of a text that is TOML. Of any other text, those that can be made out.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), root: OnceLock::new(), renamed: HashMap::new() }
    }

    /// Says that what stands at `written` is read as if it stood at `name`.
    pub fn rename(&mut self, name: String, written: String) {
        self.renamed.insert(name, written);
    }

    /// Where the value stands.
    #[must_use]
    pub fn value(&self, pointer: &str) -> Option<Range<usize>> {
        self.node(pointer).map(|node| node.value.clone())
    }

    /// Where the key stands. An element of an array has none.
    #[must_use]
    pub fn key(&self, pointer: &str) -> Option<Range<usize>> {
        self.node(pointer)?.key.clone()
    }

    /// Where the bytes `range` of a string's value stand in the file: quotes and escapes are stepped
    /// over. `None` when the value is not a string, or is not as long as that.
    #[must_use]
    pub fn inside(&self, pointer: &str, range: Range<usize>) -> Option<Range<usize>> {
        let span = self.value(pointer)?;
        let within = literal::locate(self.text.get(span.clone())?, range)?;
        Some(span.start + within.start..span.start + within.end)
    }

    /// The value, where it is a string.
    #[must_use]
    pub fn text(&self, pointer: &str) -> Option<String> {
        let span = self.value(pointer)?;
        let value = DeValue::parse(self.text.get(span)?).ok()?;
        value.get_ref().as_str().map(str::to_owned)
    }

    /// Where the value stands, or else whatever holds it.
    #[must_use]
    pub fn nearest(&self, pointer: &str) -> Range<usize> {
        pointer::ancestors(pointer).find_map(|at| self.value(at)).unwrap_or(0..0)
    }

    /// The pointer by the name that it, or the nearest that holds it, is written under, if that is another.
    fn written(&self, pointer: &str) -> Option<String> {
        pointer::ancestors(pointer).find_map(|at| {
            let written = self.renamed.get(at)?;
            Some(format!("{written}{}", &pointer[at.len()..]))
        })
    }

    fn node(&self, pointer: &str) -> Option<&Node> {
        let mut pointer = Cow::Borrowed(pointer);
        // What was read under another name may hold more that was. No plan is as deep as that.
        for _ in 0..8 {
            let Some(written) = self.written(&pointer) else { break };
            pointer = Cow::Owned(written);
        }
        let mut node = self.root.get_or_init(|| index(&self.text));
        for part in pointer::parts(&pointer) {
            node = match &node.inside {
                Inside::Table(entries) => entries.get(part.as_ref())?,
                Inside::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                Inside::Nothing => return None,
            };
        }
        Some(node)
    }
}

fn index(text: &str) -> Node {
    let (root, _) = DeTable::parse_recoverable(text);
    // The root has no span of its own: the first line stands for it.
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let line = text[start..].find(['\r', '\n']).unwrap_or(text.len() - start);
    Node { key: None, value: start..start + line, inside: Inside::Table(entries(root.get_ref())) }
}

fn entries(table: &DeTable<'_>) -> BTreeMap<String, Node> {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        (key.get_ref().to_string(), node(Some(key.span()), value))
    };
    table.iter().map(entry).collect()
}

fn node(key: Option<Range<usize>>, value: &toml::Spanned<DeValue<'_>>) -> Node {
    Node {
        key,
        value: value.span(),
        inside: match value.get_ref() {
            DeValue::Table(table) => Inside::Table(entries(table)),
            DeValue::Array(items) => Inside::Array(items.iter().map(|v| node(None, v)).collect()),
            _ => Inside::Nothing,
        },
    }
}
