//! What the measured till sells: as many departures as a national company has in some days.

use serde_json::{Value, json};
use turno_till::view::Line;

/// Departures; with their seats, more sales than any part of a run makes.
const SERVICES: u32 = 600;
const ROWS: u32 = 12;
const SIDES: [&str; 4] = ["A", "B", "C", "D"];
pub const SEATS: u32 = ROWS * 4;
pub const PRICE_MINOR: i64 = 8_550;

/// Tickets that can be sold before one looks like another.
pub const TICKETS: u32 = SERVICES * SEATS;

pub fn body() -> Value {
    let rows: Vec<Vec<String>> =
        (1..=ROWS).map(|row| SIDES.iter().map(|side| format!("{row}{side}")).collect()).collect();
    let services: Vec<Value> = (0..SERVICES)
        .map(|service| {
            json!({
                "service": format!("184-{service}"), "route": "184", "departs_at": "2099-12-31T01:30:00Z",
                "name": "Lima – Arequipa", "detail": "Cama 160°", "layout": "L", "fare": "85.50",
            })
        })
        .collect();
    json!({
        "revision": "1", "currency": "PEN",
        "routes": [{ "route": "184", "name": "Lima – Arequipa", "kind": "intercity", "stops": ["Lima", "Arequipa"] }],
        "services": services,
        "layouts": [{ "layout": "L", "decks": [{ "number": 1, "rows": rows }] }],
        "fares": [], "products": [],
    })
}

/// The seat of a ticket of the past or of the run, by its number.
pub fn seat(number: u32) -> String {
    let place = number % SEATS;
    let side = SIDES[usize::try_from(place % 4).expect("one of four")];
    format!("{}{side}", place / 4 + 1)
}

const NAMES: [&str; 12] =
    ["María", "José", "Juana", "Luis", "Rosa", "Íñigo", "Ana", "Pedro", "Lucía", "Óscar", "Julia", "Ángel"];
const SURNAMES: [&str; 15] = [
    "Ramos", "Quispe", "Huamán", "Ñahui", "Mamani", "Flores", "Peña", "Rojas", "Condori", "Núñez", "Castro",
    "Chávez", "Mendoza", "Salas", "Yupanqui",
];

/// Whose names are those of many and whose number is nobody else's.
pub fn buyer(number: u32) -> String {
    let at = usize::try_from(number).expect("some millions");
    let (first, second) = (at / 7 % SURNAMES.len(), at / 105 % SURNAMES.len());
    format!("{} {} {} {number}", NAMES[at % NAMES.len()], SURNAMES[first], SURNAMES[second])
}

/// A ticket that no other number gets.
pub fn ticket(number: u32) -> Line {
    Line {
        offer_id: format!("departure:184-{}", number % TICKETS / SEATS),
        seat: Some(seat(number)),
        quantity: 1,
        buyer_name: Some(buyer(number)),
        shown_price_minor: PRICE_MINOR,
        discount: None,
    }
}
