//! Workers that ask: the package waits, the others go on, and the answer comes with the next brief.

use sop::event::Event;
use sop::ledger::Phase;
use sop::model::outcome::{Check, Class};
use sop::model::question::{MOST_QUESTIONS, Question};
use sop::run::asking::{self, PutError};

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

const SOP: &str = env!("CARGO_BIN_EXE_sop");

/// Ends its first attempt, of `a` alone, with `ask`; every other one keeps its brief in a mark and works.
fn asking(ask: &str) -> String {
    worker(&format!(
        "if [ $SOP_WP/$SOP_ATTEMPT = a/1 ]; then\n\
         cp \"$SOP_BRIEF\" \"$MARKS/brief-1\"\necho partial > a.txt\n{ask}\nexit 0\nfi\n\
         cp \"$SOP_BRIEF\" \"$MARKS/brief-$SOP_WP-$SOP_ATTEMPT\"\n\
         [ $SOP_WP = a ] && cp a.txt \"$MARKS/found\"\ndone_well"
    ))
}

/// A report that ends with a question.
const BLOCK: &str = "printf 'Began.\\n\\n```question\\nKeep the old endpoint?\\nA: yes. B: no.\\n\
                     default: A\\n```\\n\\n' > \"$SOP_REPORT\"";

fn text_of(rig: &Rig, mark: &str) -> String {
    std::fs::read_to_string(rig.mark(mark)).unwrap_or_default()
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The worker of `a` asks in this way, `b` goes on; a person answers; `a` is called again, with the
/// answer and with its work, in the same round.
fn asks_and_goes_on(ask: &str) -> Rig {
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &asking(ask))]);
    let said = rig.apply(4);
    assert!(said.out.contains("q1 Keep the old endpoint?"), "{}", said.out);
    assert!(said.out.contains("sop answer q1 'TEXT' --run o-1"), "{}", said.out);
    assert_eq!(rig.wp("b").phase, Phase::Passed, "the others go on");
    let a = rig.wp("a");
    assert_eq!((a.phase, a.forks.len()), (Phase::AwaitingAnswer, 1));
    // Nothing happens by itself.
    rig.sop_ends(4, &["resume"]);
    rig.sop_ends(4, &["wait", "a"]);
    rig.sop_ends(0, &["wait", "a", "--until", "awaiting-answer"]);

    let inbox = rig.sop_ends(0, &["inbox"]).out;
    assert!(inbox.contains("q1 o-1 a asks") && inbox.contains("default: A"), "{inbox}");
    assert!(inbox.contains("sop answer q1 --take-default --run o-1"), "{inbox}");
    let said = rig.sop_ends(0, &["answer", "q1", "B, and say so in the changelog"]);
    assert!(said.out.contains("sop resume o-1"), "{}", said.out);
    let inbox = json(&rig.sop_ends(0, &["inbox", "--json"]).out);
    assert_eq!(inbox[0]["kind"], "resume", "it is answered, and nobody has gone on: {inbox}");
    let said = rig.sop_ends(2, &["answer", "1", "A"]);
    assert!(said.err.contains("has an answer by sop"), "{}", said.err);

    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("starts").iter().filter(|line| *line == "a/2").count(), 1);
    let brief = text_of(&rig, "brief-a-2");
    assert!(brief.contains("B, and say so in the changelog"), "{brief}");
    assert_eq!(text_of(&rig, "found"), "partial\n", "its work is still there");
    let a = rig.wp("a");
    assert_eq!((a.round, a.rounds.len(), a.attempt), (1, 1, 2), "it costs no round");
    assert_eq!(a.forks[0].by.as_deref(), Some("sop"));
    let said = rig.sop_ends(2, &["answer", "q1", "A"]);
    assert!(said.err.contains("was answered by sop"), "{}", said.err);
    assert_eq!(rig.sop_ends(0, &["inbox"]).out, "Nothing waits for you.\n");
    rig
}

#[test]
fn a_block_at_the_end_of_a_report_is_a_question() {
    let rig = asks_and_goes_on(BLOCK);
    assert!(rig.of_run("ASKING.md").contains(SOP), "a worker finds the program");
    assert!(text_of(&rig, "brief-1").contains("sop ask"));
}

