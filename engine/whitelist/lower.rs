//! From the text of a pattern to the sequences of components it stands for: braces that hold `/` or
//! `**` are written out, the rest is cut at every `/`, and each component is checked.

use std::ops::Range;

use super::finding::{Notes, PatternFinding, Problem, Severity};
use super::sequence::{Component, Part, Sequence};
use super::syntax::{self, Kind, MAX_PATTERN, Token};

/// How many patterns the braces of one pattern may be written out to. Braces within a component are
/// not written out and do not count.
pub const MAX_EXPANSIONS: usize = 1024;

/// One pattern, read.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    pub(super) negative: bool,
    /// Whether it could be read. If not, nothing can be said about what it matches.
    pub(super) sound: bool,
    /// Its language is the union of these. Empty unless `sound`.
    pub(super) sequences: Vec<Sequence>,
}

/// Reads the pattern at `index` of its list, and notes what is wrong with it.
pub(super) fn pattern(index: usize, text: &str, findings: &mut Vec<PatternFinding>) -> Pattern {
    let before = findings.len();
    let negative = text.starts_with('!');
    let mut notes = Notes { pattern: index, findings };
    let mut sequences = sequences(text, negative, &mut notes);
    let sound = findings[before..].iter().all(|f| f.severity() == Severity::Warning);
    if !sound {
        sequences.clear();
    }
    Pattern { text: text.to_owned(), negative, sound, sequences }
}

fn sequences(text: &str, negative: bool, notes: &mut Notes<'_>) -> Vec<Sequence> {
    let whole = 0..text.len();
    let from = usize::from(negative);
    let body = &text[from..];
    if body.is_empty() {
        notes.add(whole, Problem::Empty);
        return Vec::new();
    }
    if text.len() > MAX_PATTERN {
        notes.add(whole, Problem::TooLong(text.len()));
        return Vec::new();
    }
    if body.starts_with('!') {
        notes.add(0..2, Problem::DoubleNegation);
        return Vec::new();
    }
    if let [letter, b':', b'/' | b'\\', ..] = body.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        notes.add(from..from + 3, Problem::Absolute);
        return Vec::new();
    }
    if let Some(c) = body.chars().next().filter(|c| c.is_whitespace()) {
        notes.add(from..from + c.len_utf8(), Problem::OuterSpace);
    }
    if let Some(c) = body.chars().next_back().filter(|c| c.is_whitespace()) {
        notes.add(text.len() - c.len_utf8()..text.len(), Problem::OuterSpace);
    }
    let tokens = syntax::read(text, from, notes);
    let expanded = match tokens.iter().any(spans_braces) {
        true => expand(&tokens),
        false => Some(vec![tokens]),
    };
    let Some(expanded) = expanded else {
        notes.add(whole, Problem::TooManyAlternatives);
        return Vec::new();
    };
    let place = Place { negative, whole, from };
    expanded.iter().map(|tokens| Sequence::new(parts(tokens, &place, notes))).collect()
}

/// Whether a token is braces that have to be written out.
fn spans_braces(token: &Token) -> bool {
    matches!(&token.kind, Kind::Alternatives(branches) if branches.iter().any(|b| spans(b)))
}

/// Writes out the braces that hold `/` or `**`; `None` when that makes too many.
fn expand(tokens: &[Token]) -> Option<Vec<Vec<Token>>> {
    let mut all: Vec<Vec<Token>> = vec![Vec::new()];
    for token in tokens {
        let options = match &token.kind {
            Kind::Alternatives(branches) if spans_braces(token) => {
                let mut options = Vec::new();
                for branch in branches {
                    options.append(&mut expand(branch)?);
                    if options.len() > MAX_EXPANSIONS {
                        return None;
                    }
                }
                options
            }
            _ => vec![vec![token.clone()]],
        };
        if all.len() * options.len() > MAX_EXPANSIONS {
            return None;
        }
        if let [only] = options.as_slice() {
            for tokens in &mut all {
                tokens.extend_from_slice(only);
            }
        } else {
            all = all
                .iter()
                .flat_map(|head| options.iter().map(move |tail| [&head[..], tail].concat()))
                .collect();
        }
    }
    Some(all)
}

