//! Files that a verb writes where its user asked for them: whole or not at all, and never over something else.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file in the place of whatever is there.
///
/// # Errors
/// What the system said; what was there is still there.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    whole(path, bytes)?.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes a file where there is none.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] where there is something, which stays; or what the system said.
pub(super) fn new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    whole(path, bytes)?.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

fn whole(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    // As any file of the user's: their umask takes away from this.
    let mut file = tempfile::Builder::new()
        .prefix(".sop-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    Ok(file)
}
