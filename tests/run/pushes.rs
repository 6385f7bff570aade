//! A worker does not push: git refuses it in its environment, the attempt is a finding with URL and ref, and one
//! that got around that is told by what git wrote down about it.

use sop::ledger::Phase;
use sop::model::outcome::{Check, Class};

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

/// The worker's variables without what refuses a push.
const FREE: &str = "env -u GIT_CONFIG_COUNT git";
const WHO: &str = "export GIT_AUTHOR_NAME=M GIT_AUTHOR_EMAIL=m@localhost GIT_COMMITTER_NAME=M \
                   GIT_COMMITTER_EMAIL=m@localhost BARE=${MARKS%marks}bare.git MAIN=${MARKS%marks}repo\n";

/// A run of one WP that does well, and in its first round `trick` as well. There is a bare repository, known
/// as `origin`, as `own` with a URL for pushing, and by its path in `BARE`.
fn pushing(trick: &str, rounds: u32) -> Rig {
    let script = format!("{WHO}done_well\nif [ $SOP_ROUND = 1 ]; then {trick}\nfi");
    let text = with_head(&format!("rounds = {rounds}"), &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(&script))]);
    let bare = rig.root().join("bare.git");
    let bare = bare.to_str().expect("a path");
    rig.git(&["init", "--quiet", "--bare", "--template=", bare]);
    for remote in ["origin", "own"] {
        rig.git(&["remote", "add", remote, bare]);
    }
    rig.git(&["config", "remote.own.pushurl", bare]);
    rig.git(&["push", "--quiet", "origin", "main"]);
    rig
}

fn on_remote(rig: &Rig) -> String {
    let bare = rig.root().join("bare.git");
    rig.git(&["-C", bare.to_str().expect("a path"), "for-each-ref", "--format=%(refname)"])
}

/// What the scope check of the first round said about a subject that holds `part`.
fn told(rig: &Rig, part: &str) -> Option<String> {
    let a = rig.wp("a");
    let mut of = a.rounds.first()?.problems.iter().filter(|problem| {
        let subject = problem.subject.as_deref().unwrap_or_default();
        problem.check == Check::Scope && subject.contains(part)
    });
    of.next().map(|problem| problem.message.clone())
}

#[test]
fn every_way_that_git_pushes_is_refused_and_costs_the_round() {
    for push in [
        "git push origin HEAD:refs/heads/x",
        "git push --no-verify --force origin HEAD:refs/heads/x",
        "git push own HEAD:refs/heads/x",
        "git push $BARE HEAD:refs/heads/x",
        "git push file://$BARE HEAD:refs/heads/x",
        "(cd $MAIN && git push -u origin HEAD:refs/heads/x)",
        "(cd / && git -C $MAIN push origin HEAD:refs/heads/x)",
        "git push --atomic origin HEAD:refs/heads/x HEAD:refs/heads/y",
    ] {
        let rig = pushing(&format!("{push} 2>> $MARKS/said && echo pushed >> $MARKS/pushed"), 2);
        rig.apply(0);
        assert_eq!(on_remote(&rig), "refs/heads/main\n", "{push}");
        assert_eq!(rig.lines("pushed"), Vec::<String>::new(), "{push}");
        let said = rig.lines("said").concat();
        assert!(said.contains("a worker pushes nothing"), "{push}: {said}");
        let a = rig.wp("a");
        assert_eq!((a.phase, a.round), (Phase::Passed, 2), "{push}");
        assert_eq!(a.rounds[0].class, Some(Class::Work), "{push}");
        assert!(told(&rig, "bare.git").is_some_and(|text| text.contains("refused")), "{push}");
        assert!(told(&rig, "refs/heads/x to ").is_some(), "{push}: {:?}", a.rounds[0].problems);
        assert!(rig.of_run("briefs/a-2.md").contains("refs/heads/x"), "{push}");
    }
}

#[test]
fn to_delete_is_a_push_as_well_and_a_dry_run_is_none() {
    let rig = pushing("git push origin :refs/heads/main || true", 2);
    rig.apply(0);
    assert_eq!(on_remote(&rig), "refs/heads/main\n");
    assert!(told(&rig, "bare.git").is_some(), "{:?}", rig.wp("a").rounds);
    let rig = pushing("git push --dry-run origin HEAD:refs/heads/x || true", 1);
    rig.apply(0);
}

#[test]
fn no_password_of_a_url_is_shown() {
    let rig = pushing("git push https://me:hush@127.0.0.1:1/x.git HEAD:refs/heads/x\ntrue", 1);
    let said = rig.apply(3);
    assert!(told(&rig, "https://127.0.0.1:1/x.git").is_some(), "{:?}", rig.wp("a").rounds);
    let all = format!("{}{}{}", said.out, said.err, rig.of_run("journal.jsonl"));
    assert!(!all.contains("hush"), "{all}");
}

