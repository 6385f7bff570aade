//! The request at the forge: found by its branch, or opened; its title and body set.

use std::fmt::Display;
use std::sync::Arc;

use crate::brief::{RequestContext, RequestText, RequestWp};
use crate::event::Event;
use crate::forge::{Forge, ForgeError, Kind, NewRequest, Request};
use crate::ledger::WpState;
use crate::model::delivery::{DeliveryStep, Hold};
use crate::model::ids::{RunId, WpId};
use crate::model::outcome::Ran;
use crate::model::plan::Kind as WpKind;

use super::Stop;
use super::course::{Course, Open};
use super::reach::Reach;

/// The line by which a later run of the plan finds the request of the same WP. It is in no template, so that
/// none can leave it out.
pub(super) fn marker(plan: &RunId, wp: Option<&WpId>) -> String {
    match wp {
        Some(wp) => format!("<!-- sop: plan={plan} wp={wp} -->"),
        None => format!("<!-- sop: plan={plan} whole -->"),
    }
}

impl Course {
    /// Sees to it that there is a request of `branch`, with this run's words where it is not that already.
    /// `fresh`: the branch was moved.
    pub(super) async fn request(
        &mut self,
        reach: &Arc<Reach>,
        branch: &str,
        fresh: bool,
    ) -> Result<Open, Stop> {
        if let Some(item) = self.item.as_ref().filter(|_| !fresh)
            && let (Some(number), Some(url)) = (item.number, item.url.clone())
        {
            return Ok(Open { number, url });
        }
        let into = self.ledger.delivery.as_ref().and_then(|state| state.into.clone());
        let into = into.ok_or_else(|| Stop::Held(Hold::Refused, super::target::no_base()))?;
        let RequestText { title, body } = self.text()?;
        let marker = marker(&self.site.plan.name, self.what.wp.as_ref());
        let body = format!("{body}\n\n{marker}\n");
        self.announce(DeliveryStep::Request, branch).await?;
        let (head, draft) = (branch.to_owned(), self.delivery().draft);
        let request = self
            .ask(reach, move |reach| {
                let new =
                    NewRequest { head: &head, base: &into, title: &title, body: &body, draft };
                ensure(reach.forge()?, &new)
            })
            .await?;
        let (wp, number, url) = (self.what.wp.clone(), request.number, request.url);
        let open = Open { number, url: url.clone() };
        let event = match branch == self.what.branch {
            true => Event::RequestOpened { wp, number, url },
            false => Event::RequestUpdated { wp, number, url },
        };
        self.record(event).await?;
        Ok(open)
    }

    /// What it says.
    fn text(&self) -> Result<RequestText, Stop> {
        let (site, ledger) = (&self.site, &self.ledger);
        let is_in = |wp: &&WpState| match &self.what.wp {
            Some(id) => wp.id == *id,
            None => wp.kind == WpKind::Change && wp.phase.got_through(),
        };
        let wps = ledger.wps.iter().filter(is_in).map(|wp| RequestWp {
            wp: site.wp(&wp.id),
            paths: wp.changed,
            ran: wp.proved.iter().collect(),
            approved_by: wp.reviewed_by.as_deref(),
        });
        let left_out = ledger.wps.iter().filter(|wp| wp.phase.stuck());
        let left_out = left_out.map(|wp| (&wp.id, wp.phase.name().to_owned()));
        let gate = ledger.gates.last().filter(|_| self.what.wp.is_none());
        let look = ledger.verify.as_ref().filter(|_| self.what.wp.is_none());
        let on_whole: Vec<&Ran> = match look {
            Some(look) => look.ran.iter().map(|one| &one.ran).collect(),
            None => gate.iter().flat_map(|gate| &gate.proved).collect(),
        };
        let context = RequestContext {
            plan: &site.plan,
            run: site.dir.run(),
            base: &ledger.base,
            commit: &self.what.commit,
            whole: self.what.wp.is_none(),
            wps: wps.collect(),
            on_whole,
            left_out: left_out.collect(),
            notes: ledger.notes.iter().map(|note| note.text.as_str()).collect(),
        };
        let held = |error: &dyn Display| Stop::Held(Hold::Refused, error.to_string());
        site.briefs.request(&context).map_err(|error| held(&error))
    }
}

/// The request of a branch: the one that is open, with these words, or a new one.
fn ensure(forge: &dyn Forge, new: &NewRequest<'_>) -> Result<Request, ForgeError> {
    let find = || {
        let mut found = forge.open_requests(Some(new.head))?;
        let at = found.iter().position(|request| request.head == new.head);
        Ok::<_, ForgeError>(at.map(|at| found.swap_remove(at)))
    };
    if let Some(found) = find()? {
        if found.base != new.base {
            let text = format!(
                "the request {} asks to be merged into {}, not into {}",
                found.url,
                crate::process::escape(found.base.as_bytes()),
                new.base
            );
            return Err(ForgeError::new(Kind::Refused, text));
        }
        if (found.title.as_str(), found.body.trim()) != (new.title, new.body.trim()) {
            forge.update(found.number, new.title, new.body)?;
        }
        return Ok(found);
    }
    match forge.create(new) {
        // Another try may have come through before its answer was lost.
        Err(error) if error.kind != Kind::Exists => return Err(error),
        _ => {}
    }
    find()?.ok_or_else(|| {
        let text =
            format!("a request of {} was opened, and is not found among the open ones", new.head);
        ForgeError::new(Kind::Unreachable, text)
    })
}
