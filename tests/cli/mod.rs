//! The command line, through the binary.

mod init;
mod pre_commit;
mod schema;
mod validate;
