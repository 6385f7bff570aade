//! Steps under holders, through the real binary.

mod ends;
