//! A stage with shared files ends with one WP that alone may touch them, and that is told what the others
//! want in them.

use sop::ledger::Phase;

use crate::support::rig::Rig;

const PLAN: &str = r#"version = 1
[plan]
name = "shared"
goal = "Meet in one file."
base = "main"
tier = "standard"
[tiers.standard]
worker = "script"
[workers.script]
command = ["sh", "worker.sh"]
[[stage]]
name = "one"
shared = ["index.txt"]
[[wp]]
id = "a"
stage = "one"
whitelist = ["a.txt"]
dod = ["test -s a.txt"]
brief_text = "Make a.txt."
[[wp]]
id = "b"
stage = "one"
whitelist = ["b.txt"]
dod = ["test -s b.txt"]
brief_text = "Make b.txt."
"#;

/// `a` asks for a line in the shared file and for one in a file that is nobody's; `b` says it in words.
const WORKER: &str = r#"
cp "$SOP_BRIEF" "$MARKS/brief.$SOP_WP"
case "$SOP_WP" in
    a) echo a > a.txt
       echo '{"summary": "a is there", "wiring": [{"file": "index.txt", "lines": "use a;"},
             {"file": "main.txt", "lines": "run a;"}]}' > "$SOP_REPORT" ;;
    b) echo b > b.txt
       printf 'b is there.\n\n```json\n{"wiring": [{"file": "index.txt", "lines": "use b;"}]}\n```\n' > "$SOP_REPORT" ;;
    one-shared) test -e a.txt && test -e b.txt && printf 'use a;\nuse b;\n' > index.txt
       echo x >> "${OUTSIDE:-index.txt}" ;;
esac
"#;

fn rig(worker: &str) -> Rig {
    Rig::new(PLAN, &[("worker.sh", worker), ("index.txt", "first\n")])
}

#[test]
fn it_alone_touches_them_and_is_told_what_the_others_want() {
    let rig = rig(WORKER);
    rig.apply(0);
    let brief = rig.lines("brief.one-shared").join("\n");
    for part in [
        "- `index.txt`",
        "`index.txt`, for `a`:",
        "use a;",
        "`index.txt`, for `b`:",
        "use b;",
        "a is there",
        "b is there.",
    ] {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    assert!(rig.lines("brief.a").join("\n").contains("Shared files, which you may not touch"));
    let wp = rig.wp("one-shared");
    assert_eq!((wp.phase, wp.changed), (Phase::Integrated, 1));
    assert_eq!(rig.on("sop-stage/shared-1/2", "index.txt"), "use a;\nuse b;\nx\n");
    // Lines for a file that is not shared reach nobody, and that is said.
    let notes = rig.wp("a").notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("asks for lines in main.txt, which is no shared file"), "{notes:?}");
    assert_eq!(rig.wp("b").notes, [""; 0]);
}

#[test]
fn the_others_may_not_touch_them_and_it_may_touch_nothing_else() {
    let rig = rig(&WORKER.replace("echo a > a.txt", "echo a > a.txt; echo a >> index.txt"));
    rig.apply(3);
    let problem = &rig.wp("a").rounds[0].problems[0];
    assert!(problem.subject.as_deref().is_some_and(|s| s.contains("index.txt")), "{problem:?}");

    let rig = self::rig(&WORKER.replace("${OUTSIDE:-index.txt}", "a.txt"));
    rig.apply(3);
    let problem = &rig.wp("one-shared").rounds[0].problems[0];
    assert!(problem.subject.as_deref().is_some_and(|s| s.contains("a.txt")), "{problem:?}");
}

#[test]
fn it_has_a_review_of_its_own() {
    let review = r#"
cat > /dev/null
echo "$SOP_WP" >> "$MARKS/reviews"
if grep -q better index.txt; then verdict=approve finding=
else verdict=request_changes
    finding='{"file":"index.txt","line":1,"severity":"major","message":"make it better"}'
fi
printf '{"verdict":"%s","summary":"","findings":[%s]}' $verdict "$finding" > "$SOP_VERDICT"
"#;
    let plan = PLAN.replace(
        "shared = [\"index.txt\"]\n",
        "shared = [\"index.txt\"]\n[stage.consolidate]\nreview = { command = [\"sh\", \"review.sh\"] }\n",
    );
    let worker = WORKER.to_owned() + "[ $SOP_ROUND = 1 ] || echo better >> index.txt\n";
    let files = [("worker.sh", worker.as_str()), ("index.txt", "first\n"), ("review.sh", review)];
    let rig = Rig::new(&plan, &files);
    rig.apply(0);
    assert_eq!(rig.lines("reviews"), ["one-shared", "one-shared"], "nobody else asked for one");
    let wp = rig.wp("one-shared");
    assert_eq!((wp.phase, wp.rounds.len(), wp.attempt), (Phase::Integrated, 2, 2));
    let brief = rig.of_run("briefs/one-shared-2.md");
    assert!(brief.contains("index.txt:1") && brief.contains("make it better"), "{brief}");
    assert!(rig.on("sop-stage/shared-1/2", "index.txt").ends_with("better\n"));
}
