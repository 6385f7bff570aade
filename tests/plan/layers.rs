//! Settings from outside of the plan: what goes before what, where it is found, and what is said of it.

use std::path::Path;

use sop::finding::Severity;
use sop::model::plan::{Approval, Does, Plan, Review};
use sop::model::setting::Level;
use sop::plan::layers::VARIABLES;
use sop::plan::{Layer, Layers, Read, Source, Whose, read, settings};

use super::{GOOD, good_but};

const USER: &str = "/home/a/.config/sop/config.toml";

fn user(text: &str) -> Layer {
    Layer::read(Whose::User, Source::new(USER, text))
}

fn repository(text: &str) -> Layer {
    Layer::read(Whose::Repository, Source::new(".sop/config.toml", text))
}

fn variable(name: &str, value: &str) -> Layer {
    let (at, name) = VARIABLES.into_iter().find(|(_, known)| *known == name).expect(name);
    Layer::said(Whose::Environment, name, at, value)
}

fn reading(text: &str, layers: Vec<Layer>) -> Read {
    read(&Source::new("plan.toml", text), Path::new("/nowhere"), &Layers::new(layers))
}

/// The plan of a text among layers; what is said of it is no more than notes.
#[track_caller]
fn resolved(text: &str, layers: Vec<Layer>) -> Plan {
    let read = reading(text, layers);
    let notes = read.findings.iter().all(|finding| finding.severity == Severity::Note);
    assert!(notes, "{:#?}", read.findings);
    read.plan.expect("no error, so a plan")
}

/// Findings as lines: file, what stands there, rule, message, help.
fn said(text: &str, layers: Vec<Layer>) -> Vec<String> {
    let sources: Vec<Source> = layers.iter().map(|layer| layer.source.clone()).collect();
    let sources: Vec<Source> =
        [Source::new("plan.toml", text)].into_iter().chain(sources).collect();
    let line = |finding: sop::finding::Finding| {
        let source = sources.iter().find(|source| source.file == finding.file).expect("a source");
        let place = finding.span.map_or_else(String::new, |span| {
            let (line, column) = source.position(span.start);
            format!(":{line}:{column} <{}>", &source.text[span])
        });
        let help = finding.help.map(|help| format!("; {help}")).unwrap_or_default();
        format!("{}{place} {}: {}{help}", finding.file, finding.code, finding.message)
    };
    reading(text, layers).findings.into_iter().map(line).collect()
}

#[test]
fn a_delivery_of_the_plans_own_takes_the_place_of_a_layers_whole() {
    let layer = || vec![repository("[delivery]\nremote = \"upstream\"\ndraft = true\n")];
    let lent = resolved(GOOD, layer()).delivery.expect("the layer's");
    assert_eq!((lent.remote.as_str(), lent.draft), ("upstream", true));
    let own = resolved(&good_but("[[wp]]", "[delivery]\n[[wp]]"), layer()).delivery.unwrap();
    assert_eq!((own.remote.as_str(), own.draft), ("origin", false));
}

#[test]
fn each_layer_goes_before_those_below_it() {
    let written = good_but("goal =", "max_parallel = 5\ngoal =");
    let layers = || {
        vec![
            Layer::said(Whose::Flag, "--max-parallel", "/defaults/max_parallel", "7"),
            variable("SOP_MAX_PARALLEL", "6"),
            repository("defaults.max_parallel = 3"),
            user("defaults.max_parallel = 2"),
        ]
    };
    // Whatever the order in which they are given.
    for keep in 0..=4 {
        let top = |text| resolved(text, layers().into_iter().skip(keep).collect()).max_parallel;
        assert_eq!(top(&written), [7, 6, 5, 5, 5][keep]);
        assert_eq!(top(GOOD), [7, 6, 3, 2, 4][keep]);
    }
}

