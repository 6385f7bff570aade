//! Files in places where a worker could have put something else: read only if they are plain files of
//! a reasonable size, and never waited for.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Most bytes of such a file. What `sop` writes there is far smaller.
pub const MOST: u64 = 2 << 20;

/// Flags for opening such a file: a FIFO without another end fails or opens at once, and a link is
/// not followed.
pub(super) fn careful() -> i32 {
    (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed()
}

/// The contents of a plain file of at most [`MOST`] bytes.
///
/// # Errors
/// What the system said; [`io::ErrorKind::InvalidData`] for what is no plain file, or too long.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let odd = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let file = match File::options().read(true).custom_flags(careful()).open(path) {
        Ok(file) => file,
        Err(error) if is_odd(path) => return odd(format!("it is no plain file ({error})")),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return odd("it is no plain file".to_owned());
    }
    let mut bytes = Vec::new();
    // One that grows while it is read is too long as well.
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return odd(format!("it is longer than {MOST} bytes"));
    }
    Ok(bytes)
}

/// Whether there is something, a link or a socket say, that cannot even be opened as a file is.
fn is_odd(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_file())
}
