//! What is wrong with a plan's meaning, by pointer: where that is, and in which file, is looked up only
//! for what is shown.

use std::ops::Range;

use crate::finding::Finding;
use crate::plan::Sites;

/// One thing that is wrong.
#[derive(Debug)]
pub struct Note {
    /// Pointer to the part that it is about. A part that is not there stands for the lack of it.
    pub at: String,
    /// What of the part to point to.
    pub spot: Spot,
    /// A table whose names it was looked up in: without that table there would be no such note.
    pub looked_in: Option<&'static str>,
    /// The finding, but for its places.
    pub finding: Finding,
    /// Other places, by label and pointer.
    pub related: Vec<(&'static str, String)>,
}

/// What of a part to point to.
#[derive(Debug, Clone)]
pub enum Spot {
    /// Its value.
    Value,
    /// Its key.
    Key,
    /// These bytes of its value, which is a string.
    Inside(Range<usize>),
}

impl Note {
    /// Says what to do.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.finding.help = Some(help.into());
        self
    }

    /// Puts words at the caret.
    pub fn label(&mut self, label: impl Into<String>) -> &mut Self {
        self.finding.label = Some(label.into());
        self
    }

    /// Names a text that would mend it.
    pub fn suggest(&mut self, replacement: impl Into<String>) -> &mut Self {
        self.finding.suggestion = Some(replacement.into());
        self
    }

    /// Adds another place.
    pub fn related(&mut self, label: &'static str, at: impl Into<String>) -> &mut Self {
        self.related.push((label, at.into()));
        self
    }

    /// Points to the key, not the value.
    pub fn key(&mut self) -> &mut Self {
        self.spot = Spot::Key;
        self
    }

    /// Points to some bytes of the string.
    pub fn inside(&mut self, range: Range<usize>) -> &mut Self {
        self.spot = Spot::Inside(range);
        self
    }

    /// Says in which table a name was looked up.
    pub fn looked_in(&mut self, table: &'static str) -> &mut Self {
        self.looked_in = Some(table);
        self
    }

    /// The finding at its places.
    pub fn place(&self, sites: &Sites) -> Finding {
        let span = match &self.spot {
            Spot::Value => None,
            Spot::Key => sites.key(&self.at),
            Spot::Inside(range) => sites.inside(&self.at, range.clone()),
        };
        let mut finding = self.finding.clone();
        let file = sites.file(&self.at);
        file.clone_into(&mut finding.file);
        finding.span = span.or_else(|| Some(sites.nearest(&self.at)));
        // A finding has its places in one file.
        for (label, at) in self.related.iter().filter(|(_, at)| sites.file(at) == file) {
            finding = finding.related(*label, sites.nearest(at));
        }
        finding
    }
}

/// All that is wrong, as it is found.
#[derive(Debug, Default)]
pub struct Notes {
    list: Vec<Note>,
}

impl Notes {
    /// Notes an error.
    pub fn error(
        &mut self,
        at: impl Into<String>,
        code: &'static str,
        message: impl Into<String>,
    ) -> &mut Note {
        self.add(at.into(), Finding::error(code, "", message))
    }

    /// Notes a warning.
    pub fn warning(
        &mut self,
        at: impl Into<String>,
        code: &'static str,
        message: impl Into<String>,
    ) -> &mut Note {
        self.add(at.into(), Finding::warning(code, "", message))
    }

    fn add(&mut self, at: String, finding: Finding) -> &mut Note {
        let note = Note { at, spot: Spot::Value, looked_in: None, finding, related: Vec::new() };
        self.list.push(note);
        self.list.last_mut().expect("one was just pushed")
    }

    /// The notes.
    #[must_use]
    pub fn into_inner(self) -> Vec<Note> {
        self.list
    }
}
