//! What each construct matches, one line a rule. Every line is asked of the naive matcher too.

use super::{naive, whitelist};

#[track_caller]
fn check(patterns: &[&str], yes: &[&[u8]], no: &[&[u8]]) {
    let whitelist = whitelist(patterns);
    for (paths, expected) in [(yes, true), (no, false)] {
        for path in paths {
            let shown = path.escape_ascii();
            assert_eq!(whitelist.matches(path), expected, "{patterns:?} on {shown}");
            assert_eq!(naive::allows(patterns, path), expected, "naively, {patterns:?} on {shown}");
        }
    }
}

#[test]
fn a_name_matches_itself_by_bytes_and_case() {
    check(
        &["src/client.ts"],
        &[b"src/client.ts"],
        &[b"src/Client.ts", b"src/client.ts/x", b"src", b"src/client.tsx", b"a/src/client.ts"],
    );
    // The same letter, composed and decomposed, is two names.
    check(&["caf\u{e9}"], &["caf\u{e9}".as_bytes()], &["cafe\u{301}".as_bytes()]);
}

#[test]
fn a_star_is_any_run_within_a_component() {
    check(
        &["src/*"],
        &[b"src/a", b"src/.env", b"src/a\nb", b"src/\xff\xfe", b"src/-rf", b"src/.gitignore"],
        &[b"src", b"src/a/b", b"src/", b"src/.git"],
    );
    check(&["*.rs"], &[b"a.rs", b".rs", b"\xff.rs"], &[b"a.rs/b.rs", b"rs", b"a.rsx"]);
    check(&["a*a"], &[b"aa", b"aba", b"aaaa"], &[b"a", b"ab", b"a/a"]);
    check(&["a*b*c"], &[b"abc", b"axbxc", b"abcbc"], &[b"acb", b"ab", b"abcx"]);
}

#[test]
fn a_question_mark_is_one_character_or_one_stray_byte() {
    check(
        &["a?b"],
        &[b"axb", "a\u{e9}b".as_bytes(), "a\u{1f600}b".as_bytes(), b"a\xffb", b"a\xc3b"],
        &[b"ab", b"a/b", b"a\xff\xffb", b"axxb"],
    );
    // Two bytes of one character are one character, also where `*` could split them.
    check(&["??"], &[b"ab", b"\xa9\xc3"], &["\u{e9}".as_bytes(), b"a"]);
    check(&["*??"], &[b"ab", b"\xffab"], &["\u{e9}".as_bytes()]);
    // The first three bytes of a character of four are three strays.
    check(&["???"], &[b"\xf0\x9f\x98"], &["\u{1f600}".as_bytes()]);
}

#[test]
fn a_class_is_one_character_of_it() {
    check(&["[a-cx]"], &[b"a", b"c", b"x"], &[b"d", b"A", b"ab", b"-"]);
    check(&["[!a-c]"], &[b"d", b"-", "\u{e9}".as_bytes(), b"\xff"], &[b"a", b"dd"]);
    check(&["x[!a]y"], &[b"xby"], &[b"x/y", b"xay", b"xy"]);
    check(&["[+-0]x"], &[b"+x", b"0x", b".x"], &[b"/x", b"1x"]);
    check(&["a[\\]\\-\\\\]"], &[b"a]", b"a-", b"a\\"], &[b"a[", b"ab"]);
    check(&["[a-]b"], &[b"-b", b"ab"], &[b"bb"]);
    check(&["[-a]b"], &[b"-b", b"ab"], &[b"bb"]);
    check(&["a[[]"], &[b"a["], &[b"a"]);
    check(&["[\u{e0}-\u{ff}]"], &["\u{e9}".as_bytes()], &[b"\xe9", b"e"]);
}

#[test]
fn braces_are_alternatives_that_nest_and_reach_over_slashes() {
    check(&["{a,b}.{rs,toml}"], &[b"a.rs", b"b.toml"], &[b"c.rs", b"a.", b"{a,b}.rs"]);
    check(&["x{,.test}.ts"], &[b"x.ts", b"x.test.ts"], &[b"x..ts", b"x"]);
    check(&["{a,{b,c}d}"], &[b"a", b"bd", b"cd"], &[b"b", b"ad"]);
    check(&["{src,tests/unit}/**"], &[b"src/a", b"tests/unit/a/b"], &[b"tests/a", b"src"]);
    check(&["a/{,b/}c"], &[b"a/c", b"a/b/c"], &[b"a//c", b"a/b"]);
    check(&["{**,a}/b"], &[b"b", b"a/b", b"x/y/b"], &[b"a"]);
    check(&["{a/**,b}"], &[b"a/x", b"b"], &[b"a", b"b/x"]);
    check(&["a,b"], &[b"a,b"], &[b"a"]);
    check(&["{a\\,b,c}"], &[b"a,b", b"c"], &[b"a"]);
    check(&["{*,a}*"], &[b"x", b"ab"], &[b"a/b"]);
}

