//! HTTP/1.1 as far as git and gh need it: one request on a connection, and an answer after which it is
//! closed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};

use serde_json::Value;

/// A request with its whole body.
pub struct Request {
    pub method: String,
    pub path: String,
    /// What follows the `?`.
    pub query: String,
    /// By their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn read(stream: &mut (impl Read + Write)) -> Option<Self> {
        let mut from = BufReader::new(stream);
        let first = line(&mut from)?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = BTreeMap::new();
        loop {
            let header = line(&mut from)?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':')?;
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        if headers.contains_key("expect") {
            from.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        let mut body = Vec::new();
        if headers.get("transfer-encoding").is_some_and(|how| how.contains("chunked")) {
            loop {
                let size = line(&mut from)?;
                let size = u64::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
                (&mut from).take(size).read_to_end(&mut body).ok()?;
                line(&mut from)?;
                if size == 0 {
                    break;
                }
            }
        } else if let Some(length) = headers.get("content-length") {
            (&mut from).take(length.parse().ok()?).read_to_end(&mut body).ok()?;
        }
        Some(Self { method, path: path.to_owned(), query: query.to_owned(), headers, body })
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

fn line(from: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    if from.read_line(&mut line).ok()? == 0 {
        return None;
    }
    Some(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// An answer, ready to be sent.
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn json(status: u16, document: &Value) -> Self {
        let kind = ("content-type".to_owned(), "application/json; charset=utf-8".to_owned());
        // gh looks for what a token may do.
        let scopes = ("x-oauth-scopes".to_owned(), "repo, read:org".to_owned());
        Self { status, headers: vec![kind, scopes], body: document.to_string().into_bytes() }
    }

    pub fn write(self, stream: &mut impl Write) {
        let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", self.status);
        head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        // Whoever has gone away has had enough.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.body));
    }
}
