//! A [`Guarded`] as bytes: what was taken down before a worker began is compared by whichever engine
//! is there when the worker ends.
//!
//! NUL-terminated fields, a record being a letter and what belongs to it; no path, ref or digest holds
//! a NUL.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use bstr::ByteSlice;

use super::guard::Guarded;
use super::look::Look;

impl Guarded {
    /// As bytes for [`Guarded::from_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |fields: &[&[u8]]| {
            for field in fields {
                out.extend_from_slice(field);
                out.push(0);
            }
        };
        for (path, (state, shared)) in &self.files {
            let shared: &[u8] = if *shared { b"shared" } else { b"own" };
            put(&[b"F", path.as_os_str().as_bytes(), state.as_bytes(), shared]);
        }
        for (name, value) in &self.refs {
            put(&[b"R", name, value]);
        }
        put(&[b"H", &self.head]);
        if let Some(look) = &self.look {
            put(&[b"I", look.index.to_string().as_bytes()]);
            for (path, print) in &look.files {
                put(&[b"L", path, print.to_string().as_bytes()]);
            }
        }
        put(&[b"."]);
        out
    }

    /// What [`Guarded::to_bytes`] gave; `None` when it is anything else, or cut off.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split(|byte| *byte == 0);
        let mut guarded = Self::default();
        let number = |field: &[u8]| field.to_str().ok()?.parse().ok();
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
                b"I" => {
                    let index = number(fields.next()?)?;
                    guarded.look = Some(Look { files: Vec::new(), index });
                }
                b"L" => {
                    let file = (fields.next()?.into(), number(fields.next()?)?);
                    guarded.look.as_mut()?.files.push(file);
                }
                b"." => return Some(guarded),
                _ => return None,
            }
        }
    }
}
