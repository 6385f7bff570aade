//! New words for an agent at work.

use sop::model::plan::Adapter;
use sop::model::turn::Usage;

use crate::support::driven::{Driven, until, until_there};

/// A codex that works on until it is gone on with in a new process.
const RESUMED: &str = r#"
cat > ../prompt; printf '%s\n' "$@" > ../args
case " $* " in
*" resume "*)
  echo '{"type":"thread.started","thread_id":"s-1"}'
  echo '{"type":"item.completed","item":{"type":"agent_message","text":"the other way, then"}}'
  echo '{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":1}}' ;;
*)
  while [ ! -e ../begin ]; do sleep 0.02; done
  setsid sleep 1000 &
  echo $! > ../child
  echo '{"type":"thread.started","thread_id":"s-1"}'
  exec sleep 1000 ;;
esac
"#;

#[test]
fn an_agent_that_can_resume_is_started_again_with_the_word() {
    let driven = Driven::script(Adapter::Codex, RESUMED);
    let running = driven.start();
    // It is said before there is a session to come back to, and waits for that.
    driven.say(1, "use the other way\n");
    until_there(&driven.path("prompt"));
    assert!(driven.order.say.join("1.txt").exists());
    std::fs::write(driven.path("begin"), "").unwrap();
    let done = running.finish();
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.answer.as_deref(), Some("the other way, then"));
    assert_eq!(done.turn().usage, Usage { input: 5, cached: 0, output: 1 });
    assert_eq!(done.turn().fault, None);
    assert_eq!(driven.read("prompt"), "use the other way\n");
    assert!(driven.read("args").ends_with("\nresume\n--\ns-1\n-\n"), "{}", driven.read("args"));
    assert!(driven.order.say.join("1.taken").exists());
    assert!(done.out.contains("told: use the other way"), "{}", done.out);
    // What the first one started was gone before the second came.
    let child: i32 = driven.read("child").trim().parse().unwrap();
    assert!(sop::process::identity::Stat::read(child).is_none_or(|stat| stat.is_zombie()));
}

#[test]
fn one_that_cannot_is_left_alone_and_it_is_said_why() {
    let driven =
        Driven::script(Adapter::Aider, "echo working; while [ ! -e ../go ]; do sleep 0.02; done");
    let running = driven.start();
    driven.say(1, "stop that");
    until_there(&driven.order.say.join("1.no"));
    assert_eq!(driven.read("say/1.no"), "aider takes no word while it works");
    assert!(driven.order.say.join("1.txt").exists());
    // The second is looked at though the first still lies there.
    driven.say(2, "please");
    until_there(&driven.order.say.join("2.no"));
    std::fs::write(driven.path("go"), "").unwrap();
    assert_eq!(running.finish().code, 0);
}

#[test]
fn a_word_that_comes_too_late_is_refused() {
    let driven = Driven::script(Adapter::Codex, "exit 3");
    driven.say(7, "too late");
    let done = driven.run();
    assert_eq!(done.code, 3);
    let why = driven.read("say/7.no");
    assert!(why.contains("done before it could be told"), "{why}");
}

#[test]
fn a_word_that_is_no_file_is_refused() {
    let driven =
        Driven::script(Adapter::Codex, "while [ ! -e ../go ]; do sleep 0.02; done; exit 3");
    std::os::unix::fs::symlink("/etc/passwd", driven.order.say.join("1.txt")).unwrap();
    let running = driven.start();
    until("it to be refused", || driven.read("say/1.no").contains("no plain file"));
    std::fs::write(driven.path("go"), "").unwrap();
    running.finish();
}
