//! Mermaid: what GitHub and others draw inside a Markdown file.

use std::fmt::Write;

use super::{Drawing, Tone};
use crate::report::escape::visible;
use crate::report::words;

/// The graph as a Mermaid flowchart.
#[must_use]
pub fn mermaid(drawing: &Drawing<'_>) -> String {
    let mut out = String::new();
    write(&mut out, drawing).expect("a String takes all that is written");
    out
}

fn write(out: &mut String, drawing: &Drawing<'_>) -> std::fmt::Result {
    writeln!(out, "flowchart LR")?;
    for (s, (stage, wps)) in drawing.sealed.stages().enumerate() {
        writeln!(out, "  subgraph s{s}[{}]", quoted(drawing.heading(stage)))?;
        for &wp in wps {
            writeln!(out, "    w{wp}[{}]", label(drawing, wp))?;
        }
        writeln!(out, "  end")?;
    }
    for (s, (_, wps)) in drawing.sealed.stages().enumerate().skip(1) {
        if drawing.wait_for_stage(wps).next().is_some() {
            writeln!(out, "  s{} ==> s{s}", s - 1)?;
        }
    }
    for (need, wp) in drawing.needs() {
        writeln!(out, "  w{need} --> w{wp}")?;
    }
    if drawing.states.is_none() {
        return Ok(());
    }
    for tone in Tone::ALL {
        let has_tone = |&wp: &usize| drawing.state(wp).is_some_and(|s| s.tone == tone);
        let wps: Vec<String> =
            (0..drawing.sealed.len()).filter(has_tone).map(|wp| format!("w{wp}")).collect();
        if !wps.is_empty() {
            let class = tone.class();
            writeln!(out, "  classDef {class} {}", style(tone))?;
            writeln!(out, "  class {} {class}", wps.join(","))?;
        }
    }
    Ok(())
}

fn label(drawing: &Drawing<'_>, wp: usize) -> String {
    let it = &drawing.plan.wps[wp];
    let mut lines = vec![
        it.id.to_string(),
        words::title(&it.id, &it.title).to_owned(),
        drawing.facts(wp, ", "),
    ];
    lines.retain(|line| !line.is_empty());
    if let Some(state) = drawing.state(wp) {
        lines.push(state.name.clone());
    }
    let lines: Vec<String> = lines.iter().map(|l| escaped(l)).collect();
    format!("\"{}\"", lines.join("<br/>"))
}

fn style(tone: Tone) -> &'static str {
    match tone {
        Tone::Idle => "fill:#eaeef2,color:#1f2328",
        Tone::Active => "fill:#c8e1ff,color:#1f2328",
        Tone::Waiting => "fill:#fff1b8,color:#1f2328",
        Tone::Done => "fill:#c9f0d0,color:#1f2328",
        Tone::Bad => "fill:#ffd0d0,color:#1f2328",
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Everything that Mermaid, or the HTML it makes, would read as more than a letter.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' | ';' | '%' | '$' | '{' | '}' | '[' | ']'
            | '*' | '_' | '~' => {
                out.push_str(&format!("#{};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}
