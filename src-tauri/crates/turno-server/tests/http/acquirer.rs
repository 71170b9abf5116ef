//! An acquirer that says what the test tells it to, when the test lets it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use tokio::sync::oneshot;
use turno_server::{
    acquirer::{Acquirer, Answer, Charge, Found, LookUp, NoAnswer},
    payment::PaymentResult,
};

/// Clones speak for the same acquirer.
#[derive(Clone, Default)]
pub struct Scripted(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    charges: VecDeque<Step<PaymentResult>>,
    lookups: VecDeque<Step<Found>>,
    /// Ids of everything that was charged, in order.
    charged: Vec<String>,
}

struct Step<T> {
    said: Result<T, NoAnswer>,
    /// The answer comes when the test sends here.
    gate: Option<oneshot::Receiver<()>>,
}

impl Scripted {
    pub fn on_charge(&self, said: Result<PaymentResult, NoAnswer>) -> &Self {
        self.0.lock().unwrap().charges.push_back(Step { said, gate: None });
        self
    }

    pub fn on_lookup(&self, said: Result<Found, NoAnswer>) -> &Self {
        self.0.lock().unwrap().lookups.push_back(Step { said, gate: None });
        self
    }

    /// The next charge is answered when the sender is used.
    pub fn hold_charge(&self, said: Result<PaymentResult, NoAnswer>) -> oneshot::Sender<()> {
        let (open, gate) = oneshot::channel();
        self.0.lock().unwrap().charges.push_back(Step { said, gate: Some(gate) });
        open
    }

    pub fn charged(&self) -> Vec<String> {
        self.0.lock().unwrap().charged.clone()
    }

    async fn play<T>(step: Option<Step<T>>) -> Result<T, NoAnswer> {
        let Step { said, gate } = step.expect("the test says what happens");
        if let Some(gate) = gate {
            // A test that forgets its gate leaves the answer out for ever, like a dead line.
            if gate.await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        said
    }
}

impl Acquirer for Scripted {
    fn charge(&self, charge: Charge) -> Answer<'_, PaymentResult> {
        let step = {
            let mut script = self.0.lock().unwrap();
            script.charged.push(charge.acquirer_payment_id);
            script.charges.pop_front()
        };
        Box::pin(Self::play(step))
    }

    fn find<'a>(&'a self, _: LookUp<'a>) -> Answer<'a, Found> {
        let step = self.0.lock().unwrap().lookups.pop_front();
        Box::pin(Self::play(step))
    }
}
