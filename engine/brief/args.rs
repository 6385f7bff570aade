//! Command lines of workers and reviewers: each argument is a template of its own and stays one
//! argument, whatever its value is.
//!
//! Variables: `wp`, `plan`, `tier` as in briefs, `run.id`, `base`, `round`, `attempt`, `brief_file`,
//! `report_file`, and for reviewers `verdict_file`.

use std::ops::Range;
use std::path::Path;

use minijinja::{Environment, Value, context};

use crate::model::ids::{CommitId, RunId, TierId};
use crate::model::plan::{Plan, Wp};

use super::context::{plan, tier, vars, wp};
use super::{RenderError, engine, sample};

/// One attempt at one WP.
#[derive(Debug, Clone, Copy)]
pub struct ArgContext<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// One of its WPs.
    pub wp: &'a Wp,
    /// The tier of this attempt.
    pub tier: &'a TierId,
    /// The run.
    pub run: &'a RunId,
    /// The commit that the worktree starts from.
    pub base: &'a CommitId,
    /// The round, from 1.
    pub round: u32,
    /// The attempt within the run, from 1: a round may take several.
    pub attempt: u32,
    /// Absolute path of the brief.
    pub brief_file: &'a str,
    /// Absolute path where the report goes.
    pub report_file: &'a str,
    /// Absolute path where a reviewer's verdict goes.
    pub verdict_file: Option<&'a str>,
}

/// What is wrong with one argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("argument {index} of the command: {message}")]
pub struct ArgError {
    /// Which argument; the program itself is 0.
    pub index: usize,
    /// Byte range in the argument's text.
    pub span: Option<Range<usize>>,
    /// What is wrong, and what to do.
    pub message: String,
    /// What was probably meant, in place of `span`.
    pub suggestion: Option<String>,
}

/// The command line for one attempt.
///
/// # Errors
/// The first argument that asks for what is not there, holds a NUL, or would be read by a shell.
pub fn render(args: &[String], context: &ArgContext<'_>) -> Result<Vec<String>, ArgError> {
    let env = engine::environment();
    let value = value(context, vars(&context.wp.vars));
    let one = |(index, arg): (usize, &String)| render_one(&env, args, index, arg, &value);
    args.iter().enumerate().map(one).collect()
}

/// Everything that is wrong with a command line, whichever WP it is for.
#[must_use]
pub fn check(args: &[String]) -> Vec<ArgError> {
    let env = engine::environment();
    let (plan, run) = (sample::full(), sample::run());
    let context = ArgContext {
        plan: &plan,
        wp: &plan.wps[0],
        tier: &plan.wps[0].tier,
        run: &run.id,
        base: &run.base,
        round: 1,
        attempt: 1,
        brief_file: "/run/briefs/sample.md",
        report_file: "/run/reports/sample.md",
        verdict_file: Some("/run/verdicts/sample.json"),
    };
    let value = value(&context, sample::any_vars());
    let one = |(index, arg): (usize, &String)| render_one(&env, args, index, arg, &value).err();
    args.iter().enumerate().filter_map(one).collect()
}

fn value(context: &ArgContext<'_>, vars: Value) -> Value {
    context! {
        wp => wp(context.wp, vars),
        plan => plan(context.plan),
        tier => tier(context.plan, context.tier),
        run => context! { id => context.run.as_str() },
        base => context.base.as_str(),
        round => context.round,
        attempt => context.attempt,
        brief_file => context.brief_file,
        report_file => context.report_file,
        verdict_file => context.verdict_file,
    }
}

fn render_one(
    env: &Environment<'_>,
    args: &[String],
    index: usize,
    arg: &str,
    value: &Value,
) -> Result<String, ArgError> {
    let fail = |span, message: String| ArgError { index, span, message, suggestion: None };
    let template = env.template_from_named_str("argument", arg);
    let template = template.map_err(|e| failed(index, arg, value, &e))?;
    if is_shell_text(args, index)
        && let Some(name) = template.undeclared_variables(true).iter().find(|v| !is_plain(v))
    {
        return Err(fail(
            arg.find(name.as_str()).map(|at| at..at + name.len()),
            format!(
                "the shell would run whatever `{name}` holds; hand it over as an argument after the \
                 script, `\"{{{{ {name} }}}}\"`, and use `\"$1\"` in the script"
            ),
        ));
    }
    let rendered = template.render(value.clone()).map_err(|e| failed(index, arg, value, &e))?;
    match rendered.find('\0') {
        Some(_) => Err(fail(None, "its value holds a NUL, which no command can take".to_owned())),
        None => Ok(rendered),
    }
}

/// Whether this argument is a script that a shell reads: `sh -c SCRIPT`, behind `env` or not.
fn is_shell_text(args: &[String], index: usize) -> bool {
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];
    let Some((flag, before)) = args[..index].split_last() else {
        return false;
    };
    let is_shell = |arg: &String| {
        let program = Path::new(arg).file_name();
        program.is_some_and(|p| SHELLS.iter().any(|s| p == *s))
    };
    // `-c` may stand in a bundle: `-ec`.
    let takes_script = flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c');
    takes_script && before.iter().any(is_shell)
}

/// Values that are ids or numbers: no shell sees more in them than a word.
fn is_plain(variable: &str) -> bool {
    matches!(
        variable,
        "wp.id" | "wp.tier" | "run.id" | "base" | "plan.name" | "tier.name" | "round" | "attempt"
    )
}

fn failed(index: usize, arg: &str, value: &Value, error: &minijinja::Error) -> ArgError {
    let RenderError { span, message, .. } = engine::error(error, "argument", Some(arg));
    let suggestion = span.clone().and_then(|s| meant(value, &arg[s]));
    ArgError { index, span, message, suggestion }
}

/// What `path` was probably meant to be.
fn meant(value: &Value, path: &str) -> Option<String> {
    let (parent, name) = match path.rsplit_once('.') {
        Some((parent, name)) => (Some(parent), name),
        None => (None, path),
    };
    let mut here = value.clone();
    for part in parent.into_iter().flat_map(|p| p.split('.')) {
        here = here.get_attr(part).ok()?;
    }
    let names: Vec<String> = here.try_iter().ok()?.map(|k| k.to_string()).collect();
    let near = engine::near(name, names.iter().map(String::as_str))?;
    Some(parent.map_or_else(|| near.clone(), |p| format!("{p}.{near}")))
}
