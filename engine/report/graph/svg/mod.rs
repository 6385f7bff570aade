//! The graph as an SVG that stands alone: no script, no font, no style from elsewhere, readable on
//! light and on dark.

mod layout;
mod style;
mod text;

use std::fmt::Write;

use super::{Drawing, Tone, risk};
use crate::model::plan::{Mode, Risk};
use crate::report::words;
use layout::{BOX_H, BOX_W, Layout, Rect};
use text::{escaped, fitted, wrapped};

/// Pixels around everything.
const MARGIN: f64 = 24.0;
/// Pixels for the name and the goal of the plan.
const HEADER: f64 = 78.0;
/// Pixels for the legend.
const FOOTER: f64 = 40.0;
/// The legend and the header must fit even where the graph is narrow.
const MIN_WIDTH: f64 = 560.0;

/// The graph as an SVG document.
#[must_use]
pub fn svg(drawing: &Drawing<'_>) -> String {
    let layout = Layout::of(drawing);
    let width = (layout.width + 2.0 * MARGIN).max(MIN_WIDTH);
    let height = layout.height + HEADER + FOOTER + 2.0 * MARGIN;
    let mut out = String::new();
    write(&mut out, drawing, &layout, width, height).expect("a String takes all that is written");
    out
}

fn write(
    out: &mut String,
    drawing: &Drawing<'_>,
    layout: &Layout,
    width: f64,
    height: f64,
) -> std::fmt::Result {
    let name = escaped(drawing.plan.name.as_str());
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="Graph of the plan {name}">"#
    )?;
    writeln!(out, "<style>{}</style>", style::SHEET)?;
    writeln!(out, "{}", style::MARKERS)?;
    writeln!(out, r#"<rect class="page" width="{width}" height="{height}" rx="12"/>"#)?;
    header(out, drawing, width)?;
    writeln!(out, r#"<g transform="translate({MARGIN} {})">"#, MARGIN + HEADER)?;
    for band in &layout.bands {
        let Rect { x, y, w, h } = band.rect;
        writeln!(out, r#"<rect class="band" x="{x}" y="{y}" width="{w}" height="{h}" rx="10"/>"#)?;
        let heading = fitted(&band.heading, w - 28.0, 13.0, true);
        writeln!(out, r#"<text class="stage" x="{}" y="{}">{heading}</text>"#, x + 14.0, y + 22.0)?;
    }
    for arrow in &layout.stage_arrows {
        writeln!(
            out,
            r#"<path class="whole" d="M{} {y}H{}" marker-end="url(#whole)"/>"#,
            arrow.from,
            arrow.to,
            y = arrow.y
        )?;
    }
    for (need, wp) in drawing.needs() {
        arrow(out, layout.boxes[need], layout.boxes[wp])?;
    }
    for (wp, rect) in layout.boxes.iter().enumerate() {
        package(out, drawing, wp, *rect)?;
    }
    writeln!(out, "</g>")?;
    legend(out, drawing, height - MARGIN)?;
    writeln!(out, "</svg>")
}

fn header(out: &mut String, drawing: &Drawing<'_>, width: f64) -> std::fmt::Result {
    let plan = drawing.plan;
    let wps = drawing.sealed.len();
    let stages = drawing.sealed.stages().len();
    let chain = drawing.sealed.longest_chain().len();
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let facts = match plan.mode {
        Mode::Independent => format!("{}, each on a branch of its own", count(wps, "package")),
        Mode::Staged => format!(
            "{} · {} · longest chain {chain}",
            count(wps, "package"),
            count(stages, "stage")
        ),
    };
    let room = width - 2.0 * MARGIN;
    writeln!(
        out,
        r#"<text class="name" x="{MARGIN}" y="44">{}</text>"#,
        fitted(plan.name.as_str(), room, 20.0, true)
    )?;
    writeln!(
        out,
        r#"<text class="goal" x="{MARGIN}" y="66">{}</text>"#,
        fitted(&plan.goal, room, 13.0, false)
    )?;
    writeln!(out, r#"<text class="small" x="{MARGIN}" y="86">{}</text>"#, escaped(&facts))
}

/// A curve from what is waited for to what waits.
fn arrow(out: &mut String, from: Rect, to: Rect) -> std::fmt::Result {
    let (x1, y1) = (from.x + from.w, from.y + from.h / 2.0);
    let (x2, y2) = (to.x - 2.0, to.y + to.h / 2.0);
    let bend = ((x2 - x1) / 2.0).clamp(18.0, 60.0);
    writeln!(
        out,
        r#"<path class="need" d="M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}" marker-end="url(#need)"/>"#,
        x1 + bend,
        x2 - bend
    )
}

fn package(out: &mut String, drawing: &Drawing<'_>, wp: usize, rect: Rect) -> std::fmt::Result {
    let it = &drawing.plan.wps[wp];
    let state = drawing.state(wp);
    let tone = state.map_or("plain", |s| s.tone.class());
    let Rect { x, y, .. } = rect;
    writeln!(
        out,
        r#"<g transform="translate({x} {y})"><title>{}</title>"#,
        escaped(&match words::title(&it.id, &it.title) {
            "" => it.id.to_string(),
            title => format!("{}: {title}", it.id),
        })
    )?;
    writeln!(out, r#"<rect class="wp {tone}" width="{BOX_W}" height="{BOX_H}" rx="7"/>"#)?;
    writeln!(
        out,
        r#"<rect class="risk {}" x="0.5" y="10" width="4" height="{}" rx="2"/>"#,
        risk(it.risk),
        BOX_H - 20.0
    )?;
    let room = BOX_W - 26.0;
    let mut id_room = room;
    if let Some(state) = state {
        let word = fitted(&state.name, room / 2.0, 10.5, true);
        id_room -= text::width(&word, 10.5, true) + 8.0;
        let x = BOX_W - 12.0;
        writeln!(out, r#"<text class="state end" x="{x}" y="20">{word}</text>"#)?;
    }
    let id = fitted(it.id.as_str(), id_room, 13.0, true);
    writeln!(out, r#"<text class="id" x="14" y="20">{id}</text>"#)?;
    for (i, line) in wrapped(words::title(&it.id, &it.title), room, 11.5, 2).iter().enumerate() {
        let y = 38.0 + 14.0 * i as f64;
        writeln!(out, r#"<text class="title" x="14" y="{y}">{line}</text>"#)?;
    }
    let (y, facts) = (BOX_H - 11.0, fitted(&drawing.facts(wp, " · "), room, 10.5, false));
    writeln!(out, r#"<text class="small" x="14" y="{y}">{facts}</text>"#)?;
    writeln!(out, "</g>")
}

fn legend(out: &mut String, drawing: &Drawing<'_>, y: f64) -> std::fmt::Result {
    let mut x = MARGIN;
    let mut item = |out: &mut String, mark: &str, mark_width: f64, words: &str| {
        writeln!(
            out,
            r#"<g transform="translate({x} {y})">{mark}<text class="small" x="{}" y="0">{words}</text></g>"#,
            mark_width + 6.0
        )?;
        x += mark_width + 6.0 + text::width(words, 10.5, false) + 18.0;
        Ok(())
    };
    for level in [Risk::Low, Risk::Medium, Risk::High] {
        if drawing.plan.wps.iter().all(|wp| wp.risk != level) {
            continue;
        }
        let name = risk(level);
        let mark = format!(r#"<rect class="risk {name}" y="-9" width="4" height="11" rx="2"/>"#);
        item(out, &mark, 4.0, &format!("{name} risk"))?;
    }
    if drawing.needs().next().is_some() {
        let mark = r#"<path class="need" d="M0 -4H20" marker-end="url(#need)"/>"#;
        item(out, mark, 24.0, "needs")?;
    }
    let mut stages = drawing.sealed.stages();
    if stages.any(|(_, wps)| drawing.wait_for_stage(wps).next().is_some()) {
        let mark = r#"<path class="whole" d="M0 -4H18" marker-end="url(#whole)"/>"#;
        item(out, mark, 30.0, "waits for the whole stage")?;
    }
    for tone in Tone::ALL {
        let mut all = drawing.states.into_iter().flat_map(|s| s.values());
        if all.any(|s| s.tone == tone) {
            let class = tone.class();
            let mark =
                format!(r#"<rect class="wp {class}" y="-9" width="16" height="11" rx="3"/>"#);
            item(out, &mark, 16.0, words(tone))?;
        }
    }
    Ok(())
}

fn words(tone: Tone) -> &'static str {
    match tone {
        Tone::Idle => "not at work",
        Tone::Active => "at work",
        Tone::Waiting => "waits for an answer",
        Tone::Done => "done",
        Tone::Bad => "failed",
    }
}
