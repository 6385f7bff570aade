//! What is in a worktree that is nowhere else, and what is going on in it.

use std::collections::BTreeSet;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::git::error::GitError;
use crate::git::in_use::{self, User};
use crate::git::irregular::names_git;
use crate::git::submodule;
use crate::model::ids::CommitId;
use crate::plain_file;

use super::away::{came_since, is_cut_short};
use super::inside::Inside;
use super::scratch_index::ScratchIndex;
use super::{Head, Linked};

/// A worktree, looked at. Paths are bytes relative to its top, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// Its folder is not there.
    pub missing: bool,
    /// Its removal was begun, and cut short when its folder was moved aside already.
    pub removing: bool,
    /// What came into the folder aside since then.
    pub came_since: Vec<BString>,
    /// Its `.git` is not the link to its registration any more.
    pub unlinked: bool,
    /// Tracked files that are not as the index has them, whatever its flags say.
    pub modified: Vec<BString>,
    /// What the index has and HEAD has not.
    pub staged: Vec<BString>,
    /// Files with a conflict that nobody has solved.
    pub conflicts: Vec<BString>,
    /// Files that are neither tracked, ignored nor provisioned.
    pub untracked: Vec<BString>,
    /// Those of them whose names git refuses: no commit can hold them.
    pub unstorable: Vec<BString>,
    /// What is ignored; whole folders end in `/`.
    pub ignored: Vec<BString>,
    /// Copies that were brought along.
    pub provisioned: Vec<BString>,
    /// Repositories of their own inside.
    pub nested: Vec<BString>,
    /// Submodules with changes that no commit of the outer repository can hold, or commits that are nowhere else.
    pub submodules: Vec<BString>,
    /// What may not be read.
    pub unreadable: Vec<BString>,
    /// What belongs to another user.
    pub others: Vec<BString>,
    /// Other file systems inside.
    pub mounts: Vec<BString>,
    /// Pipes, sockets, devices.
    pub special: Vec<BString>,
    /// What git has begun there and not ended: `rebase`, `merge`, `cherry-pick`, `revert`, `bisect`, `am`.
    pub under_way: Vec<&'static str>,
    /// Its index is locked by a git at work, or one that died.
    pub index_locked: bool,
    /// The reason of a person who locked it.
    pub locked: Option<String>,
    /// Processes in it.
    pub users: Vec<User>,
    /// HEAD is at this commit, and no ref that stays holds that.
    pub loose_head: Option<CommitId>,
    /// Commits that only refs of its own hold (`refs/worktree`, those of a bisect).
    pub own_refs: Vec<CommitId>,
    /// Commits that only the log of its HEAD holds, the newest ones, or that are only named by what is under way.
    pub logged: Vec<CommitId>,
    /// Refs of its own that name no commit.
    pub own_objects: Vec<BString>,
}

impl Condition {
    /// Tracked content that would be lost with the folder.
    #[must_use]
    pub fn has_modified(&self) -> bool {
        !(self.modified.is_empty() && self.staged.is_empty() && self.conflicts.is_empty())
    }

    /// Nothing in it would be lost with the folder, but for what is ignored and what was brought along.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let own = self.own_refs.is_empty() && self.own_objects.is_empty();
        let own = own && self.logged.is_empty() && self.loose_head.is_none();
        !self.has_modified() && self.untracked.is_empty() && own
    }

    /// The same, but for what a ref holds as soon as it is kept: commits that no shared ref held before.
    #[must_use]
    pub fn but_for_commits(&self) -> Self {
        let none = Vec::new;
        Self { loose_head: None, own_refs: none(), logged: none(), ..self.clone() }
    }
}

impl Linked {
    /// Looks at it whole. `brought`: paths that provisioning copied in.
    ///
    /// # Errors
    /// Git or the system cannot read it. What it cannot read inside is named instead.
    pub fn condition(&self, brought: &[BString]) -> Result<Condition, GitError> {
        let mut found = Condition {
            removing: is_cut_short(self.path(), &self.admin),
            came_since: came_since(&self.admin),
            ..Condition::default()
        };
        let index = ScratchIndex::of(self)?;
        if index.in_conflict() {
            let sides = (1..=3).flat_map(|stage| index.side(stage)).map(|(path, _)| path);
            found.conflicts = sides.collect::<BTreeSet<_>>().into_iter().collect();
        }
        match self.path().filter(|path| path.is_dir()) {
            None => {
                found.missing = true;
                found.staged = self.staged_alone(&index)?;
            }
            Some(root) => {
                found.unlinked =
                    !self.is_main() && self.repo.admin_of(root).as_ref() != Some(&self.admin);
                found.users = users_of(root);
                self.status(&index, brought, &mut found)?;
                look_inside(root, &index, &mut found)?;
            }
        }
        if let Head::Detached(at) = &self.head
            && !self.repo.is_held(at).unwrap_or(false)
        {
            found.loose_head = Some(at.clone());
        }
        if !self.is_main() {
            let own = self.repo.own_of(&self.admin, self.head.commit())?;
            (found.own_refs, found.logged, found.own_objects) = (own.refs, own.logged, own.objects);
        }
        let inside = self.path().filter(|path| path.is_dir());
        found.submodules.extend(submodule::own_work(inside, &self.admin, &index.submodules())?);
        found.submodules.sort();
        found.submodules.dedup();
        // Last, since all the rest took its time.
        found.under_way = self.under_way();
        found.index_locked = self.admin.join("index.lock").exists();
        found.locked = self.locked();
        Ok(found)
    }

