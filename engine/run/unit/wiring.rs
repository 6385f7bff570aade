//! Lines that a worker's report asks for in files which it may not touch.

use super::Unit;
use super::brief::REPORT_LIMIT;
use crate::model::verdict::Report;
use crate::plain_file;
use crate::process;
use crate::whitelist::Whitelist;

impl Unit {
    /// Lines that are asked for in files of which the stage says nothing: nobody will bring them in, so
    /// somebody has to know.
    pub(super) fn stray_wiring(&self) -> Vec<String> {
        let report = self.state.report.as_ref().and_then(|name| {
            let bytes = plain_file::read(&self.site.dir.named(name), REPORT_LIMIT).ok()?;
            Report::in_text(&String::from_utf8_lossy(&bytes))
        });
        let stage = self.site.plan.stages.iter().find(|stage| stage.id == self.state.stage);
        let shared = stage.and_then(|stage| Whitelist::parse(&stage.shared).ok());
        let is_shared = |file: &str| {
            shared.as_ref().is_some_and(|shared| shared.whitelist.matches(file.as_bytes()))
        };
        let mut notes = Vec::new();
        for line in report.into_iter().flat_map(|report| report.wiring) {
            let file = process::escape(line.file.as_bytes());
            let note = format!(
                "its report asks for lines in {file}, which is no shared file of its stage: nobody brings \
                 them in"
            );
            if !is_shared(&line.file) && !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
