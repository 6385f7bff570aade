//! Workers that are coding agents, and what the plan says about their limits.

use super::{found, good_but, only, reading};
use sop::model::ids::{TierId, WorkerId};
use sop::model::plan::{Adapter, Autonomy, Budget, Continue, Does, Plan, Tier, Worker};
use sop::model::time::Length;
use sop::model::turn::Usd;

#[track_caller]
fn plan(text: &str) -> Plan {
    let (source, read) = reading(text);
    read.plan.unwrap_or_else(|| panic!("{:#?}", super::lines(&source, &read.findings)))
}

fn tier<'p>(plan: &'p Plan, name: &str) -> &'p Tier {
    &plan.tiers[&TierId::new(name).unwrap()]
}

fn worker(plan: &Plan, name: &str) -> Option<Worker> {
    plan.workers.get(&WorkerId::new(name).unwrap()).cloned()
}

const WORKER: &str = "command = [\"scripts/codemod.sh\", \"{{ wp.id }}\"]";

#[test]
fn a_built_in_worker_needs_no_table_and_a_table_takes_its_place() {
    let plan = plan(&good_but("worker = \"codemod\"", "worker = \"gemini-acp\""));
    let built_in = worker(&plan, "gemini-acp").expect("it is there");
    assert_eq!(Some(&built_in), Worker::built_in("gemini-acp").as_ref());
    assert_eq!(built_in.argv(), ["gemini", "--acp"]);
    assert_eq!(worker(&plan, "codex"), None, "what no tier names is left out");

    let own = good_but("worker = \"codemod\"", "worker = \"codex\"")
        .replace("workers.codemod", "workers.codex")
        .replace(
            WORKER,
            "agent = \"codex\"\nprogram = [\"npx\", \"codex\"]\nargs = [\"-c\", \"{{ x }}\"]",
        );
    let own = worker(&self::plan(&own), "codex").expect("it is there");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let does = Does::Agent {
        agent: Adapter::Codex,
        program: words(&["npx", "codex"]),
        args: words(&["-c", "{{ x }}"]),
    };
    assert_eq!(own.does, does);
}

#[test]
fn a_worker_is_a_command_or_an_agent() {
    for (table, wanted) in [
        (
            "env = {}",
            "5:1 unclear-worker: it is not said what worker `codemod` is at <[workers.codemod]>; add `command`, the program and its \
             arguments, or `agent`, one of \"codex\", \"claude\", \"gemini\", \"opencode\", \"aider\" and \"acp\"",
        ),
        (
            "command = [\"x\"]\nagent = \"codex\"",
            "7:1 unclear-worker: worker `codemod` is both a command and an agent at <agent>, the command 6:11; leave out `command` \
             or `agent`",
        ),
        (
            "agent = \"claude\"\nbrief = \"file\"",
            "7:1 misplaced-key: `brief` is for a worker with `command` at <brief>; an adapter hands the brief over in the agent's own \
             way: leave it out",
        ),
        (
            "command = [\"x\"]\nprogram = [\"y\"]",
            "7:1 misplaced-key: `program` is for a worker with `agent` at <program>; put it into `command`",
        ),
        (
            "command = [\"x\"]\nargs = [\"y\"]",
            "7:1 misplaced-key: `args` is for a worker with `agent` at <args>; put it into `command`",
        ),
        (
            "agent = \"acp\"",
            "6:9 no-program: `acp` is a protocol that many agents speak: it is not said which program at <\"acp\">; add `program`, for \
             example `program = [\"gemini\", \"--acp\"]`",
        ),
        (
            "agent = \"codx\"",
            "6:9 unknown-value: `agent` must be `codex`, `claude`, `gemini`, `opencode`, `aider` or `acp`, not `codx` at <\"codx\">; did \
             you mean `codex`?",
        ),
        (
            "agent = \"codex\"\nprogram = [\"\"]",
            "7:12 empty-command: the name of the program is blank at <\"\">; the first entry is the program, the others are its \
             arguments",
        ),
        (
            "agent = \"codex\"\nargs = [\"a\", \"b\\u0000\"]",
            "7:14 nul: `b\\u{0}` holds a NUL character, which no command line can at <\"b\\u0000\">",
        ),
    ] {
        assert_eq!(only(&good_but(WORKER, table)), wanted);
    }
}

#[test]
fn limits_are_as_said_or_as_ever() {
    let plain = plan(&good_but("worker = \"codemod\"", "worker = \"codemod\""));
    assert_eq!(
        (plain.autonomy, plain.decide_within, plain.budget),
        (Autonomy::Ask, None, Budget::default())
    );
    let light = tier(&plain, "light");
    assert_eq!(
        (light.grace, light.max_turns, light.continues),
        (Length::secs(10), None, Continue::Session)
    );
    assert_eq!(plain.wps[0].budget, Budget::default());

    let said = good_but(
        "worker = \"codemod\"",
        "worker = \"codemod\"\ngrace = \"30s\"\nmax_turns = 60\ncontinue = \"fresh\"",
    )
    .replace(
        "goal =",
        "autonomy = \"defaults\"\nbudget_usd = 20\nbudget_tokens = 5_000_000\ngoal =",
    ) + "budget_usd = 0.25\nbudget_tokens = 7\n";
    let said = plan(&said);
    let budget = |dollars, tokens| Budget { usd: Some(Usd::from(dollars)), tokens: Some(tokens) };
    assert_eq!((said.budget, said.wps[0].budget), (budget(20.0, 5_000_000), budget(0.25, 7)));
    assert_eq!((said.autonomy, said.decide_within), (Autonomy::Defaults, Some(Length::secs(1800))));
    let light = tier(&said, "light");
    assert_eq!(
        (light.grace, light.max_turns, light.continues),
        (Length::secs(30), Some(60), Continue::Fresh)
    );
}

#[test]
fn amounts_that_are_none() {
    for (key, wanted) in [
        (
            "budget_usd = 0",
            "4:14 out-of-range: `budget_usd` must be from 0.01 to 1000000.0, not 0 at <0>",
        ),
        (
            "budget_usd = \"20\"",
            "4:14 wrong-type: `budget_usd` must be a number, not a string at <\"20\">; leave out the quotes: `20`",
        ),
        (
            "budget_tokens = 0",
            "4:17 out-of-range: `budget_tokens` must be from 1 to 1000000000000, not 0 at <0>",
        ),
        (
            "decide_within = \"5m\"",
            "4:1 (warning) idle-key: `decide_within` does nothing here: a person is asked, and waited for at <decide_within>; leave \
             it out, or add `autonomy = \"defaults\"`",
        ),
    ] {
        assert_eq!(found(&good_but("goal =", &format!("{key}\ngoal ="))), [wanted]);
    }
}
