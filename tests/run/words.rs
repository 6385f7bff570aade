//! Words to a worker at work.

use sop::event::Event;
use sop::ledger::Phase;
use sop::model::ids::RunId;
use sop::model::plan::Mode;
use sop::run::directory::RunDir;
use sop::run::requests::{self, Ask, Request};
use sop::run::say::{self, Became};

use crate::support::codex_home::{UNCONFINED, codex_env};
use crate::support::model_server::{Act, ModelServer, Scenario};
use crate::support::rig::Rig;
use crate::support::scratch::has_tool;
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

#[test]
fn an_agent_that_takes_no_word_goes_on_and_whoever_said_it_is_told() {
    let script = "echo x > $MARKS/working; until [ -e $MARKS/go ]; do sleep 0.02; done\n\
                  echo good > a.txt; printf 'Repo-map: disabled\\n\\nI am done.\\n\\n'\n\
                  echo 'Tokens: 1.2k sent, 30 received. Cost: $0.01 message, $0.01 session.'";
    let text = plan().replace("agent = \"claude\"", "agent = \"aider\"");
    let rig = Rig::new(&text, &[("agent.sh", script)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("working", 1);
    let said = rig.sop_ends(2, &["interrupt", "a", "--say", "Leave the tests alone."]);
    for part in ["aider takes no word while it works", "nothing is lost", "sop note"] {
        assert!(said.err.contains(part), "{}", said.err);
    }
    assert!(rig.run_dir().join("turns/a-1/say/1.no").exists());
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    assert_eq!(rig.wp("a").attempt, 1);
    rig.until_quiet();
}

#[test]
fn a_word_that_comes_too_late_is_told_as_such() {
    // It has said that its turn is over, and stays for a while.
    let script = AGENT
        .replace("sleep 600 & wait", "")
        .replace("echo good >> a.txt", "echo good > a.txt")
        + "echo '{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"I stay.\"}]}}'\n\
         until [ -e $MARKS/go ]; do sleep 0.02; done\n";
    let rig = Rig::new(&plan(), &[("agent.sh", &script)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("calls", 1);
    rig.until_log("a", "I stay.");
    let late = std::thread::scope(|scope| {
        let late = scope.spawn(|| rig.sop(&["interrupt", "a", "--say", "Leave the tests alone."]));
        // Not before the engine has passed it on.
        let left = rig.run_dir().join("turns/a-1/say/1.txt");
        crate::support::rig::until(|| match left.exists() {
            true => Ok(()),
            false => Err(rig.engine_said()),
        });
        std::fs::write(rig.mark("go"), "").unwrap();
        late.join().unwrap()
    });
    assert_eq!(late.code, 2, "{}\n{}", late.out, late.err);
    assert!(late.err.contains("was done before it could be told"), "{}", late.err);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    assert_eq!(rig.lines("calls").len(), 1);
}

#[test]
fn the_real_codex_is_told_something_and_keeps_what_it_knows() {
    if !has_tool("codex", "npm install -g @openai/codex") {
        return;
    }
    // It thinks about the first task until it is told another one.
    let server = ModelServer::playing(|call| {
        let began = std::time::Instant::now();
        while !call.said.contains("Make it two lines.") && began.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        match call.tool_answers {
            0 => Act::Run("printf 'good\\ngood\\n' > a.txt".to_owned()),
            _ => Act::Say("Done.".to_owned()),
        }
    });
    let worker = "unconfined\"\nmodel = \"scripted-model";
    let text = plan().replace("pretender", worker);
    let (head, _) = text.split_once("[workers").unwrap();
    let rig = Rig::new(&format!("{head}{UNCONFINED}{}", wp("a", "")), &[("README", "r\n")]);
    let env = codex_env(&rig, &server, Scenario::Play);
    let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let engine = rig.start_with(&env, &["apply", "--yes"]);
    crate::support::rig::until(|| match server.calls(Scenario::Play).len() {
        0 => Err(rig.engine_said()),
        _ => Ok(()),
    });
    let said = rig.sop_ends(0, &["interrupt", "a", "--say", "Make it two lines."]);
    assert!(said.out.contains("has it"), "{}", said.out);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let calls = server.calls(Scenario::Play);
    assert_eq!(calls.len(), 3, "one that was broken off, a tool call, and the answer");
    let last = &calls[2].said;
    assert!(last.contains("Make a.txt good.") && last.contains("Make it two lines."), "{last}");
    let a = rig.wp("a");
    assert_eq!((a.attempt, a.rounds.len(), a.redirected), (1, 1, 1));
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good\ngood\n");
    rig.until_quiet();
}
