//! A program that is asked something and has to answer soon: bounded in time and in what it may say, and
//! ended with all that it started when it is late.

pub mod hear;

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use hear::{Heard, Most, Why, Wish};

/// Bytes of standard error that are kept.
const ERRORS: u64 = 8 << 10;

/// What a program answered.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub out: Vec<u8>,
    /// The beginning of its standard error.
    pub err: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// It could not be started.
    #[error("could not be started: {0}")]
    NotStarted(io::Error),
    /// It took too long, and was ended.
    #[error("gave no answer within {} s", .0.as_secs_f32())]
    Late(Duration),
    /// It said too much, and was ended.
    #[error("said more than {0} bytes")]
    TooMuch(u64),
}

/// Runs `command`, which reads nothing and leads a process group of its own, for at most `limit`; it may say at
/// most `most` bytes.
///
/// # Errors
/// It could not be started, is late, or says too much. Nothing of its group is left then.
pub fn ask(mut command: Command, limit: Duration, most: u64) -> Result<Answer, NoAnswer> {
    use std::os::unix::process::CommandExt;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().map_err(NoAnswer::NotStarted)?;
    let (out, err) = (Most::Within(most), Most::First(ERRORS));
    let wish = Wish { input: b"", limit: Some(limit), out, err };
    let Heard { status, why, out, err } = hear::hear(child, &wish).map_err(NoAnswer::NotStarted)?;
    match why {
        Why::Itself => Ok(Answer { status, out, err }),
        Why::Late => Err(NoAnswer::Late(limit)),
        Why::TooMuch => Err(NoAnswer::TooMuch(most)),
    }
}
