//! What an engine delivers: all that is due, side by side.

use std::sync::Arc;

use tokio::sync::watch;

use crate::run::dispatcher::Engine;
use crate::run::unit::{Line, Message};

impl Engine<'_> {
    pub(in crate::run) fn start_deliveries(&mut self) {
        for what in self.ledger.to_deliver() {
            if self.deliveries.contains_key(&what.wp) {
                continue;
            }
            let (orders, ordered) = watch::channel(self.order);
            let wp = what.wp.clone();
            self.deliveries.insert(wp.clone(), orders);
            let (site, line) = (Arc::clone(&self.site), Line(self.line.clone()));
            let ledger = self.ledger.clone();
            tokio::spawn(async move {
                // Whatever it came to is on record; a later engine goes on with what is not.
                let _ = super::run(site, line.clone(), ordered, what, ledger).await;
                let _ = line.0.send(Message::DeliveryDone(wp)).await;
            });
        }
    }
}
