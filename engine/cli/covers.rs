//! What a yes on the command line covers, by name.

use super::failure::Failure;
use crate::model::approval::{Cover, Covers};
use crate::model::plan::Plan;

/// A name of the list.
///
/// # Errors
/// There is nothing of that name to say yes to.
pub fn parse(text: &str) -> Result<Cover, String> {
    Cover::named(text).ok_or_else(|| {
        let known: Vec<&str> = Cover::ALL.into_iter().map(Cover::name).collect();
        format!("there are {}", known.join(", "))
    })
}

/// The list as a whole, for a run of `plan` that is to be made.
///
/// # Errors
/// As [`of`]; without commits nothing could be done.
pub fn of_new(named: &[Cover], plan: &Plan) -> Result<Covers, Failure> {
    let covers = of(named, plan)?;
    match covers.has(Cover::Commits) {
        true => Ok(covers),
        false => Err(Failure::usage("a run that may not commit can do nothing")
            .help("name `commits` among what you approve")),
    }
}

/// The list as a whole, for a run of `plan`.
///
/// # Errors
/// The plan does not ask for one of them.
pub fn of(named: &[Cover], plan: &Plan) -> Result<Covers, Failure> {
    let (covers, asked) = (Covers::of(named.iter().copied()), Covers::asked_by(plan));
    let beyond = covers.without(&asked);
    match beyond.is_empty() {
        true => Ok(covers),
        false => Err(Failure::usage(format!("this plan does not ask for {beyond}"))
            .help(format!("it asks for {asked}"))),
    }
}
