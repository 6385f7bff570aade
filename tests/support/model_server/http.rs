//! As much of HTTP/1.1 as a model's client needs: one request on a connection, and an answer after
//! which it is closed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::Answer;

/// A request with its whole body.
pub struct Request {
    pub method: String,
    /// Without what follows a `?`.
    pub path: String,
    /// As JSON; null for none.
    pub body: Value,
}

impl Request {
    pub fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut from = BufReader::new(stream);
        let first = line(&mut from)?;
        let mut words = first.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?);
        let path = path.split('?').next()?.to_owned();
        let (mut length, mut chunked, mut awaited) = (0_u64, false, false);
        loop {
            let header = line(&mut from)?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':')?;
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
                "expect" => awaited = true,
                _ => {}
            }
        }
        if awaited {
            from.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let size = line(&mut from)?;
                let size = u64::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
                (&mut from).take(size).read_to_end(&mut body).ok()?;
                line(&mut from)?;
                if size == 0 {
                    break;
                }
            }
        } else {
            from.take(length).read_to_end(&mut body).ok()?;
        }
        Some(Self { method, path, body: serde_json::from_slice(&body).unwrap_or_default() })
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
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    pub fn document(status: u16, document: &Value) -> Self {
        let body = document.to_string().into_bytes();
        let length = body.len().to_string();
        let headers = [("content-type", "application/json"), ("content-length", length.as_str())];
        Self { status, headers: Vec::new(), body }.with(&headers)
    }

    /// A model's answer; a stream that is `cut` ends in the middle.
    pub fn answer(answer: Answer, cut: bool) -> Self {
        let (events, end) = match answer {
            Answer::Whole(document) => return Self::document(200, &document),
            Answer::Stream { events, cut: at } => {
                let end = if cut { at } else { events.len() };
                (events, end)
            }
        };
        let mut body = String::new();
        for (name, data) in &events[..end] {
            if let Some(name) = name {
                body.push_str(&format!("event: {name}\n"));
            }
            body.push_str(&format!("data: {data}\n\n"));
        }
        Self { status: 200, headers: Vec::new(), body: body.into_bytes() }
            .with(&[("content-type", "text/event-stream"), ("cache-control", "no-cache")])
    }

    pub fn with(mut self, headers: &[(&str, &str)]) -> Self {
        let owned = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.headers.extend(owned);
        self
    }

    pub fn write(self, stream: &mut TcpStream) {
        let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        // A client that has gone away has had enough.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.body));
    }
}
