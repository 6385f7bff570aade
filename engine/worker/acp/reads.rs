//! Whether a command line only reads, for sessions that may do nothing else. What is not known to
//! read is taken to write: a refused look costs an agent a detour, an allowed change costs the review.

use serde_json::Value;

/// What could start another program, write somewhere, or hide what is run.
const FORBIDDEN: &[char] = &['`', '$', '(', ')', '{', '}', '<', '>', '&', '\\', '\r'];
/// Programs that read, whatever their arguments.
const READERS: &[&str] = &[
    "basename", "cat", "cmp", "cut", "diff", "dirname", "du", "echo", "egrep", "fgrep", "grep",
    "head", "ls", "nl", "pwd", "realpath", "stat", "tail", "test", "tr", "true", "wc", "which",
];
/// What git does without changing anything.
const GIT: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];
/// Arguments with which one of the above, or git, writes a file or starts a program.
/// (`--output`, `--open-files-in-pager`, `--ext-diff`, `--textconv`), as short as git understands them.
const WRITING: &[&str] = &["--ou", "--op", "-O", "--ext", "--textc"];

/// Whether a tool's input is a command that only reads.
#[must_use]
pub fn only_reads(input: &Value) -> bool {
    let command = ["command", "cmd"].iter().find_map(|key| input.get(key));
    match command {
        Some(Value::String(text)) => text_reads(text),
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words.as_deref() {
                Some([shell, "-c" | "-lc", text]) if is_shell(shell) => text_reads(text),
                Some(words) => words_read(words),
                None => false,
            }
        }
        _ => false,
    }
}

/// Whether a line of shell only reads.
#[must_use]
pub fn text_reads(text: &str) -> bool {
    let text = without(&without(text, "2>/dev/null"), "2>&1").replace("&&", ";");
    if text.contains(FORBIDDEN) {
        return false;
    }
    let mut parts = text.split([';', '|', '\n']).filter(|part| !part.trim().is_empty()).peekable();
    parts.peek().is_some()
        && parts.all(|part| match shlex::split(part) {
            Some(words) => words_read(&words.iter().map(String::as_str).collect::<Vec<_>>()),
            // A quote that is cut apart: `|` or `;` stood inside it.
            None => false,
        })
}

/// Without a redirection that writes nothing, where it stands as a word of its own: agents have the habit.
fn without(text: &str, redirection: &str) -> String {
    let mut parts = text.split(redirection);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let alone =
            part.chars().next().is_none_or(|next| next.is_whitespace() || ";|&".contains(next));
        kept.push_str(if alone { " " } else { redirection });
        kept.push_str(part);
    }
    kept
}

fn words_read(words: &[&str]) -> bool {
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    if args.iter().any(|arg| WRITING.iter().any(|word| arg.starts_with(word))) {
        return false;
    }
    match *program {
        // Into another folder of the same shell, which is gone afterwards.
        "cd" => true,
        "git" => {
            let args = args.strip_prefix(&["--no-pager"]).unwrap_or(args);
            args.first().is_some_and(|verb| GIT.contains(verb))
        }
        "rg" => {
            !args.iter().any(|arg| arg.starts_with("--pre") || arg.starts_with("--hostname-bin"))
        }
        "find" => args.iter().all(|arg| !arg.starts_with('-') || FIND.contains(arg)),
        "sed" => matches!(args, ["-n", script, files @ ..]
            if is_print(script) && files.iter().all(|file| !file.starts_with('-'))),
        program => READERS.contains(&program),
    }
}

/// What `find` may be asked without running or writing anything.
const FIND: &[&str] = &[
    "-maxdepth",
    "-mindepth",
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-type",
    "-not",
    "-o",
    "-or",
    "-a",
    "-and",
    "-size",
    "-newer",
    "-print",
    "-print0",
    "-prune",
    "-empty",
];

/// `12p`, `1,200p`, `5,$p` (a `$` never gets here).
fn is_print(script: &str) -> bool {
    script.strip_suffix('p').is_some_and(|lines| {
        !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    })
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash")
}
