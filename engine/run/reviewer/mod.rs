//! Reviews by workers: one session for each lens, side by side, in a worktree that they only read. The
//! same for a WP's round and for the last look at the whole.
//!
//! A session outlives its engine and is adopted by the next; infrastructure that fails is left for the
//! tier's fallback and then for a person; what was answered already stays answered. Before the first one
//! comes in, the rest of the repository is taken down, and when one leaves, that and the worktree are
//! compared: of those who were in there at the time nobody's verdict counts when something changed.

mod answer;
mod session;
mod share;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::brief::review::{LENS, VERIFY};
use crate::brief::{Correction, RanBefore, ReviewContext, SentBack};
use crate::event::Event;
use crate::git::Worktree;
use crate::ledger::{NextAttempt, ReviewState, Sitting, WpState};
use crate::model::ids::{CommitId, TierId, TreeId, WpId};
use crate::model::outcome::{Check, Problem};
use crate::model::plan::Budget;
use crate::model::time::Timestamp;
use crate::model::turn::Spent;
use crate::model::verdict::{ReviewSeverity, Verdict};
use crate::process;

use super::beside;
use super::lookout::SessionOf;
use super::provision::snapshot_spec;
use super::seats::Seat;
use super::site::{Halt, Site};
use super::step::{Order, Orders};
use super::unit::Line;
use share::Share;

/// How often one looks again that waits for what the others leave of the budget.
const OTHERS: Duration = Duration::from_millis(200);

/// The lens of the last look at the whole.
pub const WHOLE: &str = "whole";

/// What is reviewed, and by whom.
#[derive(Debug)]
pub struct Subject {
    /// The WP; nothing for the whole.
    pub wp: Option<WpId>,
    /// Whose worktree it is.
    pub unit: String,
    /// What the names of its files in the run directory begin with.
    pub stem: String,
    /// The round; 0 for the whole.
    pub round: u32,
    /// Who reviews, first.
    pub tier: TierId,
    /// What they look for.
    pub lenses: Vec<String>,
    /// Least severity that blocks.
    pub block_from: ReviewSeverity,
    /// Where they are let in.
    pub worktree: Worktree,
    /// What they find there, and have to leave there.
    pub tree: TreeId,
    /// What the diff is against.
    pub base: CommitId,
    /// The diff.
    pub diff: Vec<u8>,
    /// Where it is.
    pub diff_file: PathBuf,
    /// Where the worker's brief is; nothing for the whole.
    pub brief_file: Option<PathBuf>,
    /// Commands that were run on the tree.
    pub ran: Vec<RanBefore>,
    /// Rounds that reviewers sent back.
    pub earlier: Vec<(u32, Vec<Problem>)>,
}

/// What came of a review.
#[derive(Debug)]
pub enum Heard {
    /// Everybody has answered: each lens, and its verdict.
    All(Vec<(String, Verdict)>),
    /// Nothing is left to pay a session with.
    Spent {
        /// The limit.
        limit: Spent,
        /// Whether it is the run's.
        of_run: bool,
        /// What the one looked for that was ended at it; nothing where it could not begin.
        reviewer: Option<String>,
    },
    /// Whoever is left has to wait for its time.
    Later,
}

/// A review that is going on.
pub struct Bench {
    site: Arc<Site>,
    line: Line,
    orders: Orders,
    subject: Subject,
    /// What the journal has of it. Held while a fact is recorded: facts are taken over in their order.
    seen: Mutex<Seen>,
}

struct Seen {
    state: Option<Box<WpState>>,
    review: ReviewState,
    since: Option<Timestamp>,
    /// What each session at work was given.
    given: HashMap<String, Budget>,
}

/// What became of one lens.
enum Sat {
    Answered,
    Spent { limit: Spent, of_run: bool, reviewer: Option<String> },
    Later,
}

impl Bench {
    /// A review where the journal has it: `state` is the WP's, or `review` the whole's.
    #[must_use]
    pub fn new(
        site: Arc<Site>,
        line: Line,
        orders: Orders,
        subject: Subject,
        state: Option<Box<WpState>>,
        review: ReviewState,
    ) -> Self {
        let since = state.as_ref().and_then(|state| state.since);
        Self {
            site,
            line,
            orders,
            subject,
            seen: Mutex::new(Seen { state, review, since, given: HashMap::new() }),
        }
    }

