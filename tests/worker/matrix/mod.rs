//! The heavier suite: real agents against a scripted model, each in each way that a turn can go. Its
//! table says what each cell must be told as, and what the engine must do about it: that is asked of the
//! engine's own policy, with what really came of the cell.
//!
//! Run with `SOP_TEST_AGENTS=FOLDER cargo test -- worker::matrix`, where the agents' programs are in
//! `FOLDER` (`tests/agents/install.sh` puts them there) or on the search path; without it, every test
//! here is passed over, and says so. codex has its own tests, which CI runs.

mod agents;

use std::time::{Duration, Instant};

use sop::launch::EndedBy;
use sop::model::turn::FaultClass;

use crate::support::driven::{Done, Driven, Running};
use crate::support::model_server::{CONTENT, ModelServer, Scenario};
use crate::support::policy::{Action, BACKS_OFF, GIVES_WAY, LOOKS, SPENDS, action, outcome};
use crate::support::scratch::{agents_folder, skipped};
use agents::{Agent, CLAUDE, CLAUDE_ACP, CODEX_ACP, GEMINI, GEMINI_ACP, OPENCODE, OPENCODE_ACP};

/// Some agents try again for a minute and a half by themselves, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(420);

/// What a cell must come to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Must {
    /// The file is written and the turn answered.
    Work,
    /// The turn ends by itself with this fault.
    Fail(FaultClass, Action),
    /// It goes on until a limit ends it, after so many calls of the model, and is told as this.
    End(usize, FaultClass, Action),
}

use FaultClass::{Credit, EmptyTurn, Interrupted, Provider, RateLimit};
use Must::{End, Fail, Work};

/// The columns.
const SCENARIOS: [Scenario; 7] = [
    Scenario::Edit,
    Scenario::Empty,
    Scenario::Status(402),
    Scenario::Limited,
    Scenario::Status(500),
    Scenario::Hang,
    Scenario::Cut,
];

/// What several cells share: an empty turn, an account that is empty, a limit, a provider that fails, an
/// agent that hangs until it is ended for its silence, and one that was still trying a provider then.
const NOTHING: Must = Fail(EmptyTurn, BACKS_OFF);
const UNPAID: Must = Fail(Credit, GIVES_WAY);
const LIMITED: Must = Fail(RateLimit, BACKS_OFF);
const BROKEN: Must = Fail(Provider, BACKS_OFF);
const HANGS: Must = End(1, Interrupted, SPENDS);
const TRIES: Must = End(2, Provider, BACKS_OFF);

/// The table: agents by scenarios. What works is looked at ([`LOOKS`]).
#[rustfmt::skip]
const TABLE: [(Agent, [Must; 7]); 7] = [
    //             edit  empty    402     429,429  500     hang   cut
    (CLAUDE,       [Work, NOTHING, UNPAID, Work,    BROKEN, HANGS, Work]),
    (GEMINI,       [Work, NOTHING, UNPAID, Work,    TRIES,  HANGS, Work]),
    (OPENCODE,     [Work, NOTHING, UNPAID, Work,    BROKEN, HANGS, BROKEN]),
    (CLAUDE_ACP,   [Work, NOTHING, UNPAID, Work,    BROKEN, HANGS, Work]),
    (GEMINI_ACP,   [Work, NOTHING, UNPAID, Work,    TRIES,  HANGS, Work]),
    (OPENCODE_ACP, [Work, NOTHING, UNPAID, Work,    BROKEN, HANGS, BROKEN]),
    // Its codex is an older one, which does not try a refusal of that kind again.
    (CODEX_ACP,    [Work, NOTHING, UNPAID, LIMITED, BROKEN, HANGS, BROKEN]),
];

#[test]
fn claude() {
    row(0);
}

#[test]
fn gemini() {
    row(1);
}

#[test]
fn opencode() {
    row(2);
}

#[test]
fn claude_over_acp() {
    row(3);
}

#[test]
fn gemini_over_acp() {
    row(4);
}

#[test]
fn opencode_over_acp() {
    row(5);
}

#[test]
fn codex_over_acp() {
    row(6);
}

/// Runs all cells of a row, and says of each that is not as it must be what it was.
fn row(number: usize) {
    let Some(folder) = agents_folder() else {
        // Under CI too: it takes ten minutes, and CI has three agents of these.
        return skipped("SOP_TEST_AGENTS names no folder of agents (tests/agents/install.sh)");
    };
    let (agent, musts) = &TABLE[number];
    let only = std::env::var("SOP_TEST_SCENARIO").ok();
    let mut wrong = Vec::new();
    for (scenario, must) in SCENARIOS.iter().zip(musts) {
        if only.as_ref().is_some_and(|only| *only != format!("{scenario:?}")) {
            continue;
        }
        if let Err(why) = cell(agent, &folder, *scenario, *must) {
            wrong.push(format!("{}, {scenario:?}: must be {must:?}, and {why}", agent.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn cell(agent: &Agent, folder: &str, scenario: Scenario, must: Must) -> Result<(), String> {
    let server = ModelServer::start();
    let driven = agent.driven(&server.url(scenario), folder);
    let tree = driven.path("tree").canonicalize().expect("a folder");
    driven.prompt(&format!("Write the file. TARGET={}\n", tree.join("new.txt").display()));
    let running = driven.start();
    let done = match must {
        End(calls, ..) => {
            let called = || server.calls(scenario).len() >= calls;
            let running = wait(running, called)?;
            running.term();
            end(running)?
        }
        Work | Fail(..) => end(running)?,
    };
    judge(&driven, &done, scenario, must).map_err(|why| format!("{why}: {done:?}"))
}

fn judge(driven: &Driven, done: &Done, scenario: Scenario, must: Must) -> Result<(), String> {
    let Some(turn) = &done.turn else {
        return Err("it left no turn".to_owned());
    };
    let class = turn.fault.as_ref().map(|fault| fault.class);
    let written = driven.read("tree/new.txt") == CONTENT;
    let (wanted, must_do, ended_by) = match must {
        Work => (None, LOOKS, EndedBy::Itself),
        Fail(class, action) => (Some(class), action, EndedBy::Itself),
        End(_, class, action) => (Some(class), action, EndedBy::Idle),
    };
    if class != wanted {
        return Err(format!("it was told as {class:?}"));
    }
    let does = action(&outcome(done.code, ended_by), Some(turn));
    if does != must_do {
        return Err(format!("the engine does {does:?}"));
    }
    if must == Work && !(written && turn.answered && turn.session.is_some() && turn.turns > 0) {
        return Err(format!("of the work there is too little (written: {written})"));
    }
    // Of an answer that was cut some tell none.
    if scenario == Scenario::Edit && turn.usage.total() == 0 {
        return Err("no tokens were told".to_owned());
    }
    Ok(())
}

/// Waits for something, with the agent still at work.
fn wait(mut running: Running<'_>, so: impl Fn() -> bool) -> Result<Running<'_>, String> {
    let began = Instant::now();
    while !so() {
        if running.child.try_wait().expect("a child").is_some() {
            return Err(format!("it was gone too soon: {:?}", running.finish()));
        }
        if began.elapsed() > PATIENCE {
            return Err("it never called the model as often as that".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(running)
}

fn end(mut running: Running<'_>) -> Result<Done, String> {
    let began = Instant::now();
    while running.child.try_wait().expect("a child").is_none() {
        if began.elapsed() > PATIENCE {
            return Err("it did not end".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(running.finish())
}
