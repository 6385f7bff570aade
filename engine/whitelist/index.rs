//! Things by what they start with: of thousands, only those whose key fits another one's beginning, or
//! the other way round, are ever looked at.

use std::ops::Range;

/// Something that stands in a [`PrefixTree`] under a key.
pub(super) trait Keyed {
    fn key(&self) -> &[u8];
}

/// Items sorted by key, with links that make "whose key is a prefix of this?" a walk over exactly
/// those items. Items with the same key share a node, so that they are passed over together.
#[derive(Debug, Clone)]
pub(super) struct PrefixTree<T> {
    items: Vec<T>,
    nodes: Vec<Node>,
}

/// The items of one key.
#[derive(Debug, Clone)]
struct Node {
    items: Range<usize>,
    /// The nearest node before it whose key is a prefix of its own.
    parent: Option<usize>,
    /// Items here and in all parents.
    above: usize,
}

impl<T: Keyed> PrefixTree<T> {
    pub(super) fn new(mut items: Vec<T>) -> Self {
        items.sort_by(|a, b| a.key().cmp(b.key()));
        let mut nodes: Vec<Node> = Vec::with_capacity(items.len());
        let mut open: Vec<usize> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let first = |node: usize, nodes: &[Node]| nodes[node].items.start;
            while let Some(last) = open.last()
                && !item.key().starts_with(items[first(*last, &nodes)].key())
            {
                open.pop();
            }
            match open.last() {
                Some(last) if items[first(*last, &nodes)].key() == item.key() => {
                    nodes[*last].items.end = at + 1;
                    nodes[*last].above += 1;
                }
                parent => {
                    let parent = parent.copied();
                    let above = parent.map_or(0, |parent| nodes[parent].above) + 1;
                    open.push(nodes.len());
                    nodes.push(Node { items: at..at + 1, parent, above });
                }
            }
        }
        Self { items, nodes }
    }

    /// All items, sorted by key.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    /// How many different keys there are.
    pub(super) fn keys(&self) -> usize {
        self.nodes.len()
    }

    /// The items whose keys are prefixes of `key`.
    pub(super) fn above(&self, key: &[u8]) -> impl Iterator<Item = &T> {
        let chain = std::iter::successors(self.nearest(key), |node| self.nodes[*node].parent);
        chain.flat_map(|node| &self.items[self.nodes[node].items.clone()])
    }

    /// The items whose keys are prefixes of `key`, or have it as theirs.
    pub(super) fn related(&self, key: &[u8]) -> impl Iterator<Item = &T> {
        self.above(key).chain(&self.items[self.beyond(key)])
    }

    /// How many items [`PrefixTree::related`] gives, found without a walk over them.
    pub(super) fn count_related(&self, key: &[u8]) -> usize {
        let above = self.nearest(key).map_or(0, |node| self.nodes[node].above);
        above + self.beyond(key).len()
    }

    /// The node with the longest key that is a prefix of `key`.
    ///
    /// The last node not above `key` in the order starts with every such prefix, so all of them are
    /// on its chain of parents.
    fn nearest(&self, key: &[u8]) -> Option<usize> {
        let next = self.nodes.partition_point(|node| self.key(node) <= key);
        let mut chain = std::iter::successors(next.checked_sub(1), |node| self.nodes[*node].parent);
        chain.find(|node| key.starts_with(self.key(&self.nodes[*node])))
    }

    /// The items whose keys go on from `key`.
    fn beyond(&self, key: &[u8]) -> Range<usize> {
        let from = self.items.partition_point(|item| item.key() <= key);
        let some = self.items[from..].partition_point(|item| item.key().starts_with(key));
        from..from + some
    }

    fn key(&self, node: &Node) -> &[u8] {
        self.items[node.items.start].key()
    }
}
