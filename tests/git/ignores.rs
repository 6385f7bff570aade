//! Our ignore rules, held against `git check-ignore`.

use bstr::{BString, ByteSlice};
use proptest::prelude::*;
use sop::git::ignore::IgnoreRules;

use crate::support::git_repo::{GitRepo, command, sh};

/// What git says about each path, given the files that are there.
fn by_git(repo: &GitRepo, paths: &[String]) -> Vec<bool> {
    let mut check = command("git", &repo.main());
    check.args([
        "-c",
        "core.excludesFile=/dev/null",
        "check-ignore",
        "--no-index",
        "-z",
        "-v",
        "-n",
        "--stdin",
    ]);
    let mut child = check
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("git");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, paths.join("\0").as_bytes()).expect("written");
    drop(input);
    let out = child.wait_with_output().expect("git").stdout;
    let fields: Vec<&[u8]> = out.split(|b| *b == 0).collect();
    fields
        .chunks_exact(4)
        .map(|record| !record[2].is_empty() && !record[2].starts_with(b"!"))
        .collect()
}

fn compare(repo: &GitRepo, files: &[(&str, String)], paths: &[String]) -> Result<(), String> {
    sh(&repo.main(), "find . -name .gitignore -delete");
    let mut rules = IgnoreRules::default();
    for (folder, content) in files {
        std::fs::create_dir_all(repo.main().join(folder)).expect("a folder");
        std::fs::write(repo.main().join(folder).join(".gitignore"), content).expect("written");
        rules.add(folder.as_bytes().as_bstr(), content.as_bytes());
    }
    let theirs = by_git(repo, paths);
    assert_eq!(theirs.len(), paths.len());
    for (path, theirs) in paths.iter().zip(theirs) {
        let ours = rules.ignores(path.as_bytes().as_bstr(), repo.main().join(path).is_dir());
        if ours != theirs {
            return Err(format!("{path:?}: git says {theirs}, we say {ours}, rules {files:?}"));
        }
    }
    Ok(())
}

#[test]
fn rules_by_hand_are_read_as_git_reads_them() {
    let repo = GitRepo::new("mkdir -p a/b/c");
    let top = "# c\n\\#x\n*.o\n!keep.o\n/build/\nout/\n/top\na/**/z\n**/deep\nw/**\n!w/k\ntrail   \nkeep\\ \n[abc]1\n[!a]2\n[[:digit:]]x\n\\!bang\n*\\\\b\nfoo/*\n!foo/bar\na/b/*.t\ncr\r\n?q\n[]]y\n[a-]m\n/*.only\n**\\/esc\nx**y\n[z\n[[:bad:]]\n/\n!\n";
    let inner = "!*.o\n/here\n*\n!.gitignore\n";
    let names = "#x|x.o|keep.o|build/a|s/build/a|out/f|s/out/f|top|s/top|a/z|a/b/z|a/b/c/z|a/b/c/zz|deep|a/deep|s/deep/f|w/x|w/k|w/k/l|trail|keep |a1|d1|a2|b2|5x|!bang|q\\b|foo/a|foo/bar|foo/bar/x|a/b/q.t|a/b/c/q.t|cr|aq|s/aq|]y|am|-m|m.only|s/m.only|p/esc|xzy|x/y|[z|:]x|a/b/c/here|a/b/c/x/here|a/b/c/q.o";
    let paths: Vec<String> = names.split('|').map(str::to_owned).collect();
    compare(&repo, &[("", top.to_owned())], &paths).unwrap();
    compare(&repo, &[("", top.to_owned()), ("a/b/c", inner.to_owned())], &paths).unwrap();
    compare(
        &repo,
        &[("", "*\n!*/\n!*.c\n".to_owned())],
        &["a.c".into(), "a/b.c".into(), "a/b.h".into()],
    )
    .unwrap();
}

#[test]
fn rules_at_random_are_read_as_git_reads_them() {
    let repo = GitRepo::new("mkdir -p a/b");
    let part = prop_oneof![
        4 => "[ab]{1,2}".prop_map(String::from),
        2 => "[ab]?\\*[ab]?".prop_map(String::from),
        1 => Just("**".to_owned()), 1 => Just("?".to_owned()), 1 => Just("[a-b]".to_owned()), 1 => Just("[!a]b".to_owned()),
        1 => Just("\\a".to_owned()), 1 => Just("***".to_owned()), 1 => Just("a**".to_owned()),
    ];
    let line = (any::<bool>(), any::<bool>(), prop::collection::vec(part, 1..4), any::<bool>());
    let line = line.prop_map(|(not, root, parts, folder)| {
        format!(
            "{}{}{}{}",
            if not { "!" } else { "" },
            if root { "/" } else { "" },
            parts.join("/"),
            if folder { "/" } else { "" }
        )
    });
    let file = prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"));
    let paths = prop::collection::vec("[ab]{1,2}(/[ab]{1,2}){0,3}".prop_map(String::from), 30);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let outcome = runner.run(&(file.clone(), file, paths), |(top, inner, paths)| {
        compare(&repo, &[("", top), ("a/b", inner)], &paths).map_err(TestCaseError::fail)
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn many_stars_do_not_take_for_ever() {
    let mut rules = IgnoreRules::default();
    rules.add("".into(), b"*a*a*a*a*a*a*a*a*a*a*a*a*b\n**/a/**/a/**/a/**/a/**/a/**/a/**/b\n");
    let path = BString::from("a/".repeat(40) + &"a".repeat(200));
    assert!(!rules.ignores(path.as_bstr(), false));
}
