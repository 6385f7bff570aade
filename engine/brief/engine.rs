//! The template engine as this room sets it up, and its errors made readable.

use std::error::Error as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::{RenderError, fence};

/// What is said about printing none; the engine adds where.
const NO_VALUE: &str = "has no value here; guard it with `{% if … %}`";

/// Strict on what is undefined, and on printing what is none: `none` in a brief or on a command
/// line is never what was meant.
pub(super) fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_debug(true);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("the default delimiters are valid"));
    env.set_formatter(|out, state, value| {
        if value.is_none() {
            return Err(Error::new(ErrorKind::InvalidOperation, NO_VALUE));
        }
        minijinja::escape_formatter(out, state, value)
    });
    env.add_filter("code", |text: &str| fence::span(text));
    env.add_filter("fence", |text: &str| fence::block(text));
    env
}

/// An include reports its own failure with the real one inside.
pub(super) fn innermost(error: &Error) -> &Error {
    let mut inner = error;
    while let Some(source) = inner.source().and_then(|s| s.downcast_ref::<Error>()) {
        inner = source;
    }
    inner
}

/// What went wrong in `file`, whose text is `text`.
pub(super) fn error(error: &Error, file: &str, text: Option<&str>) -> RenderError {
    let span = error.range().filter(|r| text.is_some_and(|t| t.get(r.clone()).is_some()));
    let marked = span.clone().zip(text).and_then(|(s, t)| t.get(s));
    let message = match (error.kind(), error.detail()) {
        (_, Some(NO_VALUE)) => match marked {
            Some(marked) => format!("`{marked}` {NO_VALUE}"),
            None => format!("a value {NO_VALUE}"),
        },
        (ErrorKind::InvalidOperation | ErrorKind::UndefinedError, Some(detail)) => {
            detail.to_owned()
        }
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    RenderError {
        place: match error.line() {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        },
        file: file.to_owned(),
        span,
        message,
    }
}

/// The known name that was probably meant.
pub(super) fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .filter(|&(distance, k)| distance <= 1.max(k.len().max(name.len()) / 3))
        .min()
        .map(|(_, k)| k.to_owned())
}
