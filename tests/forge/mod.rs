//! The forge's room: where a remote's URL leads, what gh is asked and what its answers mean, and how long is
//! waited.

mod gh;
mod places;
mod waiting;
