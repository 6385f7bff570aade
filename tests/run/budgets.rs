//! Budgets that several sessions use side by side: none of them passes a limit alone.

use rustix::process::Signal;
use sop::event::Event;
use sop::ledger::Phase;
use sop::model::turn::Spent;

use crate::support::rig::{Rig, until};
use crate::support::written::{worker, wp};

/// Speaks as claude does, which tells what it uses while it works: 30 tokens a call. The script can say
/// `calls FROM TO` and `ends`.
const SPEECH: &str = r#"
echo '{"type":"system","subtype":"init","session_id":"s-'$$'","model":"m"}'
calls() {
    for n in $(seq $1 $2); do
        echo '{"type":"assistant","message":{"id":"m'$n'","model":"m","content":[],"usage":{"input_tokens":20,"output_tokens":10}}}'
    done
}
ends() {
    echo '{"type":"result","subtype":"success","is_error":false,"result":"'"$1"'","session_id":"s-'$$'","num_turns":1,"usage":{"input_tokens":'$(($2 - 10))',"output_tokens":10}}'
}
"#;

/// Three calls, and then it thinks for ever.
const THINKS: &str = "calls 1 3; echo $SOP_WP >> $MARKS/thinks; sleep 600 & wait";

fn plan(head: &str, rest: &str) -> String {
    format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n{head}\n\
         [tiers.standard]\nworker = \"pretender\"\n\
         [workers.pretender]\nagent = \"claude\"\nprogram = [\"sh\", \"worker.sh\"]\n{rest}\n"
    )
}

fn rig(head: &str, rest: &str, script: &str) -> Rig {
    Rig::new(&plan(head, rest), &[("worker.sh", &worker(&format!("{SPEECH}{script}")))])
}

/// The limit that each session was ended at, if any, and the tokens that it had used.
fn sessions(rig: &Rig) -> Vec<(Option<Spent>, u64)> {
    let turn = |record: sop::event::Record| match record.event {
        Event::AttemptEnded { turn: Some(turn), .. }
        | Event::ReviewerEnded { turn: Some(turn), .. } => {
            Some((turn.stopped_at, turn.usage.total()))
        }
        _ => None,
    };
    rig.records().into_iter().filter_map(turn).collect()
}

#[test]
fn sessions_that_pass_the_runs_budget_together_are_ended_together() {
    let rig = rig("budget_tokens = 120", &(wp("a", "") + &wp("b", "")), THINKS);
    let said = rig.apply(3);
    let ended = (Some(Spent::RunTokens { most: 120 }), 90);
    assert_eq!(sessions(&rig), [ended, ended], "{}", said.out);
    for wp in ["a", "b"] {
        assert_eq!((rig.wp(wp).phase, rig.wp(wp).attempt), (Phase::Escalated, 1));
        let first = &rig.wp(wp).rounds[0].problems[0].message;
        assert!(first.contains("ended at the run's budget of 120 tokens"), "{first}");
    }
    assert!(said.out.contains("the run has used up its budget of 120 tokens"), "{}", said.out);
    rig.until_quiet();
}

#[test]
fn so_they_are_by_the_next_engine_when_theirs_died() {
    let rig = rig("budget_tokens = 120", &(wp("a", "") + &wp("b", "")), THINKS);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("thinks", 2);
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
    rig.sop_ends(3, &["resume"]);
    let ended = (Some(Spent::RunTokens { most: 120 }), 90);
    assert_eq!(sessions(&rig), [ended, ended]);
    assert_eq!(rig.lines("starts").len(), 2, "neither was started again");
    rig.until_quiet();
}

#[test]
fn what_a_session_used_counts_once_when_it_ends() {
    // Long enough at work for its tally to be seen; the next one begins the moment that it ends.
    let script = "case $SOP_WP in
        a) calls 1 3; sleep 4; calls 4 4; done_well; ends done 120 ;;
        b) calls 1 1; done_well; ends done 30 ;;
    esac";
    let rig = rig("budget_tokens = 160\nmax_parallel = 1", &(wp("a", "") + &wp("b", "")), script);
    rig.apply(0);
    assert_eq!(sessions(&rig), [(None, 120), (None, 30)]);
}

#[test]
fn money_is_summed_where_it_is_told() {
    // A command tells what it likes while it works, and nobody drives it: the agent beside it is ended.
    let rest =
        "[tiers.other]\nworker = \"other\"\n[workers.other]\ncommand = [\"sh\", \"other.sh\"]\n"
            .to_owned()
            + &wp("a", "")
            + &wp("b", "tier = \"other\"");
    let text = plan("tier = \"standard\"\nbudget_usd = 1.0", &rest);
    let other = "echo '{\"cost_usd\":1.5}' > $SOP_TURN.new; mv $SOP_TURN.new $SOP_TURN\n\
                 until [ -e $MARKS/go ]; do sleep 0.05; done; echo good > b.txt";
    let thinks = worker(&format!("{SPEECH}{THINKS}"));
    let rig = Rig::new(&text, &[("worker.sh", &thinks), ("other.sh", other)]);
    let engine = rig.start(&["apply", "--yes"]);
    let over = |event: &Event| matches!(event, Event::BudgetSpent { .. });
    rig.until_lines("thinks", 1);
    until(|| (rig.count(over) == 1).then_some(()).ok_or_else(|| rig.engine_said()));
    assert_eq!(rig.wp("a").phase, Phase::Escalated);
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 3, "{}", rig.engine_said());
    assert_eq!(rig.wp("b").phase, Phase::Passed, "what is done is done");
}

#[test]
fn reviewers_that_pass_a_packages_budget_together_are_ended_together() {
    let rest = "[tiers.hand]\nworker = \"hand\"\n[workers.hand]\ncommand = [\"sh\", \"hand.sh\"]\n\
                [review]\ntier = \"standard\"\nlenses = [\"quality\", \"tests\"]\n"
        .to_owned()
        + &wp("a", "tier = \"hand\"\nbudget_tokens = 120")
        + &wp("b", "tier = \"hand\"\nreview = \"none\"");
    let thinks = worker(&format!("{SPEECH}{THINKS}"));
    let hand = "echo good > $SOP_WP.txt";
    let rig = Rig::new(&plan("", &rest), &[("worker.sh", &thinks), ("hand.sh", hand)]);
    let said = rig.apply(3);
    let ended = (Some(Spent::Tokens { most: 120 }), 90);
    assert_eq!(sessions(&rig), [ended, ended], "{}", said.out);
    assert_eq!((rig.wp("a").phase, rig.wp("a").was), (Phase::Escalated, Some(Phase::Reviewing)));
    assert_eq!(rig.wp("b").phase, Phase::Passed, "it is not its budget");
    rig.until_quiet();
}
