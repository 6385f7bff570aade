//! Where everything goes: a band for each stage, left to right, a column for each of its levels, and
//! as many columns for a level as keep the whole picture in a shape that fits a page.

use super::super::Drawing;

/// Width of a WP's box.
pub(super) const BOX_W: f64 = 196.0;
/// Height of a WP's box.
pub(super) const BOX_H: f64 = 82.0;

const GAP_Y: f64 = 14.0;
/// Between columns of one level, which no arrow joins.
const GAP_COLUMN: f64 = 16.0;
/// Between levels of one stage.
const GAP_LEVEL: f64 = 54.0;
const GAP_BAND: f64 = 56.0;
const PAD: f64 = 16.0;
const BAND_HEAD: f64 = 36.0;
/// Width to height that the picture should have.
const SHAPE: f64 = 1.6;

/// A place on the canvas, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) w: f64,
    pub(super) h: f64,
}

/// A stage.
pub(super) struct Band {
    pub(super) heading: String,
    pub(super) rect: Rect,
}

/// From a stage to the next.
pub(super) struct StageArrow {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) y: f64,
}

/// The whole picture.
pub(super) struct Layout {
    pub(super) bands: Vec<Band>,
    /// By WP.
    pub(super) boxes: Vec<Rect>,
    pub(super) stage_arrows: Vec<StageArrow>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    pub(super) fn of(drawing: &Drawing<'_>) -> Self {
        let stages = levels(drawing);
        let tallest = stages.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let off = |rows: usize| {
            let (w, h) = size(&stages, rows);
            (w / h / SHAPE).ln().abs()
        };
        // Rows are few, and each guess costs as much as there are levels.
        let rows = (1..=tallest.max(1)).min_by(|&a, &b| off(a).total_cmp(&off(b))).unwrap_or(1);
        place(drawing, &stages, rows)
    }
}

/// For each stage its levels, each ordered so that arrows cross little: a WP goes near what it needs.
fn levels(drawing: &Drawing<'_>) -> Vec<Vec<Vec<usize>>> {
    let sealed = drawing.sealed;
    let mut place = vec![0.0; sealed.len()];
    let mut stages: Vec<Vec<Vec<usize>>> = Vec::new();
    let mut of_level = vec![0; sealed.levels().len()];
    for (s, (_, wps)) in sealed.stages().enumerate() {
        wps.iter().for_each(|&wp| of_level[sealed.level_of(wp)] = s);
        stages.push(Vec::new());
    }
    for (l, level) in sealed.levels().iter().enumerate() {
        let mut wps = level.wps.clone();
        let near = |wp: usize| match sealed.waits(wp) {
            crate::graph::Waits::Wps(needs) => {
                let sum: f64 = needs.iter().map(|&n| place[n]).sum();
                sum / needs.len() as f64
            }
            _ => 0.5,
        };
        wps.sort_by(|&a, &b| near(a).total_cmp(&near(b)));
        for (i, &wp) in wps.iter().enumerate() {
            place[wp] = (i as f64 + 0.5) / wps.len() as f64;
        }
        stages[of_level[l]].push(wps);
    }
    stages
}

fn columns(level: &[usize], rows: usize) -> usize {
    level.len().div_ceil(rows)
}

fn band_width(levels: &[Vec<usize>], rows: usize) -> f64 {
    let one = |level: &Vec<usize>| {
        let n = columns(level, rows) as f64;
        n * BOX_W + (n - 1.0) * GAP_COLUMN
    };
    levels.iter().map(one).sum::<f64>() + (levels.len() as f64 - 1.0) * GAP_LEVEL + 2.0 * PAD
}

fn band_height(levels: &[Vec<usize>], rows: usize) -> f64 {
    // A level is spread evenly over its columns, and so may be shorter than `rows`.
    let n = levels.iter().map(|l| l.len().div_ceil(columns(l, rows))).max().unwrap_or(1) as f64;
    BAND_HEAD + n * BOX_H + (n - 1.0) * GAP_Y + PAD
}

fn size(stages: &[Vec<Vec<usize>>], rows: usize) -> (f64, f64) {
    let width = stages.iter().map(|s| band_width(s, rows)).sum::<f64>()
        + (stages.len().saturating_sub(1)) as f64 * GAP_BAND;
    let height = stages.iter().map(|s| band_height(s, rows)).fold(0.0, f64::max);
    (width, height)
}

fn place(drawing: &Drawing<'_>, stages: &[Vec<Vec<usize>>], rows: usize) -> Layout {
    let (width, height) = size(stages, rows);
    let nowhere = Rect { x: 0.0, y: 0.0, w: BOX_W, h: BOX_H };
    let mut layout = Layout {
        bands: Vec::new(),
        boxes: vec![nowhere; drawing.sealed.len()],
        stage_arrows: Vec::new(),
        width,
        height,
    };
    let mut x = 0.0;
    for ((stage, wps), levels) in drawing.sealed.stages().zip(stages) {
        let rect = Rect { x, y: 0.0, w: band_width(levels, rows), h: height };
        if drawing.wait_for_stage(wps).next().is_some() {
            layout.stage_arrows.push(StageArrow {
                from: x - GAP_BAND + 4.0,
                to: x - 12.0,
                y: BAND_HEAD / 2.0,
            });
        }
        let mut column = x + PAD;
        for level in levels {
            let deep = level.len().div_ceil(columns(level, rows));
            for chunk in level.chunks(deep) {
                // Short columns stand in the middle, where the arrows come from.
                let tall = deep as f64 * (BOX_H + GAP_Y) - GAP_Y;
                let free = height - BAND_HEAD - PAD - tall;
                for (i, &wp) in chunk.iter().enumerate() {
                    let y = BAND_HEAD + free / 2.0 + i as f64 * (BOX_H + GAP_Y);
                    layout.boxes[wp] = Rect { x: column, y, w: BOX_W, h: BOX_H };
                }
                column += BOX_W + GAP_COLUMN;
            }
            column += GAP_LEVEL - GAP_COLUMN;
        }
        layout.bands.push(Band { heading: drawing.heading(stage).to_owned(), rect });
        x += rect.w + GAP_BAND;
    }
    layout
}
