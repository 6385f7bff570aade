//! Where templates come from: those built in, and the repository's own folder.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::plain_file;

use super::{Briefs, FOLDER, LoadError, Origin, Template, engine};

/// Names under which built-in templates stay in reach when the repository has its own.
pub(super) const BUILT_IN: &str = "builtin/";

/// How template files end; what stands before is the template's name.
const ENDING: &str = ".md.j2";

const BUILT_INS: [(&str, Origin, &str); 17] = [
    ("change", Origin::BuiltIn, include_str!("../../templates/change.md.j2")),
    ("consolidate", Origin::BuiltIn, include_str!("../../templates/consolidate.md.j2")),
    ("scout", Origin::BuiltIn, include_str!("../../templates/scout.md.j2")),
    ("audit", Origin::BuiltIn, include_str!("../../templates/audit.md.j2")),
    ("critic", Origin::BuiltIn, include_str!("../../templates/critic.md.j2")),
    ("facts", Origin::Piece, include_str!("../../templates/facts.md.j2")),
    ("continue", Origin::Piece, include_str!("../../templates/continue.md.j2")),
    ("known", Origin::Piece, include_str!("../../templates/known.md.j2")),
    ("report", Origin::Piece, include_str!("../../templates/report.md.j2")),
    ("review-quality", Origin::Lens, include_str!("../../templates/review-quality.md.j2")),
    ("review-security", Origin::Lens, include_str!("../../templates/review-security.md.j2")),
    ("review-tests", Origin::Lens, include_str!("../../templates/review-tests.md.j2")),
    ("verify", Origin::Lens, include_str!("../../templates/verify.md.j2")),
    ("review", Origin::Piece, include_str!("../../templates/review.md.j2")),
    ("answer", Origin::Piece, include_str!("../../templates/answer.md.j2")),
    ("request", Origin::Piece, include_str!("../../templates/request.md.j2")),
    ("again", Origin::Piece, include_str!("../../templates/again.md.j2")),
];

impl Briefs {
    /// The built-in templates alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self::of(built_in())
    }

    /// The built-in templates and those of the repository whose root this is. A repository without
    /// a template folder is fine. Whether templates compile is for [`Self::check`] to say.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read, or is not text.
    pub fn load(repo_root: &Path) -> Result<Self, LoadError> {
        let folder = repo_root.join(FOLDER);
        let fail = |path: &Path, source| LoadError { path: path.to_owned(), source };
        let mut templates = built_in();
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::of(templates)),
            Err(e) => return Err(fail(&folder, e)),
        };
        for entry in entries {
            let path = entry.map_err(|e| fail(&folder, e))?.path();
            let file_name = path.file_name().and_then(|n| n.to_str());
            let Some(name) = file_name.and_then(|n| n.strip_suffix(ENDING)) else {
                continue;
            };
            let template = Template {
                file: format!("{FOLDER}/{name}{ENDING}"),
                text: read(&path).map_err(|e| fail(&path, e))?,
                origin: Origin::Repository,
            };
            templates.insert(name.to_owned(), template);
        }
        Ok(Self::of(templates))
    }

    fn of(templates: BTreeMap<String, Template>) -> Self {
        let mut env = engine::environment();
        // Compiled on first use, so that one broken template does not keep the others from working.
        let texts: BTreeMap<String, String> =
            templates.iter().map(|(name, t)| (name.clone(), t.text.clone())).collect();
        env.set_loader(move |name| Ok(texts.get(name).cloned()));
        Self { env, templates }
    }
}

/// The text of a template. It may be a link in the user's checkout.
fn read(path: &Path) -> io::Result<String> {
    let bytes = plain_file::read_linked(path, plain_file::DOCUMENT)?;
    String::from_utf8(bytes).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 ({error})"))
    })
}

fn built_in() -> BTreeMap<String, Template> {
    let both = |(name, origin, text): (&str, Origin, &str)| {
        let template =
            Template { file: format!("{BUILT_IN}{name}{ENDING}"), text: text.to_owned(), origin };
        [(name.to_owned(), template.clone()), (format!("{BUILT_IN}{name}"), template)]
    };
    BUILT_INS.into_iter().flat_map(both).collect()
}
