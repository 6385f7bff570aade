//! What is said about a template that is wrong, before anything runs.

use sop::brief::{BriefError, Briefs, Context, TemplateFault};
use sop::finding::Finding;
use sop::model::ids::{CommitId, RunId};

use super::briefs;
use crate::support::small_plan::{staged, wp};

/// Findings about one template text as `line: code: message [what is marked] -> suggestion`.
fn findings(text: &str) -> Vec<String> {
    let briefs = briefs(&[("own", text)]);
    let draw = |f: &Finding| {
        assert_eq!(f.file, ".sop/templates/own.md.j2");
        assert_eq!(briefs.text(&f.file), Some(text));
        let marked = f.span.clone().map_or("", |s| &text[s]);
        let line = f.span.as_ref().map_or(0, |s| text[..s.start].matches('\n').count() + 1);
        let near = f.suggestion.as_ref().map_or(String::new(), |s| format!(" -> {s}"));
        format!("{line}: {}: {} [{marked}]{near}", f.code, f.message)
    };
    briefs.check("own").unwrap().iter().map(draw).collect()
}

/// A template that prints all a brief is for, and then `text`.
fn after_all(text: &str) -> Vec<String> {
    findings(&format!(
        "{{{{ brief }}}}{{% for p in problems %}}{{{{ p.message }}}}{{% endfor %}}\n{text}"
    ))
}

#[test]
fn what_is_built_in_is_right() {
    let briefs = Briefs::built_in();
    let names: Vec<&str> = briefs.names().collect();
    assert_eq!(names, ["audit", "change", "consolidate", "critic", "scout"]);
    for name in names {
        assert_eq!(briefs.check(name).unwrap(), []);
    }
}

