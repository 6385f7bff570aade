//! Moments as people write them: `3pm`, `15:04 (Europe/Berlin)`, `Nov 30, 3pm (UTC)`, `Feb 3rd, 2027 10:12 AM`,
//! `Mon 12:00 AM`. All letters are small here.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The moment that stands after `word`: the next such, in the zone that is named or else in that of this
/// machine, which the agents go by. A date without a time is its beginning.
pub(super) fn moment_after(text: &str, word: &str, now: Timestamp) -> Option<Timestamp> {
    let (_, rest) = text.split_once(word)?;
    let zone = zone(rest).unwrap_or_else(TimeZone::system);
    let here = now.to_zoned_datetime(zone.clone()).datetime();
    let mut words = Words(rest);
    let day = day(&mut words);
    let time = time(&mut words);
    let at = match (day, time) {
        (None, None) => return None,
        (None, Some(time)) => {
            let today = here.date().to_datetime(time);
            if today > here { today } else { today.checked_add(1.day()).ok()? }
        }
        (Some(day), time) => day.next(here, time.unwrap_or(Time::midnight()))?,
    };
    Some(at.to_zoned_datetime(zone).ok()?.timestamp())
}

/// A day as it is named.
enum Day {
    Of { year: Option<i16>, month: i8, day: i8 },
    Next(Weekday),
}

impl Day {
    /// Its next coming at `time`, seen from `here`. One that was a day ago at most is meant as it stands.
    fn next(&self, here: DateTime, time: Time) -> Option<DateTime> {
        match *self {
            Self::Of { year: Some(year), month, day } => {
                Some(Date::new(year, month, day).ok()?.to_datetime(time))
            }
            Self::Of { year: None, month, day } => {
                let since = here.checked_sub(1.day()).ok()?;
                let years = [here.year(), here.year().checked_add(1)?];
                let dates = years.into_iter().filter_map(|year| Date::new(year, month, day).ok());
                dates.map(|date| date.to_datetime(time)).find(|at| *at >= since)
            }
            Self::Next(weekday) => {
                let today = here.date();
                if today.weekday() == weekday && today.to_datetime(time) > here {
                    return Some(today.to_datetime(time));
                }
                Some(today.nth_weekday(1, weekday).ok()?.to_datetime(time))
            }
        }
    }
}

/// `nov 30`, `30 nov`, `november 30th, 2026`, `mon`.
fn day(words: &mut Words<'_>) -> Option<Day> {
    let mut after = words.clone();
    let first = after.next()?;
    if let Some(n) = position(&DAYS, first) {
        let weekday = Weekday::from_monday_zero_offset(i8::try_from(n).ok()?).ok()?;
        *words = after.clone();
        // The date may follow, which says more.
        return Some(day(words).unwrap_or(Day::Next(weekday)));
    }
    let month = |word: &str| {
        let n = position(&MONTHS, word)?;
        i8::try_from(n + 1).ok()
    };
    let second = after.next()?;
    let (month, day) = match month(first) {
        Some(month) => (month, number(second)?),
        None => (month(second)?, number(first)?),
    };
    *words = after.clone();
    let year = after.next().and_then(|word| word.parse::<i16>().ok()).filter(|year| *year >= 2000);
    if year.is_some() {
        *words = after;
    }
    Some(Day::Of { year, month, day })
}

/// Of names, the one that this is, whole or by its first three letters.
fn position(names: &[&str], word: &str) -> Option<usize> {
    names.iter().position(|name| *name == word || name.get(..3) == Some(word))
}

/// `30`, `3rd`.
fn number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let known = ["", "st", "nd", "rd", "th"].contains(&&word[digits.len()..]);
    digits.parse().ok().filter(|_| known)
}

/// `3pm`, `3:04 pm`, `15:04`, each after an `at` or not. A bare number may be anything.
fn time(words: &mut Words<'_>) -> Option<Time> {
    let mut word = words.next()?;
    if word == "at" {
        word = words.next()?;
    }
    let end = word.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(word.len());
    let (clock, mut half) = word.split_at(end);
    if half.is_empty() {
        half = words.next().unwrap_or_default();
    }
    let (hour, minute) = match clock.split_once(':') {
        Some((hour, rest)) => (hour, Some(rest.split(':').next()?.parse::<i8>().ok()?)),
        None => (clock, None),
    };
    let hour: i8 = hour.parse().ok()?;
    let hour = match half.get(..2) {
        Some("pm") => hour % 12 + 12,
        Some("am") => hour % 12,
        _ => minute.map(|_| hour)?,
    };
    Time::new(hour, minute.unwrap_or(0), 0, 0).ok()
}

/// The zone in the first parentheses.
fn zone(text: &str) -> Option<TimeZone> {
    let (_, inside) = text.split_once('(')?;
    let (name, _) = inside.split_once(')')?;
    // Names of zones are looked up without regard to case.
    TimeZone::get(name.trim()).ok()
}

/// Words, without what stands around them.
#[derive(Clone)]
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start_matches(|c: char| c.is_whitespace() || ",.".contains(c));
        let end = rest.find(|c: char| c.is_whitespace() || ",(".contains(c)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.0 = rest;
        Some(word.trim_end_matches('.')).filter(|word| !word.is_empty())
    }
}
