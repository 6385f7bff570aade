//! Words to a worker at work.

use sop::event::Event;
use sop::ledger::Phase;
use sop::model::ids::RunId;
use sop::model::plan::Mode;
use sop::run::directory::RunDir;
use sop::run::requests::{self, Ask, Request};
use sop::run::say::{self, Became};

use crate::support::rig::Rig;
use crate::support::story::{OK, Story, level, shape, wp_id};
use crate::support::written::wp;

/// Speaks as `claude` does. At first it works until it is ended; in the same session it does as it is told.
const AGENT: &str = r#"
echo "$*" >> $MARKS/calls
cat > $MARKS/prompt-$(wc -l < $MARKS/calls)
echo '{"type":"system","subtype":"init","session_id":"5e55","model":"m"}'
case "$*" in
*--resume=5e55*) ;;
*) echo bad > a.txt; echo x > $MARKS/working; sleep 600 & wait ;;
esac
echo good >> a.txt
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"5e55","num_turns":1,"total_cost_usd":0.03,"usage":{"input_tokens":1000,"output_tokens":20}}'
"#;

fn plan() -> String {
    format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n\
         [tiers.standard]\nworker = \"pretender\"\n\
         [workers.pretender]\nagent = \"claude\"\nprogram = [\"sh\", \"agent.sh\"]\n{}",
        wp("a", "")
    )
}

#[test]
fn an_agent_at_work_is_told_something_and_goes_on_with_its_session() {
    let rig = Rig::new(&plan(), &[("agent.sh", AGENT)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("working", 1);
    let said = rig.sop_ends(0, &["interrupt", "a", "--say", "Leave the tests alone."]);
    assert!(said.out.contains("has it"), "{}", said.out);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let said = rig.engine_said();
    assert!(said.contains("sop to the worker: Leave the tests alone."), "{said}");
    let a = rig.wp("a");
    assert_eq!((a.attempt, a.rounds.len(), a.redirected), (1, 1, 1), "one attempt, one round");
    assert_eq!(rig.lines("calls").len(), 2);
    let prompt = std::fs::read_to_string(rig.mark("prompt-2")).unwrap();
    assert!(prompt.contains("Leave the tests alone."), "{prompt}");
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "bad\ngood\n", "what it had done is kept");
    rig.until_quiet();
}

fn at_work() -> Story {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a").work("a");
    run
}

fn word(run: &Story, waiting: &[Request], say: &str) -> Request {
    let (attempt, n) = requests::next_word(run.wp("a"), waiting);
    let ask = Ask::Interrupt { attempt, n, say: say.to_owned() };
    requests::make(&run.ledger, Some(&wp_id("a")), "anna", ask).expect("it makes sense")
}

#[test]
fn a_word_is_given_once_though_it_is_read_twice() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::new(temp.path().to_owned(), RunId::new("settings-1").unwrap());
    let mut run = at_work();
    let first = word(&run, &[], "one");
    let second = word(&run, std::slice::from_ref(&first), "two");
    assert_eq!(first.word(&run.ledger), None, "not before it is recorded");
    let event = first.clone().event(&run.ledger).expect("it is the next word");
    assert_eq!(second.clone().event(&run.ledger), None, "one after the other");
    run.say(event);
    // The engine that recorded it died: the next one finds the same request.
    assert_eq!(first.clone().event(&run.ledger), None);
    for _ in 0..2 {
        say::leave(&dir, &first.word(&run.ledger).expect("the worker has to get it")).unwrap();
    }
    let folder = dir.named("turns/a-1/say");
    let names = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["1.txt"]);
    assert_eq!(say::became(&dir, &wp_id("a"), 1, 1), None);
    std::fs::rename(folder.join("1.txt"), folder.join("1.taken")).unwrap();
    say::leave(&dir, &first.word(&run.ledger).unwrap()).unwrap();
    assert_eq!(names(), ["1.taken"]);
    assert_eq!(say::became(&dir, &wp_id("a"), 1, 1), Some(Became::Taken));
    // The second word, which the driver refuses.
    let event = second.clone().event(&run.ledger).expect("now it is the next one");
    run.say(event);
    say::leave(&dir, &second.word(&run.ledger).unwrap()).unwrap();
    std::fs::write(folder.join("2.no"), "it was done\n").unwrap();
    let refused = Became::Refused("it was done".to_owned());
    assert_eq!(say::became(&dir, &wp_id("a"), 1, 2), Some(refused));
    // To a worker that is gone nothing is said.
    run.ended("a", OK);
    assert_eq!((first.word(&run.ledger), run.phase("a")), (None, Phase::Scoping));
    assert!(requests::make(&run.ledger, Some(&wp_id("a")), "anna", first.ask).is_err());
    let told = |record: &&sop::event::Record| matches!(record.event, Event::Redirected { .. });
    assert_eq!(run.records.iter().filter(told).count(), 2);
}

#[test]
fn nothing_is_written_where_a_link_stands_for_the_folder() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::new(temp.path().to_owned(), RunId::new("settings-1").unwrap());
    let elsewhere = temp.path().join("elsewhere");
    std::fs::create_dir_all(dir.named("turns/a-1")).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, dir.named("turns/a-1/say")).unwrap();
    let word = say::Word { wp: wp_id("a"), attempt: 1, n: 1, text: "x".to_owned() };
    assert!(say::leave(&dir, &word).is_err());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}
