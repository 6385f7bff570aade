//! Graphviz: `sop graph PLAN --format dot | dot -Tsvg`.

use std::fmt::Write;

use super::{Drawing, Tone};
use crate::report::escape::visible;
use crate::report::words;

/// The graph in the DOT language. A stage that is waited for as a whole ends in a point, from which
/// the arrows of those that wait for it begin.
#[must_use]
pub fn dot(drawing: &Drawing<'_>) -> String {
    let mut out = String::new();
    write(&mut out, drawing).expect("a String takes all that is written");
    out
}

fn write(out: &mut String, drawing: &Drawing<'_>) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quoted(drawing.plan.name.as_str()))?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  graph [fontname=\"sans-serif\", style=rounded, color=gray];")?;
    writeln!(
        out,
        "  node [fontname=\"sans-serif\", shape=box, style=\"rounded,filled\", fillcolor=white];"
    )?;
    let mut last: Option<(usize, &[usize])> = None;
    for (s, (stage, wps)) in drawing.sealed.stages().enumerate() {
        writeln!(out, "  subgraph cluster_{s} {{\n    label={};", quoted(drawing.heading(stage)))?;
        for &wp in wps {
            writeln!(out, "    w{wp} [{}];", attributes(drawing, wp))?;
        }
        writeln!(out, "  }}")?;
        let mut waiting = drawing.wait_for_stage(wps).peekable();
        if let Some((before, its_wps)) = last.filter(|_| waiting.peek().is_some()) {
            writeln!(out, "  s{before} [shape=point, fillcolor=black];")?;
            for wp in its_wps {
                writeln!(out, "  w{wp} -> s{before} [arrowhead=none, style=dashed];")?;
            }
            for wp in waiting {
                writeln!(out, "  s{before} -> w{wp} [style=dashed];")?;
            }
        }
        last = Some((s, wps));
    }
    for (need, wp) in drawing.needs() {
        writeln!(out, "  w{need} -> w{wp};")?;
    }
    writeln!(out, "}}")
}

fn attributes(drawing: &Drawing<'_>, wp: usize) -> String {
    let it = &drawing.plan.wps[wp];
    let title = visible(words::title(&it.id, &it.title)).into_owned();
    let mut lines = vec![it.id.to_string(), title, drawing.facts(wp, ", ")];
    lines.retain(|line| !line.is_empty());
    let mut fill = String::new();
    if let Some(state) = drawing.state(wp) {
        lines.push(visible(&state.name).into_owned());
        fill = format!(", fillcolor={}", color(state.tone));
    }
    format!("label={}{fill}", quoted(&lines.join("\n")))
}

fn color(tone: Tone) -> &'static str {
    match tone {
        Tone::Idle => "gray92",
        Tone::Active => "lightblue",
        Tone::Waiting => "khaki",
        Tone::Done => "palegreen",
        Tone::Bad => "lightpink",
    }
}

/// A quoted string, in which Graphviz would read escapes.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
