//! Instants and lengths of time as data. Nothing here reads a clock: time arrives in events.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instant, written as RFC 3339 in UTC.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(with = "String", extend("format" = "date-time"))]
pub struct Timestamp(pub jiff::Timestamp);

impl Timestamp {
    /// The instant `length` after this one; the end of time when there is none.
    #[must_use]
    pub fn after(self, length: Length) -> Self {
        Self(self.0.saturating_add(length.0).unwrap_or(jiff::Timestamp::MAX))
    }

    /// How long from `earlier` to this instant; zero when it is not earlier (clocks step back).
    #[must_use]
    pub fn since(self, earlier: Self) -> Length {
        let length = self.0.duration_since(earlier.0);
        Length(Duration::try_from(length).unwrap_or_default())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

/// A length of time, written as people write it: `90s`, `5m`, `1h30m`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Length(pub Duration);

impl Length {
    /// What [`Length::from_str`] accepts, as an ECMA 262 regular expression for schemas.
    pub const PATTERN: &str =
        "^(?=.*[1-9])(?:[0-9]{1,9}h)?(?:[0-9]{1,9}m)?(?:[0-9]{1,9}s)?(?:[0-9]{1,9}ms)?$";

    /// So many seconds.
    #[must_use]
    pub const fn secs(n: u64) -> Self {
        Self(Duration::from_secs(n))
    }

    /// So many milliseconds.
    #[must_use]
    pub const fn millis(n: u64) -> Self {
        Self(Duration::from_millis(n))
    }
}

/// Why a text is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a length of time; write `90s`, `5m` or `1h30m`")]
pub struct LengthError(pub String);

impl FromStr for Length {
    type Err = LengthError;

    /// Reads hours, minutes, seconds and milliseconds in this order, each at most once:
    /// [`Length::PATTERN`]. A bare number would leave the unit to be guessed, and the guesses
    /// differ by 60, so it is refused; so is a length of nothing at all.
    fn from_str(text: &str) -> Result<Self, LengthError> {
        let error = || LengthError(text.to_owned());
        let (mut rest, mut millis) = (text, 0_u64);
        for (unit, worth) in [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let Some(after) = rest[digits..].strip_prefix(unit) else {
                continue;
            };
            // `5ms` starts like five minutes.
            if digits == 0 || (unit == "m" && after.starts_with('s')) {
                continue;
            }
            if digits > 9 {
                return Err(error());
            }
            millis += rest[..digits].parse::<u64>().map_err(|_| error())? * worth;
            rest = after;
        }
        if !rest.is_empty() || millis == 0 {
            return Err(error());
        }
        // Capped so that whatever was read can be written and read again.
        Ok(Self::millis(millis.min(999_999_999 * 3_600_000)))
    }
}

impl TryFrom<String> for Length {
    type Error = LengthError;
    fn try_from(text: String) -> Result<Self, LengthError> {
        if text == "0ms" { Ok(Self::default()) } else { text.parse() }
    }
}

impl From<Length> for String {
    fn from(length: Length) -> Self {
        length.to_string()
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.as_millis();
        let (hours, minutes) = (total / 3_600_000, total / 60_000 % 60);
        let (seconds, millis) = (total / 1000 % 60, total % 1000);
        let mut text = String::new();
        for (n, unit) in [(hours, "h"), (minutes, "m"), (seconds, "s"), (millis, "ms")] {
            if n > 0 {
                text.push_str(&format!("{n}{unit}"));
            }
        }
        f.pad(if text.is_empty() { "0ms" } else { &text })
    }
}