#[test]
fn two_stars_are_any_number_of_components() {
    check(&["**"], &[b"a", b"a/b/c", b".x", b"\xff/\n"], &[b"", b"/a", b"a/", b"a//b"]);
    check(&["**/a"], &[b"a", b"x/a", b"x/y/a", b"a/a"], &[b"xa", b"a/x"]);
    check(&["a/**/b"], &[b"a/b", b"a/x/b", b"a/x/y/b", b"a/b/b"], &[b"ab", b"a/xb", b"b"]);
    check(
        &["**/a/**/b/*.c"],
        &[b"a/b/x.c", b"x/a/y/b/z.c", b"a/b/b/x.c", b"a/b/a/b/x.c"],
        &[b"a/b/c/x.c", b"b/a/x.c"],
    );
    check(&["**/**/a/**/**"], &[b"a/x", b"y/a/x/z"], &[b"a", b"x"]);
    check(&["*/**"], &[b"a/b", b"a/b/c"], &[b"a"]);
}

#[test]
fn a_folder_pattern_is_what_is_inside_and_not_what_replaces_it() {
    check(
        &["src/client/**"],
        &[b"src/client/a", b"src/client/a/b"],
        &[b"src/client", b"src/clients/a", b"src/clien"],
    );
}

#[test]
fn a_backslash_takes_the_meaning_away() {
    check(&["\\*"], &[b"*"], &[b"a", b"\\*"]);
    check(&["\\!a\\[b\\]\\{c\\,\\}\\?\\\\"], &[b"!a[b]{c,}?\\"], &[b"a"]);
    check(&["app/\\[id\\]/page.tsx"], &[b"app/[id]/page.tsx"], &[b"app/i/page.tsx"]);
}

#[test]
fn subtraction_is_blind_to_order() {
    let yes: &[&[u8]] = &[b"src/a", b"src/gen/keep"];
    let no: &[&[u8]] = &[b"src/old/a", b"src/old/x/y", b"x"];
    check(&["src/**", "!src/old/**"], yes, no);
    check(&["!src/old/**", "src/**"], yes, no);
    check(
        &["src/**", "!**/*.lock", "Cargo.toml"],
        &[b"src/a", b"Cargo.toml"],
        &[b"src/x.lock", b"src/a/.lock"],
    );
}

#[test]
fn no_whitelist_reaches_odd_paths_or_git() {
    check(
        &["**", "*", "**/*", "?git/**", ".gi*/**", "{.,x}*/**"],
        &[b".gitignore", b"a/.gita", b".gi/x", b"..a/x", b"..."],
        &[
            b"",
            b"/",
            b"/a",
            b"a/",
            b"a//b",
            b".",
            b"..",
            b"a/../b",
            b"./a",
            b".git",
            b".git/config",
            b".GIT/config",
            b".gIt/x",
            b"a/.Git/hooks/x",
            b"a\0b",
        ],
    );
}

#[test]
fn an_empty_list_matches_nothing() {
    let none = whitelist(&[]);
    assert!(none.is_empty());
    assert!(!none.matches(b"a"));
    assert!(!whitelist(&["a"]).is_empty());
}

#[test]
fn hundreds_of_patterns_are_all_heeded() {
    let patterns: Vec<String> = (0..300)
        .flat_map(|n| [format!("d{n}/**"), format!("!d{n}/old/**"), format!("d{n}x*.c")])
        .collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let whitelist = whitelist(&patterns);
    for n in 0..300 {
        assert!(whitelist.matches(format!("d{n}/a").as_bytes()));
        assert!(whitelist.matches(format!("d{n}xyz.c").as_bytes()));
        assert!(!whitelist.matches(format!("d{n}/old/a").as_bytes()));
        assert!(!whitelist.matches(format!("d{n}").as_bytes()));
    }
    assert!(!whitelist.matches(b"d300/a"));
}
