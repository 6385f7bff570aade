//! One pattern without braces across components: a sequence of components and `**`, and how a path
//! is held against it.

use super::automaton::Automaton;
use super::index::Keyed;
use super::lower::MAX_EXPANSIONS;
use super::syntax::{Kind, Token};
use super::universe::SEPARATOR;

/// What stands between two `/`.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// `**`: any number of components, none included. Never last, and never two in a row.
    Components,
    /// Exactly one component.
    One(Component),
}

/// What one component may be.
#[derive(Debug, Clone)]
pub(super) enum Component {
    /// This name.
    Literal(Vec<u8>),
    /// `*`
    Any,
    /// Anything else.
    Glob(Box<Glob>),
}

/// A component with wildcards.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    tokens: Vec<Token>,
    /// What every name it matches starts and ends with. They never share bytes.
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    /// Decides the rest, with its start; `None` when prefix and suffix with anything between them is
    /// all there is to it.
    automaton: Option<(Automaton, u32)>,
}

impl Component {
    /// Takes the tokens of a component: at least one, and no `/` or `**` among them.
    pub(super) fn new(tokens: &[Token]) -> Self {
        let (prefix, rest) = literals(tokens.iter());
        if rest == 0 {
            return Self::Literal(prefix.into_bytes());
        }
        let (reversed, middle) = literals(tokens.iter().rev().take(rest));
        let suffix: String = reversed.chars().rev().collect();
        let open = &tokens[tokens.len() - rest..][..middle];
        let simple = open.iter().all(|t| matches!(t.kind, Kind::Run));
        if simple && prefix.is_empty() && suffix.is_empty() {
            return Self::Any;
        }
        let automaton = (!simple).then(|| {
            let mut automaton = Automaton::default();
            let start = automaton.add_component(tokens);
            (automaton, start)
        });
        Self::Glob(Box::new(Glob {
            tokens: tokens.to_vec(),
            prefix: prefix.into_bytes(),
            suffix: suffix.into_bytes(),
            automaton,
        }))
    }

    /// The names among those it matches that are written out; none where they are too many.
    fn names(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Literal(name) => vec![name.clone()],
            Self::Any => Vec::new(),
            Self::Glob(glob) => {
                let mut names = spelled(&glob.tokens);
                names.sort_unstable();
                names.dedup();
                names.into_iter().map(String::into_bytes).collect()
            }
        }
    }

    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Literal(literal) => literal == name,
            Self::Any => true,
            Self::Glob(glob) => {
                name.len() >= glob.prefix.len() + glob.suffix.len()
                    && name.starts_with(&glob.prefix)
                    && name.ends_with(&glob.suffix)
                    && (glob.automaton.as_ref()).is_none_or(|(a, start)| a.accepts(*start, name))
            }
        }
    }
}

impl Component {
    /// Cheap and one-sided: `false` only when no name can match both.
    fn may_meet(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Literal(name), component) | (component, Self::Literal(name)) => {
                component.matches(name)
            }
            (Self::Glob(a), Self::Glob(b)) => {
                (a.prefix.starts_with(&b.prefix) || b.prefix.starts_with(&a.prefix))
                    && (a.suffix.ends_with(&b.suffix) || b.suffix.ends_with(&a.suffix))
            }
        }
    }
}

impl Glob {
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// What every name it matches starts with.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// What every name it matches ends with.
    pub(super) fn suffix(&self) -> &[u8] {
        &self.suffix
    }

    /// Whether it matches names without end, so that forbidding a few leaves some.
    fn endless(&self) -> bool {
        self.tokens.iter().any(|t| matches!(t.kind, Kind::Run))
    }
}

/// The literal characters that tokens start with, and how many tokens come after them.
fn literals<'a>(tokens: impl ExactSizeIterator<Item = &'a Token>) -> (String, usize) {
    let mut rest = tokens.len();
    let mut text = String::with_capacity(rest);
    for token in tokens {
        let Kind::Literal(c) = token.kind else { break };
        text.push(c);
        rest -= 1;
    }
    (text, rest)
}