#[test]
fn every_default_reaches_the_plan() {
    let config = include_str!("corpus/config/everything.toml");
    let text = good_but(
        "[workers.codemod]\ncommand = [\"scripts/codemod.sh\", \"{{ wp.id }}\"]\n[tiers.light]\nworker = \"codemod\"\n",
        "",
    );
    let plan = resolved(&text, vec![repository(config)]);
    assert_eq!((plan.max_parallel, plan.approval), (8, Approval::Auto));
    assert_eq!(format!("{:?} {:?}", plan.checkout, plan.autonomy), "Frozen Defaults");
    assert_eq!(plan.decide_within.unwrap().to_string(), "2h");
    assert_eq!(plan.provision.timeout.to_string(), "20m");
    let wp = &plan.wps[0];
    assert_eq!((wp.tier.as_str(), wp.rounds, wp.template.as_str()), ("light", 2, "change"));
    assert!(
        matches!(&wp.review, Review::Command { command, .. } if command[0] == "scripts/review.sh")
    );
    assert_eq!(plan.tiers.len(), 2, "light, and lead after it");
    assert_eq!(plan.workers.len(), 2);
}

#[test]
fn what_is_built_in_is_what_settings_say() {
    let plan = resolved(GOOD, Vec::new());
    let all = settings(None, &Layers::default());
    let value = |key: &str| {
        let setting = all.iter().find(|setting| setting.key == key).expect(key);
        assert_eq!((setting.from, &setting.at), (Level::BuiltIn, &None));
        setting.value.as_str().map_or_else(|| setting.value.to_string(), str::to_owned)
    };
    assert_eq!(value("defaults.max_parallel"), plan.max_parallel.to_string());
    assert_eq!(value("defaults.rounds"), plan.wps[0].rounds.to_string());
    assert_eq!(value("defaults.template"), plan.wps[0].template);
    assert_eq!(value("provision.timeout"), plan.provision.timeout.to_string());
    let word = |key: &str| value(key).to_lowercase();
    assert_eq!(word("defaults.approval"), format!("{:?}", plan.approval).to_lowercase());
    assert_eq!(word("defaults.checkout"), format!("{:?}", plan.checkout).to_lowercase());
    assert_eq!(word("defaults.autonomy"), format!("{:?}", plan.autonomy).to_lowercase());
    assert_eq!(word("defaults.review"), format!("{:?}", plan.wps[0].review).to_lowercase());
    let asked = good_but("goal =", "autonomy = \"defaults\"\ngoal =");
    let asked = resolved(&asked, Vec::new()).decide_within.unwrap();
    assert_eq!(value("defaults.decide_within"), asked.to_string());
    assert_eq!(value("defaults.tier"), "null");
    assert_eq!(all.len(), VARIABLES.len(), "a setting, a variable");
}

#[test]
fn a_table_of_the_plan_takes_the_place_of_another_whole() {
    let config = "[tiers.light]\nworker = \"codex\"\nmodel = \"m\"\n\
                  [workers.codemod]\ncommand = [\"other\"]\nenv = { A = \"1\" }\n";
    let plan = resolved(GOOD, vec![repository(config)]);
    let (tier, worker) =
        (plan.tiers.values().next().unwrap(), plan.workers.values().next().unwrap());
    assert_eq!((tier.worker.as_str(), &tier.model), ("codemod", &None));
    assert!(
        matches!(&worker.does, Does::Command { command, .. } if command[0] == "scripts/codemod.sh")
    );
    assert!(worker.env.is_empty());
    // Of two config files the repository's.
    let theirs = "[tiers.mine]\nworker = \"codex\"\nmodel = \"m\"\n";
    let text = good_but("whitelist", "tier = \"mine\"\nwhitelist");
    let plan = resolved(&text, vec![user(theirs), repository("[tiers.mine]\nworker = \"claude\"")]);
    let mine = plan.tiers.iter().find(|(name, _)| name.as_str() == "mine").unwrap().1;
    assert_eq!((mine.worker.as_str(), &mine.model), ("claude", &None));
}

#[test]
fn what_nothing_uses_is_no_part_of_the_plan() {
    let config = "[defaults]\ntier = \"heavy\"\n[review]\ntier = \"gone\"\n[tiers.heavy]\nworker = \"codex\"\n\
                  fallback = [\"nowhere\"]\n[workers.idle]\ncommand = [\"x\"]\n[tiers.idle]\nworker = \"nobody\"\n";
    let text = good_but("whitelist", "review = \"none\"\nwhitelist");
    assert_eq!(said(&text, vec![user(config)]), [""; 0]);
    assert_eq!(resolved(&text, vec![user(config)]), resolved(&text, Vec::new()));
    // A default that idles here does its work in other plans.
    assert_eq!(said(GOOD, vec![repository("defaults.decide_within = \"2h\"")]), [""; 0]);
}

