//! What holds before a run, for people: each part on a line, and below it what to do. In the checkpoint
//! report only what somebody should look at.

use std::io::{self, Write};

use super::line::{Flow, Line};
use super::palette::{Look, Tone};
use super::words;
use crate::model::preflight::{Auth, Known, Method, Preflight, RoleTier, Runtime, State, Word};

/// Columns of the names of parts.
const NAMES: usize = 14;

/// What stands before the roles that have no tier.
const NO_TIER: &str = "no tier";

/// Draws all of it.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(preflight: &Preflight, look: &Look, out: &mut impl Write) -> io::Result<()> {
    let parts = preflight.parts();
    for (name, part) in &parts {
        let tone = tone(part.state);
        let mark = Line::new(look).then(tone, words::tone_mark(tone, look)).gap(1);
        let mut told = part.words.iter();
        // The first is what the line itself says.
        let worst = told.next();
        let line = mark.cell(Tone::Strong, name, NAMES);
        let text = if part.state == State::Go { Tone::Normal } else { tone };
        Flow::after(line).then(text, &part.what).write(out)?;
        if let Some(word) = worst {
            todo(word, look, out)?;
        }
        for word in told {
            let line = Line::new(look).gap(2 + NAMES);
            Flow::after(line).then(self::tone(word.state), &word.what).write(out)?;
            todo(word, look, out)?;
        }
        if *name == "runtime"
            && let Some(runtime) = preflight.runtime.as_ref().and_then(|part| part.facts.as_ref())
        {
            roles(runtime, look, out)?;
        }
    }
    let looked = words::count(parts.len() as u64, "part");
    let of = preflight.plan.as_ref().map(|plan| format!(" of {plan}")).unwrap_or_default();
    let (word, tone) = match preflight.state {
        State::Go => (format!("go: nothing stands in the way{of} ({looked})"), Tone::Good),
        State::Warn => (format!("a run{of} can start; look at what is marked first"), Tone::Warn),
        State::Stop => (format!("no run{of} can start: see above"), Tone::Bad),
    };
    writeln!(out)?;
    Flow::after(Line::new(look)).then(tone, &word).write(out)
}

/// Draws what of it somebody should look at before they say yes.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw_words(preflight: &Preflight, look: &Look, out: &mut impl Write) -> io::Result<()> {
    for (name, part) in preflight.parts() {
        for word in &part.words {
            let head = match word.state {
                State::Stop => Line::new(look).then(Tone::Bad, "stop "),
                _ => Line::new(look).then(Tone::Warn, "warning "),
            };
            let head = head.then(Tone::Faint, &format!("{name}: "));
            writeln!(out, "{}", head.then(Tone::Normal, &word.what).done().trimmed())?;
            if let Some(help) = &word.help {
                let line = Line::new(look).gap(8).then(Tone::Faint, help);
                writeln!(out, "{}", line.done().trimmed())?;
            }
        }
    }
    Ok(())
}

fn tone(state: State) -> Tone {
    match state {
        State::Go => Tone::Good,
        State::Warn => Tone::Warn,
        State::Stop => Tone::Bad,
    }
}

fn todo(word: &Word, look: &Look, out: &mut impl Write) -> io::Result<()> {
    let Some(help) = &word.help else { return Ok(()) };
    let line = Line::new(look).gap(2 + NAMES).then(Tone::Faint, look.pick("→ ", "> "));
    Flow::after(line).then(Tone::Normal, help).write(out)
}

fn roles(runtime: &Runtime, look: &Look, out: &mut impl Write) -> io::Result<()> {
    // What the tier of a role is called, where it is not called as the role.
    let roles = [
        ("lead", "", &runtime.lead),
        ("lead_phase2", "", &runtime.lead_phase2),
        ("worker", "standard", &runtime.worker),
        ("worker_light", "light", &runtime.worker_light),
        ("scout", "", &runtime.scout),
    ];
    let others = runtime.others.iter().map(|(name, role)| (name.as_str(), "", Some(role)));
    let all: Vec<_> = roles
        .iter()
        .map(|(name, tier, role)| (*name, *tier, role.as_ref()))
        .chain(others)
        .collect();
    // Roles without a tier are told only where another one has one.
    let there = all.iter().filter_map(|(name, _, role)| Some((*name, (*role)?)));
    let there: Vec<(&str, &RoleTier)> = there.collect();
    if there.is_empty() {
        return Ok(());
    }
    let widest = there.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let widest = widest.max(NO_TIER.len());
    let row = |name: &str| Line::new(look).gap(4).cell(Tone::Faint, name, widest + 2);
    for (name, role) in there {
        let text = match Some(role) == runtime.lead.as_ref() && name != "lead" {
            true => Flow::after(row(name)).then(Tone::Faint, "as lead"),
            false => told(role, Flow::after(row(name))),
        };
        text.write(out)?;
    }
    let missing = all.iter().filter(|(_, _, role)| role.is_none());
    let missing: Vec<String> = missing
        .map(|(name, tier, _)| match *tier {
            "" => (*name).to_owned(),
            tier => format!("{name} (`{tier}`)"),
        })
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Flow::after(row(NO_TIER)).then(Tone::Faint, &missing.join(", ")).write(out),
    }
}

fn told<'a>(role: &RoleTier, text: Flow<'a>) -> Flow<'a> {
    let mut who = role.worker.clone();
    for part in [&role.model, &role.effort].into_iter().flatten() {
        who.push(' ');
        who.push_str(part);
    }
    let text = text.then(Tone::Normal, &who).dot();
    let text = match (role.found, &role.path) {
        (Some(false), _) => return text.then(Tone::Bad, &format!("{} is not found", role.program)),
        (_, Some(path)) => match &role.version {
            Some(version) => text.then(Tone::Normal, version).dot().then(Tone::Faint, path),
            None => text.then(Tone::Faint, path),
        },
        (_, None) => text.then(Tone::Faint, &format!("{} in the worktree", role.program)),
    };
    match &role.auth {
        None => text,
        Some(auth) => {
            let (tone, login) = login(auth);
            text.dot().then(tone, &login)
        }
    }
}

fn login(auth: &Auth) -> (Tone, String) {
    match auth.authenticated {
        Known::Yes => {
            let how = match auth.method {
                Some(Method::ApiKey) => "API key",
                Some(Method::Token) => "token",
                _ => "login",
            };
            (Tone::Good, format!("{how} in {}", auth.from.as_deref().unwrap_or_default()))
        }
        Known::No => (Tone::Warn, "not logged in".to_owned()),
        Known::Unknown => (Tone::Faint, "login unknown".to_owned()),
    }
}
