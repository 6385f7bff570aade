//! Trees: compared, and edited in memory.

use std::collections::BTreeMap;

use bstr::{BString, ByteSlice};

use crate::model::ids::TreeId;

use super::command::failed;
use super::error::GitError;
use super::objects::{Change, Leaf, ObjectId, octal, raw};
use super::repo::Repo;

impl Repo {
    /// The paths that differ between two trees, sorted; no renames.
    ///
    /// # Errors
    /// One of them is not in the repository.
    pub fn diff_trees(&self, old: &TreeId, new: &TreeId) -> Result<Vec<Change>, GitError> {
        if old == new {
            return Ok(Vec::new());
        }
        let git = self.git().args([
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "--no-ext-diff",
        ]);
        let out = git.args(["--ignore-submodules=none", old.as_str(), new.as_str()]).run()?;
        let unreadable = || GitError::Answer {
            command: "git diff-tree".into(),
            what: "a record is malformed".into(),
        };
        let mut fields = out.split(|b| *b == 0);
        let mut changes = Vec::new();
        while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
            let path = fields.next().ok_or_else(unreadable)?;
            let words: Vec<&[u8]> =
                head.strip_prefix(b":").unwrap_or(head).split(|b| *b == b' ').collect();
            let [old_mode, new_mode, old_id, new_id, _] = words[..] else {
                return Err(unreadable());
            };
            let side = |mode: &[u8], id: &[u8]| {
                Some(Leaf { mode: octal(mode)?, id: ObjectId::from_hex(id)? })
                    .filter(|l| l.mode != 0)
            };
            changes.extend(Change::between(
                path.into(),
                side(old_mode, old_id),
                side(new_mode, new_id),
            ));
        }
        changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(changes)
    }

    /// The tree that `base` becomes when each path gets what is named (`None`: goes away).
    pub(super) fn edit_tree(
        &self,
        base: &TreeId,
        edits: &[(BString, Option<Leaf>)],
    ) -> Result<TreeId, GitError> {
        if edits.is_empty() {
            return Ok(base.clone());
        }
        let built = self.with(|repo| {
            let mut root = Node::default();
            for (path, leaf) in edits {
                let node = path
                    .split(|b| *b == b'/')
                    .fold(&mut root, |node, part| node.inside.entry(part).or_default());
                node.leaf = Some(*leaf);
            }
            let base = repo.find_tree(git2::Oid::from_str(base.as_str())?)?;
            match root.write(repo, Some(&base))? {
                Some(id) => Ok(id),
                None => repo.treebuilder(None)?.write(),
            }
        });
        match built {
            Some(Ok(built)) => Ok(TreeId(built.to_string())),
            // What libgit2 cannot do, git does, or says why not.
            Some(Err(_)) | None => self.edit_tree_by_index(base, edits),
        }
    }

    fn edit_tree_by_index(
        &self,
        base: &TreeId,
        edits: &[(BString, Option<Leaf>)],
    ) -> Result<TreeId, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
        let index = scratch.path().join("index");
        let git = || self.git().env("GIT_INDEX_FILE", &index);
        git().args(["read-tree", base.as_str()]).run()?;
        let mut feed = Vec::new();
        let zero = "0".repeat(self.oid_len() * 2);
        let (gone, there): (Vec<_>, Vec<_>) = edits.iter().partition(|(_, leaf)| leaf.is_none());
        for (path, leaf) in gone.into_iter().chain(there) {
            let head = leaf.map_or_else(
                || format!("0 {zero}\t"),
                |leaf| format!("{:o} {}\t", leaf.mode, leaf.id),
            );
            feed.extend(head.bytes().chain(path.bytes()).chain([0]));
        }
        let put = git().args(["update-index", "-z", "--index-info"]).feed(feed);
        let (output, line) = put.output()?;
        if !output.status.success() {
            return Err(failed(&output, line));
        }
        // A name that it refuses it passes over, and ends well.
        let passed = output.stderr.lines().filter_map(|line| line.strip_prefix(b"Ignoring path "));
        let paths: Vec<BString> = passed.map(BString::from).collect();
        if !paths.is_empty() {
            return Err(GitError::Unstorable { paths });
        }
        git().arg("write-tree").run_line().map(TreeId)
    }
}

#[derive(Default)]
struct Node<'a> {
    leaf: Option<Option<Leaf>>,
    inside: BTreeMap<&'a [u8], Node<'a>>,
}

impl Node<'_> {
    /// Writes the folder that `base` becomes; `None` when nothing is left in it.
    fn write(
        &self,
        repo: &git2::Repository,
        base: Option<&git2::Tree<'_>>,
    ) -> Result<Option<git2::Oid>, git2::Error> {
        let mut builder = repo.treebuilder(base)?;
        for (name, node) in &self.inside {
            if let Some(Some(leaf)) = node.leaf {
                builder.insert(*name, raw(leaf.id)?, i32::try_from(leaf.mode).unwrap_or(0))?;
                continue;
            }
            let there = base.and_then(|tree| {
                tree.iter().find(|e| e.name_bytes() == *name).map(|e| (e.filemode(), e.id()))
            });
            let inner = match there {
                Some((0o040_000, id)) => Some(repo.find_tree(id)?),
                _ => None,
            };
            // A file that goes away where a folder stands in the base is no edit of that folder.
            if node.leaf.is_some() && node.inside.is_empty() && inner.is_some() {
                continue;
            }
            match node.write(repo, inner.as_ref())? {
                Some(id) => builder.insert(*name, id, 0o040_000).map(drop)?,
                None if there.is_some() => builder.remove(*name)?,
                None => {}
            }
        }
        if builder.is_empty() { Ok(None) } else { builder.write().map(Some) }
    }
}