#[test]
fn unknown_variables_are_all_found_and_marked() {
    let found = after_all(
        "wp.titel {{ wp.titel }}\n{% if wp.id and pln.name %}{{ wp.vars.any }}{% endif %}\n{{ run.base.foo }}",
    );
    insta::assert_debug_snapshot!(found, @r#"
[
    "2: template-unknown-variable: `wp` has no `titel` [titel] -> title",
    "3: template-unknown-variable: there is no variable `pln` [pln] -> plan",
]
"#);
}

#[test]
fn what_analysis_cannot_see_a_trial_does() {
    insta::assert_debug_snapshot!([
        after_all("{% for p in problems %}\n{{ p.mesage }}{% endfor %}"),
        after_all("{% for r in reports %}{{ r.text | fence2 }}{% endfor %}"),
        after_all("{{ tier.model }}"),
        after_all("{% for p in problems %}{{ p.subject }}{% endfor %}"),
        after_all("{% include \"nothing\" %}"),
        after_all("{{ wp.dod[0] }}"),
    ], @r#"
[
    [
        "3: template-render: `p.mesage` is undefined [p.mesage]",
    ],
    [
        "2: template-render: unknown filter: filter fence2 is unknown [fence2]",
    ],
    [
        "2: template-render: `tier.model` has no value here; guard it with `{% if … %}` [tier.model]",
    ],
    [
        "2: template-render: `p.subject` has no value here; guard it with `{% if … %}` [p.subject]",
    ],
    [
        "2: template-render: template not found: tried to include non-existing template 'nothing' [include \"nothing\"]",
    ],
    [
        "2: template-render: `wp.dod[0]` is undefined [wp.dod[0]]",
    ],
]
"#);
}

#[test]
fn a_template_that_does_not_compile_is_marked() {
    insta::assert_debug_snapshot!([
        findings("a\n{% if wp.id %}b"),
        findings("{{ wp.id "),
        findings("{% fro x in y %}"),
    ], @r#"
[
    [
        "2: template-syntax: syntax error: unexpected end of input, expected end of block [b]",
    ],
    [
        "1: template-syntax: syntax error: unexpected end of input, expected end of variable block [id]",
    ],
    [
        "1: template-syntax: syntax error: unknown statement fro [fro]",
    ],
]
"#);
}

#[test]
fn what_a_brief_is_for_may_not_be_missing() {
    insta::assert_debug_snapshot!(findings("Hello."), @r#"
[
    "0: template-leaves-out: the task itself does not appear in this template []",
    "0: template-leaves-out: a second round would not say what was wrong with the first []",
]
"#);
    assert_eq!(findings("{% extends \"change\" %}").len(), 0);
}

#[test]
fn guards_and_loops_of_ones_own_are_fine() {
    let text = "{% set n = namespace(x=1) %}{% set n.x = 2 %}{% for i in range(2) %}{{ loop.index }}{{ n.x }}{% endfor %}\
        {% if tier.model %}{{ tier.model }}{% endif %}{% if wp.vars.maybe is defined %}{{ wp.vars.maybe }}{% endif %}\
        {% macro m(a) %}{{ a }}{% endmacro %}{{ m(wp.title | upper) }}{{ wp.whitelist | join(', ') }}";
    assert_eq!(after_all(text), [""; 0]);
}

#[test]
fn a_plan_is_checked_wp_by_wp() {
    let briefs = briefs(&[
        ("lang", "{{ brief }}{{ wp.vars.language }}{{ problems }}"),
        ("bad", "{{ wpp }}"),
    ]);
    let mut plan = staged(&["one"], &[]);
    for (i, template) in ["lang", "lang", "chnage", "bad", "bad", "change"].into_iter().enumerate()
    {
        let mut wp = wp(&format!("w{i}"), "one", None);
        wp.template = template.to_owned();
        plan.wps.push(wp);
    }
    plan.wps[0].vars.insert("language".to_owned(), "Rust".to_owned());
    let said: Vec<String> = briefs
        .check_plan(&plan)
        .iter()
        .map(|fault| match fault {
            TemplateFault::Unknown { wp, error } => format!("{wp}: {error} ({:?})", error.near),
            TemplateFault::Template(finding) => format!("{}: {}", finding.file, finding.message),
            TemplateFault::Wp { wp, error } => format!("{wp}: {error}"),
        })
        .collect();
    insta::assert_debug_snapshot!(said, @r#"
[
    ".sop/templates/bad.md.j2: there is no variable `wpp`",
    "2: there is no template \"chnage\"; there are `audit`, `bad`, `change`, `consolidate`, `critic`, `lang`, `scout`, and a file `.sop/templates/NAME.md.j2` makes one (Some(\"change\"))",
    "1: .sop/templates/lang.md.j2:1: `wp.vars.language` is undefined",
]
"#);
}

#[test]
fn a_failing_render_names_file_and_line() {
    let plan = staged(&["one"], &[("a", "one", None)]);
    let error = |name: &str, text: &str| -> BriefError {
        let context = Context {
            plan: &plan,
            wp: &plan.wps[0],
            stage: &plan.wps[0].stage,
            tier: &plan.wps[0].tier,
            run: &RunId::new("r-1").unwrap(),
            base: &CommitId("0".repeat(40)),
            round: 1,
            problems: &[],
            reports: &[],
            report_file: "/r",
            answers: &[],
            notes: &[],
            wiring: &[],
            lessons: &[],
            cut_off: None,
        };
        briefs(&[("own", text), ("inner", "\n\n{{ wp.nothing }}")])
            .render(name, &context)
            .unwrap_err()
    };
    insta::assert_snapshot!(error("own", "a\n{{ nothing }}"), @r#"
.sop/templates/own.md.j2:2: `nothing` is undefined
  mend the template, or name another with `template = "…"` in the plan
"#);
    insta::assert_snapshot!(error("own", "{% include \"inner\" %}"), @r#"
.sop/templates/inner.md.j2:3: `wp.nothing` is undefined
  mend the template, or name another with `template = "…"` in the plan
"#);
    insta::assert_snapshot!(error("../../etc/passwd", ""), @r#"there is no template "../../etc/passwd"; there are `audit`, `change`, `consolidate`, `critic`, `inner`, `own`, `scout`, and a file `.sop/templates/NAME.md.j2` makes one"#);
}

#[test]
fn a_template_that_is_not_text_is_named() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join(".sop/templates")).unwrap();
    std::fs::write(root.path().join(".sop/templates/x.md.j2"), b"\xff").unwrap();
    let error = Briefs::load(root.path()).err().unwrap().to_string();
    assert!(error.contains("x.md.j2") && error.contains("UTF-8"), "{error}");
    assert_eq!(Briefs::load(&root.path().join("none")).unwrap().names().count(), 5);
}
