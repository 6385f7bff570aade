//! What is refused or warned of, at which bytes.

use sop::whitelist::{MAX_DEPTH, MAX_PATTERN, PatternFinding, Problem, Severity, Whitelist};

/// All findings of a list, errors or not.
fn findings(patterns: &[&str]) -> Vec<PatternFinding> {
    match Whitelist::parse(patterns) {
        Ok(parsed) => {
            let warning = |f: &PatternFinding| f.severity() == Severity::Warning;
            assert!(parsed.warnings.iter().all(warning));
            parsed.warnings
        }
        Err(findings) => {
            assert!(findings.iter().any(|f| f.severity() == Severity::Error));
            findings
        }
    }
}

/// That the list has exactly this finding, at the bytes that read `at`.
#[track_caller]
fn only(patterns: &[&str], pattern: usize, at: &str, problem: &Problem) {
    let found = findings(patterns);
    let [finding] = &found[..] else {
        panic!("{patterns:?}: {found:?}");
    };
    assert_eq!(finding.problem, *problem, "{patterns:?}");
    assert_eq!(finding.pattern, pattern, "{patterns:?}");
    assert_eq!(&patterns[pattern][finding.range.clone()], at, "{patterns:?}");
    assert!(!finding.help().is_empty() && !finding.to_string().is_empty());
}

#[test]
fn each_fault_of_one_pattern_is_found_where_it_is() {
    let git = Problem::Git { negative: false };
    let table: &[(&str, &str, Problem)] = &[
        ("", "", Problem::Empty),
        ("!", "!", Problem::Empty),
        ("/etc/passwd", "/", Problem::Absolute),
        ("/", "/", Problem::Absolute),
        ("C:\\src", "C:\\", Problem::Absolute),
        ("c:/src", "c:/", Problem::Absolute),
        ("../x", "..", Problem::Parent),
        ("a/../b", "..", Problem::Parent),
        ("a/{..,b}/c", "{..,b}", Problem::Parent),
        ("a/.{.,b}", ".{.,b}", Problem::Parent),
        ("./a", ".", Problem::Dot),
        ("a/.", ".", Problem::Dot),
        ("a//b", "/", Problem::EmptyComponent),
        ("a/{,b}/c", "{,b}", Problem::EmptyComponent),
        ("{,a}", "{,a}", Problem::EmptyComponent),
        ("dir/", "/", Problem::TrailingSlash),
        ("{a/,b}", "/", Problem::TrailingSlash),
        ("a**", "**", Problem::Glued),
        ("src/**.rs", "**", Problem::Glued),
        ("a/***/b", "***", Problem::Glued),
        ("x{**,a}", "**", Problem::Glued),
        ("é**", "**", Problem::Glued),
        ("src/[ab", "[", Problem::Unclosed('[')),
        ("{[a,b}", "[", Problem::Unclosed('[')),
        ("src/{a,b", "{", Problem::Unclosed('{')),
        ("a]", "]", Problem::Unopened(']')),
        ("a}", "}", Problem::Unopened('}')),
        ("a[]b", "[]", Problem::EmptyClass),
        ("a[!]b", "[!]", Problem::EmptyClass),
        ("a[z-a]", "z-a", Problem::Reversed('z', 'a')),
        ("[^a]x", "^", Problem::Caret),
        ("x[[:alpha:]0]", "[:", Problem::NamedClass),
        ("x[a/b]", "/", Problem::SlashInClass),
        ("{a}", "{a}", Problem::OneAlternative),
        ("a/{b\\,c}", "{b\\,c}", Problem::OneAlternative),
        ("src\\client", "\\c", Problem::Backslash),
        ("src\\**", "\\*", Problem::Backslash),
        ("a\\/b", "\\/", Problem::Backslash),
        ("a\\", "\\", Problem::Backslash),
        ("!!a", "!!", Problem::DoubleNegation),
        ("a\0b", "\0", Problem::Nul),
        (".git/config", ".git", git.clone()),
        ("a/.GiT", ".GiT", git.clone()),
        ("{.git,a}/b", "{.git,a}", git),
        ("[.][g]it/**", "[.][g]it/**", Problem::NeverMatches),
        ("{[.],.[.]}", "{[.],.[.]}", Problem::NeverMatches),
    ];
    for (pattern, at, problem) in table {
        let list = ["sound/**", pattern];
        let found = findings(&list);
        let here: Vec<_> = found.iter().filter(|f| f.problem == *problem).collect();
        assert_eq!(here.len(), 1, "{pattern:?}: {found:?}");
        assert_eq!(here[0].pattern, 1);
        assert_eq!(&pattern[here[0].range.clone()], *at, "{pattern:?}");
        assert_eq!(here[0].severity(), Severity::Error, "{pattern:?}");
        assert!(Whitelist::parse(&list).is_err());
    }
}

#[test]
fn a_placeholder_is_not_taken_for_braces() {
    let found = findings(&["a/{{ wp.id }}/b"]);
    assert!(!found.is_empty());
    assert!(found.iter().all(|f| f.problem == Problem::OneAlternative));
}