#[test]
fn a_push_of_its_own_work_that_got_through_is_found_out() {
    let branch = "refs/heads/sop/o-1/a";
    for (push, name) in [
        (format!("{FREE} push -q origin HEAD:{branch}"), "refs/remotes/origin/sop/o-1/a"),
        (
            format!(
                "git add a.txt; git commit -qm x; {FREE} push -q origin HEAD:refs/heads/x; \
                 git reset -q --soft HEAD~"
            ),
            "refs/remotes/origin/x",
        ),
    ] {
        let rig = pushing(&push, 2);
        let noted = [".git/refs/remotes", ".git/logs/refs/remotes"];
        rig.touches(&noted, "git notes what was pushed");
        rig.apply(0);
        let message = told(&rig, name).unwrap_or_else(|| panic!("{push}: {:?}", rig.wp("a")));
        assert!(message.contains("was pushed while the worker ran"), "{message}");
        assert!(told(&rig, "bare.git").is_some(), "its URL: {:?}", rig.wp("a").rounds);
    }
}

#[test]
fn a_push_in_an_attempt_that_came_to_nothing_is_not_forgotten() {
    let push = "if [ $SOP_ATTEMPT = 1 ]; then git push -q origin HEAD:refs/heads/x; kill -9 $$; fi";
    let rig = pushing(push, 2);
    rig.apply(0);
    assert_eq!(rig.wp("a").round, 2, "{:?}", rig.wp("a").rounds);
    assert!(told(&rig, "refs/heads/x to ").is_some(), "{:?}", rig.wp("a").rounds);
}

#[test]
fn notes_that_are_taken_away_cost_the_round_as_well() {
    for hide in ["rm -f $SOP_PUSHES", ": > $SOP_PUSHES"] {
        let rig = pushing(&format!("git push -q origin HEAD:refs/heads/x; {hide}"), 2);
        rig.apply(0);
        assert_eq!(on_remote(&rig), "refs/heads/main\n", "{hide}");
        assert_eq!(rig.wp("a").round, 2, "{hide}");
        let message = told(&rig, "pushes/").unwrap_or_else(|| panic!("{:?}", rig.wp("a").rounds));
        assert!(message.contains("taken away"), "{message}");
    }
}

#[test]
fn what_a_person_may_have_pushed_or_fetched_meanwhile_is_a_note() {
    for push in [
        format!("cd $MAIN; git commit -q --allow-empty -m mine; {FREE} push -q origin main"),
        format!(
            "git clone -q -b main $BARE $MARKS/clone; cd $MARKS/clone; git commit -q --allow-empty -m x; \
             {FREE} push -q origin main; cd $MAIN; git fetch -q origin"
        ),
    ] {
        let rig = pushing(&push, 1);
        let theirs = [".git/refs/heads/main", ".git/refs/remotes", ".git/logs"];
        rig.touches(&theirs, "somebody commits, pushes and fetches");
        rig.touches(&[".git/COMMIT_EDITMSG", ".git/FETCH_HEAD"], "and git notes that");
        rig.apply(0);
        let notes = rig.wp("a").notes;
        assert!(notes.iter().any(|note| note.contains("refs/remotes/origin/main")), "{notes:?}");
    }
}

#[test]
fn nothing_else_of_git_is_different_for_a_worker() {
    // Repositories of a test suite push to each other, hooks run, a fetch fetches, and the plan's own settings
    // for the worker stand.
    let honest = "git init -q $MARKS/other; cd $MARKS/other; git commit -q --allow-empty -m x\n\
        git push -q $BARE HEAD:refs/heads/other && echo pushed >> $MARKS/pushed\n\
        cd $OLDPWD; git fetch -q $BARE other && echo fetched >> $MARKS/fetched\n\
        git config own.setting >> $MARKS/setting; git config core.hooksPath >> $MARKS/hooks; true";
    let script = format!("{WHO}done_well\n{honest}");
    let env = "env = { GIT_CONFIG_COUNT = \"1\", GIT_CONFIG_KEY_0 = \"own.setting\", \
               GIT_CONFIG_VALUE_0 = \"kept\" }";
    let text = plan(&wp("a", "")).replace("\"worker.sh\"]", &format!("\"worker.sh\"]\n{env}"));
    let text = text.replace("grep -q good a.txt", "sh check.sh");
    let check = "grep -q good a.txt && echo \"${GIT_CONFIG_COUNT:-none}\" >> $MARKS/in-dod\n";
    let rig = Rig::new(&text, &[("worker.sh", &worker(&script)), ("check.sh", check)]);
    let bare = rig.root().join("bare.git");
    let bare = bare.to_str().expect("a path");
    rig.git(&["init", "--quiet", "--bare", "--template=", bare]);
    rig.git(&["remote", "add", "origin", bare]);
    rig.apply(0);
    assert_eq!(rig.wp("a").notes, Vec::<String>::new());
    for (mark, line) in
        [("pushed", "pushed"), ("fetched", "fetched"), ("setting", "kept"), ("in-dod", "none")]
    {
        assert_eq!(rig.lines(mark).first().map(String::as_str), Some(line), "{mark}");
    }
    assert_eq!(rig.lines("hooks"), Vec::<String>::new());
}
