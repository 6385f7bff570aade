//! The nouns: what is read out of an answer, and several answers as one.

mod answers;
mod panel;
