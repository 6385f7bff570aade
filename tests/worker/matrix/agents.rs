//! Real agents that know no provider but the scripted model: for each, which adapter and program, and
//! how it is pointed there. Keys are made up, and the home folder is the test's own.

use std::fs;

use sop::model::plan::Adapter;

use crate::support::driven::Driven;

/// An agent as it is run here.
#[derive(Debug, Clone, Copy)]
pub struct Agent {
    /// For people.
    pub name: &'static str,
    /// The adapter that drives it.
    pub adapter: Adapter,
    /// Its program and first arguments.
    pub program: &'static [&'static str],
    /// The model that it is asked to use.
    pub model: &'static str,
    point: fn(&mut Driven, &str),
}

pub const CLAUDE: Agent = Agent {
    name: "claude",
    adapter: Adapter::Claude,
    program: &["claude"],
    model: "scripted-model",
    point: claude,
};
pub const GEMINI: Agent = Agent {
    name: "gemini",
    adapter: Adapter::Gemini,
    program: &["gemini"],
    model: "gemini-2.5-pro",
    point: gemini,
};
pub const OPENCODE: Agent = Agent {
    name: "opencode",
    adapter: Adapter::Opencode,
    program: &["opencode"],
    model: "scripted/scripted-model",
    point: opencode,
};
pub const CLAUDE_ACP: Agent = Agent {
    name: "claude-agent-acp",
    adapter: Adapter::Acp,
    program: &["claude-agent-acp"],
    model: "sonnet",
    point: claude,
};
pub const GEMINI_ACP: Agent =
    Agent { name: "gemini --acp", adapter: Adapter::Acp, program: &["gemini", "--acp"], ..GEMINI };
pub const OPENCODE_ACP: Agent = Agent {
    name: "opencode acp",
    adapter: Adapter::Acp,
    program: &["opencode", "acp"],
    ..OPENCODE
};
pub const CODEX_ACP: Agent = Agent {
    name: "codex-acp",
    adapter: Adapter::Acp,
    // A sandbox needs leave of the kernel, which a container may not have.
    program: &[
        "codex-acp",
        "-c",
        "sandbox_mode=\"danger-full-access\"",
        "-c",
        "approval_policy=\"never\"",
    ],
    model: "scripted-model",
    point: codex,
};

impl Agent {
    /// A turn of it against the model at `url`, with the programs in `folder` found first.
    pub fn driven(&self, url: &str, folder: &str) -> Driven {
        let mut driven = Driven::real(self.adapter);
        driven.order.program = self.program.iter().map(|word| (*word).to_owned()).collect();
        driven.order.model = Some(self.model.to_owned());
        let path = std::env::var("PATH").unwrap_or_default();
        set(&mut driven, "PATH", &format!("{folder}:{path}"));
        (self.point)(&mut driven, url);
        driven
    }
}

fn set(driven: &mut Driven, name: &str, value: &str) {
    driven.env.insert(name.to_owned(), value.to_owned());
}

fn claude(driven: &mut Driven, url: &str) {
    set(driven, "ANTHROPIC_BASE_URL", url);
    set(driven, "ANTHROPIC_API_KEY", "none");
    set(driven, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
}

fn gemini(driven: &mut Driven, url: &str) {
    set(driven, "GOOGLE_GEMINI_BASE_URL", url);
    set(driven, "GEMINI_API_KEY", "none");
    let folder = driven.path("home").join(".gemini");
    fs::create_dir_all(&folder).expect("a folder");
    // Without it a base address of one's own makes it look for a gateway.
    let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
    fs::write(folder.join("settings.json"), settings).expect("settings");
}

fn opencode(driven: &mut Driven, url: &str) {
    let config = serde_json::json!({ "provider": { "scripted": {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" },
        "models": { "scripted-model": {} },
    } } });
    set(driven, "OPENCODE_CONFIG_CONTENT", &config.to_string());
    // Nothing of the world outside is asked for what models there are.
    set(driven, "OPENCODE_DISABLE_MODELS_FETCH", "1");
}

fn codex(driven: &mut Driven, url: &str) {
    let home = driven.path("codex");
    fs::create_dir_all(&home).expect("a folder");
    let config = format!(
        "model_provider = \"scripted\"\n\
         [model_providers.scripted]\n\
         name = \"scripted\"\n\
         base_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\n\
         env_key = \"SCRIPTED_KEY\"\n\
         request_max_retries = 1\n\
         stream_max_retries = 2\n"
    );
    fs::write(home.join("config.toml"), config).expect("a config");
    let home = home.to_str().expect("a readable path").to_owned();
    set(driven, "CODEX_HOME", &home);
    set(driven, "SCRIPTED_KEY", "none");
}
