//! Starting the command, and telling apart why it could not be.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;

use super::Output;
use super::output::{Ends, create};
use crate::launch::step::TOKEN;
use crate::launch::{SpawnError, SpawnErrorKind, Spec, Stdin};
use crate::plain_file;
use crate::process::{escape, escape_path, spawn};

/// A kind and a sentence: a [`SpawnError`] but for the program.
type Reason = (SpawnErrorKind, String);

/// Starts the command of `spec`, marked with `token`. Gives its process id and its output.
pub(super) fn start(spec: &Spec, token: &str) -> Result<(i32, Output), SpawnError> {
    let name = spec.argv.first().cloned().unwrap_or_default();
    let program = escape(name.as_bytes());
    try_start(spec, token, &program).map_err(|(kind, message)| SpawnError {
        kind,
        program,
        message,
    })
}

fn try_start(spec: &Spec, token: &str, program: &str) -> Result<(i32, Output), Reason> {
    let (output, ends) = open_output(spec)?;
    check_cwd(&spec.cwd)?;
    let stdin = open_stdin(&spec.stdin)?;
    let (name, arguments) =
        spec.argv.split_first().ok_or((SpawnErrorKind::Other, "the command is empty".into()))?;
    let mut command = command(spec, name, arguments, token);
    command.stdin(stdin).stdout(ends.out).stderr(ends.err);
    let child =
        spawn::in_own_session(&mut command).map_err(|error| not_started(program, &error))?;
    // `command` is dropped here, and with it this process's copies of the writing ends.
    Ok((child.id().cast_signed(), output))
}

fn command(spec: &Spec, name: &OsString, arguments: &[OsString], token: &str) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(&spec.cwd);
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.env(TOKEN, token);
    command
}

fn open_output(spec: &Spec) -> Result<(Output, Ends), Reason> {
    let open = |path: &Path, limit| {
        create(path, limit).map_err(|error| {
            (SpawnErrorKind::NoLog, format!("cannot write the log {}: {error}", escape_path(path)))
        })
    };
    let log = open(&spec.log, spec.log_limit)?;
    let capture =
        spec.capture.as_ref().map(|capture| open(&capture.path, capture.limit)).transpose()?;
    Output::open(log, capture)
        .map_err(|error| (SpawnErrorKind::Other, format!("cannot make a pipe: {error}")))
}

/// The system gives one answer for a missing program and a missing folder, so the folder is looked at
/// first.
fn check_cwd(cwd: &Path) -> Result<(), Reason> {
    let wrong = match fs::metadata(cwd) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "it is not a directory".to_owned(),
        Err(error) => error.to_string(),
    };
    Err((SpawnErrorKind::NoCwd, format!("cannot work in {}: {wrong}", escape_path(cwd))))
}

fn open_stdin(stdin: &Stdin) -> Result<Stdio, Reason> {
    match stdin {
        Stdin::Null => Ok(Stdio::null()),
        Stdin::File(path) => plain_file::open(path).map(Stdio::from).map_err(|error| {
            (
                SpawnErrorKind::NoStdin,
                format!("cannot read the input {}: {error}", escape_path(path)),
            )
        }),
    }
}

fn not_started(program: &str, error: &io::Error) -> Reason {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) => (
            SpawnErrorKind::NotFound,
            format!("{program}: no such program, or the interpreter in its first line is missing"),
        ),
        Some(Errno::ACCESS | Errno::PERM | Errno::NOEXEC) => {
            (SpawnErrorKind::NotExecutable, format!("{program} cannot be executed: {error}"))
        }
        _ => (SpawnErrorKind::Other, format!("cannot start {program}: {error}")),
    }
}
