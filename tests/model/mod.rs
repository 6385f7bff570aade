//! Data that other programs write.

mod question;
