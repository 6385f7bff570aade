//! What is left, by class, with the reason for each; and what was done.

use std::io::{self, Write};

use super::{command, remark};
use crate::model::upkeep::{Class, Done, Leftover, LeftoverKind};
use crate::report::line::{Flow, Line};
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Writes what is left. `again`: the command that does it, where it was only shown.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(
    left: &[Leftover],
    again: Option<&str>,
    out: &mut impl Write,
    look: &Look,
) -> io::Result<()> {
    if left.is_empty() {
        return writeln!(out, "Nothing is left.");
    }
    let mut before = None;
    for item in left {
        if before.is_some_and(|before| before != item.class) {
            writeln!(out)?;
        }
        before = Some(item.class);
        item_of(item, out, look)?;
    }
    let may_go = left.iter().filter(|item| item.class != Class::Hold).count();
    match again {
        Some(again) if may_go > 0 => {
            writeln!(out)?;
            let text = format!("{may_go} of {} may go; nothing was done yet:", left.len());
            Flow::after(Line::new(look)).then(Tone::Normal, &text).write(out)?;
            command(again, out, look)
        }
        Some(_) => {
            writeln!(out)?;
            writeln!(out, "All of it stays.")
        }
        None => Ok(()),
    }
}

fn item_of(item: &Leftover, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let (word, tone) = match (item.class, &item.done) {
        (_, Some(Done::Removed)) => ("removed", Tone::Good),
        (_, Some(Done::Archived(_))) => ("archived", Tone::Good),
        (_, Some(Done::Left { .. })) => ("left", Tone::Bad),
        (Class::Reclaim, None) => ("reclaim", Tone::Good),
        (Class::Salvage, None) => ("salvage", Tone::Warn),
        (Class::Hold, None) => ("hold", Tone::Normal),
    };
    let kind = match item.kind {
        LeftoverKind::Worktree => "worktree",
        LeftoverKind::Branch => "branch",
    };
    let head = Line::new(look).then(tone, words::tone_mark(tone, look)).gap(1).cell(tone, word, 9);
    let head = head.cell(Tone::Faint, kind, 9);
    let text = Flow::after(head).then(Tone::Strong, &item.name);
    let text = item.why.iter().fold(text, |text, why| text.dot().then(Tone::Normal, why));
    text.write(out)?;
    match &item.done {
        Some(Done::Left { why }) => remark(Tone::Bad, why, out, look),
        Some(Done::Archived(kept)) => {
            for gone in &kept.not_kept {
                remark(Tone::Warn, &format!("not kept, {gone}"), out, look)?;
            }
            remark(Tone::Faint, "to bring it back:", out, look)?;
            command(&kept.restore, out, look)
        }
        _ => Ok(()),
    }
}
