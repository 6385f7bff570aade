//! All findings at once: a fault hides no other. For every pair of kinds of faults, planted in different
//! places of one plan and, where both can be, in the same work package, what is found is what each alone gives.

use std::path::Path;

use sop::finding::Finding;
use sop::plan::{Layers, Source};
use sop::run::compile::{Purpose, compile};
use toml::{Table, Value, toml};

/// A plan that is right. For each `n` there are `wN` and `hN` in the first stage, and `lN` in the second.
fn good() -> Table {
    let mut plan = toml! {
        version = 1
        provision = {}
        workers = {}
        [plan]
        name = "p"
        goal = "g"
        tier = "main"
        instructions = []
        [tiers.main]
        worker = "codex"
        [[stage]]
        name = "s1"
        [[stage]]
        name = "s2"
    };
    let wps = ["w0", "h0", "l0", "w1", "h1", "l1"].map(|id| {
        let stage = if id.starts_with('l') { "s2" } else { "s1" };
        let whitelist = format!("{id}/**");
        let wp = toml! {
            dod = ["true"]
            brief_text = "Do it."
        };
        let named =
            [("id", id.into()), ("stage", stage.into()), ("whitelist", vec![whitelist].into())];
        let named = named.map(|(key, value): (_, Value)| (key.to_owned(), value));
        Value::Table(named.into_iter().chain(wp).collect())
    });
    plan.insert("wp".to_owned(), Value::Array(wps.into()));
    plan
}

/// A kind of fault. `plant` does it, to what goes by `n`.
struct Fault {
    name: &'static str,
    /// Keys of `wN` that it is about; nothing where it is about no WP.
    keys: &'static [&'static str],
    plant: fn(&mut Table, usize),
}

fn table<'p>(plan: &'p mut Table, key: &str) -> &'p mut Table {
    plan[key].as_table_mut().expect("a table")
}

fn list<'p>(table: &'p mut Table, key: &str) -> &'p mut Vec<Value> {
    table.entry(key).or_insert_with(|| Value::Array(Vec::new())).as_array_mut().expect("an array")
}

fn wp(plan: &mut Table, kind: usize, n: usize) -> &mut Table {
    list(plan, "wp")[3 * n + kind].as_table_mut().expect("a table")
}

fn set(plan: &mut Table, n: usize, key: &str, value: impl Into<Value>) {
    wp(plan, 0, n).insert(key.to_owned(), value.into());
}