    /// What git has begun in it.
    #[must_use]
    pub fn under_way(&self) -> Vec<&'static str> {
        let rebase = match self.admin.join("rebase-apply/applying").exists() {
            true => "am",
            false => "rebase",
        };
        let marks = [
            ("rebase-merge", "rebase"),
            ("rebase-apply", rebase),
            ("MERGE_HEAD", "merge"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("sequencer", "sequence of picks"),
            ("BISECT_LOG", "bisect"),
        ];
        let begun = marks.into_iter().filter(|(file, _)| self.admin.join(file).exists());
        let mut begun: Vec<_> = begun.map(|(_, what)| what).collect();
        begun.dedup();
        begun
    }

    /// What the index of a worktree without a folder has and HEAD has not.
    fn staged_alone(&self, index: &ScratchIndex) -> Result<Vec<BString>, GitError> {
        let Some(at) = self.head.commit() else {
            return Ok(index
                .index
                .entries()
                .iter()
                .map(|it| index.index.path(it).to_owned())
                .collect());
        };
        if index.index.entries().is_empty() {
            // Never filled: a worktree that was being made.
            return Ok(Vec::new());
        }
        let asked = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", at.as_str()];
        let out = index.git(self).args(asked).run()?;
        Ok(paths(&out))
    }

    fn status(
        &self,
        index: &ScratchIndex,
        brought: &[BString],
        found: &mut Condition,
    ) -> Result<(), GitError> {
        let git = index.git(self).reading();
        let out = git
            .args(["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"])
            .args(["--ignored=matching", "--ignore-submodules=none"])
            .run()?;
        for record in out.split(|b| *b == 0).filter(|record| !record.is_empty()) {
            match record[0] {
                b'1' => {
                    // `1 XY sub mH mI mW hH hI path`
                    let Some((fields, path)) = fields::<8>(record) else { continue };
                    let (state, sub) = (fields[1], fields[2]);
                    if state.first() != Some(&b'.') {
                        found.staged.push(path.into());
                    }
                    if state.get(1) != Some(&b'.') {
                        found.modified.push(path.into());
                    }
                    if sub.first() == Some(&b'S') && sub[2..].iter().any(|b| *b != b'.') {
                        found.submodules.push(path.into());
                    }
                }
                b'?' => {
                    let path = BString::from(&record[2..]);
                    match brought.iter().any(|entry| lies_at(entry.as_bstr(), path.as_bstr())) {
                        true => found.provisioned.push(path),
                        // A folder stands for a repository, which is named as such.
                        false if path.ends_with(b"/") => {}
                        false => found.untracked.push(path),
                    }
                }
                b'!' => {
                    let path = BString::from(&record[2..]);
                    match brought.iter().any(|entry| lies_at(entry.as_bstr(), path.as_bstr())) {
                        true => found.provisioned.push(path),
                        false => found.ignored.push(path),
                    }
                }
                _ => {}
            }
        }
        for list in [&mut found.untracked, &mut found.ignored, &mut found.provisioned] {
            list.sort();
        }
        let refused = |path: &&BString| path.split(|b| *b == b'/').any(names_git);
        found.unstorable = found.untracked.iter().filter(refused).cloned().collect();
        Ok(())
    }
}

/// Processes in a folder, but for children of this one that have not become another program yet: what they have open
/// is what this one had.
fn users_of(root: &Path) -> Vec<User> {
    let own = std::process::id();
    let program = |pid: u32| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before it is in brackets, and may hold anything.
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let mut users = in_use::users_of(root);
    users.retain(|user| {
        let twin = parent(user.pid) == Some(own) && program(user.pid) == program(own);
        let gone = program(user.pid).is_none() && parent(user.pid).is_none();
        !twin && !gone
    });
    if users.is_empty() {
        return users;
    }
    // One that only came by, as the prompt of a shell may, is not at work in it.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let still = in_use::users_of(root);
    users.retain(|user| still.contains(user));
    users
}

fn look_inside(root: &Path, index: &ScratchIndex, found: &mut Condition) -> Result<(), GitError> {
    let inside = Inside::of(root);
    let submodules = index.submodules();
    let of_one =
        |path: &BString| submodules.iter().any(|sub| lies_at(sub.as_bstr(), path.as_bstr()));
    found.nested = inside.repositories.into_iter().filter(|path| !of_one(path)).collect();
    if root.join(".git").is_dir()
        && plain_file::read_own(&root.join(".git")).is_err()
        && found.unlinked
    {
        found.nested.push(BString::from("."));
    }
    (found.unreadable, found.others) = (inside.unreadable, inside.others);
    (found.mounts, found.special) = (inside.mounts, inside.special);
    for path in submodules {
        if !super::on_disk(root, &path).is_dir() {
            continue;
        }
        if !submodule::look(root, path.as_bstr())?.irregular.is_empty() {
            found.submodules.push(path);
        }
    }
    Ok(())
}

/// The first `N` words of a record, and the rest of it: a path.
fn fields<const N: usize>(record: &[u8]) -> Option<([&[u8]; N], &[u8])> {
    let mut parts = record.splitn(N + 1, |b| *b == b' ');
    let mut fields = [&record[..0]; N];
    for field in &mut fields {
        *field = parts.next()?;
    }
    Some((fields, parts.next()?))
}

/// Whether `path` is `entry` or lies in it.
pub(super) fn lies_at(entry: &BStr, path: &BStr) -> bool {
    let entry = entry.trim_end_with(|c| c == '/');
    path.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Paths as git lists them with `-z`.
pub(super) fn paths(out: &[u8]) -> Vec<BString> {
    let mut paths: Vec<BString> =
        out.split(|b| *b == 0).filter(|path| !path.is_empty()).map(BString::from).collect();
    paths.sort();
    paths.dedup();
    paths
}
