//! Worktrees: a list of them, one made, removed, archived or brought forward.

use std::io::{self, Write};

use super::{command, remark};
use crate::model::upkeep::{Archived, Gone, How, State, StateKind, Synced, Tree, Whose};
use crate::report::cells::width;
use crate::report::line::{Flow, Line};
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Widest that a name pushes the rest to the right.
const WIDEST: usize = 32;

/// Writes a list of worktrees.
///
/// # Errors
/// When `out` cannot be written.
pub fn list(trees: &[Tree], out: &mut impl Write, look: &Look) -> io::Result<()> {
    let names = trees.iter().map(|tree| width(&tree.name)).max().unwrap_or(0).min(WIDEST);
    for tree in trees {
        let tone = tone(tree);
        let head = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .gap(1)
            .cell(Tone::Strong, &tree.name, names.max(width(&tree.name)))
            .gap(2);
        let mut text = Flow::after(head).then(Tone::Faint, whose(&tree.whose));
        if let Some(branch) = tree.branch.as_ref().filter(|branch| **branch != tree.name) {
            text = text.dot().then(Tone::Normal, branch);
        }
        if let Some(head) = &tree.head {
            text = text.dot().then(Tone::Faint, head.short());
        }
        for state in &tree.states {
            text = text.dot().then(tone_of(state.kind), &say(state));
        }
        match &tree.merged {
            Some(merged) => text = text.dot().then(Tone::Good, &proven(merged.how, &merged.into)),
            None if tree.whose != Whose::Main && tree.branch.is_some() => {
                text = text.dot().then(Tone::Normal, "not merged");
            }
            None => {}
        }
        text.write(out)?;
        if let Some(path) = &tree.path {
            remark(Tone::Faint, path, out, look)?;
        }
    }
    Ok(())
}

/// Writes what a removal took.
///
/// # Errors
/// When `out` cannot be written.
pub fn gone(gone: &Gone, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let mark = Line::new(look).then(Tone::Good, words::tone_mark(Tone::Good, look)).gap(1);
    let text = Flow::after(mark).then(Tone::Strong, &gone.name).then(Tone::Normal, " is removed");
    let text = match &gone.branch {
        Some(branch) => text.then(Tone::Normal, &format!(", and its merged branch {branch}")),
        None => text,
    };
    text.write(out)?;
    gone.went
        .iter()
        .try_for_each(|went| remark(Tone::Warn, &format!("gone with it, {went}"), out, look))?;
    match &gone.kept {
        Some(kept) => remark(
            Tone::Faint,
            &format!("commits that only its log named are in {kept}"),
            out,
            look,
        ),
        None => Ok(()),
    }
}

/// Writes what an archive keeps, and how to get it back.
///
/// # Errors
/// When `out` cannot be written.
pub fn archived(name: &str, kept: &Archived, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let mark = Line::new(look).then(Tone::Good, words::tone_mark(Tone::Good, look)).gap(1);
    let text = Flow::after(mark).then(Tone::Strong, name).then(Tone::Normal, " is archived in ");
    text.then(Tone::Normal, &kept.salvage).write(out)?;
    for gone in &kept.not_kept {
        remark(Tone::Warn, &format!("not kept, {gone}"), out, look)?;
    }
    remark(Tone::Faint, "to bring it back:", out, look)?;
    command(&kept.restore, out, look)
}

/// Writes how bringing a checkout forward went.
///
/// # Errors
/// When `out` cannot be written.
pub fn synced(synced: &Synced, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let mark = Line::new(look).then(Tone::Good, words::tone_mark(Tone::Good, look)).gap(1);
    let branch = synced.branch.as_deref().unwrap_or("HEAD");
    let text = Flow::after(mark).then(Tone::Strong, branch);
    let text = match &synced.from {
        None => text.then(Tone::Normal, &format!(" has all of {} already", synced.to)),
        Some(from) => text.then(
            Tone::Normal,
            &format!(
                " went from {} to {} ({}), {} changed",
                from.short(),
                synced.at.short(),
                synced.to,
                words::count(synced.files as u64, "file")
            ),
        ),
    };
    text.write(out)?;
    remark(Tone::Faint, &synced.path, out, look)
}

fn whose(whose: &Whose) -> &'static str {
    match whose {
        Whose::Main => "main checkout",
        Whose::Run { .. } => "of a run",
        Whose::Lead => "the lead's",
        Whose::Foreign => "foreign",
    }
}

fn tone(tree: &Tree) -> Tone {
    let clean = tree.states.iter().any(|state| state.kind == StateKind::Clean);
    if clean { Tone::Good } else { Tone::Warn }
}

fn tone_of(kind: StateKind) -> Tone {
    match kind {
        StateKind::Clean => Tone::Good,
        StateKind::Ignored | StateKind::Provisioned | StateKind::Stash | StateKind::Special => {
            Tone::Faint
        }
        _ => Tone::Warn,
    }
}

/// A proof in words.
#[must_use]
pub fn proven(how: How, into: &str) -> String {
    match how {
        How::Ancestor => format!("merged into {into}"),
        How::Patch => format!("merged into {into} patch by patch"),
        How::Squash => format!("merged into {into} as one commit"),
        How::Archived => format!("kept in {into}"),
    }
}

fn say(state: &State) -> String {
    let some = state.some.join(", ");
    let count = state.count;
    let reason = if some.is_empty() { String::new() } else { format!(" ({some})") };
    match state.kind {
        StateKind::Clean => "clean".to_owned(),
        StateKind::Modified => format!("{count} modified"),
        StateKind::Staged => format!("{count} staged"),
        StateKind::Conflict => format!("{count} in conflict"),
        StateKind::Untracked => format!("{count} untracked"),
        StateKind::Ignored => format!("{count} ignored"),
        StateKind::Provisioned => format!("{count} provisioned"),
        StateKind::Stash => format!(
            "{} stashed on its branch",
            words::count(count as u64, "entry").replace("entrys", "entries")
        ),
        StateKind::Nested => format!("repository inside{reason}"),
        StateKind::Submodule => format!("submodule with own work{reason}"),
        StateKind::Unreadable => format!("unreadable{reason}"),
        StateKind::OtherUser => format!("another user's files{reason}"),
        StateKind::Mount => format!("another file system inside{reason}"),
        StateKind::Special => format!("{count} pipes, sockets or devices"),
        StateKind::UnderWay => format!("{some} under way"),
        StateKind::Detached => "detached".to_owned(),
        StateKind::LooseHead => format!("detached at {some}, which no branch holds"),
        StateKind::OwnRefs => format!("commits that only refs of its own hold{reason}"),
        StateKind::OwnObjects => format!("refs of its own that name no commit{reason}"),
        StateKind::Logged => format!("commits that only its log names{reason}"),
        StateKind::Unborn => "no commit yet".to_owned(),
        StateKind::Locked => format!("locked{reason}"),
        StateKind::IndexLocked => "its index is locked".to_owned(),
        StateKind::Missing => "its folder is gone".to_owned(),
        StateKind::Removing => "its removal was cut short".to_owned(),
        StateKind::Unlinked => "its .git leads elsewhere".to_owned(),
        StateKind::Process => format!("a process is in it: {some}"),
    }
}
