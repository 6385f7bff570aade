//! Colours and lines. Dark is chosen by whoever shows the picture, through `prefers-color-scheme`;
//! the page has a colour of its own in both, so that nothing depends on what is behind it.

/// The style sheet. It names no font that must be there.
pub(super) const SHEET: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;fill:#1f2328}
.name{font-size:20px;font-weight:600}
.goal{font-size:13px}
.stage{font-size:13px;font-weight:600;fill:#57606a}
.id{font-size:13px;font-weight:600}
.title{font-size:11.5px}
.small{font-size:10.5px;fill:#57606a}
.state{font-size:10.5px;font-weight:600}
.end{text-anchor:end}
.page{fill:#ffffff}
.band{fill:#f3f5f7;stroke:#d0d7de}
.wp{fill:#ffffff;stroke:#afb8c1}
.wp.idle{fill:#eaeef2}
.wp.active{fill:#ddf0ff;stroke:#54aeff}
.wp.waiting{fill:#fff6d6;stroke:#d4a72c}
.wp.done{fill:#dcf6e3;stroke:#4ac26b}
.wp.bad{fill:#ffe3e1;stroke:#ff8182}
.risk.low{fill:#2da44e}
.risk.medium{fill:#d29922}
.risk.high{fill:#cf222e}
.need{fill:none;stroke:#6e7781;stroke-width:1.4}
.whole{fill:none;stroke:#57606a;stroke-width:3}
.tip-need{fill:#6e7781}
.tip-whole{fill:#57606a}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}
.stage,.small{fill:#9ea7b3}
.page{fill:#0d1117}
.band{fill:#151b23;stroke:#3d444d}
.wp{fill:#212830;stroke:#656c76}
.wp.idle{fill:#1a2027}
.wp.active{fill:#12304f;stroke:#388bfd}
.wp.waiting{fill:#3a2d0a;stroke:#bb8009}
.wp.done{fill:#12351f;stroke:#2ea043}
.wp.bad{fill:#481a1d;stroke:#f85149}
.risk.low{fill:#3fb950}
.risk.medium{fill:#d29922}
.risk.high{fill:#f85149}
.need{stroke:#8b949e}
.whole{stroke:#9ea7b3}
.tip-need{fill:#8b949e}
.tip-whole{fill:#9ea7b3}
}
";

/// Heads of the two kinds of arrow.
pub(super) const MARKERS: &str = r#"<defs><marker id="need" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="tip-need" d="M0 0.5L8 4L0 7.5Z"/></marker><marker id="whole" viewBox="0 0 12 12" refX="4" refY="6" markerWidth="13" markerHeight="13" markerUnits="userSpaceOnUse" orient="auto"><path class="tip-whole" d="M0 0L12 6L0 12Z"/></marker></defs>"#;
