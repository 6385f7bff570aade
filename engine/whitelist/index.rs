//! Patterns by what they start with: of thousands, only those whose literal beginning fits a path, or
//! another pattern, are ever looked at.

/// Something that stands in a [`PrefixTree`] under a key.
pub(super) trait Keyed {
    fn key(&self) -> &[u8];
}

/// Items sorted by key, with links that make "whose key is a prefix of this?" a walk over exactly
/// those items.
#[derive(Debug, Clone)]
pub(super) struct PrefixTree<T> {
    items: Vec<T>,
    /// For each item, the nearest one before it whose key is a prefix of (or equal to) its own.
    parent: Vec<Option<usize>>,
    /// For each item, the end of the run of items whose keys start with its own.
    end: Vec<usize>,
}

impl<T: Keyed> PrefixTree<T> {
    pub(super) fn new(mut items: Vec<T>) -> Self {
        items.sort_by(|a, b| a.key().cmp(b.key()));
        let mut parent = Vec::with_capacity(items.len());
        let mut end = vec![items.len(); items.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            while let Some(last) = open.pop_if(|i| !item.key().starts_with(items[*i].key())) {
                end[last] = at;
            }
            parent.push(open.last().copied());
            open.push(at);
        }
        Self { items, parent, end }
    }

    /// All items, sorted by key.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    /// The items whose keys are prefixes of `key`.
    ///
    /// The last item not above `key` in the order starts with every such prefix, so all of them are
    /// on its chain of parents.
    pub(super) fn above(&self, key: &[u8]) -> impl Iterator<Item = &T> {
        let next = self.items.partition_point(|item| item.key() <= key);
        let chain = std::iter::successors(next.checked_sub(1), |at| self.parent[*at]);
        chain.map(|at| &self.items[at]).filter(|item| key.starts_with(item.key()))
    }

    /// The items whose keys are in a prefix relation with that of the item at `at`, itself left out.
    pub(super) fn related(&self, at: usize) -> impl Iterator<Item = usize> {
        let above = std::iter::successors(self.parent[at], |at| self.parent[*at]);
        above.chain(at + 1..self.end[at])
    }
}
