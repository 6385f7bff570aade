//! From the command's start until nothing of it is alive.

use std::time::{Duration, Instant};

use super::controls::{Controls, Order};
use super::output::Output;
use crate::launch::{EndedBy, Exit, How, Spec};
use crate::process::reap::{Children, Death, reap};
use crate::process::stop::Stop;
use crate::process::tree;

/// How long what a command started may take to follow it out before it counts as left behind. A
/// shell often exits a moment before the last of its pipeline.
const FOLLOW: Duration = Duration::from_millis(100);
/// The longest sleep, when no limit is nearer.
const LONG: Duration = Duration::from_secs(3600);

/// How it went.
pub(super) struct End {
    pub(super) exit: Exit,
    pub(super) ended_by: EndedBy,
    pub(super) left_behind: u32,
}

struct Watch<'a> {
    spec: &'a Spec,
    /// This process: the root of all that is ended.
    me: i32,
    began: Instant,
    exit: Option<Exit>,
    /// When the main process was gone, while what it started is given [`FOLLOW`].
    exited: Option<Instant>,
    stop: Option<Stop>,
    ended_by: EndedBy,
    left_behind: u32,
}

/// Sees the command to its end. Returns when no process that it started is alive.
pub(super) fn watch(spec: &Spec, child: i32, controls: &mut Controls, output: &mut Output) -> End {
    let mut watch = Watch {
        spec,
        me: std::process::id().cast_signed(),
        began: Instant::now(),
        exit: None,
        exited: None,
        stop: None,
        ended_by: EndedBy::Itself,
        left_behind: 0,
    };
    loop {
        let children = reap(|pid, death| {
            if pid.as_raw_nonzero().get() == child {
                watch.exit = Some(death.into());
            }
        });
        if children == Children::None {
            break;
        }
        let sleep = watch.step(controls.order(), output.last());
        let mut fds = output.fds();
        // Only a bad descriptor or no memory for the call: go on, by the clock.
        if controls.wait(&mut fds, sleep).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let ready: Vec<bool> = fds.iter().map(|(_, ready)| *ready).collect();
        output.pump(&ready);
    }
    End {
        exit: watch.exit.unwrap_or(Exit::Unknown),
        ended_by: watch.ended_by,
        left_behind: watch.left_behind,
    }
}

impl Watch<'_> {
    /// Does what is due now and says how long to sleep.
    fn step(&mut self, order: Option<Order>, last_output: Instant) -> Duration {
        let now = Instant::now();
        let due = self.due(order, last_output, now);
        match (&mut self.stop, due) {
            (None, Some(ended_by)) if self.exited.is_none() => {
                self.ended_by = ended_by;
                self.stop = Some(match order {
                    Some(Order::Cut | Order::Stop(How::Kill)) => Stop::now(self.me),
                    _ => Stop::ask(self.me, self.spec.grace),
                });
            }
            (Some(stop), _) if matches!(order, Some(Order::Cut | Order::Stop(How::Kill))) => {
                stop.press()
            }
            _ => {}
        }
        if self.exit.is_some() && self.exited.is_none() {
            self.exited = Some(now);
            if let Some(stop) = &mut self.stop {
                stop.ask_the_rest();
            }
        }
        if let Some(stop) = &mut self.stop {
            return stop.tick();
        }
        match self.exited {
            None => self.until_due(last_output, now),
            Some(exited) => match FOLLOW.checked_sub(now.duration_since(exited)) {
                Some(left) if order.is_none() => left.max(Duration::from_millis(1)),
                _ => {
                    self.left_behind =
                        u32::try_from(tree::below(self.me).len()).unwrap_or(u32::MAX);
                    self.stop.insert(Stop::ask(self.me, self.spec.grace)).tick()
                }
            },
        }
    }

    /// Why the command should be stopped, if it should.
    fn due(&self, order: Option<Order>, last_output: Instant, now: Instant) -> Option<EndedBy> {
        let over = |limit: Option<Duration>, since: Instant| {
            limit.is_some_and(|limit| now.duration_since(since) >= limit)
        };
        match order {
            Some(Order::Cut) => Some(EndedBy::Interrupted),
            Some(Order::Stop(_)) => Some(EndedBy::Cancel),
            None if over(self.spec.timeout, self.began) => Some(EndedBy::Timeout),
            None if over(self.spec.idle_timeout, last_output.max(self.began)) => {
                Some(EndedBy::Idle)
            }
            None => None,
        }
    }

    /// Time to the nearest limit. A millisecond more, so that the sleep does not end just before it.
    fn until_due(&self, last_output: Instant, now: Instant) -> Duration {
        let left = |limit: Option<Duration>, since: Instant| {
            limit.map(|limit| {
                limit.saturating_sub(now.duration_since(since)) + Duration::from_millis(1)
            })
        };
        let idle = left(self.spec.idle_timeout, last_output.max(self.began));
        left(self.spec.timeout, self.began).into_iter().chain(idle).fold(LONG, Duration::min)
    }
}

impl From<Death> for Exit {
    fn from(death: Death) -> Self {
        match death {
            Death::Code(code) => Self::Code(code),
            Death::Signal(signal) => Self::Signal(signal),
        }
    }
}