    /// Asks everybody who has not answered yet, side by side, and hears them to their end.
    ///
    /// # Errors
    /// A halt when it was stopped, no reviewer can do it, or one did more than read.
    pub async fn hear(self) -> Result<Heard, Halt> {
        let bench = Arc::new(self);
        let mut sessions = JoinSet::new();
        for lens in bench.subject.lenses.clone() {
            let bench = Arc::clone(&bench);
            sessions.spawn(async move { bench.sit(&lens).await });
        }
        let (mut spent, mut later, mut halt) = (None, false, None::<Halt>);
        while let Some(ended) = sessions.join_next().await {
            let ended = ended.unwrap_or_else(|panic| {
                let text = format!("a part of sop failed, which is a fault of its own: {panic}");
                Err(blocked(text))
            });
            match ended {
                Ok(Sat::Answered) => {}
                Ok(Sat::Spent { limit, of_run, reviewer }) => {
                    // Of those who ended for it, one that was at work says more.
                    if spent.is_none() || reviewer.is_some() {
                        spent = Some((limit, of_run, reviewer));
                    }
                }
                Ok(Sat::Later) => later = true,
                // What infrastructure did is worth more to know than that somebody said stop.
                Err(Halt::Stopped) => halt = halt.or(Some(Halt::Stopped)),
                Err(blocked) if halt.as_ref().is_none_or(|h| matches!(h, Halt::Stopped)) => {
                    halt = Some(blocked);
                }
                Err(_) => {}
            }
        }
        if let Some(halt) = halt {
            return Err(halt);
        }
        if let Some((limit, of_run, reviewer)) = spent {
            return Ok(Heard::Spent { limit, of_run, reviewer });
        }
        if later {
            return Ok(Heard::Later);
        }
        let seen = bench.seen.lock().await;
        let verdict = |lens: &String| Some((lens.clone(), seen.review.verdict(lens)?.clone()));
        Ok(Heard::All(bench.subject.lenses.iter().filter_map(verdict).collect()))
    }

    /// Nobody is in there: what is found now is what has to be left.
    async fn let_in(&self, seen: &mut Seen) -> Result<(), Halt> {
        let changed = self.changed().await?;
        if !changed.is_empty() {
            let text = "the worktree is not as it was checked, so nobody can review it; put it back, and \
                        resume";
            return Err(Halt::blocked(Problem::new(Check::Review, text).about(changed.join(", "))));
        }
        let guard = beside::take_down(&self.site, &self.subject.worktree, &self.guard()).await?;
        let event = Event::ReviewStarted {
            wp: self.subject.wp.clone(),
            round: self.subject.round,
            block_from: self.subject.block_from,
            guard,
        };
        self.record(seen, event).await
    }

    /// One lens to its answer: sessions until one of them has given it.
    async fn sit(&self, lens: &str) -> Result<Sat, Halt> {
        loop {
            let (mut orders, mut freed) = (self.orders.clone(), self.site.seats.watch());
            let sitting = {
                let seen = self.seen.lock().await;
                let reviewer = seen.review.reviewer(lens);
                if reviewer.is_some_and(|reviewer| reviewer.verdict.is_some()) {
                    return Ok(Sat::Answered);
                }
                reviewer.and_then(|reviewer| reviewer.at_work.clone())
            };
            let (sitting, given, seat) = match sitting {
                Some(sitting) => self.adopted(lens, sitting).await,
                None => match self.next(lens).await? {
                    Next::Sit(sitting, given, seat) => (sitting, given, seat),
                    Next::Else(sat) => return Ok(sat),
                    Next::Wait(time) => {
                        tokio::select! {
                            () = tokio::time::sleep(time) => {}
                            _ = orders.changed() => {}
                        }
                        continue;
                    }
                    Next::Seat => {
                        tokio::select! {
                            _ = freed.changed() => {}
                            _ = orders.changed() => {}
                        }
                        continue;
                    }
                },
            };
            let event = self.session(lens, &sitting, given).await?;
            drop(seat);
            self.ended(lens, event).await?;
        }
    }

