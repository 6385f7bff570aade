//! Templates tried before anything runs: what does not compile, asks for a variable that there
//! never is, or fails on a first or a later round.

use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::Value;

use crate::finding::{Finding, any_error};
use crate::model::plan::{Plan, Wp};

use super::context::{Answer, Context, Correction, LessonLine, ScoutReport, WiringLine};
use super::request::{REQUEST, RequestContext, RequestWp};
use super::review::{ReviewContext, SentBack, VERIFY};
use super::{Briefs, RenderError, Template, UnknownTemplate, engine, sample};

/// What is wrong with the templates of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateFault {
    /// A WP names a template that is not there.
    Unknown {
        /// The WP, as an index into the plan's.
        wp: usize,
        /// What it names, and what there is.
        error: UnknownTemplate,
    },
    /// The template is wrong for whatever WP. The finding is in the template's file, whose text is
    /// [`Briefs::text`].
    Template(Finding),
    /// The template is right, but not for this WP: it asks for one of `vars` that the WP lacks.
    Wp {
        /// The WP, as an index into the plan's.
        wp: usize,
        /// Where in the template, and what is missing.
        error: RenderError,
    },
}

impl Briefs {
    /// Everything that is wrong with a template itself, whichever WP it is for.
    ///
    /// # Errors
    /// If there is no template of that name.
    pub fn check(&self, name: &str) -> Result<Vec<Finding>, UnknownTemplate> {
        let template = self.template(name)?;
        let compiled = match self.env.get_template(name) {
            Ok(compiled) => compiled,
            Err(e) => return Ok(vec![finding("template-syntax", self.place(name, &e))]),
        };
        let full = sample::full();
        let known = value(&full, &full.wps[0], Round::Later, Some(sample::any_vars()));
        let mut findings = self.unknown(template, &compiled, &known);
        // A trial would stop at the first of these again.
        if findings.is_empty() {
            match self.trial(name) {
                Err(e) => findings.push(finding("template-render", e)),
                Ok(later) => findings.extend(left_out(template, &later)),
            }
        }
        Ok(findings)
    }

    /// Everything that is wrong with a template that a review looks through: a lens, or the last look at
    /// the whole.
    ///
    /// # Errors
    /// If there is no template of that name.
    pub fn check_review(&self, name: &str) -> Result<Vec<Finding>, UnknownTemplate> {
        let template = self.template(name)?;
        let compiled = match self.env.get_template(name) {
            Ok(compiled) => compiled,
            Err(e) => return Ok(vec![finding("template-syntax", self.place(name, &e))]),
        };
        let of_wp = name != VERIFY;
        let full = sample::full();
        let known = review(&full, of_wp, Round::Later);
        let mut findings = self.unknown(template, &compiled, &known);
        if findings.is_empty() {
            let first = self.body(name, review(&sample::bare(), of_wp, Round::First));
            let failed = first.and_then(|_| self.body(name, known)).err();
            findings.extend(failed.map(|e| finding("template-render", e)));
        }
        Ok(findings)
    }

    /// Everything that is wrong with the template of requests.
    #[must_use]
    pub fn check_request(&self) -> Vec<Finding> {
        let Ok(template) = self.template(REQUEST) else { return Vec::new() };
        let compiled = match self.env.get_template(REQUEST) {
            Ok(compiled) => compiled,
            Err(e) => return vec![finding("template-syntax", self.place(REQUEST, &e))],
        };
        let (full, bare) = (sample::full(), sample::bare());
        let known = request(&full, Round::Later);
        let mut findings = self.unknown(template, &compiled, &known);
        if findings.is_empty() {
            let first = self.body(REQUEST, request(&bare, Round::First));
            let failed = first.and_then(|_| self.body(REQUEST, known)).err();
            findings.extend(failed.map(|e| finding("template-render", e)));
        }
        findings
    }

    /// Variables that there never are.
    fn unknown(
        &self,
        template: &Template,
        compiled: &minijinja::Template<'_, '_>,
        known: &Value,
    ) -> Vec<Finding> {
        let unknown =
            compiled.undeclared_variables(true).into_iter().filter(|path| !self.is_global(path));
        let mut findings: Vec<Finding> =
            unknown.filter_map(|path| unknown_variable(template, known, &path)).collect();
        findings.sort_by_key(|f| (f.span.as_ref().map(|s| s.start), f.message.clone()));
        findings
    }