fn name(text: &str, n: usize) -> Value {
    format!("{text}{n}").into()
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "unknown stage",
        keys: &["stage", "order"],
        plant: |p, n| set(p, n, "stage", name("nowhere", n)),
    },
    Fault {
        name: "no stage",
        keys: &["stage", "order"],
        plant: |p, n| drop(wp(p, 0, n).remove("stage")),
    },
    Fault { name: "bad id", keys: &["id"], plant: |p, n| set(p, n, "id", name("a b", n)) },
    Fault { name: "no id", keys: &["id"], plant: |p, n| drop(wp(p, 0, n).remove("id")) },
    Fault { name: "twin", keys: &["id"], plant: |p, n| set(p, n, "id", name("l", n)) },
    Fault {
        name: "twin in another case",
        keys: &["id"],
        plant: |p, n| set(p, n, "id", name("H", n)),
    },
    Fault {
        name: "absolute pattern",
        keys: &["p1"],
        plant: |p, n| list(wp(p, 0, n), "whitelist").push(name("/abs", n)),
    },
    Fault {
        name: "pattern that never matches",
        keys: &["p2"],
        plant: |p, n| list(wp(p, 0, n), "whitelist").push(name(".git/", n)),
    },
    Fault {
        name: "pattern taken away again",
        keys: &["p3"],
        plant: |p, n| list(wp(p, 0, n), "whitelist").extend([name("z", n), name("!z", n)]),
    },
    Fault {
        name: "blank pattern",
        keys: &["p4"],
        plant: |p, n| list(wp(p, 0, n), "whitelist").push(" ".into()),
    },
    Fault {
        name: "overlap",
        keys: &["order"],
        plant: |p, n| list(wp(p, 0, n), "whitelist").push(format!("h{n}/x").into()),
    },
    Fault {
        name: "cycle",
        keys: &["id", "needs", "stage", "order"],
        plant: |p, n| {
            set(p, n, "needs", vec![name("h", n)]);
            wp(p, 1, n).insert("needs".into(), vec![name("w", n)].into());
        },
    },
    Fault {
        name: "need of itself",
        keys: &["id", "needs"],
        plant: |p, n| set(p, n, "needs", vec![name("w", n)]),
    },
    Fault {
        name: "unknown need",
        keys: &["needs", "order"],
        plant: |p, n| set(p, n, "needs", vec![name("nobody", n)]),
    },
    Fault {
        name: "late need",
        keys: &["id", "needs", "stage", "order"],
        plant: |p, n| set(p, n, "needs", vec![name("l", n)]),
    },
    Fault {
        name: "unknown tier",
        keys: &["tier"],
        plant: |p, n| set(p, n, "tier", name("nothing", n)),
    },
    Fault {
        name: "no brief",
        keys: &["brief"],
        plant: |p, n| drop(wp(p, 0, n).remove("brief_text")),
    },
    Fault { name: "two briefs", keys: &["brief"], plant: |p, n| set(p, n, "brief", "b.md") },
    Fault {
        name: "missing brief",
        keys: &["brief"],
        plant: |p, n| {
            wp(p, 0, n).remove("brief_text");
            set(p, n, "brief", "b.md");
        },
    },
    Fault {
        name: "no whitelist",
        keys: &["p1", "p2", "p3", "p4", "order", "whitelist", "kind"],
        plant: |p, n| drop(wp(p, 0, n).remove("whitelist")),
    },
    Fault {
        name: "only subtracts",
        keys: &["p1", "p2", "p3", "p4", "order", "whitelist"],
        plant: |p, n| set(p, n, "whitelist", vec![name("!x", n)]),
    },
    Fault { name: "no DoD", keys: &["dod", "kind"], plant: |p, n| drop(wp(p, 0, n).remove("dod")) },
    Fault {
        name: "open quote",
        keys: &["dod"],
        plant: |p, n| set(p, n, "dod", vec![Value::from("it's")]),
    },
    Fault { name: "DoD that is no list", keys: &["dod"], plant: |p, n| set(p, n, "dod", "true") },
    Fault {
        name: "DoD of numbers",
        keys: &["dod"],
        plant: |p, n| set(p, n, "dod", vec![Value::from(3)]),
    },
    Fault {
        name: "scout with a whitelist",
        keys: &["kind", "order"],
        plant: |p, n| set(p, n, "kind", "scout"),
    },
    Fault {
        name: "unknown template",
        keys: &["template"],
        plant: |p, n| set(p, n, "template", name("style", n)),
    },
    Fault { name: "unknown key", keys: &["colour"], plant: |p, n| set(p, n, "colour", 1) },
    Fault {
        name: "misspelt key",
        keys: &["p1", "p2", "p3", "p4", "order", "whitelist"],
        plant: |p, n| {
            let patterns = wp(p, 0, n).remove("whitelist").expect("it has one");
            set(p, n, "whitelst", patterns);
        },
    },
    Fault { name: "too many rounds", keys: &["rounds"], plant: |p, n| set(p, n, "rounds", 9) },
    Fault {
        name: "reviewer's template",
        keys: &["review"],
        plant: |p, n| {
            set(p, n, "review", toml! { command = ["r", "{{ wp.ip }}"] });
        },
    },
    Fault {
        name: "review by nobody",
        keys: &["review"],
        plant: |p, n| set(p, n, "review", "worker"),
    },
    Fault {
        name: "bad variable",
        keys: &["vars"],
        plant: |p, n| set(p, n, "vars", toml! { "a b" = "" }),
    },
    Fault {
        name: "unknown worker",
        keys: &[],
        plant: |p, n| {
            table(p, "tiers").insert(format!("t{n}"), toml! { worker = "nobody" }.into());
        },
    },
    Fault {
        name: "tier without a worker",
        keys: &[],
        plant: |p, n| {
            table(p, "tiers").insert(format!("u{n}"), toml! { model = "m" }.into());
        },
    },
    Fault {
        name: "badly named tier, and what is in it",
        keys: &[],
        plant: |p, n| {
            table(p, "tiers")
                .insert(format!("a b{n}"), toml! { worker = "nobody" rounds = 2 }.into());
        },
    },
    Fault {
        name: "tiers in a ring",
        keys: &[],
        plant: |p, n| {
            let tier = |to: Value| {
                let mut tier = toml! { worker = "codex" };
                tier.insert("escalate_to".to_owned(), to);
                tier.into()
            };
            table(p, "tiers").insert(format!("c{n}"), tier(name("d", n)));
            table(p, "tiers").insert(format!("d{n}"), tier(name("c", n)));
        },
    },
    Fault {
        name: "worker that is nothing",
        keys: &[],
        plant: |p, n| {
            table(p, "workers").insert(format!("n{n}"), Table::new().into());
        },
    },
    Fault {
        name: "worker's NUL, and its template",
        keys: &[],
        plant: |p, n| {
            table(p, "workers")
                .insert(format!("m{n}"), toml! { command = ["x", "\u{0}", "{{ wp.ip }}"] }.into());
        },
    },
    Fault {
        name: "worker that is no table",
        keys: &[],
        plant: |p, n| {
            table(p, "workers").insert(format!("k{n}"), 3.into());
        },
    },
    Fault {
        name: "stage without a name",
        keys: &[],
        plant: |p, _| list(p, "stage").push(Table::new().into()),
    },
    Fault {
        name: "badly named stage",
        keys: &[],
        plant: |p, n| {
            list(p, "stage").push(Table::from_iter([("name".to_owned(), name("a b", n))]).into());
        },
    },
    Fault {
        name: "stage twice",
        keys: &[],
        plant: |p, n| {
            list(p, "stage").push(Table::from_iter([("name".to_owned(), name("s", n + 1))]).into());
        },
    },
    Fault {
        name: "stage that nothing is in",
        keys: &[],
        plant: |p, n| {
            list(p, "stage").push(Table::from_iter([("name".to_owned(), name("idle", n))]).into());
        },
    },
    Fault {
        name: "shared file in a whitelist",
        keys: &[],
        plant: |p, n| {
            let stage = list(p, "stage")[n].as_table_mut().expect("a table");
            // Of the first stage a helper of the same number, of the second a late one.
            list(stage, "shared").push(if n == 0 { "h0/y" } else { "l0/y" }.into());
        },
    },
    Fault {
        name: "nothing to consolidate",
        keys: &[],
        plant: |p, n| {
            let stage = list(p, "stage")[n].as_table_mut().expect("a table");
            stage.insert("consolidate".to_owned(), toml! { title = "t" }.into());
        },
    },
    Fault {
        name: "blank instruction",
        keys: &[],
        plant: |p, _| list(table(p, "plan"), "instructions").push("".into()),
    },
    Fault {
        name: "absolute instruction",
        keys: &[],
        plant: |p, n| list(table(p, "plan"), "instructions").push(name("/etc/", n)),
    },
    Fault {
        name: "copy from elsewhere",
        keys: &[],
        plant: |p, n| list(table(p, "provision"), "copy").push(name("../", n)),
    },
    Fault {
        name: "setup with an open quote",
        keys: &[],
        plant: |p, _| list(table(p, "provision"), "setup").push("it's".into()),
    },
    Fault {
        name: "unknown table",
        keys: &[],
        plant: |p, n| drop(p.insert(format!("colour{n}"), 1.into())),
    },
];