    /// Begins the next session of a lens, or says why not now.
    async fn next(&self, lens: &str) -> Result<Next, Halt> {
        if *self.orders.borrow() != Order::Go {
            return Err(Halt::Stopped);
        }
        // Held until it has begun: meanwhile nobody comes in, and nobody is the last to leave.
        let mut seen = self.seen.lock().await;
        let reviewer = seen.review.reviewer(lens);
        let number = reviewer.map_or(0, |reviewer| reviewer.sessions) + 1;
        let again = reviewer.and_then(|r| Some((r.why.clone()?, r.session.clone())));
        let next = self.site.next_review(&self.subject.tier, &seen.review, lens, seen.since);
        let (tier, not_before) = match next {
            NextAttempt::Start { tier, not_before } => (tier, not_before),
            NextAttempt::GiveUp(what) => {
                let text = format!("no reviewer could do it ({lens}): {what}");
                return Err(blocked(text));
            }
        };
        if let Some(at) = not_before.filter(|at| !self.site.due.is_over(*at)) {
            // A WP gives its room up meanwhile; the whole has nobody who would take it up again.
            return Ok(match self.subject.wp {
                Some(_) => Next::Else(Sat::Later),
                None => Next::Wait(at.since(Timestamp(jiff::Timestamp::now())).0),
            });
        }
        let given = match self.share(&seen, lens) {
            Share::Given(given) => given,
            Share::Later => return Ok(Next::Wait(OTHERS)),
            Share::Spent(sat) => return Ok(Next::Else(sat)),
        };
        let Some(seat) = self.site.seats.take(&tier) else { return Ok(Next::Seat) };
        if seen.review.guard.is_none() {
            self.let_in(&mut seen).await?;
        }
        self.fresh(lens, number)?;
        let (prompt, session) = self.prompt(lens, &tier, number, again)?;
        let sitting = Sitting {
            number,
            worker: self.site.plan.tiers[&tier].worker.clone(),
            tier,
            prompt,
            resumed: session,
            suspect: false,
        };
        let event = Event::ReviewerStarted {
            wp: self.subject.wp.clone(),
            round: self.subject.round,
            lens: lens.to_owned(),
            number,
            tier: sitting.tier.clone(),
            worker: sitting.worker.clone(),
            prompt: sitting.prompt.clone(),
            session: sitting.resumed.clone(),
        };
        self.record(&mut seen, event).await?;
        seen.given.insert(lens.to_owned(), given);
        Ok(Next::Sit(sitting, given, seat))
    }

    /// A session that an earlier engine began, with what that one gave it.
    async fn adopted(&self, lens: &str, sitting: Sitting) -> (Sitting, Budget, Seat) {
        let seat = self.site.seats.adopt(&self.session_of(lens), &sitting.tier);
        let mut seen = self.seen.lock().await;
        let given = self.given_before(lens, &sitting);
        let given = given.unwrap_or_else(|| self.left(&seen).unwrap_or_default());
        seen.given.insert(lens.to_owned(), given);
        (sitting, given, seat)
    }

    fn session_of(&self, lens: &str) -> SessionOf {
        SessionOf { wp: self.subject.wp.clone(), lens: Some(lens.to_owned()) }
    }

    /// What is left for sessions.
    fn left(&self, seen: &Seen) -> Result<Budget, (Spent, bool)> {
        let (site, plan) = (&self.site, &self.site.plan);
        match (&self.subject.wp, &seen.state) {
            (Some(wp), Some(state)) => site.lookout.left(plan, site.wp(wp), state),
            _ => site.lookout.left_of_run(plan).map_err(|limit| (limit, true)),
        }
    }

    /// Records a session's end; whoever did more than read is not heard.
    async fn ended(&self, lens: &str, event: Event) -> Result<(), Halt> {
        let (touched, answered) = match &event {
            Event::ReviewerEnded { touched, verdict, .. } => (touched.clone(), verdict.is_some()),
            _ => (Vec::new(), false),
        };
        let stopped = matches!(
            &event,
            Event::ReviewerEnded { ran, .. } if ran.end == crate::model::outcome::End::Cancelled
        );
        let mut seen = self.seen.lock().await;
        let at_work = |seen: &Seen| -> Vec<String> {
            let in_there = seen.review.reviewers.iter().filter(|r| r.at_work.is_some());
            in_there.map(|reviewer| reviewer.lens.clone()).collect()
        };
        let beside = at_work(&seen);
        self.record(&mut seen, event).await?;
        seen.given.remove(lens);
        let heard = seen.review.verdict(lens).is_some();
        drop(seen);
        if !touched.is_empty() || (answered && !heard) {
            return Err(refused(&beside, &touched));
        }
        if stopped {
            return Err(Halt::Stopped);
        }
        Ok(())
    }

