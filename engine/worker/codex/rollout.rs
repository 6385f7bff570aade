//! The file that codex keeps of a session, `<codex home>/sessions/YYYY/MM/DD/rollout-…-<id>.jsonl`:
//! the only place where it tells each model call's tokens while it works. Read as it grows, from where
//! it ended before the turn began. It is codex's own business and may change; where it is not
//! understood, what codex prints must do.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use serde::Deserialize;

use crate::model::time::Timestamp;
use crate::model::turn::Usage;
use crate::worker::Tally;

/// Longest record that is looked at. The ones that matter are short.
const RECORD: usize = 256 * 1024;
const CHUNK: usize = 64 * 1024;

#[derive(Debug, Deserialize)]
struct Record {
    payload: Payload,
}

#[derive(Debug, Default, Deserialize)]
struct Payload {
    /// In `turn_context`.
    #[serde(default)]
    model: Option<String>,
    /// In `token_count`.
    #[serde(default)]
    info: Option<Info>,
    /// In `token_count`.
    #[serde(default)]
    rate_limits: Option<RateLimits>,
}

#[derive(Debug, Deserialize)]
struct Info {
    total_token_usage: Tokens,
    last_token_usage: Tokens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Tokens {
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    output_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct RateLimits {
    #[serde(default)]
    primary: Option<Window>,
    #[serde(default)]
    secondary: Option<Window>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Window {
    used_percent: f64,
    /// Seconds since 1970.
    #[serde(default)]
    resets_at: Option<i64>,
}

/// The file of one session, and what it told since the turn began.
pub(super) struct Rollout {
    sessions: PathBuf,
    file: Option<File>,
    id: Option<String>,
    line: Vec<u8>,
    skipping: bool,
    model: Option<String>,
    usage: Usage,
    calls: u32,
    total: Option<Tokens>,
    limits: RateLimits,
}

impl Rollout {
    /// Before the turn begins. What is there of `session` by now is of earlier turns.
    pub(super) fn new(home: &Path, session: Option<&str>) -> Self {
        let mut rollout = Self {
            sessions: home.join("sessions"),
            file: None,
            id: session.map(str::to_owned),
            line: Vec::new(),
            skipping: false,
            model: None,
            usage: Usage::default(),
            calls: 0,
            total: None,
            limits: RateLimits::default(),
        };
        if session.is_some() {
            rollout.file = rollout.find();
            if let Some(file) = &mut rollout.file {
                let _from_its_start_then = file.seek(SeekFrom::End(0));
            }
        }
        rollout
    }

    /// The session is known.
    pub(super) fn is_of(&mut self, session: &str) {
        if self.id.as_deref() != Some(session) {
            self.id = Some(session.to_owned());
            self.file = None;
        }
    }

    /// Reads what is new.
    pub(super) fn read(&mut self) {
        if self.file.is_none() {
            self.file = self.find();
        }
        let Some(mut file) = self.file.take() else { return };
        let mut chunk = vec![0; CHUNK];
        while let Ok(n @ 1..) = file.read(&mut chunk) {
            self.take_in(&chunk[..n]);
        }
        self.file = Some(file);
    }

    /// Puts what is known into the tally.
    pub(super) fn tell(&self, tally: &mut Tally) {
        if let Some(model) = &self.model {
            tally.note_model(model);
        }
        if self.calls > 0 {
            tally.usage = self.usage;
            tally.turns = self.calls;
        }
    }

    /// When the last of the windows that are used up begins anew.
    pub(super) fn resets_at(&self) -> Option<Timestamp> {
        [self.limits.primary, self.limits.secondary]
            .into_iter()
            .flatten()
            .filter(|window| window.used_percent >= 100.0)
            .filter_map(|window| jiff::Timestamp::from_second(window.resets_at?).ok())
            .max()
            .map(Timestamp)
    }

    fn take_in(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = rest.find_byte(b'\n') {
            self.push(&rest[..at]);
            rest = &rest[at + 1..];
            let line = std::mem::take(&mut self.line);
            if !std::mem::take(&mut self.skipping) {
                self.record(&line);
            }
        }
        self.push(rest);
    }

    fn push(&mut self, bytes: &[u8]) {
        self.skipping |= self.line.len() + bytes.len() > RECORD;
        if !self.skipping {
            self.line.extend_from_slice(bytes);
        }
    }

    fn record(&mut self, line: &[u8]) {
        let wanted = [&b"\"token_count\""[..], b"\"turn_context\""];
        if !wanted.iter().any(|kind| line.contains_str(kind)) {
            return;
        }
        let Ok(Record { payload }) = serde_json::from_slice(line) else { return };
        self.model = payload.model.or(self.model.take());
        self.limits = payload.rate_limits.unwrap_or(self.limits);
        // One is written for news about limits too, with the same counts again.
        if let Some(info) = payload.info
            && self.total != Some(info.total_token_usage)
        {
            self.total = Some(info.total_token_usage);
            self.calls = self.calls.saturating_add(1);
            let last = info.last_token_usage;
            self.usage += Usage {
                input: last.input_tokens,
                cached: last.cached_input_tokens,
                output: last.output_tokens,
            };
        }
    }

    /// Looks for the session's file, the newest days first.
    fn find(&self) -> Option<File> {
        let ending = format!("-{}.jsonl", self.id.as_ref()?);
        let mut folders = vec![self.sessions.clone()];
        for _year_month_day in 0..3 {
            folders = folders.iter().flat_map(|folder| below(folder)).collect();
        }
        let path = folders.iter().flat_map(|day| below(day)).find(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|n| n.ends_with(&ending))
        })?;
        File::open(path).ok()
    }
}

/// What is in a folder, last names first.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}