/// What is found, as sorted lines of code and how that which it is about begins.
fn found(plan: &Table) -> Vec<String> {
    let text = toml::to_string(plan).expect("TOML");
    let source = Source::new("plan.toml", text);
    let outcome = compile(&source, Path::new("/nowhere"), &Layers::default(), None, Purpose::Check);
    let line = |f: &Finding| {
        let said = format!("{} {:?} {:?}", f.message, f.help, f.label);
        assert!(!said.contains("unnamed--"), "{said} on\n{}", source.text);
        let at = f.span.clone().and_then(|span| source.text.get(span)).unwrap_or_default();
        let at: String = at.chars().take(8).collect();
        format!("{} <{at}>", f.code)
    };
    let mut lines: Vec<String> =
        outcome.expect("no git is asked").findings.iter().map(line).collect();
    lines.sort();
    lines
}

fn planted(faults: &[(&Fault, usize)]) -> Vec<String> {
    let mut plan = good();
    faults.iter().for_each(|(fault, n)| (fault.plant)(&mut plan, *n));
    found(&plan)
}

/// Every fault alone, at 0 and at 1.
fn alone() -> Vec<[Vec<String>; 2]> {
    FAULTS.iter().map(|fault| [planted(&[(fault, 0)]), planted(&[(fault, 1)])]).collect()
}

/// Holds what is found of two faults, the second at `n`, to what is found of each. All pairs where asked for, and a
/// spread of them otherwise.
fn hold(n: usize, together: impl Fn(&Fault, &Fault) -> bool) {
    let alone = alone();
    let every = if std::env::var_os("SOP_TEST_FULL").is_some() { 1 } else { 7 };
    let pairs = (0..FAULTS.len()).flat_map(|a| (a..FAULTS.len()).map(move |b| (a, b)));
    let mut wrong = Vec::new();
    for (a, b) in pairs.filter(|(a, b)| together(&FAULTS[*a], &FAULTS[*b])).step_by(every) {
        let mut wanted = [alone[a][0].clone(), alone[b][n].clone()].concat();
        wanted.sort();
        let (one, other) = (&FAULTS[a], &FAULTS[b]);
        let got = planted(&[(one, 0), (other, n)]);
        if got != wanted {
            let (one, other) = (one.name, other.name);
            wrong.push(format!("{one}, {other}:\n  wanted {wanted:?}\n  got    {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} pairs\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_fault_is_found() {
    assert_eq!(found(&good()), [""; 0]);
    for (fault, found) in FAULTS.iter().zip(alone()) {
        assert!(!found[0].is_empty() && !found[1].is_empty(), "{}: {found:?}", fault.name);
    }
}

#[test]
fn in_different_places_no_fault_hides_another() {
    hold(1, |_, _| true);
}

/// Two faults of the same key are one, and what is in an order that no one knows can meet anything.
#[test]
fn in_one_work_package_no_fault_hides_another() {
    hold(0, |a, b| {
        let apart = !a.keys.iter().any(|key| b.keys.contains(key));
        apart && !a.keys.is_empty() && !b.keys.is_empty()
    });
}
