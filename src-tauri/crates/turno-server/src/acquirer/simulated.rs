//! An acquirer without money: the céntimos of a payment decide what it does.
//!
//! It forgets everything when the process ends, like a sandbox that was reset. Invariant: within a process it keeps
//! the promise of every acquirer and charges once for an id.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use turno_domain::Money;

use super::{Acquirer, Answer, Charge, Found, NoAnswer};
use crate::payment::PaymentResult;

/// Payments remembered. A sandbox is asked about the last minutes, not about last year.
const MEMORY: usize = 100_000;

/// How long the slow one takes.
const SLOW: Duration = Duration::from_secs(3);

#[derive(Debug, Default)]
pub struct SimulatedAcquirer {
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    payments: HashMap<String, PaymentResult>,
    oldest_first: VecDeque<String>,
    /// Ids that were asked for and did not arrive.
    missed: HashSet<String>,
    /// Sales whose first payment was declined.
    declined_once: HashSet<String>,
}

/// What the céntimos ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Approve,
    Decline,
    LeavePending,
    ApproveAndLoseTheAnswer,
    MissTheFirstCharge,
    DeclineTheFirstPayment,
    ApproveLessAndLoseTheAnswer,
    DeclineAndLoseTheAnswer,
    ApproveSlowly,
    BeUnreachable,
}

impl Script {
    fn of(amount: Money) -> Self {
        match amount.minor() % 100 {
            1 => Self::Decline,
            2 => Self::LeavePending,
            3 => Self::ApproveAndLoseTheAnswer,
            4 => Self::MissTheFirstCharge,
            5 => Self::DeclineTheFirstPayment,
            6 => Self::ApproveLessAndLoseTheAnswer,
            7 => Self::DeclineAndLoseTheAnswer,
            8 => Self::ApproveSlowly,
            9 => Self::BeUnreachable,
            _ => Self::Approve,
        }
    }
}

impl Books {
    /// The result is kept the first time; whoever asks again gets the first one.
    fn settle(&mut self, id: &str, result: PaymentResult) -> PaymentResult {
        if let Some(known) = self.payments.get(id) {
            return *known;
        }
        if self.oldest_first.len() >= MEMORY
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.payments.remove(&oldest);
        }
        self.oldest_first.push_back(id.to_owned());
        self.payments.insert(id.to_owned(), result);
        result
    }

    fn charge(&mut self, charge: &Charge) -> Result<PaymentResult, NoAnswer> {
        let id = &charge.acquirer_payment_id;
        let approved = PaymentResult::Approved { amount: charge.amount };
        match Script::of(charge.amount) {
            Script::Approve | Script::ApproveSlowly => Ok(self.settle(id, approved)),
            Script::Decline => Ok(self.settle(id, PaymentResult::Declined)),
            Script::LeavePending => Ok(self.settle(id, PaymentResult::Pending)),
            Script::ApproveAndLoseTheAnswer => {
                self.settle(id, approved);
                Err(NoAnswer)
            }
            Script::ApproveLessAndLoseTheAnswer => {
                let unit = 10_i64.pow(u32::from(charge.amount.currency().decimals()));
                let less = charge.amount.minor().saturating_sub(unit);
                let amount = Money::from_minor(less, charge.amount.currency());
                self.settle(id, PaymentResult::Approved { amount });
                Err(NoAnswer)
            }
            Script::DeclineAndLoseTheAnswer => {
                self.settle(id, PaymentResult::Declined);
                Err(NoAnswer)
            }
            Script::MissTheFirstCharge if self.missed.insert(id.clone()) => Err(NoAnswer),
            Script::MissTheFirstCharge => Ok(self.settle(id, approved)),
            Script::DeclineTheFirstPayment if self.payments.contains_key(id) => Ok(self.settle(id, approved)),
            Script::DeclineTheFirstPayment if self.declined_once.insert(charge.reference.clone()) => {
                Ok(self.settle(id, PaymentResult::Declined))
            }
            Script::DeclineTheFirstPayment => Ok(self.settle(id, approved)),
            Script::BeUnreachable => {
                self.missed.insert(id.clone());
                Err(NoAnswer)
            }
        }
    }
}

impl SimulatedAcquirer {
    fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Acquirer for SimulatedAcquirer {
    fn charge(&self, charge: Charge) -> Answer<'_, PaymentResult> {
        Box::pin(async move {
            if Script::of(charge.amount) == Script::ApproveSlowly {
                tokio::time::sleep(SLOW).await;
            }
            self.books().charge(&charge)
        })
    }

    fn find<'a>(&'a self, lookup: super::LookUp<'a>) -> Answer<'a, Found> {
        Box::pin(async move {
            if Script::of(lookup.amount) == Script::BeUnreachable {
                return Err(NoAnswer);
            }
            let found = self.books().payments.get(lookup.acquirer_payment_id).copied();
            Ok(found.map_or(Found::Nothing, Found::Payment))
        })
    }
}

#[cfg(test)]
mod tests {
    use turno_domain::Currency;

    use super::*;
    use crate::acquirer::LookUp;

    #[tokio::test]
    async fn whatever_it_answers_it_charges_once_for_an_id() {
        for cents in 0..10 {
            if cents == 8 {
                // As 0, three seconds later.
                continue;
            }
            let acquirer = SimulatedAcquirer::default();
            let amount = Money::from_minor(85_00 + cents, Currency::PEN);
            let charge =
                Charge { acquirer_payment_id: "ypa_1".to_owned(), reference: "ypt_1".to_owned(), amount };
            let mut known = None;
            for _ in 0..3 {
                let said = acquirer.charge(charge.clone()).await.ok();
                let found = acquirer.find(LookUp { acquirer_payment_id: "ypa_1", amount }).await;
                let found = match found {
                    Ok(Found::Payment(result)) => Some(result),
                    Ok(Found::Nothing) | Err(NoAnswer) => None,
                };
                assert!(said.is_none() || said == found, "{cents}: {said:?} {found:?}");
                assert!(known.is_none() || known == found, "{cents}: {known:?} {found:?}");
                known = found;
            }
        }
    }
}
