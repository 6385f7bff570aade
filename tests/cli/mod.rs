//! The command line, through the binary.

mod init;
mod schema;
mod validate;
