//! Where the work packages and stages of a resolved plan come from in its file. Most stand there as they
//! are; a consolidation is made of its stage.

/// Where a WP comes from, by numbers of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A `[[wp]]`.
    Wp(usize),
    /// The consolidation of a `[[stage]]`.
    Consolidate(usize),
}

impl Origin {
    /// Pointer to what says `key` of it. A consolidation may touch what its stage shares.
    #[must_use]
    pub fn at(self, key: &str) -> String {
        match self {
            Self::Wp(i) => format!("/wp/{i}/{key}"),
            Self::Consolidate(s) if key == "whitelist" => format!("/stage/{s}/shared"),
            Self::Consolidate(s) => format!("/stage/{s}/consolidate/{key}"),
        }
    }
}

/// The origins of a plan's parts.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// WPs that stand in the file: the plan has them first, in the file's order.
    pub(super) written: usize,
    /// For each WP after those, the stage that it consolidates.
    pub(super) consolidated: Vec<usize>,
    /// For each stage of the plan, the stage of the file that it is, or that it is made of.
    pub(super) stages: Vec<usize>,
}

impl Origins {
    /// Of a plan that declares no stages: all WPs stand in the file.
    #[must_use]
    pub fn of(written: usize) -> Self {
        Self { written, ..Self::default() }
    }

    /// Where WP `i` of the plan comes from.
    #[must_use]
    pub fn wp(&self, i: usize) -> Origin {
        match i.checked_sub(self.written).and_then(|n| self.consolidated.get(n)) {
            Some(stage) => Origin::Consolidate(*stage),
            None => Origin::Wp(i),
        }
    }

    /// Pointer to the stage of the file that stage `s` of the plan is, or is made of.
    #[must_use]
    pub fn stage(&self, s: usize) -> String {
        format!("/stage/{}", self.stages.get(s).copied().unwrap_or(s))
    }
}
