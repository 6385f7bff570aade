//! A [`Guarded`] as bytes: what was taken down before a worker began is compared by whichever engine
//! is there when the worker ends.
//!
//! NUL-terminated fields, a record being a letter and what belongs to it; no path, ref or digest holds
//! a NUL.
//!
//! The look at the user's checkout has a line for every file in it and is mostly the same from one worker to
//! the next, so it is kept apart, once, under the digest of its bytes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use bstr::ByteSlice;
use sha2::Digest;

use super::guard::Guarded;
use super::look::Look;

/// A look at the user's checkout as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLook {
    /// SHA-256 of the bytes, in hexadecimal: the same look has the same name.
    pub name: String,
    /// For whoever reads it again.
    pub bytes: Vec<u8>,
}

impl Guarded {
    /// As bytes for [`Guarded::from_bytes`], and the look that they name.
    #[must_use]
    pub fn to_bytes(&self) -> (Vec<u8>, Option<KeptLook>) {
        let mut out = Vec::new();
        let mut put = |fields: &[&[u8]]| fields.iter().for_each(|field| push(&mut out, field));
        for (path, (state, shared)) in &self.files {
            let shared: &[u8] = if *shared { b"shared" } else { b"own" };
            put(&[b"F", path.as_os_str().as_bytes(), state.as_bytes(), shared]);
        }
        for (name, value) in &self.refs {
            put(&[b"R", name, value]);
        }
        put(&[b"H", &self.head]);
        let look = self.look.as_ref().map(KeptLook::of);
        if let Some(look) = &look {
            put(&[b"K", look.name.as_bytes()]);
        }
        put(&[b"."]);
        (out, look)
    }

    /// What [`Guarded::to_bytes`] gave, with the bytes of a look by its name; `None` when any of it is anything
    /// else, or cut off.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], look: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Self> {
        let mut fields = bytes.split(|byte| *byte == 0);
        let mut guarded = Self::default();
        loop {
            match fields.next()? {
                b"F" => {
                    let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
                    let state = fields.next()?.to_str().ok()?.to_owned();
                    guarded.files.insert(path, (state, fields.next()? == b"shared"));
                }
                b"R" => {
                    guarded.refs.insert(fields.next()?.into(), fields.next()?.into());
                }
                b"H" => guarded.head = fields.next()?.into(),
                b"K" => {
                    let name = fields.next()?.to_str().ok()?;
                    let bytes = look(name).filter(|bytes| digest(bytes) == name)?;
                    guarded.look = Some(KeptLook::read(&bytes)?);
                }
                b"." => return Some(guarded),
                _ => return None,
            }
        }
    }
}

impl KeptLook {
    fn of(look: &Look) -> Self {
        let mut bytes = Vec::new();
        push(&mut bytes, look.index.to_string().as_bytes());
        for (path, print) in &look.files {
            push(&mut bytes, path);
            push(&mut bytes, print.to_string().as_bytes());
        }
        Self { name: digest(&bytes), bytes }
    }

    fn read(bytes: &[u8]) -> Option<Look> {
        let mut fields = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let number = |field: &[u8]| field.to_str().ok()?.parse().ok();
        let index = number(fields.next()?)?;
        let mut files = Vec::new();
        while let Some(path) = fields.next() {
            files.push((path.into(), number(fields.next()?)?));
        }
        Some(Look { files, index })
    }
}

fn push(out: &mut Vec<u8>, field: &[u8]) {
    out.extend_from_slice(field);
    out.push(0);
}

fn digest(bytes: &[u8]) -> String {
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