#[test]
fn a_plan_that_declares_one_tier_means_that_one() {
    let config = "defaults.tier = \"heavy\"\n[tiers.heavy]\nworker = \"codex\"\n";
    let tier = |text: &str, layers| resolved(text, layers).wps[0].tier.to_string();
    assert_eq!(tier(GOOD, vec![repository(config)]), "light");
    assert_eq!(
        tier(GOOD, vec![repository(config), variable("SOP_DEFAULT_TIER", "heavy")]),
        "heavy"
    );
    let two = good_but("[[wp]]", "[tiers.other]\nworker = \"codemod\"\n[[wp]]");
    assert_eq!(tier(&two, vec![repository(config)]), "heavy");
    let none = good_but("[tiers.light]\nworker = \"codemod\"\n", "");
    assert_eq!(tier(&none, vec![repository("[tiers.only]\nworker = \"codex\"\n")]), "only");
}

#[test]
fn a_review_table_says_more_than_a_review_below_it() {
    let review = |text: &str, layers| resolved(text, layers).wps[0].review.clone();
    let table = "\n[review]\ntier = \"light\"\n";
    let with = format!("{GOOD}{table}");
    let lent = format!("{table}[tiers.light]\nworker = \"codex\"\n");
    let human = || repository("defaults.review = \"human\"");
    assert_eq!(review(GOOD, vec![human()]), Review::Human);
    assert!(matches!(review(&with, vec![human()]), Review::Worker { .. }));
    assert!(matches!(review(GOOD, vec![repository(&lent)]), Review::Worker { .. }));
    let user = user("defaults.review = \"human\"");
    assert!(matches!(review(GOOD, vec![user, repository(&lent)]), Review::Worker { .. }));
    assert_eq!(review(&with, vec![variable("SOP_REVIEW", "human")]), Review::Human);
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    assert_eq!(
        said(GOOD, vec![repository("[defaults]\nmax_paralel = 3\nrounds = 9\n[plan]\n")]),
        [
            ".sop/config.toml:2:1 <max_paralel> unknown-key: `max_paralel` is not a key of `[defaults]`; did you mean \
             `max_parallel`? the keys here are `approval`, `autonomy`, `checkout`, `decide_within`, `lead_may_fix`, `max_parallel`, \
             `review`, `rounds`, `session_split`, `template` and `tier`",
            ".sop/config.toml:3:10 <9> out-of-range: `rounds` must be from 1 to 3, not 9",
            ".sop/config.toml:4:2 <plan> unknown-key: `plan` is not a key of the config file; the keys here are \
             `critic`, `defaults`, `delivery`, `provision`, `review`, `tiers` and `workers`",
        ]
    );
    let text = good_but("whitelist", "tier = \"heavy\"\nwhitelist");
    let heavy = "[tiers.heavy]\nworker = \"claud\"\n[tiers.idle]\nworker = \"codx\"\n";
    assert_eq!(
        said(&text, vec![repository(heavy)]),
        [
            ".sop/config.toml:2:10 <\"claud\"> unknown-worker: there is no worker `claud`; did you mean `claude`?"
        ]
    );
    assert_eq!(
        said(&good_but("whitelist", "tier = \"hevy\"\nwhitelist"), vec![repository(heavy)]),
        ["plan.toml:11:8 <\"hevy\"> unknown-tier: there is no tier `hevy`; did you mean `heavy`?"]
    );
    assert_eq!(
        said(GOOD, vec![variable("SOP_MAX_PARALLEL", "many")])[0],
        "SOP_MAX_PARALLEL:1:25 <\"many\"> wrong-type: `max_parallel` must be a whole number, not a string; For example: \
         `max_parallel = 8`"
    );
}

