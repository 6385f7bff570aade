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
fn reviewers_side_by_side_are_given_even_parts_and_are_ended_at_them() {
    let rest = "[tiers.hand]\nworker = \"hand\"\n[workers.hand]\ncommand = [\"sh\", \"hand.sh\"]\n\
                [review]\ntier = \"standard\"\nlenses = [\"quality\", \"tests\"]\n"
        .to_owned()
        + &wp("a", "tier = \"hand\"\nbudget_tokens = 120")
        + &wp("b", "tier = \"hand\"\nreview = \"none\"");
    let thinks = worker(&format!("{SPEECH}{THINKS}"));
    let hand = "echo good > $SOP_WP.txt";
    let rig = Rig::new(&plan("", &rest), &[("worker.sh", &thinks), ("hand.sh", hand)]);
    let said = rig.apply(3);
    let ended = (Some(Spent::Tokens { most: 60 }), 90);
    assert_eq!(sessions(&rig), [ended, ended], "{}", said.out);
    let told = "was ended at its budget of 60 tokens before it had answered, and the work package has too little left";
    let problem = &rig.wp("a").rounds[0].problems[0].message;
    assert!(problem.contains(told), "{problem}");
    assert_eq!((rig.wp("a").phase, rig.wp("a").was), (Phase::Escalated, Some(Phase::Reviewing)));
    assert_eq!(rig.wp("b").phase, Phase::Passed, "it is not its budget");
    rig.until_quiet();
}

/// A plan of one package that a hand makes; agents that speak as claude does review it, as `script` says.
fn reviewed(lenses: &str, more: &str, script: &str) -> Rig {
    let rest = format!(
        "[tiers.hand]\nworker = \"hand\"\n[workers.hand]\ncommand = [\"sh\", \"hand.sh\"]\n\
         [review]\ntier = \"standard\"\nlenses = {lenses}\n{}",
        wp("a", &format!("tier = \"hand\"\n{more}"))
    );
    let script = worker(&format!("{SPEECH}\necho $SOP_LENS \"$@\" >> $MARKS/began\n{script}"));
    Rig::new(&plan("", &rest), &[("worker.sh", &script), ("hand.sh", "echo good > a.txt")])
}

/// It answers with an approval, after one call.
const APPROVES: &str = "calls 1 1; ends '{\\\"verdict\\\": \\\"approve\\\"}' 30";

#[test]
fn what_one_reviewer_leaves_is_for_the_one_that_was_ended_at_its_part() {
    // 200 tokens each. One uses 30; the other 210, and goes on in its session with what is left.
    let script = format!(
        "[ $SOP_LENS = tests ] && [ ! -e $MARKS/again ] && {{ : > $MARKS/again; calls 1 7; sleep 600 & wait; }}\n{APPROVES}"
    );
    let rig = reviewed("[\"quality\", \"tests\"]", "budget_tokens = 400", &script);
    let said = rig.apply(0);
    let mut ended = sessions(&rig);
    ended.sort_by_key(|(_, used)| *used);
    assert_eq!(
        ended,
        [(None, 30), (None, 30), (Some(Spent::Tokens { most: 200 }), 210)],
        "{}",
        said.out
    );
    let began = rig.lines("began");
    assert_eq!(began.len(), 3, "{began:?}");
    assert!(began[2].starts_with("tests ") && began[2].contains("--resume"), "{began:?}");
    let given = |n: u32, lens: &str| {
        let order = rig.of_run(&format!("verdicts/a-1.{lens}-{n}/drive.json"));
        serde_json::from_str::<serde_json::Value>(&order).expect("an order")["tokens"].as_u64()
    };
    assert_eq!(
        (given(1, "quality"), given(1, "tests"), given(2, "tests")),
        (Some(200), Some(200), Some(160))
    );
}

#[test]
fn reviewers_are_together_given_no_more_money_than_there_is() {
    let rig = reviewed("[\"quality\", \"security\", \"tests\"]", "budget_usd = 3.0", APPROVES);
    rig.apply(0);
    let began = rig.lines("began");
    let given = began.iter().map(|line| {
        let (_, most) = line.split_once("--max-budget-usd").expect("it is told");
        let most: String =
            most.trim_start_matches(['=', ' ']).chars().take_while(|c| *c != ' ').collect();
        most.parse::<f64>().expect("an amount")
    });
    assert_eq!(given.collect::<Vec<_>>(), [1.0, 1.0, 1.0], "{began:?}");
}

#[test]
fn a_lone_reviewer_that_ends_at_the_rest_of_a_budget_is_told_so() {
    // Its own account is a little less than what it was given, as claude's is.
    let ends = "echo '{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\",\"is_error\":true,\"total_cost_usd\":0.97,\"num_turns\":1}'; exit 1";
    for (more, head, whose) in [
        ("budget_usd = 1.0", "", "the work package has too little left"),
        ("", "budget_usd = 1.0", "the run has too little left"),
    ] {
        let rig = reviewed("[\"quality\"]", more, ends);
        let text = rig.plan_text().replace("base = \"main\"", &format!("base = \"main\"\n{head}"));
        rig.write("plan.toml", &text);
        rig.git(&["commit", "--quiet", "--allow-empty", "-am", "second"]);
        let said = rig.apply(3);
        let told = format!(
            "the reviewer (quality) was ended at its budget of $1.00 before it had answered, and {whose}"
        );
        assert_eq!(rig.lines("began").len(), 1, "{}", said.out);
        assert!(
            rig.wp("a").rounds[0].problems[0].message.contains(&told),
            "{:?}",
            rig.wp("a").rounds
        );
        assert!(said.out.contains("was ended at its budget of $1.00"), "{}", said.out);
        assert!(
            !said.out.contains("gave no verdict") && !said.out.contains("no verdict in"),
            "{}",
            said.out
        );
        let status = rig.sop_ends(0, &["status"]);
        assert!(status.out.contains("was ended at its budget of $1.00"), "{}", status.out);
    }
}

#[test]
fn a_reviewer_that_is_ended_at_its_turns_is_told_so() {
    let rig = reviewed("[\"quality\"]", "", "calls 1 4; sleep 600 & wait");
    let text = rig.plan_text().replace("[tiers.standard]", "[tiers.standard]\nmax_turns = 2");
    rig.write("plan.toml", &text);
    rig.git(&["commit", "--quiet", "-am", "second"]);
    let said = rig.apply(5);
    let told = "it was ended at its limit of 2 turns, before it had answered; see logs/";
    assert!(said.out.contains(told), "{}", said.out);
    assert!(!said.out.contains("no verdict"), "{}", said.out);
}