/// The texts among those that tokens stand for that hold no wildcard.
fn spelled(tokens: &[Token]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for token in tokens {
        match &token.kind {
            Kind::Literal(c) => texts.iter_mut().for_each(|text| text.push(*c)),
            Kind::Alternatives(branches) => {
                let ends: Vec<String> = branches.iter().flat_map(|b| spelled(b)).collect();
                if texts.len() * ends.len() > MAX_EXPANSIONS {
                    return Vec::new();
                }
                let whole = |text: &String| ends.iter().map(|end| format!("{text}{end}")).collect();
                texts = texts.iter().flat_map::<Vec<_>, _>(whole).collect();
            }
            _ => return Vec::new(),
        }
    }
    texts
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    parts: Vec<Part>,
    /// What the key of every matching path starts and ends with (`universe::key`).
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Sequence {
    pub(super) fn new(parts: Vec<Part>) -> Self {
        let literal = |part: &Part| match part {
            Part::One(Component::Literal(name)) => name.len() + 1,
            _ => 0,
        };
        let room = 1 + parts.iter().map(literal).sum::<usize>();
        let mut head = Vec::with_capacity(room);
        head.push(SEPARATOR);
        for part in &parts {
            match part {
                Part::One(Component::Literal(name)) => {
                    head.extend_from_slice(name);
                    head.push(SEPARATOR);
                    continue;
                }
                Part::One(Component::Glob(glob)) => head.extend_from_slice(&glob.prefix),
                Part::One(Component::Any) | Part::Components => {}
            }
            break;
        }
        let mut tail = vec![SEPARATOR];
        for part in parts.iter().rev() {
            match part {
                Part::One(Component::Literal(name)) => {
                    tail.extend(name.iter().rev());
                    tail.push(SEPARATOR);
                    continue;
                }
                Part::One(Component::Glob(glob)) => tail.extend(glob.suffix.iter().rev()),
                Part::One(Component::Any) | Part::Components => {}
            }
            break;
        }
        tail.reverse();
        Self { parts, head, tail }
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What the key of every matching path starts with.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// What the key of every matching path ends with.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The folders that the pattern spells out, by their names: `a` and `a/b` of `a/b/*.rs`. Those of
    /// more than [`MAX_EXPANSIONS`] alternatives are none.
    pub(super) fn folders(&self) -> Vec<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        let mut last = vec![Vec::new()];
        for part in self.parts.split_last().map_or(&[][..], |(_, above)| above) {
            let Part::One(component) = part else { break };
            let names = component.names();
            if last.len() * names.len() > MAX_EXPANSIONS {
                break;
            }
            let within = |folder: &Vec<Vec<u8>>, name: &Vec<u8>| {
                folder.iter().chain([name]).cloned().collect::<Vec<_>>()
            };
            last = last.iter().flat_map(|f| names.iter().map(move |n| within(f, n))).collect();
            found.extend_from_slice(&last);
        }
        found
    }

    /// The language of all that is inside a folder.
    pub(super) fn inside(folder: &[Vec<u8>]) -> Self {
        let names = folder.iter().map(|name| Part::One(Component::Literal(name.clone())));
        Self::new(names.chain([Part::Components, Part::One(Component::Any)]).collect())
    }

    /// Cheap and one-sided: `false` only when no path can match both.
    pub(super) fn may_meet(&self, other: &Self) -> bool {
        (self.head.starts_with(&other.head) || other.head.starts_with(&self.head))
            && (self.tail.ends_with(&other.tail) || other.tail.ends_with(&self.tail))
            && may_align(self.parts.iter(), other.parts.iter())
            && may_align(self.parts.iter().rev(), other.parts.iter().rev())
    }

    /// Cheap and one-sided: `true` only when some path matches.
    pub(super) fn surely_matches(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::One(Component::Glob(glob)) => glob.endless(),
            // A literal that no path has is an error of its own, found when the pattern is read.
            _ => true,
        })
    }

    /// Cheap and one-sided: `true` only when every path that `other` matches is one of this pattern's,
    /// because this one is a folder and the other starts within it.
    pub(super) fn surely_covers(&self, other: &Self) -> bool {
        self.is_folder() && self.is_beyond(other)
    }

    /// Cheap and one-sided: `true` only when this pattern matches a path that none of `others` does:
    /// it is a folder, and there are more letters than ways in which the others go on from it.
    pub(super) fn surely_outlasts(&self, others: &[&Self]) -> bool {
        const LETTERS: usize = 26;
        self.is_folder() && others.len() < LETTERS && others.iter().all(|o| self.is_beyond(o))
    }

    /// Whether this is `a/b/**`, or `**`.
    fn is_folder(&self) -> bool {
        let literal = |part: &Part| matches!(part, Part::One(Component::Literal(_)));
        match self.parts.as_slice() {
            [folder @ .., Part::Components, Part::One(Component::Any)] => {
                folder.iter().all(literal)
            }
            _ => false,
        }
    }

    /// Whether all that `other` matches starts with this pattern's head and at least a byte more.
    fn is_beyond(&self, other: &Self) -> bool {
        other.head.len() > self.head.len() && other.head.starts_with(&self.head)
    }

    /// Whether the path of this key matches.
    ///
    /// Each `**` is tried with as few components as will do, and only the last one met is ever
    /// lengthened: what stands before it has matched as early as it can.
    pub(super) fn matches(&self, key: &[u8]) -> bool {
        if !key.starts_with(&self.head) || !key.ends_with(&self.tail) {
            return false;
        }
        let (mut part, mut at) = (0, 1);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            if let Some(Part::Components) = self.parts.get(part) {
                if matches!(self.parts[part + 1..], [Part::One(Component::Any)]) {
                    return at < key.len();
                }
                part += 1;
                retry = Some((part, at));
                continue;
            }
            let Some((name, next)) = component(key, at) else {
                return part == self.parts.len();
            };
            match (self.parts.get(part), &mut retry) {
                (Some(Part::One(one)), _) if one.matches(name) => {
                    part += 1;
                    at = next;
                }
                (_, Some((after, from))) => {
                    let Some((_, next)) = component(key, *from) else {
                        return false;
                    };
                    *from = next;
                    (part, at) = (*after, next);
                }
                (_, None) => return false,
            }
        }
    }
}

/// Whether patterns, read from the same end, can agree component by component up to the first `**` of
/// either.
fn may_align<'a>(
    mut a: impl Iterator<Item = &'a Part>,
    mut b: impl Iterator<Item = &'a Part>,
) -> bool {
    loop {
        match (a.next(), b.next()) {
            (Some(Part::One(a)), Some(Part::One(b))) if a.may_meet(b) => {}
            (Some(Part::Components), _) | (_, Some(Part::Components)) | (None, None) => {
                return true;
            }
            _ => return false,
        }
    }
}

impl Keyed for Sequence {
    fn key(&self) -> &[u8] {
        &self.head
    }
}

/// The component of `key` that starts at `at`, and where the next one starts.
fn component(key: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = key.get(at..).filter(|rest| !rest.is_empty())?;
    let end = rest.iter().position(|b| *b == SEPARATOR)?;
    Some((&rest[..end], at + end + 1))
}
