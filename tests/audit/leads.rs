//! Leads against a commit: what stands, what is put right, what is rejected, and why.

use bstr::{BString, ByteSlice};
use sop::audit::Scope;
use sop::audit::check::{Checked, Commit, Fault};
use sop::audit::quote::{Lines, NEAR, Span, Stands};
use sop::model::gap::{Concern, Lead, Leads, Severity};
use sop::model::ids::WpId;

use crate::support::checkout::Checkout;
use crate::support::git_repo::GitRepo;

fn lead(path: &str, line: u32, quote: &str) -> Lead {
    Lead {
        path: path.to_owned(),
        line,
        quote: quote.to_owned(),
        severity: Severity::High,
        concern: Concern::Debt,
        title: String::new(),
        evidence: "It is there twice.".to_owned(),
        fix: "Say it once.".to_owned(),
        files: Vec::new(),
        id: None,
        depends_on: Vec::new(),
    }
}

const FILE: &str =
    "one\n\n  fn  two() {\n\tlet three = four(\"five\");\n  }\n}\nlong line with enough words\n";

#[test]
fn a_quote_is_looked_for_without_regard_to_blanks() {
    let lines = Lines::of(FILE.as_bytes());
    let at = |from, to| Stands::There(Span { from, to });
    let near = |from, to| Stands::Near(Span { from, to });
    for (quote, line, stands) in [
        ("fn two() {", 3, at(3, 3)),
        ("   fn two()   {  ", 3, at(3, 3)),
        ("fn two() {\n\n    let three = four(\"five\");\n}", 3, at(3, 5)),
        // Named by its second line, it still reaches across that.
        ("fn two() {\nlet three = four(\"five\");", 4, at(3, 4)),
        ("three = four", 4, at(4, 4)),
        ("fn two() {", 1, near(3, 3)),
        ("fn two() {", 0, near(3, 3)),
        ("fn two() {", 40, near(3, 3)),
        ("}", 6, at(6, 6)),
        ("}", 7, near(6, 6)),
        // So short a thing stands everywhere as a part.
        ("four", 4, Stands::Nowhere),
        ("fn three() {", 3, Stands::Nowhere),
        ("fn two() {\n}", 3, Stands::Nowhere),
        (" \n\t", 3, Stands::Blank),
    ] {
        assert_eq!(lines.look(quote, line), stands, "{quote:?} at {line}");
    }
    assert_eq!(lines.text(Span { from: 4, to: 5 }), "\tlet three = four(\"five\");\n  }");
}

#[test]
fn of_several_places_the_nearest_is_meant_and_too_far_is_none() {
    let text: String =
        (1..=300).map(|n| if n % 100 == 0 { "the quote\n" } else { "x\n" }).collect();
    let lines = Lines::of(text.as_bytes());
    assert_eq!(lines.look("the quote", 180), Stands::Near(Span { from: 200, to: 200 }));
    assert_eq!(lines.look("the quote", 200), Stands::There(Span { from: 200, to: 200 }));
    assert_eq!(lines.look("the quote", 100 - NEAR), Stands::Near(Span { from: 100, to: 100 }));
    assert_eq!(lines.look("the quote", 100 - NEAR - 1), Stands::Far(100));
    assert_eq!(lines.look("the quote", 9000), Stands::Far(300));
}

/// A repository, and what a check of leads in `scope` says of one.
struct Looked {
    /// Compared when it goes.
    _checkout: Checkout,
    repo: GitRepo,
}

impl Looked {
    fn new() -> Self {
        let repo = GitRepo::new(
            "mkdir -p src tests sub; printf 'one\\ntwo words here\\nthree\\n' > src/a.rs; \
             printf 'fn test() {}\\n' > tests/a.rs; ln -s src/a.rs link; \
             printf 'odd\\n' > \"$(printf 'src/o\\033dd')\"; printf 'b\\351se\\n' > \"$(printf 'src/\\351')\"",
        );
        let checkout = Checkout::new(repo.main(), ".git");
        checkout.sop_runs();
        Self { _checkout: checkout, repo }
    }

    fn check(&self, scope: &[&str], lead: Lead) -> Result<Checked, String> {
        let repo = self.repo.repo();
        let scope = Scope::new(scope.iter().map(|path| BString::from(*path)).collect());
        let concerns = [Concern::Debt, Concern::Security];
        let mut commit =
            Commit::new(&repo, &self.repo.head(), &scope, &concerns).expect("the commit is there");
        let slice = WpId::new("s1").expect("an id");
        commit.check(&slice, lead).map_err(|fault| match fault {
            Fault::Rejected(why) => why,
            Fault::Git(error) => panic!("{error}"),
        })
    }
}

