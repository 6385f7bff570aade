//! Asking the person at the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use tokio::sync::oneshot;

use super::failure::{Failure, written};
use super::{drive, exit};
use crate::run::stop::Stop;

/// Whether there is somebody to ask.
#[must_use]
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks, and whether the answer is yes. A signal is an answer too, which `interrupted` words.
///
/// # Errors
/// Interrupted, or the terminal cannot be written or read.
pub fn confirm(question: &str, interrupted: &'static str) -> Result<bool, Failure> {
    let answer = line(&format!("{question} [y/N] "), interrupted)?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks, and what was answered, without the space around it. A signal is an answer too, as with [`confirm`].
///
/// # Errors
/// As [`confirm`].
pub fn line(question: &str, interrupted: &'static str) -> Result<String, Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(question.as_bytes()))?;
    written(out.flush())?;
    drop(out);
    Ok(answer(interrupted)?.trim().to_owned())
}

/// Reads the answer. A signal leaves at once: another runtime may have taken the system's own handlers away.
fn answer(interrupted: &'static str) -> Result<String, Failure> {
    drive::runtime()?.block_on(async {
        let unheard = |error| Failure::infrastructure(format!("cannot listen to signals: {error}"));
        let mut stop = Stop::listen().map_err(unheard)?;
        let (tell, told) = oneshot::channel();
        // No task of the runtime: that would be waited for, and the line may never come.
        std::thread::spawn(move || {
            let mut answer = String::new();
            let read = io::stdin().lock().read_line(&mut answer).map(|_| answer);
            // Nobody listens when a signal was quicker.
            let _ = tell.send(read);
        });
        tokio::select! {
            answer = told => answer.map_err(io::Error::other).flatten().map_err(|error| {
                Failure::infrastructure(format!("could not read the answer: {error}"))
            }),
            _ = stop.next() => Err(Failure::new(exit::INTERRUPTED, interrupted)),
        }
    })
}
