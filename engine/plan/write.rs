//! A plan as text, for plans that `sop` writes itself. Every value comes back from the parser as it went in,
//! whatever is in it; what a terminal would obey, or a reader would not see, is written as an escape.

use crate::model::unseen::is_unseen;

/// A plan file under composition.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
}

impl Writer {
    /// An empty file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The file as it is.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A comment; a line of its own for each of `text`.
    pub fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push('#');
            if !line.is_empty() {
                self.text.push(' ');
                line.chars().for_each(|c| shown(&mut self.text, c));
            }
            self.blank();
        }
    }

    /// `[table]`, by the words of its name.
    pub fn table(&mut self, name: &[&str]) {
        let name: Vec<String> = name.iter().map(|word| bare(word)).collect();
        self.text.push_str(&format!("[{}]\n", name.join(".")));
    }

    /// `[[table]]`: one more of a list.
    pub fn one_more(&mut self, name: &str) {
        self.text.push_str(&format!("[[{}]]\n", bare(name)));
    }

    /// `key = 1`.
    pub fn number(&mut self, key: &str, value: u64) {
        self.text.push_str(&format!("{key} = {value}\n"));
    }

    /// `key = 2.5`.
    pub fn decimal(&mut self, key: &str, value: f64) {
        // Both know `1.0` and `1e300` as what they are.
        self.text.push_str(&format!("{key} = {value:?}\n"));
    }

    /// `key = "value"`.
    pub fn text(&mut self, key: &str, value: &str) {
        self.text.push_str(&format!("{key} = {}\n", quoted(value)));
    }

    /// The same over several lines, as a reader of the file sees them.
    pub fn long(&mut self, key: &str, value: &str) {
        self.text.push_str(&format!("{key} = {}\n", lines(value)));
    }

    /// `key = ["a", "b"]`.
    pub fn texts<T: AsRef<str>>(&mut self, key: &str, values: &[T]) {
        let values: Vec<String> = values.iter().map(|value| quoted(value.as_ref())).collect();
        self.list(key, &values);
    }

    /// `key = [{ a = "b" }, …]`: a list of small tables, each of texts by their keys.
    pub fn tables(&mut self, key: &str, tables: &[Vec<(&str, String)>]) {
        let tables: Vec<String> = tables.iter().map(|table| inline(table)).collect();
        self.list(key, &tables);
    }

    /// `key = { a = "b" }`.
    pub fn small_table(&mut self, key: &str, table: &[(&str, String)]) {
        self.text.push_str(&format!("{key} = {}\n", inline(table)));
    }

    /// A list of written values, each on its own line where there is more than one.
    fn list(&mut self, key: &str, values: &[String]) {
        match values {
            [] => self.text.push_str(&format!("{key} = []\n")),
            [only] => self.text.push_str(&format!("{key} = [{only}]\n")),
            _ => {
                self.text.push_str(&format!("{key} = [\n"));
                for value in values {
                    self.text.push_str(&format!("    {value},\n"));
                }
                self.text.push_str("]\n");
            }
        }
    }
}

fn inline(table: &[(&str, String)]) -> String {
    let pairs: Vec<String> =
        table.iter().map(|(key, value)| format!("{} = {}", bare(key), quoted(value))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// A key: as it is where that may be.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !key.is_empty() && key.chars().all(plain) {
        true => key.to_owned(),
        false => quoted(key),
    }
}

/// `text` as a TOML string on one line.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => escaped(&mut out, c),
        }
    }
    out.push('"');
    out
}

/// `text` as a TOML string over as many lines as it has.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str("\"\"\"\n");
    let mut quotes = 0;
    for c in text.chars() {
        // Three in a row would end it, and so would one that touches the end.
        quotes = if c == '"' { quotes + 1 } else { 0 };
        match c {
            '"' if quotes == 3 => {
                out.push_str("\\\"");
                quotes = 0;
            }
            '"' | '\n' | '\t' => out.push(c),
            c => escaped(&mut out, c),
        }
    }
    if quotes > 0 {
        out.pop();
        out.push_str("\\\"");
    }
    out.push_str("\"\"\"");
    out
}

fn escaped(out: &mut String, c: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\r' => out.push_str("\\r"),
        c => shown(out, c),
    }
}

/// What does not show is written by its number.
fn shown(out: &mut String, c: char) {
    if !c.is_control() && !is_unseen(c) {
        out.push(c);
    } else if u32::from(c) <= 0xffff {
        out.push_str(&format!("\\u{:04x}", u32::from(c)));
    } else {
        out.push_str(&format!("\\U{:08x}", u32::from(c)));
    }
}