#[test]
fn what_the_commit_does_not_bear_out_is_rejected_with_its_reason() {
    let looked = Looked::new();
    let ok = || lead("src/a.rs", 2, "two words here");
    for (lead, why) in [
        (Lead { path: "src/b.rs".into(), ..ok() }, "there is no such file in the commit"),
        (Lead { path: "src".into(), ..ok() }, "there is no such file in the commit"),
        (Lead { path: "../repo/src/a.rs".into(), ..ok() }, "there is no such file in the commit"),
        (Lead { path: "/etc/passwd".into(), ..ok() }, "the path is absolute"),
        (Lead { path: "link".into(), ..ok() }, "it is a link or a submodule"),
        (Lead { path: "tests/a.rs".into(), ..ok() }, "it is outside the scope"),
        (Lead { quote: "two other words".into(), ..ok() }, "the file does not say what is quoted"),
        (
            Lead { quote: "nowhere at all".into(), line: 70, ..ok() },
            "the file has 3 lines, and none",
        ),
        (Lead { quote: " ".into(), ..ok() }, "it quotes nothing"),
        (Lead { evidence: "\n".into(), ..ok() }, "it gives no evidence"),
        (Lead { concern: Concern::Performance, ..ok() }, "performance was not asked for"),
    ] {
        let found = looked.check(&["src", "link"], lead.clone());
        let said = found.expect_err(&format!("{lead:?}"));
        assert!(said.starts_with(why), "{lead:?}: {said}");
    }
}

#[test]
fn what_is_nearly_right_is_put_right_and_noted() {
    let looked = Looked::new();
    let checked = looked.check(&[], lead("./src/a.rs", 9, "two words\there")).expect("it stands");
    assert_eq!(checked.path, "src/a.rs");
    assert_eq!(checked.span, Span { from: 2, to: 2 });
    assert_eq!(checked.notes, ["the scout said line 9"]);
    assert_eq!(checked.quote, "two words here");
    assert_eq!(checked.title, "It is there twice.");
    // Paths that do not show are known by how they are shown; quotes of what is no text as it is read.
    for (path, quote, bytes) in
        [("src/o\\x1bdd", "odd", &b"src/o\x1bdd"[..]), ("src/\\xe9", "b\u{fffd}se", b"src/\xe9")]
    {
        let checked = looked.check(&[], lead(path, 1, quote)).expect("it stands");
        assert_eq!(checked.path.as_bytes(), bytes);
        assert!(!checked.quote.contains('\u{1b}'));
    }
}

#[test]
fn other_files_are_those_that_could_be_written() {
    let looked = Looked::new();
    let files = [
        "tests/a.rs",
        "tests/new.rs",
        "./src/a.rs",
        "src/a.rs",
        "src",
        "link",
        "link/x",
        "src/a.rs/x",
        "../x",
        "a//b",
        "/abs",
        ".git/config",
        "sub/.GIT/x",
        "",
    ];
    let files = files.map(str::to_owned).to_vec();
    let lead = Lead { files, ..lead("src/a.rs", 3, "three") };
    let checked = looked.check(&[], lead).expect("it stands");
    assert_eq!(checked.files, ["src/a.rs", "tests/a.rs", "tests/new.rs"]);
    assert_eq!(checked.notes.len(), 10, "{:?}", checked.notes);
    assert!(
        checked.notes.iter().any(|note| note == "left out of its files: `src`, which is a folder")
    );
}

#[test]
fn an_answer_is_its_last_block_and_one_bad_entry_spoils_no_other() {
    let entry = r#"{"path": "a", "line": 1, "quote": "q", "severity": "low", "concern": "spec-gaps", "evidence": "e", "fix": "f", "more": 1}"#;
    let answer = format!(
        "First:\n```json\n{{\"findings\": []}}\n```\nThen:\n```json\n{{\"findings\": [{entry}, {{\"path\": \"b\", \
         \"line\": 7}}, 3]}}\n```\n"
    );
    let entries = Leads::in_answer(&answer).expect("an answer");
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0].as_ref().expect("a lead").concern, Concern::SpecGaps);
    let bad = entries[1].as_ref().expect_err("no quote");
    assert_eq!(bad.place, "b:7");
    assert!(bad.why.contains("missing field"), "{}", bad.why);
    assert_eq!(entries[2].as_ref().expect_err("a number").place, "");
    // Without a block the whole is the answer.
    assert_eq!(Leads::in_answer(&format!("{{\"findings\": [{entry}]}}")).map(|it| it.len()), Ok(1));
    for (answer, why) in [
        ("", "the answer is empty"),
        ("I found nothing.", "there is no fenced block of JSON"),
        ("```json\n{\"findings\": \n```", "the last block of JSON cannot be read"),
        ("```json\n{\"found\": []}\n```", "it has no list `findings`"),
        ("```json\n[]\n```", "it has no list `findings`"),
    ] {
        let said = Leads::in_answer(answer).expect_err(answer);
        assert!(said.starts_with(why), "{answer}: {said}");
    }
    let many = format!("{{\"findings\": [{}]}}", vec![entry; 201].join(","));
    let many = Leads::in_answer(&many).expect("an answer");
    assert_eq!(many.iter().filter(|entry| entry.is_err()).count(), 1);
}
