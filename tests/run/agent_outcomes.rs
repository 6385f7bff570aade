//! DESIGN's outcome table, row by row, for a coding agent behind the driver: what it does, and all that
//! comes of it in a whole run.

use std::fmt::Write as _;

use sop::event::{Event, Record};
use sop::ledger::Phase::{self, Blocked, Escalated, Passed};
use sop::model::outcome::Class::{self, Decision, Work};
use sop::model::turn::FaultClass::{
    self, Auth, Crash, Credit, EmptyTurn, Interrupted, ModelUnknown, Provider, RateLimit,
};

use crate::support::rig::Rig;
use crate::support::written::{worker, wp};

/// Speaks as claude does. The script can say `calls N` (N calls of the model, 30 tokens each), `ends TEXT`,
/// `fails STATUS TEXT`, `works` (the work is done, and the turn ends) and `once` (this is the first start).
const SPEECH: &str = r#"
echo '{"type":"system","subtype":"init","session_id":"s-'$SOP_ATTEMPT'","model":"m"}'
calls() {
    for n in $(seq $1); do
        echo '{"type":"assistant","message":{"id":"m'$n'","model":"m","content":[],"usage":{"input_tokens":20,"output_tokens":10}}}'
    done
}
ends() {
    echo '{"type":"result","subtype":"success","is_error":false,"result":"'"$1"'","num_turns":1,"usage":{"input_tokens":20,"output_tokens":10}}'
}
fails() {
    echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":'$1',"result":"'"$2"'"}'
    exit 1
}
works() { calls 1; done_well; ends Done.; }
once() { [ $SOP_ATTEMPT = 1 ]; }
thinks() { sleep 600 & wait; }
[ $SOP_TIER = other ] && { works; exit; }
"#;

/// What the plan has besides, what the agent does on the tier `standard`, and what must come of it.
struct Row {
    name: &'static str,
    /// Keys of the tier `standard`, and of the package.
    keys: [&'static str; 2],
    script: &'static str,
    /// How each start was spoilt.
    faults: &'static [FaultClass],
    /// The tier of each start.
    starts: &'static [&'static str],
    /// How each round that was spent ended.
    rounds: &'static [Option<Class>],
    phase: Phase,
    exit: i32,
    /// What people read.
    says: &'static str,
}

const FALLBACK: &str = "fallback = [\"other\"]";
const TWO: &[&str] = &["standard", "standard"];
const OVER: &[&str] = &["standard", "other"];
const ONE_ROUND: &[Option<Class>] = &[None];
const NEXT_ROUND: &[Option<Class>] = &[Some(Work), None];

/// A row that ends well.
const fn row(name: &'static str, script: &'static str, says: &'static str) -> Row {
    Row {
        name,
        keys: ["", ""],
        script,
        faults: &[],
        starts: TWO,
        rounds: ONE_ROUND,
        phase: Passed,
        exit: 0,
        says,
    }
}

const TABLE: &[Row] = &[
    Row {
        keys: [FALLBACK, ""],
        faults: &[Credit],
        starts: OVER,
        ..row("credit", "fails 402 'No money.'", "No money. (credit)")
    },
    Row {
        faults: &[RateLimit],
        ..row(
            "a rate limit that is soon over",
            "once && fails 429 'Try again in 2s.'\nworks",
            "Try again in 2s. (rate_limit)",
        )
    },
    Row {
        keys: [FALLBACK, ""],
        faults: &[RateLimit],
        starts: OVER,
        ..row("a rate limit of an hour", "fails 429 'Try again in 1h.'", "1h. (rate_limit)")
    },
    Row {
        keys: [FALLBACK, ""],
        faults: &[Auth],
        starts: OVER,
        ..row("auth", "fails 401 'Bad key.'", "Bad key. (auth)")
    },
    Row {
        faults: &[Auth],
        starts: &["standard"],
        rounds: &[],
        phase: Blocked,
        exit: 5,
        ..row("auth, and no other tier", "fails 401 'Bad key.'", "Bad key. (auth)")
    },
    Row {
        keys: [FALLBACK, ""],
        faults: &[ModelUnknown],
        starts: OVER,
        ..row("a model that is unknown", "fails 404 'No model m.'", "No model m. (model_unknown)")
    },
    Row {
        keys: [FALLBACK, ""],
        faults: &[Provider, Provider, Provider],
        starts: &["standard", "standard", "standard", "other"],
        ..row("a provider that fails", "fails 500 'It broke.'", "It broke. (provider)")
    },
    Row {
        faults: &[EmptyTurn],
        ..row("an empty turn", "once && { ends; exit; }\nworks", "(empty_turn)")
    },
    Row {
        faults: &[Crash],
        ..row("a crash", "once && { echo 'x is undefined' >&2; exit 7; }\nworks", "(crash)")
    },
    Row {
        faults: &[Crash, Crash, Crash],
        starts: &["standard", "standard", "standard"],
        rounds: &[],
        phase: Blocked,
        exit: 5,
        ..row("crashes, and no other tier", "exit 7", "(crash)")
    },
    Row {
        faults: &[Interrupted],
        ..row("a signal", "once && { kill -TERM $$; thinks; }\nworks", "(interrupted)")
    },
    Row { starts: &["standard"], ..row("exit 1 with the work done", "works; exit 1", "passed") },
    Row {
        rounds: NEXT_ROUND,
        ..row("done without a diff", "once && { ends Done.; exit; }\nworks", "changed nothing")
    },
    Row {
        keys: ["timeout = \"2s\"\nescalate_to = \"other\"", ""],
        starts: OVER,
        rounds: NEXT_ROUND,
        ..row("wall clock", "thinks", "timeout of 2s")
    },
    Row {
        keys: ["max_turns = 2", ""],
        rounds: NEXT_ROUND,
        ..row("max_turns", "once && { calls 3; thinks; }\nworks", "2 turns")
    },
    Row {
        keys: ["", "budget_tokens = 60"],
        starts: &["standard"],
        rounds: &[Some(Work), Some(Decision)],
        phase: Escalated,
        exit: 3,
        ..row("a budget of tokens", "calls 3; thinks", "its budget of 60 tokens")
    },
];