#[test]
fn so_is_one_in_a_report_of_json() {
    let report =
        r#"{"summary":"Began.","questions":[{"question":"Keep the old endpoint?","default":"A"}]}"#;
    asks_and_goes_on(&format!("printf '%s' '{report}' > \"$SOP_REPORT\""));
}

#[test]
fn so_is_one_that_is_put_while_it_works() {
    let ask = format!("'{SOP}' ask 'Keep the old endpoint? A: yes. B: no.' --default A");
    // Whoever puts it twice, or in the report as well, asks once.
    let rig = asks_and_goes_on(&format!(
        "{ask} > $MARKS/told; echo $? > $MARKS/code; {ask} > $MARKS/again\n{BLOCK}"
    ));
    assert_eq!(text_of(&rig, "code"), "4\n");
    assert!(text_of(&rig, "told").contains("end your turn"), "{}", text_of(&rig, "told"));
}

#[test]
fn sop_is_found_by_its_name_wherever_it_lies_but_hides_nothing() {
    let ask = "sop ask 'Keep the old endpoint? A: yes. B: no.' --default A > $MARKS/told 2>&1";
    let rig =
        asks_and_goes_on(&format!("{ask}; echo $? > $MARKS/code; command -v sop > $MARKS/which"));
    assert_eq!(text_of(&rig, "code"), "4\n", "{}", text_of(&rig, "told"));
    assert_eq!(
        text_of(&rig, "which"),
        format!("{SOP}\n"),
        "the tests are run with no other on PATH"
    );
}

#[test]
fn what_is_settled_already_is_answered_at_once() {
    let ask = |question: &str| {
        format!("'{SOP}' ask '{question}' --json >> $MARKS/told; echo $? >> $MARKS/codes")
    };
    let script = format!(
        "{}\nif [ $SOP_ATTEMPT = 1 ]; then {}; exit 0; fi\n{}\ndone_well",
        ask("Keep THE v1 endpoint"),
        ask("Which name?"),
        ask("Which name?"),
    );
    let forks = "forks = [{ question = \"Keep the v1 endpoint?\", default = \"yes, until May\" }]";
    let rig = Rig::new(&plan(&wp("a", forks)), &[("worker.sh", &worker(&script))]);
    rig.apply(4);
    rig.sop_ends(0, &["answer", "q1", "settings"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("codes"), ["0", "4", "0", "0"]);
    let told: Vec<_> = rig.lines("told").iter().map(|line| json(line)).collect();
    assert_eq!((&told[0]["answer"], &told[0]["by"]), (&"yes, until May".into(), &"plan".into()));
    assert_eq!(told[1]["then"], "end_your_turn");
    assert_eq!((&told[3]["answer"], &told[3]["by"]), (&"settings".into(), &"sop".into()));
    assert_eq!(rig.ledger().questions, 1);
}

#[test]
fn what_the_plan_settles_needs_nobody() {
    let forks =
        "forks = [{ question = \"keep the old endpoint? a: yes; b: no\", default = \"B\" }]";
    let rig = Rig::new(&plan(&wp("a", forks)), &[("worker.sh", &asking(BLOCK))]);
    rig.apply(0);
    let a = rig.wp("a");
    assert_eq!((a.attempt, a.rounds.len()), (2, 1));
    assert_eq!(a.forks[0].answer.as_deref(), Some("B"));
    assert_eq!(a.forks[0].by.as_deref(), Some("plan"));
    assert!(text_of(&rig, "brief-a-2").contains("The answer: B"));
}

#[test]
fn a_question_with_work_after_it_was_settled_by_the_worker() {
    let ask = format!("{BLOCK}\necho 'I kept it.' >> \"$SOP_REPORT\"; done_well");
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &asking(&ask))]);
    rig.apply(0);
    assert_eq!((rig.wp("a").attempt, rig.wp("a").forks.len()), (1, 0));
}

