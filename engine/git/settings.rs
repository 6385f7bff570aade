//! What git's configuration says, asked once: the values this room needs and the files they came from.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::repo::Repo;

/// A file that git reads its configuration from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    /// The user's or the system's, for all repositories.
    pub(super) shared: bool,
}

/// Where a remote is, and where it is pushed to if that is elsewhere.
#[derive(Debug, Default)]
pub(super) struct Remote {
    pub(super) url: Option<PathBuf>,
    pub(super) pushurl: Option<PathBuf>,
}

/// Configuration as it was when first asked for. A change to it is a change of one of the files.
#[derive(Debug, Default)]
pub(super) struct Settings {
    values: HashMap<String, PathBuf>,
    pub(super) files: Vec<ConfigFile>,
}

impl Settings {
    pub(super) fn read(repo: &Repo) -> Self {
        let listed =
            repo.git().args(["config", "--list", "-z", "--show-scope", "--show-origin"]).run();
        let mut settings = Self::default();
        let listed = listed.unwrap_or_default();
        let mut fields = listed.split(|b| *b == 0);
        while let (Some(scope), Some(origin), Some(pair)) =
            (fields.next(), fields.next(), fields.next())
        {
            if scope == b"command" {
                continue;
            }
            let (key, value) = pair.split_once_str("\n").unwrap_or((pair, b"true"));
            settings
                .values
                .insert(key.to_str_lossy().into_owned(), PathBuf::from(OsStr::from_bytes(value)));
            let Some(file) = origin.strip_prefix(b"file:") else {
                continue;
            };
            let path = repo.common_dir().join(OsStr::from_bytes(file));
            let shared = matches!(scope, b"global" | b"system");
            if key.starts_with(b"include") && key.ends_with(b".path") {
                // It may be missing or empty now, and so not be listed for what it says.
                settings.files.push(ConfigFile {
                    path: expand(OsStr::from_bytes(value), path.parent()),
                    shared,
                });
            }
            settings.files.push(ConfigFile { path, shared });
        }
        // The user's own may not exist yet.
        match std::env::var_os("GIT_CONFIG_GLOBAL") {
            Some(path) => settings.files.push(ConfigFile { path: path.into(), shared: true }),
            None => {
                let home = home().map(|home| home.join(".gitconfig"));
                let paths =
                    home.into_iter().chain(config_home().map(|folder| folder.join("git/config")));
                settings.files.extend(paths.map(|path| ConfigFile { path, shared: true }));
            }
        }
        settings.files.sort();
        settings.files.dedup_by(|one, two| one.path == two.path);
        settings
    }

    /// A value as text; keys in lower case.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.values
            .get(key)
            .map(|value| value.to_string_lossy().into_owned())
            .filter(|value| !value.is_empty())
    }

    /// A value of a section that has a name: `branch.NAME.merge`. The name is as it is written.
    pub(super) fn text_of(&self, section: &str, name: &str, key: &str) -> Option<String> {
        self.text(&format!("{section}.{name}.{key}"))
    }

    /// Whether any remote has promised objects that are not here.
    pub(super) fn has_promisor(&self) -> bool {
        self.values.keys().any(|key| key.starts_with("remote.") && key.ends_with(".promisor"))
    }

    pub(super) fn is_on(&self, key: &str) -> bool {
        self.text(key).is_some_and(|value| {
            matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
        })
    }

    /// A value as a path, `~/` resolved, relative to `base`.
    pub(super) fn path(&self, key: &str, base: &Path) -> Option<PathBuf> {
        let value = self.values.get(key).filter(|value| !value.as_os_str().is_empty())?;
        Some(expand(value.as_os_str(), Some(base)))
    }

    /// The remotes, by name, as far as a name can be told from a key.
    pub(super) fn remotes(&self) -> BTreeMap<String, Remote> {
        let mut remotes: BTreeMap<String, Remote> = BTreeMap::new();
        for (key, value) in &self.values {
            let Some(rest) = key.strip_prefix("remote.") else { continue };
            let Some((name, what)) = rest.rsplit_once('.') else { continue };
            let remote = remotes.entry(name.to_owned()).or_default();
            match what {
                "url" => remote.url = Some(value.clone()),
                "pushurl" => remote.pushurl = Some(value.clone()),
                _ => {}
            }
        }
        remotes
    }

    /// The user's exclude file for all repositories.
    pub(super) fn excludes(&self) -> Option<PathBuf> {
        self.path("core.excludesfile", Path::new("/"))
            .or_else(|| Some(config_home()?.join("git/ignore")))
    }
}

/// A path of the configuration: `~/` is the user's home, anything else relative to `base`.
fn expand(value: &OsStr, base: Option<&Path>) -> PathBuf {
    let value = Path::new(value);
    match (value.strip_prefix("~"), home(), base) {
        (Ok(rest), Some(home), _) => home.join(rest),
        (_, _, Some(base)) => base.join(value),
        _ => value.to_path_buf(),
    }
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

fn config_home() -> Option<PathBuf> {
    let named =
        std::env::var_os("XDG_CONFIG_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    named.or_else(|| home().map(|home| home.join(".config")))
}
