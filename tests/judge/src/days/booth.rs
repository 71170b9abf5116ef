//! Where a story's sales are made: tills that number them, a clock, and chance.

use jiff::{SignedDuration, Timestamp};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_pcg::Pcg64;
use serde_json::{Map, Value};

use crate::day::{Labelled, Truth};

/// 2026-07-27 06:00 in Lima: the day before a holiday, when everybody travels.
const MORNING: &str = "2026-07-27T06:00:00-05:00";

/// From the sale to the server, while there is a line.
const ON_ITS_WAY_S: i64 = 2;

const FIRST_NAMES: [&str; 24] = [
    "María", "José", "Luis", "Rosa", "Juan", "Ana", "Carlos", "Carmen", "Jorge", "Julia", "Víctor", "Elena",
    "Miguel", "Sofía", "Pedro", "Lucía", "César", "Flor", "Raúl", "Nélida", "Iván", "Gladys", "Hugo",
    "Pilar",
];
const SURNAMES: [&str; 32] = [
    "Quispe",
    "Flores",
    "Sánchez",
    "García",
    "Rojas",
    "Huamán",
    "Mamani",
    "Ramos",
    "López",
    "Torres",
    "Díaz",
    "Castillo",
    "Vásquez",
    "Chávez",
    "Mendoza",
    "Condori",
    "Espinoza",
    "Gutiérrez",
    "Castro",
    "Vargas",
    "Ramírez",
    "Ccori",
    "Apaza",
    "Paredes",
    "Salazar",
    "Núñez",
    "Aguilar",
    "Peña",
    "Cruz",
    "Medina",
    "Choque",
    "Ortiz",
];

/// After how long a sale is typed again that somebody believes lost: a share of a hundred, and the seconds. Assumed:
/// most people try at once, some serve the next customer first, few find out when the passenger boards.
const TYPED_AGAIN_AFTER_S: [(u32, i64, i64); 4] =
    [(50, 15, 120), (39, 120, 300), (10, 300, 600), (1, 600, 1_500)];

/// Of a hundred names typed again: left out, and written otherwise.
const NAME_LEFT_OUT: u32 = 10;
const NAME_MISSPELT: u32 = 5;

/// What is sold, as a till sends it.
#[derive(Clone, Debug, Default)]
pub struct Ticket {
    pub cents: u32,
    pub buyer: Option<String>,
    pub route: Option<String>,
    pub service: Option<String>,
    pub seat: Option<String>,
    pub product: Option<String>,
    pub order: Option<String>,
}

/// A sale that was made; a story refers to it by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made(usize);

struct Sale {
    arrives_s: i64,
    happened_s: i64,
    till: u8,
    ticket: Ticket,
    labelled: Labelled,
}

pub struct Booth {
    day: String,
    chance: Pcg64,
    sales: Vec<Sale>,
    /// Per till: until when it has no line.
    offline_until_s: [i64; 4],
}

