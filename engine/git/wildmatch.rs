//! Shell-style patterns as git matches them: bytes, `?`, `*`, `**`, `[a-z]`, `\x`.

/// How an attempt ended. The second kind of failure stops outer `*` from trying further: the text ran out.
#[derive(PartialEq, Eq, Clone, Copy)]
enum End {
    Match,
    Differs,
    TooShort,
    /// Only `*` (not `**`) is worth stopping: it met a `/` it must not cross.
    AtSlash,
}

/// Whether all of `text` matches `pattern`. With `by_path`, only `**` between slashes crosses a `/`.
pub(super) fn matches(pattern: &[u8], text: &[u8], by_path: bool) -> bool {
    run(pattern, 0, text, by_path) == End::Match
}

fn run(whole: &[u8], mut p: usize, mut text: &[u8], by_path: bool) -> End {
    while let Some(&want) = whole.get(p) {
        if want == b'*' {
            return star(whole, p, text, by_path);
        }
        let Some((&have, rest)) = text.split_first() else {
            return End::TooShort;
        };
        match want {
            b'?' => {
                if by_path && have == b'/' {
                    return End::Differs;
                }
                p += 1;
            }
            b'[' => {
                let Some((inside, next)) = class(whole, p + 1, have) else {
                    return End::TooShort;
                };
                if !inside || by_path && have == b'/' {
                    return End::Differs;
                }
                p = next;
            }
            b'\\' => {
                if whole.get(p + 1) != Some(&have) {
                    return End::Differs;
                }
                p += 2;
            }
            literal => {
                if literal != have {
                    return End::Differs;
                }
                p += 1;
            }
        }
        text = rest;
    }
    if text.is_empty() { End::Match } else { End::Differs }
}

fn star(whole: &[u8], at: usize, mut text: &[u8], by_path: bool) -> End {
    let mut p = at + 1;
    let mut crosses = !by_path;
    if whole.get(p) == Some(&b'*') {
        while whole.get(p) == Some(&b'*') {
            p += 1;
        }
        let rest = &whole[p..];
        let opens = at == 0 || whole[at - 1] == b'/';
        let closes = rest.is_empty() || rest[0] == b'/' || rest.starts_with(b"\\/");
        if by_path && opens && closes {
            // `**/` also stands for no folder at all.
            if rest.first() == Some(&b'/') && run(whole, p + 1, text, by_path) == End::Match {
                return End::Match;
            }
            crosses = true;
        }
    }
    if p == whole.len() {
        return if crosses || !text.contains(&b'/') { End::Match } else { End::AtSlash };
    }
    loop {
        match run(whole, p, text, by_path) {
            End::Differs => {}
            End::AtSlash if crosses => {}
            end => return end,
        }
        match text.split_first() {
            None => return End::TooShort,
            Some((b'/', _)) if !crosses => return End::AtSlash,
            Some((_, rest)) => text = rest,
        }
    }
}

/// Reads a bracket expression whose first inner byte is at `p`: whether it holds `byte`, and where the
/// pattern goes on. `None` when it is never closed.
fn class(whole: &[u8], mut p: usize, byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(whole.get(p)?, b'!' | b'^');
    p += usize::from(negated);
    let (mut found, mut first, mut previous) = (false, true, None);
    loop {
        let mut low = *whole.get(p)?;
        if low == b']' && !first {
            return Some((found != negated, p + 1));
        }
        first = false;
        let upper = whole.get(p + 1).copied();
        if low == b'-' && previous.is_some() && upper.is_some_and(|upper| upper != b']') {
            p += 1;
            let mut high = *whole.get(p)?;
            if high == b'\\' {
                p += 1;
                high = *whole.get(p)?;
            }
            found |= previous.is_some_and(|low| low <= byte && byte <= high);
            previous = None;
        } else if low == b'[' && upper == Some(b':') {
            let name = &whole[p + 2..];
            let end = name.iter().position(|b| *b == b']')?;
            if end == 0 || name[end - 1] != b':' {
                // Not a named class: the bracket stands for itself.
                found |= byte == b'[';
                previous = Some(b'[');
            } else {
                found |= named(&name[..end - 1], byte)?;
                p += 2 + end;
                previous = None;
            }
        } else {
            if low == b'\\' {
                p += 1;
                low = *whole.get(p)?;
            }
            found |= low == byte;
            previous = Some(low);
        }
        p += 1;
    }
}

fn named(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
