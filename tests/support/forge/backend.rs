//! Git over HTTP: git's own server program, called as a web server calls it.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use bstr::ByteSlice;

use crate::support::git_repo::command;

use super::http::{Request, Response};

pub fn answer(bare: &Path, request: &Request) -> Response {
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    // The repository is `<root>/OWNER/NAME.git`.
    let root = bare.ancestors().nth(2).expect("it has an owner");
    let mut command = command("git", bare);
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("REQUEST_METHOD", &request.method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_USER", "octo")
        .env("REMOTE_ADDR", "127.0.0.1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("git http-backend");
    let mut stdin = child.stdin.take().expect("a pipe");
    let body = request.body.clone();
    let feed = std::thread::spawn(move || drop(stdin.write_all(&body)));
    let output = child.wait_with_output().expect("git http-backend");
    feed.join().expect("it is fed");
    let (head, body) = output.stdout.split_once_str("\r\n\r\n").unwrap_or((&output.stdout, b""));
    let head = head.to_str_lossy().into_owned();
    let mut response = Response { status: 200, headers: Vec::new(), body: body.to_vec() };
    for line in head.lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => {
                response.status = status[..3].parse().expect("a status");
            }
            Some((name, value)) => response.headers.push((name.to_owned(), value.to_owned())),
            None => {}
        }
    }
    response
}