impl Booth {
    pub fn open(day: &str, seed: u64, stream: u64) -> Self {
        let chance = Pcg64::seed_from_u64(seed ^ stream.rotate_left(17));
        Self { day: day.to_owned(), chance, sales: Vec::new(), offline_until_s: [0; 4] }
    }

    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        self.chance.random_range(from..=to)
    }

    /// True in so many of a thousand cases.
    pub fn per_mille(&mut self, share: u32) -> bool {
        self.chance.random_ratio(share, 1_000)
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from.choose(&mut self.chance).expect("there is something to pick from").clone()
    }

    pub fn till(&mut self, of: u8) -> u8 {
        self.chance.random_range(0..of)
    }

    pub fn name(&mut self) -> String {
        format!("{} {} {}", self.pick(&FIRST_NAMES), self.pick(&SURNAMES), self.pick(&SURNAMES))
    }

    /// From now on this till's sales arrive at `until_s`, all in a second.
    pub fn offline(&mut self, till: u8, until_s: i64) {
        self.offline_until_s[usize::from(till)] = until_s;
    }

    /// A sale of its own, `happened_s` seconds into the day.
    pub fn sell(&mut self, till: u8, happened_s: i64, ticket: &Ticket) -> Made {
        self.record(till, happened_s, ticket, Truth::New, None)
    }

    /// The seat is sold again after its first sale was voided.
    pub fn sell_after_void(&mut self, till: u8, happened_s: i64, ticket: &Ticket, voided: Made) -> Made {
        let voids = self.sales[voided.0].labelled.id().to_owned();
        self.record(till, happened_s, ticket, Truth::New, Some(voids))
    }

    /// Somebody believes that the sale was lost and types it once more, as people type: at this till or at the next.
    pub fn type_again(&mut self, sale: Made, tills: u8) {
        let after = self.typed_again_after();
        let other = tills > 1 && self.per_mille(200);
        let Sale { till, happened_s, ticket, labelled, .. } = &self.sales[sale.0];
        let (till, happened_s, mut ticket) = (*till, happened_s + after, ticket.clone());
        let truth = Truth::DuplicateOf(labelled.id().to_owned());
        let till = if other { (till + 1) % tills } else { till };
        ticket.buyer = ticket.buyer.and_then(|name| self.typed_name(name));
        self.record(till, happened_s, &ticket, truth, None);
    }

    fn typed_again_after(&mut self) -> i64 {
        let mut drawn = self.chance.random_range(0..100);
        for (share, from, to) in TYPED_AGAIN_AFTER_S {
            if drawn < share {
                return self.between(from, to);
            }
            drawn -= share;
        }
        unreachable!("the shares make a hundred")
    }

    fn typed_name(&mut self, name: String) -> Option<String> {
        let drawn = self.chance.random_range(0..100);
        if drawn < NAME_LEFT_OUT {
            None
        } else if drawn < NAME_LEFT_OUT + NAME_MISSPELT {
            Some(name.replacen(['a', 'e', 'o'], "", 1))
        } else if self.per_mille(300) {
            Some(name.to_uppercase())
        } else {
            Some(name)
        }
    }

    fn record(
        &mut self,
        till: u8,
        happened_s: i64,
        ticket: &Ticket,
        is: Truth,
        voids: Option<String>,
    ) -> Made {
        let id = format!("D{:02}-K7M-S1-{:04}", till + 1, self.sales.len() + 1);
        let happened = at(happened_s);
        let mut sale = Map::new();
        let mut put = |name: &str, value: Value| sale.insert(name.to_owned(), value);
        put("external_transaction_id", id.into());
        put("amount", format!("{}.{:02}", ticket.cents / 100, ticket.cents % 100).into());
        put("currency", "PEN".into());
        put("shift_id", "S1".into());
        put("device_id", format!("D{:02}", till + 1).into());
        put("occurred_at", happened.to_string().into());
        put("payment_method", "cash".into());
        if let Some(buyer) = &ticket.buyer {
            put("buyer_name", buyer.clone().into());
        }
        let context = [
            ("route", &ticket.route),
            ("service", &ticket.service),
            ("seat", &ticket.seat),
            ("product", &ticket.product),
            ("order", &ticket.order),
        ];
        let context: Map<String, Value> = context
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into())))
            .collect();
        put("context", context.into());
        let labelled = Labelled { day: self.day.clone(), sale: sale.into(), is, voids };
        let arrives_s = (happened_s + ON_ITS_WAY_S).max(self.offline_until_s[usize::from(till)]);
        self.sales.push(Sale { arrives_s, happened_s, till, ticket: ticket.clone(), labelled });
        Made(self.sales.len() - 1)
    }

    /// The day in the order in which its sales arrive. What repeats a sale, or follows its void, comes behind it: if
    /// it arrives first, it is the other one that is the second.
    pub fn close(self) -> Vec<Labelled> {
        let mut sales: Vec<(i64, Labelled)> =
            self.sales.into_iter().map(|sale| (sale.arrives_s, sale.labelled)).collect();
        sales.sort_by_key(|(arrives_s, _)| *arrives_s);
        let mut lines: Vec<Labelled> = sales.into_iter().map(|(_, line)| line).collect();
        swap_what_overtook(&mut lines);
        lines
    }
}

/// Of two tills that typed one sale, the one that has a line is first at the server: the labels change places.
fn swap_what_overtook(lines: &mut [Labelled]) {
    for index in 0..lines.len() {
        let Truth::DuplicateOf(original) = lines[index].is.clone() else { continue };
        let (before, behind) = lines.split_at_mut(index + 1);
        let (Some(first), Some(second)) =
            (before.last_mut(), behind.iter_mut().find(|line| line.id() == original))
        else {
            continue;
        };
        first.is = std::mem::replace(&mut second.is, Truth::DuplicateOf(first.id().to_owned()));
    }
}

fn at(seconds: i64) -> Timestamp {
    let morning: Timestamp = MORNING.parse().expect("a fixed time");
    morning + SignedDuration::from_secs(seconds)
}
