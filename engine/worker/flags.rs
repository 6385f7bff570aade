//! A plan's own arguments next to an adapter's: who has the word on permissions.

/// A flag, and whether a value follows it.
pub(super) type Flag = (&'static str, bool);

/// Whether one of these flags is among the arguments, as `--flag` or `--flag=value`.
pub(super) fn has(args: &[String], flags: &[Flag]) -> bool {
    args.iter().any(|arg| flags.iter().any(|(name, _)| is(arg, name)))
}

/// The arguments without these flags and their values.
pub(super) fn without<'a>(args: &'a [String], flags: &[Flag]) -> Vec<&'a str> {
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
