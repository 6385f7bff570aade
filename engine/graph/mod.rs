//! Who waits for whom: build the graph of a plan, then seal it. Only a [`Sealed`] graph runs, and
//! whoever holds one need not ask again whether it has cycles or names that lead nowhere.
//!
//! WPs are indices into [`Plan::wps`], so that rooms can keep facts about them in plain vectors.
//!
//! A WP with `needs` waits for exactly those. One without waits for everything in the stage before:
//! that is one hub node between the two stages, not an edge for each pair, and so two stages of a
//! thousand WPs cost two thousand edges and not a million.

mod build;
mod cycle;
mod levels;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

use crate::model::ids::{StageId, WpId};
use crate::model::plan::{Plan, Stage};

pub use build::seal;

/// Why a plan's graph cannot be sealed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// WPs that wait for each other in a ring.
    #[error("{0}")]
    Cycle(Cycle),
    /// A WP needs one of a later stage, which itself starts from the result of this one.
    #[error("`{wp}` of stage `{stage}` needs `{need}`, which belongs to the later stage `{later}`")]
    LaterStage {
        /// The one that waits.
        wp: WpId,
        /// Its stage.
        stage: StageId,
        /// What it waits for.
        need: WpId,
        /// The stage of that.
        later: StageId,
    },
    /// A WP needs one that the plan does not have.
    #[error("`{wp}` needs `{need}`, and no WP has that id")]
    UnknownNeed {
        /// The one that waits.
        wp: WpId,
        /// What it names.
        need: WpId,
    },
    /// A WP belongs to a stage that the plan does not have.
    #[error("`{wp}` belongs to the stage `{stage}`, which the plan does not declare")]
    UnknownStage {
        /// The one without a home.
        wp: WpId,
        /// What it names.
        stage: StageId,
    },
}

/// A ring of WPs, each of which needs the next, the last the first. It starts with the one that
/// comes first in the plan; a WP that needs itself is a ring of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// Indices into the plan's WPs, each once.
    pub wps: Vec<usize>,
    /// Their names, in the same order.
    pub ids: Vec<WpId>,
    /// All WPs that are in this ring or in another with one of it, in the order of the plan.
    pub knot: Vec<usize>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let [only] = self.ids.as_slice() {
            return write!(f, "`{only}` needs itself");
        }
        for id in &self.ids {
            write!(f, "`{id}` needs ")?;
        }
        match self.ids.first() {
            Some(first) => write!(f, "`{first}`"),
            None => Ok(()),
        }
    }
}

/// WPs that may run side by side, since none waits for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The stage it belongs to. A stage whose WPs need each other has several levels in a row.
    pub stage: StageId,
    /// Its WPs in the order of the plan; never empty.
    pub wps: Vec<usize>,
}

/// What a WP waits for itself, as the plan says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits<'a> {
    /// Nothing: it may start at once.
    Nothing,
    /// `needs`: these and no others.
    Wps(&'a [usize]),
    /// No `needs`: every WP of the stage before.
    Stage(&'a [usize]),
}

impl<'a> Waits<'a> {
    /// All the WPs that must be done first.
    #[must_use]
    pub fn wps(self) -> &'a [usize] {
        match self {
            Self::Nothing => &[],
            Self::Wps(wps) | Self::Stage(wps) => wps,
        }
    }
}

/// The graph of a plan, without cycles and with every name resolved.
#[derive(Debug, Clone)]
pub struct Sealed {
    /// Nodes `0..n` are WPs, the rest are hubs: one for each group. An edge leads from what is
    /// waited for to what waits.
    graph: DiGraph<(), ()>,
    levels: Vec<Level>,
    level_of: Vec<usize>,
    needs: Vec<Need>,
    /// WPs by stage, in the order of the stages; stages without a WP are left out.
    groups: Vec<Group>,
}

/// A stage that has WPs.
#[derive(Debug, Clone)]
struct Group {
    stage: StageId,
    wps: Vec<usize>,
}

/// What one WP waits for.
#[derive(Debug, Clone)]
enum Need {
    Nothing,
    Wps(Vec<usize>),
    /// Every WP of this group.
    Group(usize),
}

impl Sealed {
    /// How many WPs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.needs.len()
    }

    /// Whether the plan has no WP at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// How many edges the graph has, those to and from the hubs between stages included: what it
    /// costs to walk all of it.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.graph.edge_count()
    }

    /// The levels in order: everything that a WP waits for is on an earlier one.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The level of a WP, as an index into [`Self::levels`].
    ///
    /// # Panics
    /// If `wp` is not an index into the plan's WPs.
    #[must_use]
    pub fn level_of(&self, wp: usize) -> usize {
        self.level_of[wp]
    }

    /// The WPs of each stage that has any, in order: what a stage integrates, whatever its levels.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = (&StageId, &[usize])> {
        self.groups.iter().map(|g| (&g.stage, g.wps.as_slice()))
    }

    /// What a WP waits for itself.
    ///
    /// # Panics
    /// If `wp` is not an index into the plan's WPs.
    #[must_use]
    pub fn waits(&self, wp: usize) -> Waits<'_> {
        match &self.needs[wp] {
            Need::Nothing => Waits::Nothing,
            Need::Wps(wps) => Waits::Wps(wps),
            Need::Group(group) => Waits::Stage(&self.groups[*group].wps),
        }
    }

    /// Every WP that waits for `wp`, directly or through others, each once and in no set order:
    /// what is deferred when `wp` is not going to be done.
    pub fn dependents(&self, wp: usize) -> impl Iterator<Item = usize> {
        let n = self.len();
        let mut dfs = Dfs::new(&self.graph, NodeIndex::new(wp));
        std::iter::from_fn(move || dfs.next(&self.graph))
            .map(NodeIndex::index)
            .filter(move |&node| node < n && node != wp)
    }

    /// Every WP after all that it waits for; within a level, in the order of the plan.
    pub fn order(&self) -> impl Iterator<Item = usize> {
        self.levels.iter().flat_map(|l| l.wps.iter().copied())
    }

    /// The longest chain of WPs that wait for each other, first one first: the run takes at least
    /// that many WPs' time however many work side by side.
    #[must_use]
    pub fn longest_chain(&self) -> Vec<usize> {
        let mut depth = vec![0_usize; self.len()];
        let mut before = vec![None; self.len()];
        let mut hubs: Vec<Option<Option<usize>>> = vec![None; self.groups.len()];
        let deepest = |depth: &[usize], wps: &[usize]| {
            wps.iter().copied().reduce(|a, b| if depth[b] > depth[a] { b } else { a })
        };
        for wp in self.order() {
            before[wp] = match &self.needs[wp] {
                Need::Nothing => None,
                Need::Wps(wps) => deepest(&depth, wps),
                Need::Group(group) => {
                    *hubs[*group].get_or_insert_with(|| deepest(&depth, &self.groups[*group].wps))
                }
            };
            depth[wp] = 1 + before[wp].map_or(0, |b| depth[b]);
        }
        let all: Vec<usize> = self.order().collect();
        let mut chain: Vec<usize> =
            std::iter::successors(deepest(&depth, &all), |&wp| before[wp]).collect();
        chain.reverse();
        chain
    }
}

/// The stages that a plan's WPs are grouped by, or `None` where levels are cut from `needs` alone.
fn declared(plan: &Plan) -> Option<&[Stage]> {
    (!plan.stages.is_empty()).then_some(plan.stages.as_slice())
}
