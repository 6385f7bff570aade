//! Whatever a report holds, its draft is a plan without an error and without an overlap, which deals with each
//! finding once.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sop::audit::draft::{Around, DraftError, draft};
use sop::finding::Severity as Weight;
use sop::git::Repo;
use sop::model::gap::{Concern, Gap, Ground, GroundKind, Severity};
use sop::model::ids::CommitId;
use sop::model::outcome::{DodClass, End, Ran};
use sop::model::time::Length;
use sop::plan::{Layer, Layers, Source, Whose};
use sop::run::compile::{Purpose, compile};

use super::{gap, report};
use crate::support::git_repo::GitRepo;

/// Paths as reports have them, and as nobody should have them.
fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[abA](/[abcB]{1,2}){0,2}",
        1 => "[a-c]{1,3}[*?\\[\\]{},!^ -]{1,2}[a-c]{0,2}",
        1 => "\\PC{1,6}",
        1 => prop::sample::select(vec![
            "/abs", "../up", "a//b", "a/", "!not", "a\\x1b", ".git/config", "C:/x", "-rf", "a b/c d", "\u{202e}x", "**", "",
        ]).prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "\\PC{0,20}",
        1 => prop::sample::select(vec![
            "", "\"\"\"\nversion = 2\n", "```\n# x", "{{ 7 * 7 }} {% include \"change\" %}", "\u{1b}[2J\u{202e}", "\0", "\\", "[[wp]]\nid = \"x\"",
        ]).prop_map(str::to_owned),
    ]
}

fn finding(n: usize) -> impl Strategy<Value = Gap> {
    let words = (text(), text(), text(), text());
    let about = (
        prop::sample::select(&Severity::ALL[..]),
        prop::sample::subsequence(&Concern::ALL[..], 0..4),
    );
    let after = prop::collection::vec(0..n + 3, 0..3);
    (path(), prop::collection::vec(path(), 0..3), words, about, after).prop_map(
        move |(path, files, (title, quote, evidence, fix), (severity, concerns), after)| {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            Gap { title, quote, evidence, fix, severity, concerns, ..gap(n, &path, &files, &after) }
        },
    )
}

fn ground() -> impl Strategy<Value = Ground> {
    let kinds = vec![GroundKind::Setup, GroundKind::Lint, GroundKind::Named];
    let classes = vec![DodClass::Green, DodClass::Red, DodClass::Broken];
    let run = prop_oneof![Just("true".to_owned()), "[a-z]{1,4} '[^'\\x00-\\x1f]{0,6}'"];
    (prop::sample::select(kinds), prop::sample::select(classes), run, 0_u64..100_000).prop_map(
        |(kind, class, run, took)| {
            let end = End::Exit { code: i32::from(class != DodClass::Green) };
            let log = String::new();
            let ran = Ran { run, end, lines: 0, log, log_error: None, took: Length::secs(took) };
            Ground { kind, from: String::new(), class, ran, tail: Vec::new() }
        },
    )
}

fn findings() -> impl Strategy<Value = Vec<Gap>> {
    (1_usize..14).prop_flat_map(|n| (1..=n).map(finding).collect::<Vec<_>>())
}

fn any_report_drafts_to_a_plan_without_errors(
    repo: &Repo,
    head: &CommitId,
    before: &str,
    rig: &GitRepo,
) {
    let config = "[tiers.light]\nworker = \"claude\"\n[tiers.standard]\nworker = \"codex\"\n";
    let settings = [
        (
            vec!["light".to_owned(), "standard".to_owned()],
            Layers::new(vec![Layer::read(Whose::Repository, Source::new("config.toml", config))]),
        ),
        (Vec::new(), Layers::default()),
    ];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(192));
    let cases = (findings(), prop::collection::vec(ground(), 0..4), any::<bool>(), any::<bool>());
    let done = runner.run(&cases, |(findings, ground, stands, configured)| {
        let (tiers, layers) = &settings[usize::from(!configured)];
        let mut report = report(head.as_str(), findings);
        report.ground = ground;
        let around =
            Around { name: "gaps", tiers, stands_at: stands.then_some(head), instructions: &[] };
        let draft = match draft(&report, &around) {
            Ok(draft) => draft,
            Err(DraftError::Nothing) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let source = Source::new("plan.toml", draft.plan.clone());
        let outcome = compile(&source, &rig.main(), layers, Some(repo), Purpose::Check);
        let outcome = outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let (undecided, others): (Vec<_>, Vec<_>) =
            outcome.findings.iter().partition(|it| it.code == "undecided");
        prop_assert_eq!(undecided.len(), draft.undecided.len(), "{}", draft.plan);
        let wrong: Vec<_> = others.into_iter().filter(|it| it.severity > Weight::Note).collect();
        prop_assert!(wrong.is_empty(), "{wrong:#?}\n{}", draft.plan);
        let compiled = outcome.compiled.expect("a plan without errors");
        prop_assert!(compiled.possible.is_empty(), "{:?}", compiled.possible);
        // Each finding is in one package or told to be in none, and each file in one whitelist.
        let dealt: Vec<&String> = draft.wps.iter().flat_map(|wp| &wp.findings).collect();
        let all: BTreeSet<&String> = dealt.iter().copied().chain(&draft.left_out).collect();
        prop_assert_eq!(all.len(), report.findings.len());
        prop_assert_eq!(dealt.len() + draft.left_out.len(), report.findings.len());
        for gap in report.findings.iter().filter(|gap| !draft.left_out.contains(&gap.id)) {
            for file in &gap.files {
                let may = |n: &usize| compiled.whitelists[*n].matches(file.as_bytes());
                let who: Vec<usize> = (0..compiled.plan.wps.len()).filter(may).collect();
                prop_assert_eq!(who.len(), 1, "{} in {}", file, &draft.plan);
                prop_assert!(draft.wps[who[0]].findings.contains(&gap.id));
            }
        }
        // What scouts wrote reaches the brief as it is, and the plan knows which findings it deals with.
        for (wp, drafted) in compiled.plan.wps.iter().zip(&draft.wps) {
            prop_assert_eq!(&wp.brief, &drafted.brief);
            prop_assert_eq!(&wp.findings, &drafted.findings);
        }
        Ok(())
    });
    assert_eq!(rig.checkout_state(), before);
    done.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_report_drafts_to_a_plan_that_validates() {
    let rig = GitRepo::new("mkdir -p a b; echo x > a/a; echo x > b/b; echo x > 'a b'");
    let before = rig.checkout_state();
    let (repo, head) = (rig.repo(), rig.head());
    any_report_drafts_to_a_plan_without_errors(&repo, &head, &before, &rig);
}
