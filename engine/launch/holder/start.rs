//! Starting the command, and telling apart why it could not be.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Output;
use super::output::create;
use crate::launch::step::TOKEN;
use crate::launch::{SpawnError, SpawnErrorKind, Spec, Stdin};
use crate::process::{escape, spawn};

/// Starts the command of `spec`, marked with `token`. Gives its process id and its output.
pub(super) fn start(spec: &Spec, token: &str) -> Result<(i32, Output), SpawnError> {
    let program = spec.argv.first().map(|program| escape(program.as_bytes())).unwrap_or_default();
    let fail = |kind, message: String| SpawnError { kind, program: program.clone(), message };
    let no_log = |path: &Path| {
        let path = show(path);
        let fail = &fail;
        move |error: io::Error| {
            fail(SpawnErrorKind::NoLog, format!("cannot write the log {path}: {error}"))
        }
    };

    let log = create(&spec.log, spec.log_limit).map_err(no_log(&spec.log))?;
    let capture = match &spec.capture {
        Some(capture) => Some(create(&capture.path, capture.limit).map_err(no_log(&capture.path))?),
        None => None,
    };
    match std::fs::metadata(&spec.cwd) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            return Err(fail(
                SpawnErrorKind::NoCwd,
                format!("the working directory {} is not a directory", show(&spec.cwd)),
            ));
        }
        Err(error) => {
            return Err(fail(
                SpawnErrorKind::NoCwd,
                format!("the working directory {}: {error}", show(&spec.cwd)),
            ));
        }
    }
    let stdin = match &spec.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::File(path) => std::fs::File::open(path)
            .map_err(|error| {
                fail(SpawnErrorKind::NoStdin, format!("standard input {}: {error}", show(path)))
            })?
            .into(),
    };
    let other =
        |error: io::Error| fail(SpawnErrorKind::Other, format!("cannot start {program}: {error}"));
    let (output, ends) = Output::open(log, capture).map_err(other)?;

    let (program_name, arguments) =
        spec.argv.split_first().ok_or_else(|| other(io::ErrorKind::InvalidInput.into()))?;
    let mut command = Command::new(program_name);
    command.args(arguments).current_dir(&spec.cwd);
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    command.envs(spec.env.iter().map(|(name, value)| (name, value))).env(TOKEN, token);
    command.stdin(stdin).stdout(ends.out).stderr(ends.err);
    let child = spawn::in_own_session(&mut command).map_err(|error| {
        let (kind, message) = match error.kind() {
            io::ErrorKind::NotFound => (
                SpawnErrorKind::NotFound,
                format!("{program}: no such program, or its interpreter is missing (127)"),
            ),
            io::ErrorKind::PermissionDenied => {
                (SpawnErrorKind::NotExecutable, format!("{program} is not executable (126)"))
            }
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => (
                SpawnErrorKind::NotExecutable,
                format!("{program} is not a program that this system can execute (126)"),
            ),
            _ => (SpawnErrorKind::Other, format!("cannot start {program}: {error}")),
        };
        fail(kind, message)
    })?;
    // `command` is dropped here, and with it this process's copies of the writing ends.
    Ok((child.id().cast_signed(), output))
}

fn show(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}
