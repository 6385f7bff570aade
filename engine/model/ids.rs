//! Names that become paths, refs and keys: checked once, at the door, so that no later room has to
//! ask whether one is safe.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest id in bytes: a run id and a WP id together must fit in one ref name and one file name.
pub const MAX_LEN: usize = 64;

/// What [`check`] accepts, but for the length, as an ECMA 262 regular expression for schemas.
pub const PATTERN: &str =
    r"^(?!.*\.[Ll][Oo][Cc][Kk]$)[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$";

/// Why a text cannot be an id. The `Display` form completes the sentence "`x` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing at all.
    #[error("is empty")]
    Empty,
    /// Over [`MAX_LEN`] bytes.
    #[error("is {0} characters long; an id has at most {MAX_LEN}")]
    TooLong(usize),
    /// A character that is not a letter, a digit, `-`, `_` or an inner `.`.
    #[error("holds {0:?}; an id is made of letters, digits, `-`, `_` and single inner dots")]
    Character(char),
    /// Starts with something other than a letter or a digit (a leading dash would be read as a flag).
    #[error("starts with {0:?}; an id starts with a letter or a digit")]
    Start(char),
    /// Dots at the end or in a row, or a `.lock` ending: git refuses these in a ref name.
    #[error("is not a name that git takes for a branch (dots in a row or at the end, or `.lock`)")]
    Ref,
}

/// Checks that `text` is safe as a path component, a ref component and an unquoted argument.
///
/// # Errors
/// The first reason why it is not.
pub fn check(text: &str) -> Result<(), IdError> {
    let first = text.chars().next().ok_or(IdError::Empty)?;
    if text.len() > MAX_LEN {
        return Err(IdError::TooLong(text.chars().count()));
    }
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(bad) = text.chars().find(|c| !inner(*c)) {
        return Err(IdError::Character(bad));
    }
    if !first.is_ascii_alphanumeric() {
        return Err(IdError::Start(first));
    }
    // By now it is ASCII: any byte is a place to cut.
    let ending = &text[text.len().saturating_sub(5)..];
    if text.contains("..") || text.ends_with('.') || ending.eq_ignore_ascii_case(".lock") {
        return Err(IdError::Ref);
    }
    Ok(())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $name(String);

        impl $name {
            /// Takes a text that [`check`] accepts.
            ///
            /// # Errors
            /// Says why the text cannot be an id.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                check(&text)?;
                Ok(Self(text))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

id!(
    /// One execution of one plan: `<plan name>-<n>`.
    RunId
);
id!(
    /// A work package, unique within its plan without regard to case.
    WpId
);
id!(
    /// A stage, as declared or as cut from `needs` (`level-1`, `level-2`, …).
    StageId
);
id!(
    /// A named choice of worker, model and effort.
    TierId
);
id!(
    /// A worker, built in or declared under `[workers]`.
    WorkerId
);

macro_rules! oid {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The whole id in hexadecimal (40 digits, or 64 in a sha256 repository).
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The first ten digits, for people.
            #[must_use]
            pub fn short(&self) -> &str {
                self.0.get(..10).unwrap_or(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

oid!(
    /// A git commit id.
    CommitId
);
oid!(
    /// A git tree id: the bytes of a whole checkout, whatever the history that led there.
    TreeId
);
