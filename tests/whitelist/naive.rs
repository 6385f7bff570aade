//! The pattern language once more, as plainly as it can be written: braces are written out in the
//! text, and the rest backtracks. Slow, and shares nothing with the engine.

/// Whether a whitelist of well-formed patterns allows `path`.
pub fn allows<S: AsRef<str>>(patterns: &[S], path: &[u8]) -> bool {
    let (mut given, mut taken) = (false, false);
    for pattern in patterns {
        match pattern.as_ref().strip_prefix('!') {
            Some(pattern) => taken |= matches(pattern, path),
            None => given |= matches(pattern.as_ref(), path),
        }
    }
    given && !taken
}

fn matches(pattern: &str, path: &[u8]) -> bool {
    let names: Vec<&[u8]> = path.split(|b| *b == b'/').collect();
    let odd = |name: &&[u8]| {
        name.is_empty()
            || *name == b"."
            || *name == b".."
            || name.eq_ignore_ascii_case(b".git")
            || name.contains(&0)
    };
    if names.iter().any(odd) {
        return false;
    }
    let names: Vec<Vec<Unit>> = names.into_iter().map(units).collect();
    expand(&pattern.chars().collect::<Vec<_>>()).iter().any(|pattern| {
        let parts: Vec<&[char]> = split(pattern);
        components(&parts, &names)
    })
}

/// The folders that a pattern without escapes spells out: what stands before its first wildcard, but
/// for the name at its end.
pub fn folders(pattern: &str) -> Vec<String> {
    let mut found = Vec::new();
    for pattern in expand(&pattern.chars().collect::<Vec<_>>()) {
        let parts = split(&pattern);
        let plain = |part: &&&[char]| !part.iter().any(|c| "*?[\u{1}".contains(*c));
        let names: Vec<String> =
            parts[..parts.len() - 1].iter().take_while(plain).map(|p| p.iter().collect()).collect();
        found.extend((1..=names.len()).map(|n| names[..n].join("/")));
    }
    found
}

/// A character, or a byte that belongs to none.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Char(char),
    Stray,
}

fn units(name: &[u8]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    while at < name.len() {
        let found = (1..=4).filter_map(|n| std::str::from_utf8(name.get(at..at + n)?).ok()).next();
        match found {
            Some(text) => {
                units.push(Unit::Char(text.chars().next().unwrap()));
                at += text.len();
            }
            None => {
                units.push(Unit::Stray);
                at += 1;
            }
        }
    }
    units
}

/// Stands for nothing.
const SEAM: char = '\u{1}';

/// Where the piece that starts at `at` ends, classes and escapes taken whole.
fn skip(pattern: &[char], at: usize) -> usize {
    match pattern[at] {
        '\\' => at + 2,
        '[' => {
            let mut end = at + 1;
            while pattern[end] != ']' {
                end += if pattern[end] == '\\' { 2 } else { 1 };
            }
            end + 1
        }
        _ => at + 1,
    }
}

/// Writes the first braces out, and then the rest.
fn expand(pattern: &[char]) -> Vec<Vec<char>> {
    let mut at = 0;
    while at < pattern.len() && pattern[at] != '{' {
        at = skip(pattern, at);
    }
    if at == pattern.len() {
        return vec![pattern.to_vec()];
    }
    let (mut depth, mut from, mut end) = (0, at + 1, at);
    let mut branches = Vec::new();
    loop {
        match pattern[end] {
            '{' => depth += 1,
            ',' if depth == 1 => {
                branches.push(&pattern[from..end]);
                from = end + 1;
            }
            '}' => {
                depth -= 1;
                if depth == 0 {
                    branches.push(&pattern[from..end]);
                    break;
                }
            }
            _ => {}
        }
        end = skip(pattern, end);
    }
    let whole = |branch: &[char]| {
        let mut text = pattern[..at].to_vec();
        for piece in [branch, &pattern[end + 1..]] {
            // Two stars that come to stand side by side do not make a `**`.
            if text.last() == Some(&'*') && piece.first() == Some(&'*') {
                text.push(SEAM);
            }
            text.extend_from_slice(piece);
        }
        text
    };
    branches.into_iter().flat_map(|branch| expand(&whole(branch))).collect()
}

fn split(pattern: &[char]) -> Vec<&[char]> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while at < pattern.len() {
        if pattern[at] == '/' {
            parts.push(&pattern[from..at]);
            from = at + 1;
        }
        at = skip(pattern, at);
    }
    parts.push(&pattern[from..]);
    parts
}

fn components(parts: &[&[char]], names: &[Vec<Unit>]) -> bool {
    match (parts, names) {
        ([], _) => names.is_empty(),
        ([['*', '*']], _) => !names.is_empty(),
        ([['*', '*'], rest @ ..], _) => (0..=names.len()).any(|n| components(rest, &names[n..])),
        (_, []) => false,
        ([part, rest @ ..], [name, others @ ..]) => {
            component(part, name) && components(rest, others)
        }
    }
}

fn component(part: &[char], name: &[Unit]) -> bool {
    let Some(first) = part.first() else {
        return name.is_empty();
    };
    if *first == SEAM {
        return component(&part[1..], name);
    }
    if *first == '*' {
        return (0..=name.len()).any(|n| component(&part[1..], &name[n..]));
    }
    let Some((unit, others)) = name.split_first() else {
        return false;
    };
    let end = skip(part, 0);
    let fits = match first {
        '?' => true,
        '\\' => *unit == Unit::Char(part[1]),
        '[' => class(&part[1..end - 1], *unit),
        c => *unit == Unit::Char(*c),
    };
    fits && component(&part[end..], others)
}

/// The text between the brackets, without escapes but for the one before a whole member.
fn class(members: &[char], unit: Unit) -> bool {
    let (negated, members) = match members {
        ['!', rest @ ..] => (true, rest),
        _ => (false, members),
    };
    let mut found = false;
    let mut rest = members;
    while !rest.is_empty() {
        let (low, high);
        (low, high, rest) = match rest {
            ['\\', c, rest @ ..] => (*c, *c, rest),
            [low, '-', high, rest @ ..] => (*low, *high, rest),
            [c, rest @ ..] => (*c, *c, rest),
            [] => unreachable!(),
        };
        found |= matches!(unit, Unit::Char(c) if (low..=high).contains(&c));
    }
    found != negated
}
