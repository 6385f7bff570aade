//! The phases of a WP's life. A phase is also what an engine does next with the WP, whether it has just
//! come there or is found there after a crash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a WP is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// What it needs is not there yet.
    Waiting,
    /// Its worktree is being made.
    Provisioning,
    /// Its DoD is being run on the base.
    Classing,
    /// Its brief is being written.
    Briefing,
    /// A worker is to be started.
    Starting,
    /// A worker is at work.
    Working,
    /// Its worker asked something that a person is to answer.
    AwaitingAnswer,
    /// What it leaves behind is being compared with the whitelist.
    Scoping,
    /// Its DoD is being run.
    Proving,
    /// Whether the DoD changed anything is being looked at.
    Rechecking,
    /// A reviewer is to be asked.
    Reviewing,
    /// A person is to review it.
    AwaitingReview,
    /// The round is being judged.
    Deciding,
    /// The checked tree is being committed.
    Committing,
    /// The lead has its worktree.
    Taken,
    /// Committed on its branch, or its report delivered.
    Passed,
    /// Part of the integrated result.
    Integrated,
    /// A person decides.
    Escalated,
    /// Infrastructure is in the way.
    Blocked,
    /// Something it needs did not get through.
    Deferred,
    /// Somebody cancelled it.
    Cancelled,
}

impl Phase {
    /// The name as in `state.json` and on the screen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Provisioning => "provisioning",
            Self::Classing => "classing",
            Self::Briefing => "briefing",
            Self::Starting => "starting",
            Self::Working => "working",
            Self::AwaitingAnswer => "awaiting_answer",
            Self::Scoping => "scoping",
            Self::Proving => "proving",
            Self::Rechecking => "rechecking",
            Self::Reviewing => "reviewing",
            Self::AwaitingReview => "awaiting_review",
            Self::Deciding => "deciding",
            Self::Committing => "committing",
            Self::Taken => "taken",
            Self::Passed => "passed",
            Self::Integrated => "integrated",
            Self::Escalated => "escalated",
            Self::Blocked => "blocked",
            Self::Deferred => "deferred",
            Self::Cancelled => "cancelled",
        }
    }

    /// An engine has something to do with it right now.
    #[must_use]
    pub fn active(self) -> bool {
        !self.settled() && self != Self::Waiting && !self.awaits_person()
    }

    /// A person is waited for, and nothing is wrong.
    #[must_use]
    pub fn awaits_person(self) -> bool {
        matches!(self, Self::AwaitingReview | Self::AwaitingAnswer | Self::Taken)
    }

    /// Nothing more happens to it unless somebody asks.
    #[must_use]
    pub fn settled(self) -> bool {
        self.got_through() || self.stuck()
    }

    /// Its work is done and checked.
    #[must_use]
    pub fn got_through(self) -> bool {
        matches!(self, Self::Passed | Self::Integrated)
    }

    /// It ended without getting through.
    #[must_use]
    pub fn stuck(self) -> bool {
        matches!(self, Self::Escalated | Self::Blocked | Self::Deferred | Self::Cancelled)
    }
}
