//! Stopping: the first SIGINT or SIGTERM stops starting and lets TERM and grace work, the second ends
//! everything at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::step::Order;

/// The signals an engine listens to, and what they have come to so far.
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
    order: Order,
}

impl Stop {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the system gives no handler.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            order: Order::Go,
        })
    }

    /// Resolves at the next signal, with what it means by now.
    pub async fn next(&mut self) -> Order {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        self.order = match self.order {
            Order::Go => Order::Term,
            Order::Term | Order::Kill => Order::Kill,
        };
        self.order
    }
}