/// Whether tokens reach beyond one component.
fn spans(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| match &t.kind {
        Kind::Slash | Kind::Components => true,
        _ => spans_braces(t),
    })
}

struct Place {
    negative: bool,
    whole: Range<usize>,
    from: usize,
}

/// Cuts tokens at every `/` and checks each component.
fn parts(tokens: &[Token], place: &Place, notes: &mut Notes<'_>) -> Vec<Part> {
    let slashes = tokens.iter().filter(|t| matches!(t.kind, Kind::Slash)).count();
    // One more for what is inside a `**` at the end.
    let mut parts = Vec::with_capacity(slashes + 2);
    let mut start = 0_usize;
    for (at, component) in tokens.split(|t| matches!(t.kind, Kind::Slash)).enumerate() {
        let last = at == slashes;
        let (before, after) = (start.wrapping_sub(1), start + component.len());
        start = after + 1;
        let slash = |at: usize| tokens[at].range.clone();
        match component {
            [] if slashes == 0 => notes.add(place.whole.clone(), Problem::EmptyComponent),
            [] if at == 0 && slash(after).start == place.from => {
                notes.add(slash(after), Problem::Absolute);
            }
            [] if last => notes.add(slash(before), Problem::TrailingSlash),
            [] => notes.add(slash(after), Problem::EmptyComponent),
            [only] if matches!(only.kind, Kind::Components) => {
                if !matches!(parts.last(), Some(Part::Components)) {
                    parts.push(Part::Components);
                }
                if last {
                    // At the end `**` is what is inside: a component at least.
                    parts.push(Part::One(Component::Any));
                }
            }
            _ => {
                check(component, place.negative, notes);
                parts.push(Part::One(Component::new(component)));
            }
        }
    }
    parts
}

/// Notes what is wrong with a component of at least one token.
fn check(tokens: &[Token], negative: bool, notes: &mut Notes<'_>) {
    let range = tokens[0].range.start..tokens[tokens.len() - 1].range.end;
    for token in tokens {
        if matches!(token.kind, Kind::Components) {
            notes.add(token.range.clone(), Problem::Glued);
        }
    }
    let words = [
        ("", Problem::EmptyComponent),
        (".", Problem::Dot),
        ("..", Problem::Parent),
        (".git", Problem::Git { negative }),
    ];
    // Most components begin as none of these words can.
    let may_be_one = matches!(tokens[0].kind, Kind::Literal('.') | Kind::Alternatives(_));
    for (word, problem) in words.into_iter().filter(|_| may_be_one) {
        if ends(tokens, word.as_bytes(), 1) >> word.len() & 1 == 1 {
            notes.add(range.clone(), problem);
        }
    }
    if let [token] = tokens
        && let Kind::Class(class) = &token.kind
        && !class.negated
        && class.ranges.len() > 1
        && class.ranges.iter().all(|(low, high)| low == high)
    {
        let name: String = class.ranges.iter().map(|(c, _)| *c).collect();
        let literal = format!("\\[{}\\]", name.escape_debug());
        notes.add(range, Problem::ClassAsName { literal });
    }
}

/// How far into `word` the tokens can get by literal characters alone, minding no case, starting
/// from the offsets whose bits are set in `from`. Wildcards that happen to fit do not count: `?` may
/// well mean another file than `.`.
fn ends(tokens: &[Token], word: &[u8], from: u8) -> u8 {
    tokens.iter().fold(from, |from, token| match &token.kind {
        // Most names differ at their first character.
        _ if from == 0 => 0,
        Kind::Literal(c) => (0..word.len())
            .filter(|at| from >> at & 1 == 1 && char::from(word[*at]).eq_ignore_ascii_case(c))
            .fold(0, |to, at| to | 1 << (at + 1)),
        Kind::Alternatives(branches) => {
            branches.iter().fold(0, |to, branch| to | ends(branch, word, from))
        }
        _ => 0,
    })
}
