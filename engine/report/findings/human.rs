//! Findings for people: the source line with a caret under it, what else belongs to it, what to do,
//! and a sum at the end.

use std::io::{self, Write};
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::sources::{Sources, Text};
use super::tally::Tally;
use super::{Look, hint};
use crate::finding::{Finding, Severity};
use crate::report::escape::{pictured, visible, visible_lines};

/// Places of one finding further apart than this many lines are drawn as excerpts of their own.
const FAR: usize = 30;

/// Draws `findings` to `out`, with a blank line after each and the sum last; nothing for none.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(
    findings: &[Finding],
    sources: &Sources<'_>,
    look: Look,
    out: &mut impl Write,
) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    let renderer = if look.color { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
    let renderer = renderer.term_width(look.width);
    for finding in findings {
        let group = group(finding, sources.get(&finding.file));
        writeln!(out, "{}\n", renderer.render(&[group]))?;
    }
    writeln!(out, "{}", Tally::of(findings))
}

fn group<'a>(finding: &'a Finding, text: Option<&'a Text<'a>>) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(visible(&finding.message));
    let mut group = Group::with_title(title.id(finding.code));

    match (text, &finding.span) {
        (Some(text), Some(span)) => {
            for excerpt in excerpts(finding, span, text) {
                let path = visible(&finding.file);
                group = group.element(excerpt.snippet(text).path(path));
            }
        }
        _ => group = group.element(Origin::path(visible(&finding.file))),
    }
    if let Some(hint) = hint(finding) {
        group = group.element(Level::HELP.message(hint));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(visible_lines(help)));
    }
    group
}

/// Places close enough to each other to be shown together.
struct Excerpt<'a> {
    first: usize,
    last: usize,
    marks: Vec<Mark<'a>>,
}

struct Mark<'a> {
    kind: AnnotationKind,
    span: Range<usize>,
    label: Option<&'a str>,
}

fn excerpts<'a>(finding: &'a Finding, span: &Range<usize>, text: &Text<'_>) -> Vec<Excerpt<'a>> {
    let primary =
        Mark { kind: AnnotationKind::Primary, span: span.clone(), label: finding.label.as_deref() };
    let related = finding.related.iter().map(|place| Mark {
        kind: AnnotationKind::Context,
        span: place.span.clone(),
        label: Some(&place.label),
    });
    let mut excerpts: Vec<Excerpt<'_>> = Vec::new();
    for mark in std::iter::once(primary).chain(related) {
        let (start, end) = text.positions(&mark.span);
        let near = |e: &&mut Excerpt<'_>| start.line <= e.last + FAR && e.first <= end.line + FAR;
        match excerpts.iter_mut().find(near) {
            Some(excerpt) => {
                excerpt.first = excerpt.first.min(start.line);
                excerpt.last = excerpt.last.max(end.line);
                excerpt.marks.push(mark);
            }
            None => excerpts.push(Excerpt { first: start.line, last: end.line, marks: vec![mark] }),
        }
    }
    excerpts
}

impl<'a> Excerpt<'a> {
    fn snippet(&self, text: &Text<'_>) -> Snippet<'a, Annotation<'a>> {
        let (from, lines) = text.lines(self.first, self.last);
        let annotations = self.marks.iter().map(|mark| {
            let (start, end) = text.positions(&mark.span);
            // Spans move when something before them is replaced by a longer or shorter character.
            let moved = |offset: usize| pictured(&lines[..offset - from]).len();
            let annotation = mark.kind.span(moved(start.offset)..moved(end.offset));
            annotation.label(mark.label.map(visible))
        });
        Snippet::source(pictured(lines)).line_start(self.first).annotations(annotations)
    }
}
