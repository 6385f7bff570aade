//! What makes codex, run by a plan, ask a scripted model and nobody else.

use std::fs;

use super::model_server::{ModelServer, Scenario};
use super::rig::Rig;

/// A worker for `[workers]` that runs codex. A sandbox needs leave of the kernel, which a container may
/// not have; it is not what is tested with it.
pub const UNCONFINED: &str =
    "[workers.unconfined]\nagent = \"codex\"\nargs = [\"--sandbox=danger-full-access\"]\n";

/// Sets codex up in a folder of the rig, and gives the variables that it needs.
pub fn codex_env(rig: &Rig, server: &ModelServer, scenario: Scenario) -> Vec<(String, String)> {
    let home = rig.root().join("codex");
    fs::create_dir_all(&home).expect("a folder");
    let config = format!(
        "model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
        server.url(scenario)
    );
    fs::write(home.join("config.toml"), config).expect("a file");
    vec![
        ("CODEX_HOME".to_owned(), home.to_str().expect("plain").to_owned()),
        ("SCRIPTED_KEY".to_owned(), "none".to_owned()),
    ]
}
