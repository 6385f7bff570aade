//! Delivery: checked work leaves the machine. A branch is pushed, a request opened, and merged as far as the
//! approval, the risk, its checks and the forge allow; then its landing is proven by its patch.
//!
//! One [`Course`] for each thing that is delivered: a WP where they are independent, the whole where there are
//! stages. Each of its steps is announced in the journal before it is made and told when it was, and each asks
//! the remote and the forge first how things stand: whoever takes it up after a crash, or in a later run, finds
//! what is there and opens nothing twice.

mod after;
mod cleanup;
mod course;
mod earlier;
mod merge;
mod outlook;
mod push;
mod reach;
mod request;
mod start;
mod target;

pub use after::run_after_merge;
pub use outlook::outlook;
pub use target::{destination, shape};

use std::sync::Arc;

use crate::event::Event;
use crate::ledger::{Deliverable, Ledger};
use crate::model::delivery::Hold;

use super::site::{Halt, Site};
use super::step::Orders;
use super::unit::Line;

use course::Course;

/// How a course ends before its end.
#[derive(Debug)]
enum Stop {
    /// It goes no further.
    Held(Hold, String),
    /// The engine was told to stop; a later one goes on.
    Engine,
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Stopped => Self::Engine,
            Halt::Blocked { problem, .. } => Self::Held(Hold::Refused, problem.message),
        }
    }
}

/// Delivers `what` as far as it goes. `ledger` is the run as it stands.
///
/// # Errors
/// A halt when the engine was told to stop; a later one goes on from there.
pub async fn run(
    site: Arc<Site>,
    line: Line,
    orders: Orders,
    what: Deliverable,
    ledger: Ledger,
) -> Result<(), Halt> {
    let wp = what.wp.clone();
    let event = match Course::new(site, line.clone(), orders, what, ledger).go().await {
        Ok(onto) => Event::DeliveryLanded { wp, onto },
        Err(Stop::Held(why, text)) => Event::DeliveryHeld { wp, why, text },
        Err(Stop::Engine) => return Err(Halt::Stopped),
    };
    line.record(event).await.map(drop)
}
