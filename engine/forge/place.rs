//! Which repository of which forge a remote's URL means.

use std::fmt;

/// A repository of a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The forge's host, without a port.
    pub host: String,
    /// Who owns the repository.
    pub owner: String,
    /// The repository.
    pub name: String,
}

impl Place {
    /// The repository that a URL means: `https://HOST/OWNER/NAME.git`, `ssh://git@HOST/OWNER/NAME`,
    /// `git@HOST:OWNER/NAME.git`. `None` for anything else, such as a path on this machine.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        let (host, path) = match url.split_once("://") {
            Some((scheme, rest)) => {
                let known = ["http", "https", "ssh", "git", "git+ssh", "ssh+git"];
                if !known.contains(&scheme.to_ascii_lowercase().as_str()) {
                    return None;
                }
                rest.split_once('/')?
            }
            // As scp has it; what has a slash before the colon is a path.
            None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?,
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let path = path.trim_matches('/');
        let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
        let word = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
        };
        ([host.as_str(), owner, name].into_iter().all(word)).then(|| Self {
            host: host.clone(),
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.owner, self.name)
    }
}
