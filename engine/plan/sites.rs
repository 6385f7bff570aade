//! Where the parts of a plan stand when not all of them are in one file: what the plan leaves out may come
//! from a layer of settings below it, or be overruled by one above.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::layers::{Layer, Layers};
use super::{Places, pointer};

/// The places of a plan's parts, by pointer into the plan.
#[derive(Debug)]
pub struct Sites {
    file: String,
    plan: Places,
    layers: Layers,
    /// What stands in a layer: pointer into the plan → number of the layer, and pointer into that.
    lent: BTreeMap<String, (usize, String)>,
}

impl Sites {
    /// Everything stands in the plan, so far.
    pub(super) fn new(file: &str, plan: Places, layers: &Layers) -> Self {
        Self { file: file.to_owned(), plan, layers: layers.clone(), lent: BTreeMap::new() }
    }

    /// Says that what the plan has at `at` is what layer number `layer` has at `from`.
    pub(super) fn lend(&mut self, at: String, layer: usize, from: String) {
        self.lent.insert(at, (layer, from));
    }

    /// What comes from layers: each part's pointer into the plan, the layer, and the pointer into that.
    pub fn lent(&self) -> impl Iterator<Item = (&str, &Layer, &str)> {
        let layers = self.layers.list();
        self.lent.iter().map(|(at, (layer, from))| (at.as_str(), &layers[*layer], from.as_str()))
    }

    /// The layer that the part at `at` comes from, and where it is in it; `None` for the plan.
    #[must_use]
    pub fn lender(&self, at: &str) -> Option<(&Layer, String)> {
        if self.lent.is_empty() {
            return None;
        }
        pointer::ancestors(at).find_map(|holder| {
            let (layer, from) = self.lent.get(holder)?;
            Some((&self.layers.list()[*layer], format!("{from}{}", &at[holder.len()..])))
        })
    }

    fn find<'a>(&'a self, at: &'a str) -> (&'a str, &'a Places, Cow<'a, str>) {
        match self.lender(at) {
            Some((layer, from)) => (&layer.source.file, layer.places(), from.into()),
            None => (&self.file, &self.plan, at.into()),
        }
    }

    /// The file that it stands in, as findings name it.
    #[must_use]
    pub fn file<'a>(&'a self, at: &'a str) -> &'a str {
        self.find(at).0
    }

    /// As [`Places::value`].
    #[must_use]
    pub fn value(&self, at: &str) -> Option<Range<usize>> {
        let (_, places, at) = self.find(at);
        places.value(&at)
    }

    /// As [`Places::key`].
    #[must_use]
    pub fn key(&self, at: &str) -> Option<Range<usize>> {
        let (_, places, at) = self.find(at);
        places.key(&at)
    }

    /// As [`Places::inside`].
    #[must_use]
    pub fn inside(&self, at: &str, range: Range<usize>) -> Option<Range<usize>> {
        let (_, places, at) = self.find(at);
        places.inside(&at, range)
    }

    /// As [`Places::text`].
    #[must_use]
    pub fn text(&self, at: &str) -> Option<String> {
        let (_, places, at) = self.find(at);
        places.text(&at)
    }

    /// As [`Places::nearest`].
    #[must_use]
    pub fn nearest(&self, at: &str) -> Range<usize> {
        let (_, places, at) = self.find(at);
        places.nearest(&at)
    }
}