    /// Everything that is wrong with the templates that `plan` names: each template once, then each
    /// WP whose variables do not fit its template.
    #[must_use]
    pub fn check_plan(&self, plan: &Plan) -> Vec<TemplateFault> {
        let mut by_template: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, wp) in plan.wps.iter().enumerate() {
            by_template.entry(&wp.template).or_default().push(i);
        }
        let mut faults = Vec::new();
        for (name, wps) in by_template {
            match self.check(name) {
                Err(error) => faults.extend(
                    wps.into_iter().map(|wp| TemplateFault::Unknown { wp, error: error.clone() }),
                ),
                Ok(findings) => {
                    if !any_error(&findings) {
                        faults.extend(self.misfits(name, plan, &wps));
                    }
                    faults.extend(findings.into_iter().map(TemplateFault::Template));
                }
            }
        }
        faults
    }

    /// WPs with the same names in `vars` fare alike, and so one of each kind is tried.
    fn misfits(&self, name: &str, plan: &Plan, wps: &[usize]) -> Vec<TemplateFault> {
        let mut tried: BTreeMap<Vec<&String>, Option<RenderError>> = BTreeMap::new();
        let mut faults = Vec::new();
        for &wp in wps {
            let it = &plan.wps[wp];
            let outcome = tried.entry(it.vars.keys().collect()).or_insert_with(|| {
                let on = |round| self.body(name, value(plan, it, round, None)).err();
                on(Round::First).or_else(|| on(Round::Later))
            });
            faults.extend(outcome.clone().map(|error| TemplateFault::Wp { wp, error }));
        }
        faults
    }

    /// A later round's text, if a first and a later round can be rendered.
    fn trial(&self, name: &str) -> Result<String, RenderError> {
        let (full, bare) = (sample::full(), sample::bare());
        let on = |plan: &Plan, round| {
            self.body(name, value(plan, &plan.wps[0], round, Some(sample::any_vars())))
        };
        on(&bare, Round::First)?;
        on(&full, Round::Later)
    }

    fn is_global(&self, path: &str) -> bool {
        let root = path.split('.').next().unwrap_or(path);
        self.env.globals().any(|(name, _)| name == root)
    }
}

/// What a brief is for, and yet does not stand in it.
fn left_out(template: &Template, later: &str) -> Vec<Finding> {
    let warn = |text: &str, name: &str, message: &str| {
        (!later.contains(text)).then(|| {
            Finding::warning("template-leaves-out", &template.file, message).help(format!(
                "print `{name}` somewhere, or start from `{{% extends \"builtin/change\" %}}`"
            ))
        })
    };
    let brief = warn(sample::BRIEF, "brief", "the task itself does not appear in this template");
    let problems = warn(
        sample::PROBLEM,
        "problems",
        "a second round would not say what was wrong with the first",
    );
    brief.into_iter().chain(problems).collect()
}

/// Which round a trial is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// No problems, no reports.
    First,
    /// Both.
    Later,
}

/// What a template sees of `wp` in a run that never was; with `vars`, those in place of its own.
fn value(plan: &Plan, wp: &Wp, round: Round, vars: Option<Value>) -> Value {
    let run = sample::run();
    let reports = [ScoutReport { wp: &run.scout, text: "Sample." }];
    let later = round == Round::Later;
    let answers = [Answer { question: "Sample?", answer: "Sample." }];
    let notes = [Correction { at: sample::instant(), text: "Sample." }];
    let wiring = [WiringLine { wp: &run.scout, file: "sample", lines: "Sample." }];
    let paths = ["sample".to_owned()];
    let lessons = [LessonLine { date: "Sample.", paths: &paths, text: "Sample." }];
    let context = Context {
        plan,
        wp,
        stage: &wp.stage,
        tier: &wp.tier,
        run: &run.id,
        base: &run.base,
        round: if later { 2 } else { 1 },
        problems: if later { &run.problems } else { &[] },
        reports: if later { &reports } else { &[] },
        report_file: "/run/reports/sample.md",
        answers: if later { &answers } else { &[] },
        notes: if later { &notes } else { &[] },
        wiring: if later { &wiring } else { &[] },
        lessons: if later { &lessons } else { &[] },
        cut_off: later.then_some("the provider failed"),
    };
    match vars {
        Some(vars) => context.value_with(vars),
        None => context.value(),
    }
}