#[test]
fn a_default_is_taken_when_its_time_is_over_where_the_plan_allows_it() {
    let head = "autonomy = \"defaults\"\ndecide_within = \"300ms\"";
    let rig = Rig::new(&with_head(head, &wp("a", "")), &[("worker.sh", &asking(BLOCK))]);
    let said = rig.apply(0);
    assert!(said.out.contains("nobody answered in time, the default is taken: A"), "{}", said.out);
    assert_eq!(rig.wp("a").forks[0].by.as_deref(), Some("default"));
    // Without a default there is nothing to take.
    let open = BLOCK.replace("default: A", "That is all.");
    let rig = Rig::new(&with_head(head, &wp("a", "")), &[("worker.sh", &asking(&open))]);
    rig.apply(4);
    let said = rig.sop_ends(2, &["answer", "q1", "--take-default"]);
    assert!(said.err.contains("no default"), "{}", said.err);
}

#[test]
fn one_that_asks_and_asks_has_failed_its_round() {
    let head = "autonomy = \"defaults\"\ndecide_within = \"1ms\"";
    let script = "echo bad > a.txt\nprintf '```question\\nWhat of %s?\\ndefault: go on\\n```\\n' \
                  $SOP_ATTEMPT > \"$SOP_REPORT\"";
    let rig = Rig::new(&with_head(head, &wp("a", "rounds = 1")), &[("worker.sh", &worker(script))]);
    let said = rig.apply(3);
    assert!(said.out.contains("stopped to ask 6 times"), "{}", said.out);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt, a.rounds.len()), (Phase::Escalated, 6, 1));
    assert_eq!(a.rounds[0].class, Some(Class::Decision));
    assert_eq!(a.unanswered().count(), 0, "nobody waits for the last one");
}

#[test]
fn a_correction_is_in_every_later_brief() {
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &asking(BLOCK))]);
    rig.apply(4);
    rig.sop_ends(0, &["note", "The endpoint is called v2 by now."]);
    let said = rig.sop_ends(2, &["note", "The endpoint is called v2 by now."]);
    assert!(said.err.contains("noted already"), "{}", said.err);
    rig.sop_ends(0, &["answer", "q1", "--take-default"]);
    let said = rig.sop_ends(0, &["resume"]);
    assert!(said.out.contains("corrected by sop"), "{}", said.out);
    assert!(text_of(&rig, "brief-a-2").contains("The endpoint is called v2 by now."));
    assert!(rig.sop_ends(0, &["status"]).out.contains("called v2 by now"));
    assert_eq!(rig.count(|event| matches!(event, Event::NoteAdded { .. })), 1);
}

#[test]
fn an_answer_reaches_a_run_whose_engine_died() {
    let template = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &asking(BLOCK))]);
    let undisturbed = Rig::copy_of(&template);
    undisturbed.apply(4);
    let asked = undisturbed.records().into_iter().find_map(|record| {
        matches!(record.event, Event::AttemptEnded { .. }).then_some(record.seq)
    });
    let rig = template;
    let fault = format!("kill:{}", asked.expect("it asked"));
    assert_eq!(rig.sop_with(&[("SOP_FAULT", &fault)], &["apply", "--yes"]).code, 256);
    rig.until_quiet();
    assert_eq!(rig.wp("a").phase, Phase::AwaitingAnswer);
    rig.sop_ends(0, &["answer", "q1", "B"]);
    // The next one dies between the answer and the removal of the request.
    let fault = format!("kill:{}", rig.ledger().seq + 2);
    assert_eq!(rig.sop_with(&[("SOP_FAULT", &fault)], &["resume"]).code, 256);
    assert_eq!(rig.wp("a").forks[0].answer.as_deref(), Some("B"));
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.count(|event| matches!(event, Event::Answered { .. })), 1);
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
}

#[test]
fn an_answer_is_taken_while_the_engine_works_on_something_else() {
    let script = asking(BLOCK).replace(
        "\ndone_well\n",
        "\n[ $SOP_WP = b ] && until [ -e $MARKS/go ]; do sleep 0.02; done\ndone_well\n",
    );
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &script)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("a", "asking", |wp| wp.phase == Phase::AwaitingAnswer);
    let said = rig.sop_ends(0, &["answer", "q1", "--take-default", "--json"]);
    assert_eq!(json(&said.out)["taken_by"], "engine");
    rig.until_wp("a", "passed", |wp| wp.phase == Phase::Passed);
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
}

