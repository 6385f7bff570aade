//! One lead against the commit: the path is there and in scope, and the line says what is quoted. What is
//! nearly right is put right, and that is noted.

use std::collections::BTreeMap;

use bstr::{BStr, BString, ByteSlice};

use super::quote::{Lines, NEAR, Span, Stands};
use super::scope::Scope;
use crate::git::objects::{EXECUTABLE, FILE, Leaf};
use crate::git::{GitError, Repo};
use crate::model::gap::{Concern, Lead, Severity};
use crate::model::ids::{CommitId, WpId};
use crate::process::escape;

/// Most characters of a text that a report keeps.
const TEXT: usize = 4000;

/// Most characters of a title.
const TITLE: usize = 100;

/// Most other files of one finding.
const FILES: usize = 40;

/// A lead that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The path.
    pub path: BString,
    /// The lines.
    pub span: Span,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub concerns: Vec<Concern>,
    /// What it is, in a few words.
    pub title: String,
    /// What the lines say.
    pub quote: String,
    /// Why that is a gap.
    pub evidence: String,
    /// What would mend it.
    pub fix: String,
    /// Every path that mending it touches, the finding's own first.
    pub files: Vec<BString>,
    /// Its names: the slice, and what the scout called it.
    pub names: Vec<(WpId, String)>,
    /// Names of what has to be mended before.
    pub after: Vec<(WpId, String)>,
    /// Who found it.
    pub found_in: Vec<WpId>,
    /// What was put right.
    pub notes: Vec<String>,
}

/// A commit, as leads are looked up in it.
pub struct Commit<'a> {
    repo: &'a Repo,
    scope: &'a Scope,
    concerns: &'a [Concern],
    leaves: BTreeMap<BString, Leaf>,
    /// Paths that are not shown as they are.
    shown: BTreeMap<String, BString>,
    read: BTreeMap<BString, Vec<u8>>,
}

/// Why a lead is none.
#[derive(Debug)]
pub enum Fault {
    /// It does not stand.
    Rejected(String),
    /// Nobody can say.
    Git(GitError),
}

impl From<GitError> for Fault {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

impl<'a> Commit<'a> {
    /// What `commit` holds.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub fn new(
        repo: &'a Repo,
        commit: &CommitId,
        scope: &'a Scope,
        concerns: &'a [Concern],
    ) -> Result<Self, GitError> {
        let leaves: BTreeMap<BString, Leaf> = repo.leaves_at(commit)?.into_iter().collect();
        let odd = |path: &&BString| escape(path).as_bytes() != path.as_slice();
        let shown = leaves.keys().filter(odd).map(|path| (escape(path), path.clone())).collect();
        Ok(Self { repo, scope, concerns, leaves, shown, read: BTreeMap::new() })
    }

