//! The remote and the forge as a course reaches them: at most a few at once, and again when something failed in
//! passing.

use std::sync::Arc;

use crate::forge::{self, Forge, ForgeError, Kind, Place, back_off};
use crate::git::{Remote, Repo};
use crate::model::delivery::{Destination, Hold};
use crate::run::directory::RunDir;
use crate::run::site::Site;
use crate::run::step::{Order, Orders};

use super::Stop;

/// What there is at the other end.
pub(super) struct Reach {
    /// The repository here.
    pub repo: Repo,
    /// The remote.
    pub remote: Remote,
    forge: Result<Box<dyn Forge>, ForgeError>,
}

impl Reach {
    /// The remote of the plan's delivery, and the forge that it is at.
    ///
    /// # Errors
    /// There is no such remote.
    pub fn of(site: &Site, name: &str) -> Result<Self, Stop> {
        let refused = |text: String| Stop::Held(Hold::Refused, text);
        let remote = site.repo.remote(name).map_err(|error| refused(error.to_string()))?;
        let remote = remote.ok_or_else(|| refused(no_remote(name)))?;
        let now = remote.destination();
        if let Some(approved) = site.to.as_ref().filter(|approved| **approved != now) {
            return Err(refused(moved(name, approved, &now, &site.dir)));
        }
        let kind = site.plan.delivery.as_ref().map(|delivery| delivery.forge).unwrap_or_default();
        let forge = match Place::of(&remote.fetch) {
            Some(place) => Ok(forge::at(kind, place)),
            None => Err(ForgeError::new(Kind::Refused, no_forge(name, &remote))),
        };
        Ok(Self { repo: site.repo.clone(), remote, forge })
    }

    /// The forge.
    ///
    /// # Errors
    /// The remote is at none.
    pub fn forge(&self) -> Result<&dyn Forge, ForgeError> {
        self.forge.as_deref().map_err(Clone::clone)
    }
}

/// That a remote is not where it was when somebody said yes to pushing there, and what to do.
fn moved(name: &str, approved: &Destination, now: &Destination, dir: &RunDir) -> String {
    let (was, is) = match approved.push == now.push {
        true => (&approved.fetch, &now.fetch),
        false => (&approved.push, &now.push),
    };
    format!(
        "the remote `{name}` is at {is} now, and the yes was to {was}: put it back, or say yes to where it is now \
         (`sop resume {} --approve push`)",
        dir.run()
    )
}

/// That there is no such remote, and what to do.
pub(super) fn no_remote(name: &str) -> String {
    format!(
        "there is no remote `{name}`: add one (`git remote add {name} URL`), or name another in `[delivery]`"
    )
}

/// That a remote is at no forge.
pub(super) fn no_forge(name: &str, remote: &Remote) -> String {
    format!(
        "the remote `{name}` is at no forge that could be asked: {}; set `pull_request = false` under `[delivery]` to \
         push alone, or name another remote",
        remote.shown()
    )
}

/// Calls what blocks, off the engine's own threads, until it succeeds, fails for good, or has failed in passing
/// too often.
///
/// # Errors
/// [`Stop::Engine`] when the engine is told to stop meanwhile.
pub(super) async fn patiently<T: Send + 'static>(
    site: &Arc<Site>,
    reach: &Arc<Reach>,
    orders: &mut Orders,
    call: impl Fn(&Reach) -> Result<T, ForgeError> + Send + Sync + 'static,
) -> Result<Result<T, ForgeError>, Stop> {
    let call = Arc::new(call);
    let mut failed = 0;
    loop {
        let turn = site.forge_turns.acquire().await;
        let (reach, call) = (Arc::clone(reach), Arc::clone(&call));
        let task = tokio::task::spawn_blocking(move || call(&reach));
        let result = tokio::select! {
            result = task => result,
            () = stopped(orders) => return Err(Stop::Engine),
        };
        drop(turn);
        let error = match result {
            Ok(Err(error)) if error.passes() => error,
            Ok(result) => return Ok(result),
            Err(panic) => {
                let text = format!("a part of sop failed, which is a fault of its own: {panic}");
                return Err(Stop::Held(Hold::Refused, text));
            }
        };
        failed += 1;
        tracing::info!(%error, failed, "the forge or the remote is out of reach");
        let Some(wait) = back_off::after(failed) else { return Ok(Err(error)) };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stopped(orders) => return Err(Stop::Engine),
        }
    }
}

/// Waits until the engine is told to stop.
pub(super) async fn stopped(orders: &mut Orders) {
    // Nobody left to give orders means the same.
    let _ = orders.wait_for(|order| *order != Order::Go).await;
}
