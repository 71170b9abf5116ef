//! Requests as tills send them.
//!
//! Invariant: no two sales of one run have the same external id, seat of a service, or buyer, so each is a first one.

use std::{
    fmt::Write,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;

/// The token of the one till that all load comes from.
pub const TOKEN: &str = "bench-till";

/// Prices that tickets have; a company has a few dozen.
const PRICES: u64 = 40;

/// A national company at its busiest. The load sends as fast as it can what was sold at this pace, as a fleet does that
/// comes back, so that the window of look-alikes holds as many sales as it would.
const BETWEEN_SALES: Duration = Duration::from_millis(100);

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// Between anonymous fares, which are sold by the whole fleet at once.
const BETWEEN_FARES: Duration = Duration::from_millis(10);

/// Seats of one service.
const SEATS: u64 = 48;

/// Numbers sales through a whole run, whoever sends them.
#[derive(Default)]
pub struct Numbers(AtomicU64);

impl Numbers {
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// How many were given out.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A seat for a person on a long-distance bus: it may look like another sale and is searched for.
    Ticket,
    /// The same, sold last week by a till that was offline since.
    LateTicket,
    /// The same at the price of the urban fare.
    TicketAtFare,
    /// Urban: ten equal ones are ten sales.
    Fare,
}

/// The whole request, head and body, for sale number `number`.
pub fn write(request: &mut String, kind: Kind, number: u64) {
    let at = at(kind, number);
    let (service, seat, cents) = (number / SEATS, number % SEATS + 1, number % PRICES * 50);
    let (soles, cents) = (40 + cents / 100, cents % 100);
    let mut body = String::with_capacity(512);
    let said = match kind {
        Kind::Ticket | Kind::LateTicket => write!(
            body,
            r#"{{"external_transaction_id":"D03-K7M-S44-{number:08}","amount":"{soles}.{cents:02}","currency":"PEN","buyer_name":"María Ramos {number}","integration_experience":"chat_pos","shift_id":"S44","device_id":"D03","occurred_at":"{at}","payment_method":"cash","context":{{"route":"184","service":"184-{service}","seat":"{seat}A"}}}}"#
        ),
        Kind::TicketAtFare => write!(
            body,
            r#"{{"external_transaction_id":"D03-K7M-S44-{number:08}","amount":"2.00","currency":"PEN","buyer_name":"María Ramos {number}","integration_experience":"chat_pos","shift_id":"S44","device_id":"D03","occurred_at":"{at}","payment_method":"cash","context":{{"route":"U7","service":"U7-{service}","seat":"{number}"}}}}"#
        ),
        Kind::Fare => write!(
            body,
            r#"{{"external_transaction_id":"D03-K7M-S44-{number:08}","amount":"2.00","currency":"PEN","integration_experience":"chat_pos","shift_id":"S44","device_id":"D03","occurred_at":"{at}","payment_method":"cash","context":{{"route":"U7"}}}}"#
        ),
    };
    said.expect("a string takes every write");
    head(request, number, body.len());
    request.push_str(&body);
}

/// The same for the same sale whenever it is sent.
fn at(kind: Kind, number: u64) -> Timestamp {
    static START: LazyLock<Timestamp> = LazyLock::new(Timestamp::now);
    let (start, between) = match kind {
        Kind::Ticket => (*START, BETWEEN_SALES),
        Kind::LateTicket => (*START - WEEK, BETWEEN_SALES),
        Kind::TicketAtFare | Kind::Fare => (*START, BETWEEN_FARES),
    };
    start + between * u32::try_from(number).expect("a run is shorter")
}

fn head(request: &mut String, number: u64, length: usize) {
    // As far apart as the hashes that tills use as keys.
    let key = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    write!(
        request,
        "POST /v1/transactions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\nidempotency-key: {key:016x}-{number:016x}\r\ncontent-length: {length}\r\n\r\n"
    )
    .expect("a string takes every write");
}