/// What cannot be read may hold what the plan names: that is not said to be missing.
#[test]
fn a_config_that_cannot_be_read_brings_no_further_findings() {
    let text = good_but("whitelist", "tier = \"heavy\"\nwhitelist");
    for config in ["[tiers.heavy\n", "tiers = 3\n", "[tiers.heavy]\nworke = \"codex\"\n"] {
        let found = said(&text, vec![repository(config)]);
        assert!(found.iter().all(|line| line.starts_with(".sop/config.toml:")), "{found:#?}");
        assert!(!found.is_empty());
    }
    let other = Source::new(".sop/config.toml", "\u{fffd}");
    let finding = sop::finding::Finding::error("not-utf8", &other.file, "no").at(0..3);
    let layer = Layer::unreadable(Whose::Repository, other, finding);
    assert_eq!(said(&text, vec![layer]).len(), 1);
}

#[test]
fn what_comes_from_the_user_is_named() {
    let text = good_but("whitelist", "tier = \"heavy\"\nwhitelist");
    let mine = "defaults.rounds = 2\ndefaults.tier = \"heavy\"\n[tiers.heavy]\nworker = \"my\"\n\
                [tiers.idle]\nworker = \"my\"\n[workers.my]\ncommand = [\"x\"]\n";
    assert_eq!(
        said(&text, vec![user(mine), variable("SOP_MAX_PARALLEL", "2")]),
        [
            format!(
                "plan.toml user-config: `defaults.rounds`, `tiers.heavy` and `workers.my` come from your own config {USER}, \
                 which others do not have; say it in the plan or in `.sop/config.toml`; `--no-user-config` checks without"
            ),
            "plan.toml user-config: `defaults.max_parallel` comes from SOP_MAX_PARALLEL in your environment, which others do \
             not have; unset it, or say it in the plan; `--no-user-config` checks without"
                .to_owned(),
        ]
    );
    assert_eq!(said(&text, vec![user(mine), repository(mine)]), [""; 0]);
    let flag = Layer::said(Whose::Flag, "--max-parallel", "/defaults/max_parallel", "7");
    assert_eq!(said(GOOD, vec![flag]), [""; 0]);
}

#[test]
fn settings_say_which_line_decides() {
    let plan = Source::new("plan.toml", good_but("goal =", "rounds = 1\ngoal ="));
    let layers = Layers::new(vec![
        user(
            "[defaults]\nrounds = 3\napproval = \"auto\"\n[tiers.light]\nmodel = \"m\"\nworker = \"codex\"\n",
        ),
        repository("[tiers.heavy]\n\nworker = \"codex\"\n[provision]\ntimeout = \"1m\"\n"),
        variable("SOP_TEMPLATE", "quo\"ted \u{7f}"),
    ]);
    let line = |key: &str, plan: Option<&Source>| {
        let all = settings(plan, &layers);
        let setting = all.iter().find(|setting| setting.key == key)?;
        let at = setting.at.as_ref()?;
        let line = at.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(format!("{} {}{line}", setting.value, at.name))
    };
    let with = |key| line(key, Some(&plan)).unwrap_or_default();
    assert_eq!(with("defaults.rounds"), "1 plan.toml:4");
    assert_eq!(with("defaults.approval"), format!("\"auto\" {USER}:3"));
    assert_eq!(with("defaults.tier"), "\"light\" plan.toml:8");
    assert_eq!(with("provision.timeout"), "\"1m\" .sop/config.toml:5");
    assert_eq!(with("tiers.heavy.worker"), "\"codex\" .sop/config.toml:3");
    assert_eq!(
        (with("tiers.light.worker"), with("tiers.light.model")),
        ("\"codemod\" plan.toml:9".to_owned(), String::new())
    );
    assert_eq!(line("tiers.light.model", None).unwrap(), format!("\"m\" {USER}:5"));
    assert_eq!(with("defaults.max_parallel"), "");
}

#[test]
fn a_layer_alone_is_looked_at_as_far_as_it_goes() {
    let config =
        "[tiers.a]\nworker = \"codx\"\nescalate_to = \"a\"\n[workers.w]\nenv = { A = \"1\" }\n";
    let found = Layers::new(vec![repository(config)]).look();
    let found: Vec<_> = found.iter().map(|finding| (finding.code, finding.severity)).collect();
    assert_eq!(
        found,
        [
            ("unknown-worker", Severity::Warning),
            ("tier-cycle", Severity::Error),
            ("unclear-worker", Severity::Error)
        ]
    );
    assert!(Layers::new(vec![user("[review]\ntier = \"x\"\n")]).look().len() == 1);
    assert!(Layers::default().look().is_empty());
}
