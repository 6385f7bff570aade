//! A plan's own arguments next to an adapter's: who has the word on permissions.

use std::ffi::OsString;

use super::seam::Ask;

/// A flag, and whether a value follows it.
pub(super) type Flag = (&'static str, bool);

/// Whether one of these flags is among the arguments, as `--flag` or `--flag=value`.
pub(super) fn has(args: &[String], flags: &[Flag]) -> bool {
    args.iter().any(|arg| flags.iter().any(|(name, _)| is(arg, name)))
}

/// The plan's own arguments for this turn: one that only reads is not let out of that by a plan.
pub(super) fn own(ask: &Ask<'_>, permissions: &[Flag]) -> Vec<OsString> {
    let kept: Vec<&str> = match ask.read_only {
        true => without(ask.args, permissions),
        false => ask.args.iter().map(String::as_str).collect(),
    };
    kept.into_iter().map(OsString::from).collect()
}

/// The arguments without these flags and their values.
fn without<'a>(args: &'a [String], flags: &[Flag]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match flags.iter().find(|(name, _)| is(arg, name)) {
            Some((name, true)) if arg == name => {
                args.next();
            }
            Some(_) => {}
            None => kept.push(arg.as_str()),
        }
    }
    kept
}

fn is(arg: &str, name: &str) -> bool {
    arg.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}
