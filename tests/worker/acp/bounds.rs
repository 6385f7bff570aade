//! Where a path really leads.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use sop::worker::acp::bounds::Bounds;
use sop::worker::acp::files::{self, FileError};

use crate::support::scratch::Scratch;

#[test]
fn links_are_followed_before_a_path_is_judged() {
    let scratch = Scratch::folder();
    let root = scratch.path();
    scratch.write("src/a.rs", "");
    symlink("src", root.join("inner")).expect("a link");
    symlink("..", root.join("outer")).expect("a link");
    symlink("nowhere", root.join("dangling")).expect("a link");
    let bounds = Bounds::new(root, &[]);
    let inside = |path: &str| bounds.inside(Path::new(path));
    assert_eq!(inside("src/a.rs"), Some(root.join("src/a.rs")));
    assert_eq!(inside("inner/new/b.rs"), Some(root.join("src/new/b.rs")));
    assert_eq!(inside("src/../src/a.rs"), Some(root.join("src/a.rs")));
    assert_eq!(inside(root.to_str().expect("text")), Some(root.to_owned()));
    for outside in ["..", "../x", "outer/x", "/etc/passwd", "dangling", "new/../../x", "dangling/x"]
    {
        assert_eq!(inside(outside), None, "{outside}");
    }
    assert!(bounds.changeable(Path::new("src/new.rs")).is_some());
    for gits in [".git", ".git/config", "sub/.git/hooks/x", ".GIT/config"] {
        assert_eq!(bounds.changeable(Path::new(gits)), None, "{gits}");
    }
}

#[test]
fn lines_are_counted_from_one() {
    let scratch = Scratch::folder();
    scratch.write("a.txt", "one\ntwo\nthree\n");
    let bounds = Bounds::new(scratch.path(), &[]);
    let read = |line, limit| {
        let params = json!({ "path": "a.txt", "line": line, "limit": limit });
        files::read(&bounds, &params).expect("text")["content"].as_str().expect("text").to_owned()
    };
    assert_eq!(read(json!(null), json!(null)), "one\ntwo\nthree\n");
    assert_eq!(read(json!(2), json!(1)), "two\n");
    assert_eq!(read(json!(2), json!(null)), "two\nthree\n");
    assert_eq!(read(json!(9), json!(1)), "");
}

#[test]
fn only_plain_files_of_text_are_handed_out() {
    let scratch = Scratch::folder();
    let root = scratch.path();
    scratch.write("bytes", b"\xff\xfe");
    fs::create_dir(root.join("folder")).expect("a folder");
    assert_eq!(scratch.command("mkfifo").arg("fifo").status().expect("it runs").code(), Some(0));
    let bounds = Bounds::new(root, &[]);
    let read = |path: &str| files::read(&bounds, &json!({ "path": path }));
    assert!(matches!(read("bytes"), Err(FileError::NotText)));
    assert!(matches!(read("folder"), Err(FileError::NotAFile)));
    assert!(matches!(read("fifo"), Err(FileError::NotAFile)));
    assert!(matches!(read("absent"), Err(FileError::Io(_))));
    assert!(matches!(files::read(&bounds, &json!({})), Err(FileError::Lacks("path"))));
    let write = |path: &str| files::write(&bounds, &json!({ "path": path, "content": "x" }));
    assert!(matches!(write("folder"), Err(FileError::NotAFile)));
    assert!(matches!(write("fifo"), Err(FileError::NotAFile)));
    assert!(write("new/folder/a.txt").is_ok());
    assert_eq!(scratch.read("new/folder/a.txt"), "x");
    scratch.write("long.txt", "much longer");
    assert!(write("long.txt").is_ok());
    assert_eq!(scratch.read("long.txt"), "x");
}
