//! Other people's programs: used where they are installed, named where they are not.

use std::path::PathBuf;

/// A peer, and how to come by it.
#[derive(Clone, Copy)]
pub struct Peer {
    pub program: &'static str,
    pub install: &'static str,
}

pub const CHECK_JSONSCHEMA: Peer =
    Peer { program: "check-jsonschema", install: "pip install check-jsonschema" };
pub const TAPLO: Peer =
    Peer { program: "taplo", install: "pip install taplo, or cargo install taplo-cli" };
pub const AID: Peer = Peer { program: "aid", install: "cargo install ai-dispatch" };

impl Peer {
    /// Its path, or a line that says how to install it.
    pub fn find(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        let found = std::env::split_paths(&path)
            .map(|folder| folder.join(self.program))
            .find(|file| file.is_file());
        if found.is_none() {
            println!("   ({} is not on PATH and is left out: {})", self.program, self.install);
        }
        found
    }
}
