//! Why a forge did not do what was asked.

use crate::model::delivery::Hold;

/// What kind of failure it is: decides what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Its program is not there.
    NoProgram,
    /// Nobody is logged in, or not with the rights for this.
    NoToken,
    /// No such repository, branch or request, for whoever is logged in.
    NotFound,
    /// It does not answer, or cannot at the moment: worth trying again.
    Unreachable,
    /// There is such a request already.
    Exists,
    /// It cannot be merged as it is.
    Conflict,
    /// Protection of the branch is in the way.
    Protected,
    /// The branch is not where it was thought to be.
    HeadMoved,
    /// It said no, for another reason.
    Refused,
}

/// A failure of a forge or a remote. `text` is for display: escaped, of bounded length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ForgeError {
    /// What kind it is.
    pub kind: Kind,
    /// What it said.
    pub text: String,
}

impl ForgeError {
    /// A failure of this kind.
    #[must_use]
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Whether it is worth trying again.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.kind == Kind::Unreachable
    }

    /// Why a delivery that met it goes no further.
    #[must_use]
    pub fn hold(&self) -> Hold {
        match self.kind {
            Kind::NoProgram => Hold::NoProgram,
            Kind::NoToken => Hold::NoToken,
            Kind::Unreachable => Hold::Unreachable,
            Kind::Conflict => Hold::Conflict,
            Kind::Protected => Hold::Protected,
            Kind::HeadMoved => Hold::HeadMoved,
            Kind::NotFound | Kind::Exists | Kind::Refused => Hold::Refused,
        }
    }
}