#[test]
fn each_row_of_the_table_of_outcomes_for_an_agent() {
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let rows: Vec<_> = TABLE.iter().map(|row| scope.spawn(|| look(row))).collect();
        rows.into_iter().filter_map(|row| row.join().expect("it ends")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a row. Gives what is wrong with it.
fn look(row: &Row) -> Option<String> {
    let [tier, more] = row.keys;
    let plan = format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\ntier = \"standard\"\n\
         [tiers.standard]\nworker = \"first\"\n{tier}\n[tiers.other]\nworker = \"second\"\n\
         [workers.first]\nagent = \"claude\"\nprogram = [\"sh\", \"worker.sh\"]\n\
         [workers.second]\nagent = \"claude\"\nprogram = [\"sh\", \"worker.sh\"]\n{}\n",
        wp("a", more)
    );
    let script = worker(&format!("{SPEECH}{}", row.script));
    let rig = Rig::new(&plan, &[("worker.sh", &script)]);
    let said = rig.sop(&["apply", "--yes"]);
    let (mut starts, mut faults) = (Vec::new(), Vec::new());
    let records = rig.records();
    for Record { event, .. } in &records {
        match event {
            Event::AttemptStarted { tier, .. } => starts.push(tier.as_str()),
            Event::AttemptEnded { fault, .. } => faults.extend(fault.as_ref().map(|it| it.class)),
            _ => {}
        }
    }
    let a = rig.wp("a");
    let rounds: Vec<_> = a.rounds.iter().map(|round| round.class).collect();
    let mut wrong = String::new();
    let mut same = |what: &str, is: String, must: String| {
        if is != must {
            let _ = writeln!(wrong, "  {what}: {is}, and must be {must}");
        }
    };
    same("faults", format!("{faults:?}"), format!("{:?}", row.faults));
    same("starts", format!("{starts:?}"), format!("{:?}", row.starts));
    same("rounds", format!("{rounds:?}"), format!("{:?}", row.rounds));
    same("phase", format!("{:?}", a.phase), format!("{:?}", row.phase));
    same("exit", said.code.to_string(), row.exit.to_string());
    let problems = a.rounds.iter().flat_map(|round| &round.problems);
    let told = problems.fold(said.out.clone(), |told, problem| told + "\n" + &problem.message);
    same("said", told.contains(row.says).to_string(), "true".to_owned());
    same("early", early(&records), String::new());
    rig.until_quiet();
    (!wrong.is_empty()).then(|| format!("{}:\n{wrong}{told}\n{}", row.name, said.err))
}

/// Starts that came before the provider said that it could be tried again, on the same tier.
fn early(records: &[Record]) -> String {
    let (mut tier, mut resets, mut found) = (None, None, String::new());
    for record in records {
        match &record.event {
            Event::AttemptStarted { tier: now, .. } => {
                if tier.as_ref() == Some(now) && resets.is_some_and(|at| record.at < at) {
                    let _ = write!(found, "{now} at {:?}", record.at);
                }
                tier = Some(now.clone());
            }
            Event::AttemptEnded { fault: Some(fault), .. } => resets = fault.resets_at,
            _ => {}
        }
    }
    found
}
