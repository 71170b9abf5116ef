//! What happens in a sequence, chosen at random so that things meet.

use proptest::{option, prelude::*, sample::select};

use crate::ticket::{
    AMOUNTS, BUYERS, CURRENCIES, DEVICES, EXTERNAL_IDS, METHODS, ORDERS, Offset, REFERENCES, ROUTES, SEATS,
    SHIFTS, TIMES, Ticket,
};

/// Numbers that count what there is so far are taken modulo how much there is.
#[derive(Clone, Debug)]
pub enum Step {
    Create {
        key: Key,
        ticket: Ticket,
        token: Token,
        said: Said,
    },
    /// The sale of a question with the question's token.
    Confirm {
        key: Key,
        question: usize,
        said: Said,
    },
    /// An earlier request again, byte for byte.
    Retry {
        request: usize,
    },
    Void {
        key: Key,
        sale: Option<usize>,
        operation: usize,
    },
    Resolve {
        question: usize,
        by: By,
        decision: Decision,
        decided_by: usize,
    },
    Read {
        sale: usize,
    },
    Wait {
        seconds: i64,
    },
}

/// Mostly keys of their own, as good tills have them.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    Fresh,
    Of(usize),
}

/// The token that a creation carries.
#[derive(Clone, Copy, Debug)]
pub enum Token {
    None,
    /// Of a question about whatever sale.
    Of(usize),
    Altered(usize),
    Forged,
}

/// What goes along with a token, or stands without one.
#[derive(Clone, Copy, Debug)]
pub enum Said {
    Nothing,
    Who(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Id,
    Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    SameSale,
    DifferentSale,
}

impl Decision {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameSale => "same_sale",
            Self::DifferentSale => "different_sale",
        }
    }
}

pub const KEYS: [&str; 4] = ["k1", "k2", "k3", "K3"];
pub const OPERATIONS: [&str; 3] = ["V1", "V2", "V3"];
pub const PEOPLE: [&str; 2] = ["Jefa", "Jefe"];

/// Seconds of waiting, such that no sum of a few is exactly a limit of the contract.
const SHORT_WAITS: [i64; 3] = [1, 347, 641];
const LONG_WAITS: [i64; 4] = [347, 51_003, 90_007, 31 * 86_400 + 11];

const LONGEST: usize = 24;

/// Busy minutes: nothing expires.
pub fn minutes() -> impl Strategy<Value = Vec<Step>> {
    steps(select(&SHORT_WAITS[..]))
}

/// Months: tokens and keys expire.
pub fn months() -> impl Strategy<Value = Vec<Step>> {
    steps(select(&LONG_WAITS[..]))
}

/// Without waiting, and with tickets that say when they were sold: nothing goes by a clock.
pub fn timeless() -> impl Strategy<Value = Vec<Step>> {
    minutes().prop_map(|mut steps| {
        steps.retain(|step| !matches!(step, Step::Wait { .. }));
        for step in &mut steps {
            if let Step::Create { ticket, .. } = step {
                ticket.time = ticket.time.or(Some((0, Offset::Lima)));
            }
        }
        steps
    })
}

fn steps(waits: impl Strategy<Value = i64> + 'static) -> impl Strategy<Value = Vec<Step>> {
    let waits = waits.boxed();
    prop::collection::vec(step(waits), 1..LONGEST)
}

fn step(waits: BoxedStrategy<i64>) -> impl Strategy<Value = Step> {
    let key = || prop_oneof![3 => Just(Key::Fresh), 2 => (0..KEYS.len()).prop_map(Key::Of)];
    let count = || 0..64_usize;
    prop_oneof![
        10 => (key(), ticket(), token(), said(1)).prop_map(|(key, ticket, token, said)| Step::Create {
            key, ticket, token, said
        }),
        7 => (key(), count(), said(5)).prop_map(|(key, question, said)| Step::Confirm { key, question, said }),
        3 => count().prop_map(|request| Step::Retry { request }),
        2 => (key(), option::weighted(0.9, count()), 0..OPERATIONS.len())
            .prop_map(|(key, sale, operation)| Step::Void { key, sale, operation }),
        3 => (count(), select(&[By::Id, By::Token][..]),
            select(&[Decision::SameSale, Decision::DifferentSale][..]), 0..PEOPLE.len())
            .prop_map(|(question, by, decision, decided_by)| Step::Resolve { question, by, decision, decided_by }),
        1 => count().prop_map(|sale| Step::Read { sale }),
        2 => waits.prop_map(|seconds| Step::Wait { seconds }),
    ]
}

fn token() -> impl Strategy<Value = Token> {
    prop_oneof![
        16 => Just(Token::None),
        2 => (0..64_usize).prop_map(Token::Of),
        1 => (0..64_usize).prop_map(Token::Altered),
        1 => Just(Token::Forged),
    ]
}

fn said(weight: u32) -> impl Strategy<Value = Said> {
    prop_oneof![
        20 => Just(Said::Nothing),
        weight => (0..PEOPLE.len()).prop_map(Said::Who),
    ]
}

/// Mostly the same ticket, so that most sequences have look-alikes, conflicts and retries.
fn ticket() -> impl Strategy<Value = Ticket> {
    let mostly = |pool: usize| prop_oneof![3 => Just(Some(0)), 1 => option::weighted(0.7, 0..pool)];
    let rarely = |chance: f64, pool: usize| option::weighted(chance, 0..pool);
    let ids =
        (0..EXTERNAL_IDS.len(), amount(), rarely(0.1, CURRENCIES.len()), time(), rarely(0.2, METHODS.len()));
    let texts = (
        rarely(0.2, BUYERS.len()),
        mostly(DEVICES.len()),
        rarely(0.4, SHIFTS.len()),
        mostly(ROUTES.len()),
        mostly(SEATS.len()),
        rarely(0.1, ORDERS.len()),
        rarely(0.1, REFERENCES.len()),
        rarely(0.1, REFERENCES.len()),
    );
    (ids, texts).prop_map(|((external_id, amount, currency, time, method), texts)| {
        let (buyer, device, shift, route, seat, order, reference_1, reference_2) = texts;
        Ticket {
            external_id,
            amount,
            currency,
            time,
            method,
            buyer,
            device,
            shift,
            route,
            seat,
            order,
            reference_1,
            reference_2,
        }
    })
}

fn amount() -> impl Strategy<Value = usize> {
    prop_oneof![8 => Just(0_usize), 2 => 0..AMOUNTS.len()]
}

fn time() -> impl Strategy<Value = Option<(usize, Offset)>> {
    let offset = select(&[Offset::Lima, Offset::Utc][..]);
    prop_oneof![4 => Just(Some((0, Offset::Lima))), 3 => option::weighted(0.8, (0..TIMES.len(), offset))]
}
