//! What is left when the work is done: every verb that takes something away, against one table of states.

mod again;
mod at_once;
mod bare_runs;
mod by_hand;
mod bytes;
mod cut_short;
mod lossless;
mod meanwhile;
mod migration;
mod place;
mod proof;
mod states;
mod verbs;
