//! The kinds of value that a plan file is made of. Each is checked where it is read, and each
//! describes itself to the schema in a way that gives every other checker the same answer: the
//! patterns are written for all regular expression engines alike (no `\s`, no `\w`).

use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::ids;
use crate::model::time::Length;

/// At least one character that is not a blank.
pub const FILLED: &str = "[^\\t\\n\\r ]";
/// A name that templates and shells take for a variable.
pub const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// A size with its unit.
pub const SIZE: &str = "^(?=.*[1-9])[0-9]{1,9} ?(?:B|kB|KB|MB|GB|KiB|MiB|GiB)$";
/// The largest size in bytes: what fits a signed 64-bit integer with room to spare.
pub const SIZE_MAX: u64 = 1 << 60;
/// Longest plan name: a run id adds a number to it.
pub const SLUG_MAX: usize = 48;

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $check:expr, $schema:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(pub String);

        impl TryFrom<String> for $name {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> String {
                text.0
            }
        }

        impl Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

text!(
    /// An id: [`ids::check`].
    Name,
    |text| ids::check(text).map_err(|e| format!("`{text}` {e}")),
    { "type": "string", "pattern": ids::PATTERN, "maxLength": ids::MAX_LEN }
);
text!(
    /// The plan's name: an id, short enough for a run id.
    Slug,
    |text| {
        if text.len() > SLUG_MAX {
            return Err(format!("`{text}` is longer than {SLUG_MAX} characters"));
        }
        ids::check(text).map_err(|e| format!("`{text}` {e}"))
    },
    { "type": "string", "pattern": ids::PATTERN, "maxLength": SLUG_MAX }
);
text!(
    /// A text that says something.
    Filled,
    |text| match text.contains(|c| !matches!(c, '\t' | '\n' | '\r' | ' ')) {
        true => Ok(()),
        false => Err("is blank".to_owned()),
    },
    { "type": "string", "pattern": FILLED }
);
text!(
    /// The name of a variable.
    Variable,
    |text| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match text.chars().all(word) && !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) {
            true => Ok(()),
            false => Err(format!("`{text}` is not the name of a variable")),
        }
    },
    { "type": "string", "pattern": VARIABLE }
);

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(pub Length);

impl TryFrom<String> for Time {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|e: crate::model::time::LengthError| e.to_string())
    }
}

impl From<Time> for String {
    fn from(time: Time) -> String {
        time.0.into()
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": Length::PATTERN })
    }
}

/// A whole number from `MIN` to `MAX`. `4.0` is one, as JSON Schema has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Whole<const MIN: u64, const MAX: u64>(pub u64);

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_any(Number { text: false })?;
        match (MIN..=MAX).contains(&number) {
            true => Ok(Self(number)),
            false => Err(Error::custom(format!("{number} is not within {MIN} to {MAX}"))),
        }
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Whole{MIN}To{MAX}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A size in bytes: a number, or a text with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Number { text: true })? {
            bytes @ 1..=SIZE_MAX => Ok(Self(bytes)),
            other => Err(Error::custom(format!("{other} bytes is not a possible size"))),
        }
    }
}

impl JsonSchema for Size {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "pattern": SIZE },
            { "type": "integer", "minimum": 1, "maximum": SIZE_MAX },
        ] })
    }
}

/// An amount of money in dollars, more than nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Money(pub f64);

/// The least amount of money that a limit can be, and the largest.
const MONEY: (f64, f64) = (0.01, 1_000_000.0);

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = deserializer.deserialize_any(Dollars)?;
        match (MONEY.0..=MONEY.1).contains(&dollars) {
            true => Ok(Self(dollars)),
            false => Err(Error::custom(format!("{dollars} is not an amount of money"))),
        }
    }
}

impl JsonSchema for Money {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Money".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": MONEY.0, "maximum": MONEY.1 })
    }
}

/// Reads a number of dollars.
struct Dollars;

impl Visitor<'_> for Dollars {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of money")
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }
}

/// Reads `64MB` and the like.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=9).contains(&digits) {
        return None;
    }
    let unit = &text[digits..];
    let worth = match unit.strip_prefix(' ').unwrap_or(unit) {
        "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    // Nine digits of the largest unit stay below `SIZE_MAX`.
    let size = text[..digits].parse::<u64>().ok()? * worth;
    (size > 0).then_some(size)
}

/// Reads a whole number, and a size where `text` allows it.
struct Number {
    text: bool,
}

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.text { "a size" } else { "a whole number" })
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| E::custom(format!("{number} is below zero")))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // Exact below 2^53; anything above is out of every range that is asked for, or a size that
        // no one can tell from its neighbour.
        if number.fract() == 0.0 && (0.0..=SIZE_MAX as f64).contains(&number) {
            Ok(number as u64)
        } else {
            Err(E::custom(format!("{number} is not a whole number in range")))
        }
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        match self.text {
            true => bytes(text).ok_or_else(|| E::custom(format!("`{text}` is not a size"))),
            false => Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
        }
    }
}
