//! Briefs: the contract at the head, what templates may ask for, and what is said when they ask for
//! something else.

mod args;
mod check;
mod render;
mod review;

use sop::brief::Briefs;

/// Templates of a repository that has these, as `(name, text)`.
fn briefs(own: &[(&str, &str)]) -> Briefs {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(".sop/templates");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in own {
        std::fs::write(folder.join(format!("{name}.md.j2")), text).unwrap();
    }
    Briefs::load(root.path()).unwrap()
}