#[test]
fn a_package_that_is_taken_up_again_still_waits_for_its_answer() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &asking(BLOCK))]);
    rig.apply(4);
    rig.sop_ends(0, &["cancel", "a"]);
    rig.sop_ends(3, &["resume"]);
    let said = rig.sop_ends(2, &["answer", "q1", "B"]);
    assert!(said.err.contains("is not waited for"), "{}", said.err);
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(4, &["resume"]);
    rig.sop_ends(0, &["answer", "q1", "B"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.wp("a").rounds.len(), 1);
}

#[test]
fn what_it_did_beside_is_not_forgotten_because_it_asked() {
    for end in [BLOCK.to_owned(), "kill -9 $$".to_owned()] {
        let script = asking(&format!("git config core.hooksPath /nowhere\n{end}"));
        let rig = Rig::new(&plan(&wp("a", "rounds = 1")), &[("worker.sh", &script)]);
        rig.touches(&[".git/config"], "the worker changes it");
        if end == BLOCK {
            rig.apply(4);
            rig.sop_ends(0, &["answer", "q1", "B"]);
            rig.sop_ends(3, &["resume"]);
        } else {
            rig.apply(3);
        }
        let a = rig.wp("a");
        assert_eq!((a.phase, a.attempt), (Phase::Escalated, 2), "{end}");
        let named = a.rounds[0].problems.iter().find(|it| it.check == Check::Scope);
        assert!(format!("{named:?}").contains("config"), "{end}: {:?}", a.rounds);
    }
}

/// Nobody is sent to a verb that does nothing.
#[test]
fn a_correction_of_a_run_that_is_over_is_said_to_reach_nobody() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    rig.apply(0);
    let said = rig.sop_ends(0, &["note", "It is v2."]).out;
    assert!(said.contains("`o-1` is over"), "{said}");
    assert!(said.contains("`sop lesson add 'It is v2.'` keeps it"), "{said}");
    assert!(!said.contains("sop resume"), "{said}");
}

#[test]
fn a_session_asks_so_much_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let put = |n: usize| {
        let question = Question::new(&format!("What of {n}?"), None).unwrap();
        asking::put(folder.path(), &question)
    };
    for n in (0..MOST_QUESTIONS).chain(0..MOST_QUESTIONS) {
        put(n).unwrap();
    }
    assert!(matches!(put(MOST_QUESTIONS), Err(PutError::Full)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), MOST_QUESTIONS, "nothing else");
}

#[test]
fn who_may_not_decide_is_told_so() {
    let decide = ["answer q1 x", "note x", "interrupt a --say x", "review a --approve"];
    let tries: String = decide
        .iter()
        .map(|args| format!("'{SOP}' {args} 2>> $MARKS/told; echo $? >> $MARKS/codes\n"))
        .collect();
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(&(tries + "done_well")))]);
    rig.apply(0);
    assert_eq!(rig.lines("codes"), ["2"; 4]);
    assert!(text_of(&rig, "told").contains("not a worker's"));
    // And who is no worker has nobody to ask.
    let said = rig.sop_ends(2, &["ask", "What now?"]);
    assert!(said.err.contains("no worker"), "{}", said.err);
    let said = rig.sop_ends(2, &["answer", "q1", "x"]);
    assert!(said.err.contains("none is open"), "{}", said.err);
}

#[test]
fn a_plain_command_cannot_be_told_anything() {
    let script = worker("until [ -e $MARKS/go ]; do sleep 0.02; done\ndone_well");
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &script)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    let said = rig.sop_ends(2, &["interrupt", "a", "--say", "stop that"]);
    assert!(
        said.err.contains("plain command") && said.err.contains("nothing is lost"),
        "{}",
        said.err
    );
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let said = rig.sop_ends(2, &["interrupt", "a", "--say", "stop that"]);
    assert!(said.err.contains("no worker is at work"), "{}", said.err);
    assert_eq!(rig.count(|event| matches!(event, Event::Redirected { .. })), 0);
}
