//! The alphabet: what `?` takes one of. A symbol is a character, or a stray byte that belongs to
//! none. All strays are one symbol, because no pattern can tell them apart.

use std::ops::RangeInclusive;

/// A character's code point, or [`STRAY`].
pub(super) type Symbol = u32;

/// A byte that is not part of a valid UTF-8 sequence.
pub(super) const STRAY: Symbol = 0x11_0000;

/// The byte that stands for [`STRAY`] in a witness: it is in no UTF-8 sequence, so it stays a stray
/// whatever its neighbours are.
const STRAY_BYTE: u8 = 0xff;

/// Numbers among the code points that are no characters.
const SURROGATES: RangeInclusive<Symbol> = 0xd800..=0xdfff;

/// The separator of components.
pub(super) const SLASH: Symbol = b'/' as Symbol;

/// What a witness is spelled with, the most readable first.
const READABLE: &[u8; 65] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.";

/// The symbols of `bytes`, from the left.
pub(super) fn symbols(bytes: &[u8]) -> impl Iterator<Item = Symbol> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let strays = std::iter::repeat_n(STRAY, chunk.invalid().len());
        chunk.valid().chars().map(Symbol::from).chain(strays)
    })
}

/// Appends the bytes that spell `symbol`.
pub(super) fn spell(symbol: Symbol, out: &mut Vec<u8>) {
    match char::from_u32(symbol) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.push(STRAY_BYTE),
    }
}

/// How unwelcome a symbol is in a witness: the lower, the better.
pub(super) fn rank(symbol: Symbol) -> u32 {
    if symbol == SLASH {
        return 0;
    }
    let ascii = u8::try_from(symbol).ok().filter(u8::is_ascii);
    if let Some(at) = ascii.and_then(|ascii| READABLE.iter().position(|b| *b == ascii)) {
        return at as u32;
    }
    match char::from_u32(symbol) {
        Some('!'..='~') => 100,
        Some(c) if c.is_alphabetic() => 200,
        Some(' ') => 300,
        Some(c) if c.is_control() => 500,
        Some(_) => 400,
        None => 600,
    }
}

/// What a symbol adds to the cost of a witness: length first, and odd characters only where nothing
/// else would do.
pub(super) fn cost(symbol: Symbol) -> u32 {
    match rank(symbol) {
        0..100 => 1,
        100 => 4,
        200 => 32,
        300 | 400 => 128,
        500 => 512,
        _ => 4096,
    }
}

/// The most readable symbol of an interval; `None` when it holds only surrogates, which are none.
pub(super) fn best(interval: RangeInclusive<Symbol>) -> Option<Symbol> {
    if interval.contains(&STRAY) {
        return Some(STRAY);
    }
    let mut readable = READABLE.iter().map(|b| Symbol::from(*b));
    if let Some(found) = readable.find(|s| interval.contains(s)) {
        return Some(found);
    }
    // What is left is short, or begins as it goes on; a look at its first characters is enough.
    let (low, high) = (*interval.start(), *interval.end());
    let low = if SURROGATES.contains(&low) { *SURROGATES.end() + 1 } else { low };
    (low..=high).take(32).min_by_key(|s| rank(*s))
}

/// The characters between `[` and `]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    /// Written `[!…]`.
    pub(super) negated: bool,
    /// Both ends included, as written.
    pub(super) ranges: Vec<(char, char)>,
}

impl Class {
    /// Whether the class takes `symbol`. It never takes `/`.
    pub(super) fn takes(&self, symbol: Symbol) -> bool {
        let within = |(low, high): &(char, char)| {
            (Symbol::from(*low)..=Symbol::from(*high)).contains(&symbol)
        };
        symbol != SLASH && self.ranges.iter().any(within) != self.negated
    }
}
