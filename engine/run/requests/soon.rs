//! What was asked and waits for the next engine, for people: what it is, and how the run stands once it is taken up.

use super::{Ask, Request};
use crate::event::Record;
use crate::ledger::Ledger;
use crate::model::time::Timestamp;

/// What is asked, and by whom, a line each.
#[must_use]
pub fn told(noted: &[Request]) -> Vec<String> {
    let told = |request: &Request| {
        let what = match request.ask.question() {
            Some(number) => format!("{} q{number}", request.ask.name()),
            None => request.ask.name().to_owned(),
        };
        let wp = match (&request.wp, &request.ask) {
            (Some(wp), Ask::Answer { .. }) => format!(" ({wp})"),
            (Some(wp), _) => format!(" {wp}"),
            (None, _) => String::new(),
        };
        format!("{what}{wp} by {}", request.by)
    };
    noted.iter().map(told).collect()
}

/// How the run will stand once the next engine has taken these up: as far as they make sense.
#[must_use]
pub fn taken(ledger: &Ledger, noted: Vec<Request>, now: Timestamp) -> Ledger {
    let mut soon = ledger.clone();
    for request in noted {
        let Some(event) = request.event(&soon) else { continue };
        let mut then = soon.clone();
        if then.apply(&Record { seq: soon.seq + 1, at: now, event }).is_ok() {
            soon = then;
        }
    }
    soon
}
