//! The agents that can be driven, the command lines of a plan's tiers, and what a life check came to.

use std::io::{self, Write};

use serde::Serialize;

use super::line::{Flow, Line};
use super::palette::{Look, Tone};
use super::words;
use crate::model::turn::{FaultClass, Turn};
use crate::worker::{Abilities, Login};

/// An agent that a plan can name as a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Known {
    /// The worker's name.
    pub worker: String,
    /// Its adapter.
    pub adapter: &'static str,
    /// The program that is started.
    pub program: String,
    /// Where that was found.
    pub path: Option<String>,
    /// What it calls itself.
    pub version: Option<String>,
    /// Whether it is logged in.
    pub login: LoginState,
    /// How to get it.
    pub install: &'static str,
    /// What it can be relied on for.
    pub abilities: Abilities,
}

/// Whether an agent is logged in, as far as that can be told without a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "detail")]
pub enum LoginState {
    /// By this.
    Yes(String),
    /// What to do.
    No(String),
    /// Only a call would tell.
    Unknown,
}

impl From<Login> for LoginState {
    fn from(login: Login) -> Self {
        match login {
            Login::Yes(how) => Self::Yes(how),
            Login::No(what) => Self::No(what),
            Login::Unknown => Self::Unknown,
        }
    }
}

/// A tier and what it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TierLine {
    /// The tier.
    pub tier: String,
    /// Its worker.
    pub worker: String,
    /// The argument vector of a first attempt.
    pub command: Vec<String>,
    /// That of an attempt which goes on with a session, where that is another.
    pub again: Option<Vec<String>>,
    /// Whether the program is there.
    pub found: bool,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Adapters {
    /// The agents.
    pub adapters: Vec<Known>,
    /// The tiers of the plan.
    pub tiers: Vec<TierLine>,
}

/// Draws it.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(adapters: &Adapters, look: &Look, out: &mut impl Write) -> io::Result<()> {
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = width(&mut adapters.adapters.iter().map(|known| known.worker.len()));
    let bare = Look { width: None, ..*look };
    for known in &adapters.adapters {
        let row = |tone: Tone, mark: &str, name: Tone| {
            let head = Line::new(look).then(tone, mark).gap(1);
            Flow::after(head.cell(name, &known.worker, names).gap(2))
        };
        let text = match &known.path {
            None => row(Tone::Faint, look.pick("·", "-"), Tone::Normal)
                .then(Tone::Faint, &format!("not found: {}", known.install)),
            Some(path) => {
                let (tone, login) = match &known.login {
                    LoginState::Yes(how) => (Tone::Good, format!("logged in ({how})")),
                    LoginState::No(what) => (Tone::Bad, format!("not logged in: {what}")),
                    LoginState::Unknown => (Tone::Normal, "login unknown".to_owned()),
                };
                row(tone, words::tone_mark(tone, look), Tone::Strong)
                    .then(Tone::Normal, known.version.as_deref().unwrap_or("version unknown"))
                    .dot()
                    .then(Tone::Normal, path)
                    .dot()
                    .then(tone, &login)
            }
        };
        text.write(out)?;
    }
    for tier in &adapters.tiers {
        let head = Line::new(&bare)
            .then(Tone::Strong, &tier.tier)
            .then(Tone::Faint, look.dot())
            .then(Tone::Normal, &tier.worker);
        let head = if tier.found {
            head
        } else {
            head.then(Tone::Faint, look.dot()).then(Tone::Bad, "its program is not found")
        };
        writeln!(out, "\n{}", head.done().trimmed())?;
        // Never cut: it is there to be copied.
        for words in [Some(&tier.command), tier.again.as_ref()].into_iter().flatten() {
            let line = Line::new(&bare).gap(2).then(Tone::Command, &shell(words));
            writeln!(out, "{}", line.done().trimmed())?;
        }
    }
    Ok(())
}

/// Words as a shell would read them back.
fn shell(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// What a life check came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LifeCheck {
    /// The tier, or the worker, that was asked.
    pub tier: String,
    /// Whether READY came back.
    pub ready: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What its agent's stream told.
    pub turn: Option<Turn>,
    /// What it said.
    pub text: String,
    /// What was wrong, where it is not the turn's fault.
    pub problem: Option<String>,
    /// What to do.
    pub advice: Option<String>,
}

/// Draws it.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw_check(check: &LifeCheck, look: &Look, out: &mut impl Write) -> io::Result<()> {
    let bare = Look { width: None, ..*look };
    let (tone, word) =
        if check.ready { (Tone::Good, "is ready") } else { (Tone::Bad, "is not ready") };
    let took = std::time::Duration::from_millis(check.took_ms).as_secs_f64();
    let head = Line::new(&bare)
        .then(tone, words::tone_mark(tone, look))
        .gap(1)
        .then(Tone::Strong, &check.tier)
        .gap(1)
        .then(tone, word)
        .then(Tone::Faint, look.dot())
        .then(Tone::Normal, &format!("{took:.1} s"));
    writeln!(out, "{}", head.done().trimmed())?;
    let mut row = |name: &str, text: &str| {
        let head = Line::new(look).gap(2).cell(Tone::Faint, name, 9);
        Flow::after(head).then(Tone::Normal, text).write(out)
    };
    if let Some(turn) = &check.turn {
        row("session", turn.session.as_deref().unwrap_or("not told"))?;
        row("model", turn.model.as_deref().unwrap_or("not told"))?;
        let usage = turn.usage;
        row("tokens", &format!("{} in, {} out", usage.input, usage.output))?;
        row("cost", &turn.cost_usd.map_or("not told".to_owned(), |cost| cost.to_string()))?;
        if let Some(fault) = &turn.fault {
            row("fault", &format!("{}: {}", fault.class, fault.message))?;
            if let Some(at) = fault.resets_at {
                row("again at", &at.to_string())?;
            }
        }
    }
    let said: String = check.text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !said.is_empty() {
        row("said", &said.chars().take(200).collect::<String>())?;
    }
    if let Some(problem) = &check.problem {
        row("problem", problem)?;
    }
    if let Some(advice) = &check.advice {
        row("help", advice)?;
    }
    Ok(())
}

/// What a person can do about a fault.
#[must_use]
pub fn advice(class: FaultClass) -> &'static str {
    match class {
        FaultClass::Credit => "top up the account, or name another tier in `fallback`",
        FaultClass::RateLimit => "wait, or name another tier in `fallback`",
        FaultClass::Auth => {
            "log in with the agent itself, or set its key; `sop adapters` says which"
        }
        FaultClass::ModelUnknown => "correct the tier's `model`, or get access to it",
        FaultClass::Provider => "try again later, or name another tier in `fallback`",
        FaultClass::EmptyTurn => {
            "try again; if it stays silent, try the same with the agent itself"
        }
        FaultClass::Interrupted => "try again, and let it finish",
        FaultClass::Crash => {
            "try the same command line with the agent itself: `sop adapters` shows it"
        }
    }
}