    async fn record(&self, seen: &mut Seen, event: Event) -> Result<(), Halt> {
        match self.line.record(event.clone()).await? {
            Some(state) => {
                seen.review = state.review.clone();
                seen.state = Some(state);
            }
            // A fact about no WP: the same fold, here.
            None => {
                let at = Timestamp(jiff::Timestamp::now());
                seen.review.apply(at, &event, &mut Vec::new());
            }
        }
        Ok(())
    }

    /// Paths of the worktree that are not as they were checked.
    async fn changed(&self) -> Result<Vec<String>, Halt> {
        let (worktree, tree) = (self.subject.worktree.clone(), self.subject.tree.clone());
        let spec = snapshot_spec(&self.site, worktree.base());
        let changed = self
            .site
            .blocking(Check::Review, move |site| {
                let now = worktree.snapshot(&spec)?;
                match now.tree == tree {
                    true => Ok(Vec::new()),
                    false => site.repo.diff_trees(&tree, &now.tree),
                }
            })
            .await?;
        Ok(changed.iter().map(|change| process::escape(&change.path)).collect())
    }

    /// Where the rest of the repository is taken down.
    fn guard(&self) -> PathBuf {
        self.site.dir.review_guard(&self.subject.unit)
    }

    /// What the reviewer of this lens is told, whole.
    fn text(&self, lens: &str, tier: &TierId) -> Result<String, Halt> {
        let (site, subject) = (&self.site, &self.subject);
        let corrections = site.lookout.notes();
        let notes: Vec<Correction<'_>> =
            corrections.iter().map(|note| Correction { at: note.at, text: &note.text }).collect();
        let earlier: Vec<SentBack<'_>> = subject
            .earlier
            .iter()
            .map(|(number, findings)| SentBack {
                number: *number,
                findings: findings.iter().collect(),
            })
            .collect();
        let brief =
            subject.brief_file.as_deref().map(crate::process::escape_path).unwrap_or_default();
        let context = ReviewContext {
            plan: &site.plan,
            wp: subject.wp.as_ref().map(|wp| site.wp(wp)),
            tier,
            run: site.dir.run(),
            base: &subject.base,
            round: subject.round,
            diff: &subject.diff,
            diff_file: &crate::process::escape_path(&subject.diff_file),
            brief_file: &brief,
            ran: &subject.ran,
            earlier: &earlier,
            notes: &notes,
        };
        let template = match subject.wp {
            Some(_) => format!("{LENS}{lens}"),
            None => VERIFY.to_owned(),
        };
        let text = site.briefs.review(&template, &context);
        text.map_err(|error| blocked(format!("the review cannot be rendered: {error}")))
    }
}

enum Next {
    /// It begins, with so much to use, on this seat.
    Sit(Sitting, Budget, Seat),
    /// It has to wait so long.
    Wait(Duration),
    /// It has to wait for a seat.
    Seat,
    /// There is no next one now.
    Else(Sat),
}

/// Of those who were in there, nobody can say which did it: all are named.
fn refused(beside: &[String], touched: &[Problem]) -> Halt {
    let who = match beside {
        [one] => format!("the reviewer ({one})"),
        many => format!("one of the reviewers who ran side by side ({})", many.join(", ")),
    };
    let text = format!(
        "{who} changed what it only reads, and the verdict does not count; put it back, and resume"
    );
    let said: Vec<String> = touched
        .iter()
        .map(|problem| match &problem.subject {
            Some(subject) => format!("{subject} {}", problem.message),
            None => problem.message.clone(),
        })
        .collect();
    let problem = Problem::new(Check::Review, text);
    Halt::blocked(if said.is_empty() { problem } else { problem.about(said.join("; ")) })
}

fn blocked(text: impl Into<String>) -> Halt {
    Halt::blocked(Problem::new(Check::Review, text))
}