#[test]
fn sizes_have_limits() {
    let long = "a".repeat(MAX_PATTERN + 1);
    only(&[&long], 0, &long, &Problem::TooLong(MAX_PATTERN + 1));
    assert_eq!(findings(&[&long[1..]]), []);

    let nested = |depth| "{".repeat(depth) + "a" + &",b}".repeat(depth);
    assert_eq!(findings(&[&nested(MAX_DEPTH)]), []);
    only(&[&nested(MAX_DEPTH + 1)], 0, "{", &Problem::TooDeep);
    // No stack is deep enough for what the limit is for.
    only(&[&"{".repeat(MAX_PATTERN)], 0, "{", &Problem::TooDeep);

    assert_eq!(findings(&[&"{a/,b}".repeat(10).replace("}", "}c")]), []);
    let many = "{a/,b}c".repeat(11);
    only(&[&many], 0, &many, &Problem::TooManyAlternatives);
    // Within a component nothing is written out.
    assert_eq!(findings(&[&"{a,b}".repeat(200)]), []);
}

#[test]
fn all_findings_come_at_once_in_order() {
    let list = ["/a//b/", "ok/**", "x**/../y", "!["];
    let found = findings(&list);
    let got: Vec<_> = found.iter().map(|f| (f.pattern, f.range.start, &f.problem)).collect();
    assert_eq!(
        got,
        [
            (0, 0, &Problem::Absolute),
            (0, 3, &Problem::EmptyComponent),
            (0, 5, &Problem::TrailingSlash),
            (2, 1, &Problem::Glued),
            (2, 4, &Problem::Parent),
            (3, 1, &Problem::Unclosed('[')),
        ]
    );
}

#[test]
fn what_the_list_takes_away_again_is_named() {
    let by = |by: &[&str]| Problem::Subtracted { by: by.iter().map(|s| (*s).to_owned()).collect() };
    only(&["src/a", "b", "!src/**"], 0, "src/a", &by(&["!src/**"]));
    // Only the two together leave nothing.
    let halves = ["x", "src/[a-z]", "!src/[!a-m]", "!src/[!n-z]"];
    only(&halves, 1, "src/[a-z]", &by(&["!src/[!a-m]", "!src/[!n-z]"]));
    // The one character between them is enough.
    assert_eq!(findings(&["src/[a-z]", "!src/[!a-m]", "!src/[a-l]"]), []);
    // Every name of one character, and then the strays as well.
    assert_eq!(findings(&["?", "![\u{1}-\u{10ffff}]"]), []);
    only(&["?", "xx", "!?"], 0, "?", &by(&["!?"]));
    let said = findings(&["a", "!a", "!?", "![a-b]", "!*"])[0].to_string();
    assert!(said.contains("`!a`, `!?`, `![a-b]` and 1 more"), "{said}");
}

#[test]
fn a_subtraction_without_effect_is_a_warning() {
    only(&["src/**", "!docs/**"], 1, "!docs/**", &Problem::SubtractsNothing);
    only(&["src/**", "!src"], 1, "!src", &Problem::SubtractsNothing);
    only(&["*.rs", "!*.r"], 1, "!*.r", &Problem::SubtractsNothing);
    assert_eq!(findings(&["**/*.rs", "!src/**"]), []);
    // Not by guess: the literal ends fit, the class does not.
    only(&["a[0-4]b/**", "!a[5-9]b/c"], 1, "!a[5-9]b/c", &Problem::SubtractsNothing);
    let git = Problem::Git { negative: true };
    only(&["**", "!.git/**"], 1, ".git", &git);
    assert_eq!(git.severity(), Severity::Warning);
    assert_eq!(Problem::SubtractsNothing.severity(), Severity::Warning);
}

#[test]
fn a_list_that_only_subtracts_is_refused() {
    only(&["!a", "!b/**"], 0, "!a", &Problem::OnlyNegative);
}

#[test]
fn a_missing_pattern_hides_nothing_that_is_so_without_it() {
    // It might share a path with what the other takes away,
    only(&["src/[", "!docs/**"], 0, "[", &Problem::Unclosed('['));
    // but what is taken away stays away.
    let found = findings(&["src/[", "a", "!a", "!b["]);
    let got: Vec<_> = found.iter().map(|f| (f.pattern, &f.problem)).collect();
    let gone = Problem::Subtracted { by: vec!["!a".to_owned()] };
    assert_eq!(got, [(0, &Problem::Unclosed('[')), (1, &gone), (3, &Problem::Unclosed('['))]);
}

#[test]
fn what_is_allowed_but_hardly_meant_is_a_warning() {
    only(&["a\nb"], 0, "\n", &Problem::Control('\n'));
    only(&[" a"], 0, " ", &Problem::OuterSpace);
    only(&["a\u{2003}"], 0, "\u{2003}", &Problem::OuterSpace);
    only(&["*", "! a"], 1, " ", &Problem::OuterSpace);
    let literal = "\\[slug\\]".to_owned();
    only(&["app/[slug]/**"], 0, "[slug]", &Problem::ClassAsName { literal });
    assert_eq!(findings(&["a b", "v[0-9]/**", "[!ab]/x", "x[ab]"]), []);
    assert!(Whitelist::parse(&["a\nb", " a", "app/[slug]/**"]).is_ok());
}
