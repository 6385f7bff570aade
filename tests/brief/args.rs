//! Command lines of workers: one argument stays one, and no shell reads what a plan wrote.

use sop::brief::args::{ArgContext, check, render};
use sop::model::ids::{CommitId, RunId};
use sop::model::plan::Plan;

use crate::support::small_plan::staged;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&w| w.to_owned()).collect()
}

fn rendered(plan: &Plan, args: &[&str]) -> Result<Vec<String>, String> {
    let context = ArgContext {
        plan,
        wp: &plan.wps[0],
        tier: &plan.wps[0].tier,
        run: &RunId::new("settings-1").unwrap(),
        base: &CommitId("ab".repeat(20)),
        round: 2,
        attempt: 3,
        brief_file: "/run/briefs/client.md",
        report_file: "/run/reports/client.md",
        verdict_file: None,
    };
    render(&words(args), &context).map_err(|e| e.to_string())
}

fn plan() -> Plan {
    let mut plan = staged(&["one"], &[("client", "one", None)]);
    plan.wps[0].title = "a \"b\"; $(rm -rf .) {{ x }}".to_owned();
    plan.wps[0].vars.insert("old".to_owned(), "Client".to_owned());
    plan
}

/// What is wrong with a command line, with what is marked.
fn faults(args: &[&str]) -> Vec<String> {
    let draw = |e: sop::brief::args::ArgError| {
        let marked = e.span.clone().map_or("", |s| &args[e.index][s]);
        let near = e.suggestion.as_deref().unwrap_or_default();
        format!("{e} [{marked}] {near}")
    };
    check(&words(args)).into_iter().map(draw).collect()
}

#[test]
fn values_stand_in_their_own_argument() {
    let args = [
        "work",
        "{{ wp.id }}",
        "--model={{ tier.model }}",
        "{{ wp.title }}",
        "",
        "{{ wp.vars.old }}",
        "{{ run.id }}/{{ round }}.{{ attempt }}",
        "{{ brief_file }}",
        "{{ report_file }}",
        "{{ plan.name }}@{{ base }}",
        "{% if tier.effort %}{{ tier.effort }}{% else %}none{% endif %}",
    ];
    assert!(faults(&args).is_empty());
    let base = "ab".repeat(20);
    assert_eq!(
        rendered(&plan(), &args).unwrap(),
        [
            "work",
            "client",
            "--model=small",
            "a \"b\"; $(rm -rf .) {{ x }}",
            "",
            "Client",
            "settings-1/2.3",
            "/run/briefs/client.md",
            "/run/reports/client.md",
            &format!("settings@{base}"),
            "none",
        ]
    );
}

#[test]
fn a_missing_value_is_an_error_and_not_an_empty_word() {
    insta::assert_debug_snapshot!([
        rendered(&plan(), &["work", "--effort", "{{ tier.effort }}"]),
        rendered(&plan(), &["work", "{{ wp.vars.new }}"]),
        rendered(&plan(), &["work", "{{ verdict_file }}"]),
    ], @r#"
[
    Err(
        "argument 2 of the command: `tier.effort` has no value here; guard it with `{% if … %}`",
    ),
    Err(
        "argument 1 of the command: `wp.vars.new` is undefined",
    ),
    Err(
        "argument 1 of the command: `verdict_file` has no value here; guard it with `{% if … %}`",
    ),
]
"#);
}

#[test]
fn all_faults_of_a_command_are_found_with_their_place() {
    insta::assert_debug_snapshot!(
        faults(&["work", "{{ wp.idd }}", "{{ brief_fiel }}", "{{ wp.id", "{{ wp.vars.any }}"]),
        @r#"
[
    "argument 1 of the command: `wp.idd` is undefined [wp.idd] wp.id",
    "argument 2 of the command: `brief_fiel` is undefined [brief_fiel] brief_file",
    "argument 3 of the command: syntax error: unexpected end of input, expected end of variable block [id] ",
]
"#
    );
}

#[test]
fn no_shell_reads_what_a_plan_wrote() {
    insta::assert_debug_snapshot!(faults(&["/bin/sh", "-c", "echo {{ wp.title }}"]), @r#"
[
    "argument 2 of the command: the shell would run whatever `wp.title` holds; hand it over as an argument after the script, `\"{{ wp.title }}\"`, and use `\"$1\"` in the script [wp.title] ",
]
"#);
    assert!(rendered(&plan(), &["env", "A=1", "bash", "-ec", "echo {{ wp.title }}"]).is_err());
    let by_id = ["sh", "-c", "echo {{ wp.id }} {{ round }}"];
    assert_eq!(rendered(&plan(), &by_id).unwrap()[2], "echo client 2");
    let as_argument = ["sh", "-c", "echo \"$1\"", "sh", "{{ wp.title }}"];
    assert!(faults(&as_argument).is_empty());
}

#[test]
fn a_value_with_a_nul_is_refused() {
    let mut plan = plan();
    plan.wps[0].title = "a\0b".to_owned();
    assert!(rendered(&plan, &["work", "{{ wp.title }}"]).unwrap_err().contains("NUL"));
}
