//! An acquirer without money: the céntimos of a payment decide what it does.
//!
//! It forgets everything when the process ends, like a sandbox that was reset. Invariant: within a process it keeps
//! the promise of every acquirer and charges once for an id.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use turno_domain::Money;

use super::{Acquirer, Answer, Charge, Found, NoAnswer, StatementLine};
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
    payments: HashMap<String, Entry>,
    oldest_first: VecDeque<String>,
    /// Sales whose first payment was declined.
    declined_once: HashMap<String, FirstId>,
}

/// The id under which a sale was asked for first.
type FirstId = String;

#[derive(Debug)]
struct Entry {
    reference: String,
    /// How often the money was asked for.
    asked: u32,
    /// Nothing for a charge that did not arrive.
    result: Option<PaymentResult>,
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
    /// A line in the books for everything that was asked for, whatever comes of it.
    fn enter(&mut self, charge: &Charge) {
        let id = &charge.acquirer_payment_id;
        if let Some(entry) = self.payments.get_mut(id) {
            entry.asked = entry.asked.saturating_add(1);
            return;
        }
        if self.oldest_first.len() >= MEMORY
            && let Some(oldest) = self.oldest_first.pop_front()
            && let Some(entry) = self.payments.remove(&oldest)
        {
            self.declined_once.remove(&entry.reference);
        }
        self.oldest_first.push_back(id.clone());
        let entry = Entry { reference: charge.reference.clone(), asked: 1, result: None };
        self.payments.insert(id.clone(), entry);
    }

    fn find(&self, id: &str) -> Option<PaymentResult> {
        self.payments.get(id).and_then(|entry| entry.result)
    }

    fn charge(&mut self, charge: &Charge) -> Result<PaymentResult, NoAnswer> {
        self.enter(charge);
        let id = &charge.acquirer_payment_id;
        // The result is kept the first time; whoever asks again gets the first one.
        let known = self.payments.get_mut(id).expect("it was entered just now");
        let (asked, kept) = (known.asked, &mut known.result);
        let approved = PaymentResult::Approved { amount: charge.amount };
        match Script::of(charge.amount) {
            Script::Approve | Script::ApproveSlowly => Ok(*kept.get_or_insert(approved)),
            Script::Decline => Ok(*kept.get_or_insert(PaymentResult::Declined)),
            Script::LeavePending => Ok(*kept.get_or_insert(PaymentResult::Pending)),
            Script::ApproveAndLoseTheAnswer => {
                kept.get_or_insert(approved);
                Err(NoAnswer)
            }
            Script::ApproveLessAndLoseTheAnswer => {
                kept.get_or_insert(PaymentResult::Approved { amount: one_unit_less(charge.amount) });
                Err(NoAnswer)
            }
            Script::DeclineAndLoseTheAnswer => {
                kept.get_or_insert(PaymentResult::Declined);
                Err(NoAnswer)
            }
            Script::MissTheFirstCharge if asked == 1 => Err(NoAnswer),
            Script::MissTheFirstCharge => Ok(*kept.get_or_insert(approved)),
            Script::DeclineTheFirstPayment => {
                let first = self.declined_once.entry(charge.reference.clone()).or_insert_with(|| id.clone());
                let result = if first == id { PaymentResult::Declined } else { approved };
                Ok(*kept.get_or_insert(result))
            }
            Script::BeUnreachable => Err(NoAnswer),
        }
    }
}

/// Never nothing, which is no amount that could be approved.
fn one_unit_less(amount: Money) -> Money {
    let unit = 10_i64.pow(u32::from(amount.currency().decimals()));
    Money::from_minor(amount.minor().saturating_sub(unit).max(1), amount.currency())
}

impl SimulatedAcquirer {
    fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was left pending is approved now; whether it was pending.
    pub(super) fn approve_pending(&self, acquirer_payment_id: &str, amount: Money) -> bool {
        let mut books = self.books();
        let result = books.payments.get_mut(acquirer_payment_id).map(|entry| &mut entry.result);
        match result {
            Some(result @ Some(PaymentResult::Pending)) => {
                *result = Some(PaymentResult::Approved { amount });
                true
            }
            Some(_) | None => false,
        }
    }

    /// Everything that it was asked for, in order.
    pub fn statement(&self) -> Vec<StatementLine> {
        let books = self.books();
        let entries = books.oldest_first.iter().filter_map(|id| books.payments.get_key_value(id));
        entries.map(|(id, entry)| entry.line(id)).collect()
    }
}

impl Entry {
    fn line(&self, id: &str) -> StatementLine {
        let (status, amount) = match self.result {
            Some(PaymentResult::Approved { amount }) => (Some("approved"), Some(amount.to_amount_text())),
            Some(PaymentResult::Declined) => (Some("declined"), None),
            Some(PaymentResult::Pending) => (Some("pending"), None),
            None => (None, None),
        };
        StatementLine {
            acquirer_payment_id: id.to_owned(),
            reference: self.reference.clone(),
            asked: self.asked,
            status: status.map(str::to_owned),
            amount,
        }
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
            let found = self.books().find(lookup.acquirer_payment_id);
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
