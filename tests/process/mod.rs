//! The primitives that holders are built from.

mod escape;
mod limited_log;
mod tree;