/// What a reviewer's template sees in a run that never was.
fn review(plan: &Plan, of_wp: bool, round: Round) -> Value {
    let run = sample::run();
    let later = round == Round::Later;
    let notes = [Correction { at: sample::instant(), text: "Sample." }];
    let ran = [sample::ran_before()];
    let earlier = [SentBack { number: 1, findings: run.problems.iter().collect() }];
    let context = ReviewContext {
        plan,
        wp: of_wp.then_some(&plan.wps[0]),
        tier: &plan.wps[0].tier,
        run: &run.id,
        base: &run.base,
        round: if later { 2 } else { 1 },
        diff: b"Sample.",
        diff_file: "/run/verdicts/sample.diff",
        brief_file: "/run/briefs/sample.md",
        ran: if later { &ran } else { &[] },
        earlier: if later { &earlier } else { &[] },
        notes: if later { &notes } else { &[] },
    };
    context.value()
}

/// What the template of requests sees in a run that never was.
fn request(plan: &Plan, round: Round) -> Value {
    let run = sample::run();
    let ran = sample::ran_before().ran;
    let later = round == Round::Later;
    let some = |ran| if later { vec![ran] } else { Vec::new() };
    let context = RequestContext {
        plan,
        run: &run.id,
        base: &run.base,
        commit: &run.base,
        whole: later,
        wps: vec![RequestWp {
            wp: &plan.wps[0],
            paths: 1,
            ran: some(&ran),
            approved_by: later.then_some("sample"),
        }],
        on_whole: some(&ran),
        left_out: if later { vec![(&run.scout, "Sample.".to_owned())] } else { Vec::new() },
        notes: if later { vec!["Sample."] } else { Vec::new() },
    };
    context.value()
}

/// The finding for a variable, if it is one that there never is.
fn unknown_variable(template: &Template, known: &Value, path: &str) -> Option<Finding> {
    let mut here = known.clone();
    let mut walked = String::new();
    for part in path.split('.') {
        // Attributes of texts and lists are methods, which a trial finds out.
        if here.kind() != minijinja::value::ValueKind::Map {
            return None;
        }
        let next = here.get_attr(part).unwrap_or(Value::UNDEFINED);
        if !next.is_undefined() {
            if !walked.is_empty() {
                walked.push('.');
            }
            walked.push_str(part);
            here = next;
            continue;
        }
        let mut names: Vec<String> =
            here.try_iter().into_iter().flatten().map(|k| k.to_string()).collect();
        names.sort();
        let (what, message) = if walked.is_empty() {
            ("variables", format!("there is no variable `{part}`"))
        } else {
            ("its keys", format!("`{walked}` has no `{part}`"))
        };
        let mut finding = Finding::error("template-unknown-variable", &template.file, message)
            .help(format!("{what}: {}", names.join(", ")));
        if let Some(span) = find(&template.text, path) {
            let shorter: usize = path.len() - walked.len() - usize::from(!walked.is_empty());
            let start = span.end - shorter;
            finding = finding.at(start..start + part.len());
            if let Some(near) = engine::near(part, names.iter().map(String::as_str)) {
                finding = finding.suggest(near);
            }
        }
        return Some(finding);
    }
    None
}

/// Where `path` stands in a tag of the template. The engine's analysis names variables without
/// saying where they are.
fn find(text: &str, path: &str) -> Option<Range<usize>> {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(path).map(|(start, _)| start..start + path.len()).find(|r| {
        let (before, after) = (&text[..r.start], &text[r.end..]);
        let last = |open: &str| before.rfind(open).map_or(0, |i| i + 1);
        last("{{").max(last("{%")) > last("}}").max(last("%}"))
            && !before.ends_with(|c| in_name(c) || c == '.')
            && !after.starts_with(in_name)
    })
}

fn finding(code: &'static str, error: RenderError) -> Finding {
    let finding = Finding::error(code, &error.file, error.message);
    match error.span {
        Some(span) => finding.at(span),
        None => finding,
    }
}
