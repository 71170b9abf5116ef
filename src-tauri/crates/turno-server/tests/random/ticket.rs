//! What is sold in a sequence: small pools of values, each with how it is written and what it means.
//!
//! Invariant: what a text means is said here by hand, so that the server's normaliser is compared with something else
//! than itself.

use serde_json::{Value, json};

/// A text of a ticket: as it is written, as content (§4), and as a signal (§6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub written: &'static str,
    pub content: &'static str,
    /// `None` where nothing is left.
    pub signal: Option<&'static str>,
}

const fn plain(text: &'static str) -> Text {
    Text { written: text, content: text, signal: Some(text) }
}

const fn text(written: &'static str, content: &'static str, signal: &'static str) -> Text {
    Text { written, content, signal: Some(signal) }
}

const fn blank(written: &'static str) -> Text {
    Text { written, content: "", signal: None }
}

pub const BUYERS: [Text; 6] = [
    plain("rosa"),
    text("Rosa", "Rosa", "rosa"),
    text("  ROSA\u{a0} ", "ROSA", "rosa"),
    plain("julia"),
    text("Jose\u{301}", "José", "josé"),
    blank(" \t"),
];
pub const DEVICES: [Text; 2] = [plain("D1"), plain("D2")];
pub const SHIFTS: [Text; 2] = [plain("S1"), plain("S2")];
pub const ROUTES: [Text; 3] = [plain("184"), text(" 184 ", "184", "184"), plain("185")];
pub const SEATS: [Text; 4] = [plain("1A"), plain("1B"), plain("1a"), blank("")];
pub const ORDERS: [Text; 2] = [plain("O 1"), text("O   1", "O 1", "O 1")];
pub const REFERENCES: [Text; 2] = [plain("R1"), plain("R2")];

/// As written, and in céntimos if it is an amount at all.
pub const AMOUNTS: [(&str, Option<i64>); 5] = [
    ("10.00", Some(1_000)),
    ("10", Some(1_000)),
    ("10.0", Some(1_000)),
    ("12.50", Some(1_250)),
    ("10,00", None),
];
pub const CURRENCIES: [&str; 2] = ["PEN", "USD"];
/// Seconds from the beginning of the sequence. Each is written with two offsets.
pub const TIMES: [i64; 5] = [0, 60, 599, 601, 1_250];
pub const EXTERNAL_IDS: [&str; 6] = ["E1", "E2", "E3", "e3", "E4", "E5"];
pub const METHODS: [&str; 2] = ["cash", "card"];

/// Places in the pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub external_id: usize,
    pub amount: usize,
    pub currency: Option<usize>,
    pub time: Option<(usize, Offset)>,
    pub method: Option<usize>,
    pub buyer: Option<usize>,
    pub device: Option<usize>,
    pub shift: Option<usize>,
    pub route: Option<usize>,
    pub seat: Option<usize>,
    pub order: Option<usize>,
    pub reference_1: Option<usize>,
    pub reference_2: Option<usize>,
}

/// Two ways to write one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    Lima,
    Utc,
}

impl Ticket {
    pub fn text(&self, field: Field) -> Option<Text> {
        let (pool, place): (&[Text], _) = match field {
            Field::BuyerName => (&BUYERS, self.buyer),
            Field::ShiftId => (&SHIFTS, self.shift),
            Field::DeviceId => (&DEVICES, self.device),
            Field::Route => (&ROUTES, self.route),
            Field::Seat => (&SEATS, self.seat),
            Field::Order => (&ORDERS, self.order),
            Field::CustomReference1 => (&REFERENCES, self.reference_1),
            Field::CustomReference2 => (&REFERENCES, self.reference_2),
        };
        place.map(|place| pool[place])
    }

    pub fn external_id(&self) -> &'static str {
        EXTERNAL_IDS[self.external_id]
    }

    pub fn minor(&self) -> Option<i64> {
        AMOUNTS[self.amount].1
    }

    /// As sent; the company's is PEN.
    pub fn currency(&self) -> Option<&'static str> {
        self.currency.map(|place| CURRENCIES[place])
    }

    pub fn method(&self) -> Option<&'static str> {
        self.method.map(|place| METHODS[place])
    }

    /// Seconds from the beginning.
    pub fn seconds(&self) -> Option<i64> {
        self.time.map(|(place, _)| TIMES[place])
    }

    /// The body, in a sequence that began at `start_s`.
    pub fn body(&self, start_s: i64) -> Value {
        let mut body = json!({
            "external_transaction_id": self.external_id(), "amount": AMOUNTS[self.amount].0,
            "currency": self.currency(), "payment_method": self.method(), "context": {},
        });
        if let Some((place, offset)) = self.time {
            body["occurred_at"] = json!(offset.write(start_s + TIMES[place]));
        }
        for field in Field::ALL {
            if let Some(Text { written, .. }) = self.text(field) {
                let place = if field.is_context() { &mut body["context"] } else { &mut body };
                place[field.as_str()] = json!(written);
            }
        }
        body
    }
}

impl Offset {
    fn write(self, second: i64) -> String {
        let at = jiff::Timestamp::from_second(second).unwrap();
        match self {
            Self::Utc => at.to_string(),
            Self::Lima => at.display_with_offset(jiff::tz::Offset::constant(-5)).to_string(),
        }
    }
}

/// The texts of a ticket that are signals, in the contract's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    BuyerName,
    ShiftId,
    DeviceId,
    Route,
    Seat,
    Order,
    CustomReference1,
    CustomReference2,
}

impl Field {
    pub const ALL: [Self; 8] = [
        Self::BuyerName,
        Self::ShiftId,
        Self::DeviceId,
        Self::Route,
        Self::Seat,
        Self::Order,
        Self::CustomReference1,
        Self::CustomReference2,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuyerName => "buyer_name",
            Self::ShiftId => "shift_id",
            Self::DeviceId => "device_id",
            Self::Route => "route",
            Self::Seat => "seat",
            Self::Order => "order",
            Self::CustomReference1 => "custom_reference_1",
            Self::CustomReference2 => "custom_reference_2",
        }
    }

    pub fn is_context(self) -> bool {
        !matches!(self, Self::BuyerName | Self::ShiftId | Self::DeviceId)
    }
}
