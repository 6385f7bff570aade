//! A yes or a no, typed at a terminal.

use std::io::{self, BufRead as _, Write as _};

use tokio::sync::oneshot;

use super::drive;
use super::exit;
use super::failure::{Failure, written};
use crate::run::stop::Stop;

/// Whether the answer to what was just asked is a yes. A signal leaves at once: the runtime of a dry run, or of
/// an engine, has taken the system's own handlers away.
///
/// # Errors
/// The answer cannot be read, or somebody said stop.
pub fn yes() -> Result<bool, Failure> {
    written(io::stdout().lock().flush())?;
    let answer = answer()?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn answer() -> Result<String, Failure> {
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
            _ = stop.next() => {
                Err(Failure::new(exit::INTERRUPTED, "interrupted: nothing was started"))
            }
        }
    })
}
