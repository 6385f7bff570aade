//! A command line as a plan writes it: run as it is where it can be, by a shell where it must be.
//!
//! A shell costs a process and brings a language in which a file name can become code, so a line that
//! uses nothing of that language is split into words here and run without one. Whatever looks as if a
//! shell might read it differently goes to the shell: a mistake in that direction costs a
//! millisecond, one in the other direction changes what is run.

use std::ops::Range;

use crate::model::plan::Command;

/// Why a text is not a command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Nothing but blanks or comments.
    #[error("says nothing to run")]
    Empty,
    /// A quote without its partner.
    #[error("has a {quote} that is not closed")]
    Quote {
        /// The quote.
        quote: char,
        /// Where it stands, in bytes of the text.
        at: Range<usize>,
    },
    /// A backslash with nothing after it.
    #[error("ends in a backslash that escapes nothing")]
    Backslash {
        /// Where it stands, in bytes of the text.
        at: Range<usize>,
    },
    /// A character that no argument can hold.
    #[error("holds a NUL character, which no command line can")]
    Nul,
}

/// Words that a shell does itself: no program of that name need exist, or it would do nothing.
const BUILTIN: &[&str] = &[
    ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "done", "elif",
    "else", "esac", "eval", "exec", "exit", "export", "fg", "fi", "for", "function", "getopts",
    "hash", "if", "in", "jobs", "local", "read", "readonly", "return", "select", "set", "shift",
    "source", "then", "time", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias",
    "unset", "until", "wait", "while",
];

/// Reads a command line.
///
/// # Errors
/// When there is nothing to run, or a quote is not closed.
pub fn parse(text: &str) -> Result<Command, CommandError> {
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    if trimmed.contains('\0') {
        return Err(CommandError::Nul);
    }
    let offset = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let comment = |line: &str| line.trim_start().starts_with('#') || line.trim().is_empty();
    if trimmed.lines().all(comment) {
        return Err(CommandError::Empty);
    }
    let scan = scan(trimmed);
    // Quotes within substitutions and here-documents nest or mean nothing: the shell will tell.
    let nests = || ["$(", "${", "$'", "`", "<<"].iter().any(|mark| trimmed.contains(mark));
    if let Some((quote, at)) = scan.open.filter(|_| !nests()) {
        let at = offset + at..offset + at + 1;
        return Err(match quote {
            '\\' => CommandError::Backslash { at },
            quote => CommandError::Quote { quote, at },
        });
    }
    if !scan.plain {
        return Ok(Command::Shell(trimmed.to_owned()));
    }
    match shlex::split(trimmed) {
        Some(words) if words.first().is_some_and(|word| runs_alone(word)) => {
            Ok(Command::Argv(words))
        }
        _ => Ok(Command::Shell(trimmed.to_owned())),
    }
}

/// Whether a first word names a program, and not something that only a shell knows.
fn runs_alone(word: &str) -> bool {
    !word.is_empty() && !word.contains('=') && !BUILTIN.contains(&word)
}

struct Scan {
    /// No character means anything to a shell but quotes, escapes and blanks.
    plain: bool,
    /// The quote, or backslash, that is open at the end, and where it stands.
    open: Option<(char, usize)>,
}

fn scan(text: &str) -> Scan {
    let (mut plain, mut open, mut word_start) = (true, None, true);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let starts = std::mem::replace(&mut word_start, false);
        match (open, c) {
            (Some(('\'', _)), '\'') | (Some(('"', _)), '"') => open = None,
            (Some(('\'', _)), _) => {}
            (Some(('"', _)), '$' | '`') => plain = false,
            (quote @ (None | Some(('"', _))), '\\') => match chars.next() {
                None => open = quote.or(Some(('\\', at))),
                Some((_, '\n')) => plain = false,
                Some(_) => {}
            },
            (Some(_), _) => {}
            (None, '\'' | '"') => open = Some((c, at)),
            (None, ' ' | '\t') => word_start = true,
            (None, '#') if starts => {
                plain = false;
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            (None, '\n' | '\r' | '|' | '&' | ';' | '<' | '>' | '(' | ')') => {
                (plain, word_start) = (false, true);
            }
            (None, '$' | '`' | '*' | '?' | '[' | ']' | '{' | '}' | '~' | '!' | '#') => {
                plain = false
            }
            (None, _) => {}
        }
    }
    Scan { plain, open }
}