    /// Looks a lead up that the scout of slice `wp` gave.
    ///
    /// # Errors
    /// Why it does not stand; or git's word, where nothing can be looked up.
    pub fn check(&mut self, wp: &WpId, lead: Lead) -> Result<Checked, Fault> {
        let reject = |why: String| Err(Fault::Rejected(why));
        if !self.concerns.contains(&lead.concern) {
            return reject(format!("{} was not asked for", lead.concern.name()));
        }
        if lead.evidence.trim().is_empty() {
            return reject("it gives no evidence".to_owned());
        }
        let path = self.path(&lead.path).map_err(Fault::Rejected)?;
        let content = self.content(&path)?;
        let lines = Lines::of(content);
        let mut notes = Vec::new();
        let span = match lines.look(&lead.quote, lead.line) {
            Stands::There(span) => span,
            Stands::Near(span) => {
                notes.push(format!("the scout said line {}", lead.line));
                span
            }
            Stands::Far(line) => {
                return reject(format!(
                    "what it quotes stands at line {line}, and nowhere within {NEAR} lines of line {}",
                    lead.line
                ));
            }
            Stands::Blank => return reject("it quotes nothing".to_owned()),
            Stands::Nowhere if lead.line == 0 || lead.line > lines.count() => {
                return reject(format!(
                    "the file has {} lines, and none says what is quoted",
                    lines.count()
                ));
            }
            Stands::Nowhere => return reject("the file does not say what is quoted".to_owned()),
        };
        let quote = lines.text(span);
        let mut files = vec![path.clone()];
        for other in lead.files.iter().take(FILES) {
            match self.other(other) {
                Ok(other) if files.contains(&other) => {}
                Ok(other) => files.push(other),
                Err(why) => {
                    notes.push(format!(
                        "left out of its files: `{}`, {why}",
                        escape(other.as_bytes())
                    ));
                }
            }
        }
        if lead.files.len() > FILES {
            notes.push(format!("it names {} files; {FILES} are kept", lead.files.len()));
        }
        if lead.fix.trim().is_empty() {
            notes.push("the scout proposes no fix".to_owned());
        }
        let title = match lead.title.trim() {
            "" => lead.evidence.split_whitespace().take(12).collect::<Vec<_>>().join(" "),
            title => title.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let named = |name: &String| (wp.clone(), name.clone());
        Ok(Checked {
            path,
            span,
            severity: lead.severity,
            concerns: vec![lead.concern],
            title: cut_short(&title, TITLE),
            quote,
            evidence: cut_short(lead.evidence.trim(), TEXT),
            fix: cut_short(lead.fix.trim(), TEXT),
            files,
            names: lead.id.iter().map(named).collect(),
            after: lead.depends_on.iter().map(named).collect(),
            found_in: vec![wp.clone()],
            notes,
        })
    }

    /// The file that a scout means.
    fn path(&self, given: &str) -> Result<BString, String> {
        let text = given.strip_prefix("./").unwrap_or(given);
        if text.starts_with('/') {
            return Err("the path is absolute; paths are from the repository's root".to_owned());
        }
        let found = match self.leaves.get_key_value(BStr::new(text)) {
            Some((path, _)) => Some(path),
            None => self.shown.get(text),
        };
        let Some(path) = found else {
            return Err("there is no such file in the commit".to_owned());
        };
        match self.leaves.get(path) {
            Some(leaf) if !matches!(leaf.mode, FILE | EXECUTABLE) => {
                Err("it is a link or a submodule".to_owned())
            }
            _ if !self.scope.takes_in(path.as_bstr()) => Err("it is outside the scope".to_owned()),
            _ => Ok(path.clone()),
        }
    }

    /// A path that mending something touches: a file of the commit, or one that could be made.
    fn other(&self, given: &str) -> Result<BString, &'static str> {
        let text = given.strip_prefix("./").unwrap_or(given);
        let path = match self.shown.get(text) {
            Some(path) => path.clone(),
            None => BString::from(text),
        };
        let odd = |part: &[u8]| {
            part.is_empty() || part == b"." || part == b".." || part.eq_ignore_ascii_case(b".git")
        };
        if path.split_str("/").any(odd) || path.contains(&0) {
            return Err("which is no path of a repository");
        }
        match self.leaves.get(&path) {
            Some(leaf) if matches!(leaf.mode, FILE | EXECUTABLE) => return Ok(path),
            Some(_) => return Err("which is a link or a submodule"),
            None => {}
        }
        let mut folder = path.clone();
        folder.push(b'/');
        let first = self.leaves.range(folder.clone()..).next();
        if first.is_some_and(|(below, _)| below.starts_with(&folder)) {
            return Err("which is a folder");
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for at in slashes {
            if self.leaves.contains_key(path[..at].as_bstr()) {
                return Err("which would lie below a file");
            }
        }
        Ok(path)
    }

    fn content(&mut self, path: &BString) -> Result<&[u8], Fault> {
        if !self.read.contains_key(path) {
            let content = match self.leaves.get(path) {
                Some(leaf) => self.repo.blob(leaf.id)?,
                None => Vec::new(),
            };
            self.read.insert(path.clone(), content);
        }
        Ok(self.read.get(path).map_or(&[][..], Vec::as_slice))
    }
}

fn cut_short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
