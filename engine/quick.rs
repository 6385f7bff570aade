//! A program that is asked something and has to answer soon: bounded in time and in what it may say, and
//! ended with all that it started when it is late.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

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
    let began = Instant::now();
    let mut child = command.spawn().map_err(NoAnswer::NotStarted)?;
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        end(&mut child);
        return Err(NoAnswer::NotStarted(io::ErrorKind::BrokenPipe.into()));
    };
    // One byte more than it may say tells that it said more.
    let (out, err) = (read(out, most.saturating_add(1)), read(err, ERRORS));
    let left = || limit.saturating_sub(began.elapsed());
    let Ok(said) = out.recv_timeout(left()) else {
        end(&mut child);
        return Err(NoAnswer::Late(limit));
    };
    if said.len() as u64 > most {
        end(&mut child);
        return Err(NoAnswer::TooMuch(most));
    }
    let mut pause = Duration::from_micros(50);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            _ if left().is_zero() => {
                end(&mut child);
                return Err(NoAnswer::Late(limit));
            }
            _ => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    // What it started in the background may hold this open, and has nothing to add.
    let err = err.recv_timeout(Duration::from_millis(50)).unwrap_or_default();
    Ok(Answer { status, out: said, err })
}

fn read(from: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (to, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        // A short answer is one too, and nobody may be waiting for it any more.
        let _ = from.take(most).read_to_end(&mut said);
        let _ = to.send(said);
    });
    heard
}

/// Ends the child with its group. It was not waited for yet, so the id is its own.
fn end(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}
