//! A worker of a plan that is a shell script, in two ways: as the plain command that it is, or as a
//! coding agent behind the driver, for which it speaks as codex does.
//!
//! The script can say `begin` (the session `s-1` is there), `says TEXT`, `over` (the turn is, and used
//! 12 tokens), `done_well`, and `leave` or
//! `leave_known`, which start what is hard to end. Each start is noted in the mark
//! `starts`, and its arguments in `args`.

use super::written::worker;

/// Which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Command,
    Agent,
}

const COMMAND: &str = r#"
begin() { :; }
says() { echo "$1"; }
over() { :; }
"#;

const AGENT: &str = r#"
begin() { echo '{"type":"thread.started","thread_id":"s-1"}'; }
says() { printf '{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}\n' "$1"; }
over() { echo '{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}'; }
"#;

/// A process in a session of its own, without its parent and the worker's files, that ignores every
/// friendly signal. Its id is in the mark `left`. The one that `leave` starts has cleared its environment
/// too; where a holder is killed, that is more than can be found.
const LEAVE: &str = r#"
echo "$*" >> "$MARKS/args"
daemon='trap "" TERM HUP INT; echo $$ >> "$0/left"; while :; do sleep 0.05; done'
leave() {
    (env -i PATH="$PATH" setsid sh -c "$daemon" "$MARKS" < /dev/null > /dev/null 2>&1 &)
    until [ -s "$MARKS/left" ]; do sleep 0.02; done
}
leave_known() {
    (setsid sh -c "$daemon" "$MARKS" < /dev/null > /dev/null 2>&1 &)
    until [ -s "$MARKS/left" ]; do sleep 0.02; done
}
"#;

impl Way {
    /// The script as a file of the repository, `worker.sh`.
    pub fn script(self, script: &str) -> String {
        let speech = if self == Self::Command { COMMAND } else { AGENT };
        worker(&format!("{speech}{LEAVE}{script}"))
    }

    /// A plan named `o` whose tier `standard` is this worker; `tier` and `head` hold further keys of
    /// that and of `[plan]`, `rest` whatever follows.
    pub fn plan(self, head: &str, tier: &str, rest: &str) -> String {
        let does = match self {
            Self::Command => "command = [\"sh\", \"worker.sh\"]",
            Self::Agent => "agent = \"codex\"\nprogram = [\"sh\", \"worker.sh\"]",
        };
        format!(
            "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n{head}\n\
             [tiers.standard]\nworker = \"script\"\n{tier}\n[workers.script]\n{does}\n{rest}\n"
        )
    }
}
