//! The kinds of days.

use super::booth::{Booth, Made, Ticket};

type Story = fn(&mut Booth);

/// Kinds that the rule cannot judge well, whatever it is set to: shown beside the others and not in their sums.
pub const BEYOND: &[&str] = &["boarding_unnamed"];

/// The name is what a day's name begins with.
pub const ALL: [(&str, Story); 10] = [
    ("urban", urban),
    ("intercity", intercity),
    ("families", families),
    ("resold", resold),
    ("boarding", boarding),
    ("boarding_unnamed", boarding_unnamed),
    ("retyped", retyped),
    ("two_tills", two_tills),
    ("offline", offline),
    ("parcels", parcels),
];

const SEATS: u32 = 44;
const ROUTE: &str = "184";

/// Sales in a thousand that somebody types again, on a day like others and on one with a sick device. Assumed.
const TYPED_AGAIN: u32 = 5;
const TYPED_AGAIN_SICK: u32 = 30;

/// One line, one till, the same few fares all day, nobody's name. Ten equal ones are ten sales.
fn urban(booth: &mut Booth) {
    let mut now = 0;
    for _ in 0..800 {
        now += booth.between(4, 70);
        let (cents, fare) =
            booth.pick(&[(150, "U7-medio"), (200, "U7-adulto"), (200, "U7-adulto"), (300, "U7-largo")]);
        let ticket =
            Ticket { cents, route: Some("U7".into()), product: Some(fare.into()), ..Ticket::default() };
        let sale = booth.sell(0, now, &ticket);
        perhaps_again(booth, sale, TYPED_AGAIN, 1);
    }
}

/// Four departures, three windows, seats and mostly names, a suitcase now and then.
fn intercity(booth: &mut Booth) {
    seats(booth, 4, 3, |booth, till, now, ticket| {
        let sale = booth.sell(till, now, ticket);
        perhaps_again(booth, sale, TYPED_AGAIN, 3);
        if booth.per_mille(150) {
            booth.sell(till, now + 20, &suitcase(ticket));
        }
    });
}

/// Groups that buy together: seats beside each other within a minute, often all under the name of who pays.
fn families(booth: &mut Booth) {
    let mut now = 0;
    for departure in 0..4 {
        let mut seat = 1;
        while seat + 6 < SEATS {
            now += booth.between(40, 240);
            let till = booth.till(3);
            let size = u32::try_from(booth.between(2, 6)).expect("small");
            let payer = booth.name();
            let one_name = booth.per_mille(600);
            let mut last = Ticket::default();
            for _ in 0..size {
                now += booth.between(4, 15);
                let buyer = if one_name { payer.clone() } else { booth.name() };
                last = seat_ticket(departure, seat, Some(buyer));
                let sale = booth.sell(till, now, &last);
                perhaps_again(booth, sale, TYPED_AGAIN, 3);
                seat += 1;
            }
            if booth.per_mille(300) {
                let suitcase = Ticket { buyer: Some(payer), ..suitcase(&last) };
                booth.sell(till, now + 10, &suitcase);
                // They come back for one more that they forgot: a sale of its own that looks like the first.
                if booth.per_mille(20) {
                    let back = now + booth.between(60, 500);
                    booth.sell(till, back, &suitcase);
                }
            }
        }
    }
}

/// Plans change: one seat in eight is voided and sold again, sometimes to the same person.
fn resold(booth: &mut Booth) {
    seats(booth, 4, 3, |booth, till, now, ticket| {
        let sale = booth.sell(till, now, ticket);
        if booth.per_mille(125) {
            let later = now + booth.between(60, 1_800);
            let buyer = if booth.per_mille(250) { ticket.buyer.clone() } else { Some(booth.name()) };
            booth.sell_after_void(till, later, &Ticket { buyer, ..ticket.clone() }, sale);
        } else {
            perhaps_again(booth, sale, TYPED_AGAIN, 3);
        }
    });
}

/// Two buses of one route board at once, with the same seats at the same price; the tills say which bus.
fn boarding(booth: &mut Booth) {
    let mut now = 0;
    for pair in 0..4 {
        for seat in 1..=SEATS {
            for bus in 0..2 {
                now += booth.between(3, 25);
                let buyer = booth.per_mille(500).then(|| booth.name());
                let sale = booth.sell(u8::from(bus == 1), now, &seat_ticket(pair * 2 + bus, seat, buyer));
                perhaps_again(booth, sale, TYPED_AGAIN, 2);
            }
        }
    }
}

/// The same with sellers whose program names the seat and not the bus. Turno's tills always name it; who does not
/// shall be told by this figure, since an equal seat is all that the rule can see.
fn boarding_unnamed(booth: &mut Booth) {
    let mut now = 0;
    for _ in 0..2 {
        let mut order: Vec<(u8, u32)> =
            (0..2).flat_map(|bus| (1..=SEATS).map(move |seat| (bus, seat))).collect();
        for place in 0..order.len() {
            let other = usize::try_from(booth.between(0, 87)).expect("small");
            order.swap(place, other);
        }
        for (bus, seat) in order {
            now += booth.between(10, 60);
            let ticket = Ticket { service: None, ..seat_ticket(0, seat, None) };
            booth.sell(bus, now, &ticket);
        }
    }
}

/// A device that freezes all day: one sale in thirty is typed again.
fn retyped(booth: &mut Booth) {
    seats(booth, 4, 3, |booth, till, now, ticket| {
        let sale = booth.sell(till, now, ticket);
        perhaps_again(booth, sale, TYPED_AGAIN_SICK, 3);
        if booth.per_mille(150) {
            let sale = booth.sell(till, now + 20, &suitcase(ticket));
            perhaps_again(booth, sale, TYPED_AGAIN_SICK, 3);
        }
    });
}

/// Two windows without a line between them sell one seat to two people now and then: two sales, and somebody has to
/// know. Strictly a needless question, and counted as one.
fn two_tills(booth: &mut Booth) {
    seats(booth, 4, 2, |booth, till, now, ticket| {
        let sale = booth.sell(till, now, ticket);
        if booth.per_mille(3) {
            let later = now + booth.between(5, 400);
            let buyer = Some(booth.name());
            booth.sell(1 - till, later, &Ticket { buyer, ..ticket.clone() });
        } else {
            perhaps_again(booth, sale, 10, 2);
        }
    });
}

/// Two of three tills are without a line for hours; then everything arrives in a second.
fn offline(booth: &mut Booth) {
    booth.offline(0, 4 * 3_600);
    booth.offline(1, 5 * 3_600);
    seats(booth, 5, 3, |booth, till, now, ticket| {
        let sale = booth.sell(till, now, ticket);
        perhaps_again(booth, sale, 10, 3);
    });
    let mut now = 0;
    for _ in 0..200 {
        now += booth.between(5, 60);
        let ticket = Ticket {
            cents: 200,
            route: Some("U7".into()),
            product: Some("U7-adulto".into()),
            ..Ticket::default()
        };
        booth.sell(1, now, &ticket);
    }
}

/// Parcels: a few prices, a waybill number for each, the sender's name.
fn parcels(booth: &mut Booth) {
    let mut now = 0;
    for number in 0..300 {
        now += booth.between(20, 150);
        let ticket = Ticket {
            cents: booth.pick(&[1_500, 2_000, 2_500]),
            buyer: Some(booth.name()),
            route: Some(ROUTE.into()),
            product: Some("encomienda".into()),
            order: Some(format!("G-{number:05}")),
            ..Ticket::default()
        };
        let till = booth.till(2);
        let sale = booth.sell(till, now, &ticket);
        perhaps_again(booth, sale, 10, 2);
        // Shops send several at once, each with its waybill.
        if booth.per_mille(100) {
            booth.sell(till, now + 5, &Ticket { order: Some(format!("H-{number:05}")), ..ticket });
        }
    }
}

/// Departures one after the other, nine seats in ten, in any order, at any of the windows.
fn seats(booth: &mut Booth, departures: u32, tills: u8, sell: fn(&mut Booth, u8, i64, &Ticket)) {
    let mut now = 0;
    for departure in 0..departures {
        let mut order: Vec<u32> = (1..=SEATS).collect();
        for place in 0..order.len() {
            let other = usize::try_from(booth.between(0, i64::from(SEATS) - 1)).expect("small");
            order.swap(place, other);
        }
        order.truncate(40);
        for seat in order {
            now += booth.between(10, 110);
            let buyer = booth.per_mille(900).then(|| booth.name());
            let till = booth.till(tills);
            sell(booth, till, now, &seat_ticket(departure, seat, buyer));
        }
    }
}

fn seat_ticket(departure: u32, seat: u32, buyer: Option<String>) -> Ticket {
    let letters = ["A", "B", "C", "D"];
    let letter = letters[usize::try_from(seat % 4).expect("small")];
    Ticket {
        cents: if seat <= 12 { 8_550 } else { 6_000 },
        buyer,
        route: Some(ROUTE.into()),
        service: Some(format!("184-{departure}")),
        seat: Some(format!("{}{letter}", seat.div_ceil(4))),
        product: Some("pasaje".into()),
        order: None,
    }
}

/// What a traveller pays for a piece of luggage: no seat, the name if the ticket has one.
fn suitcase(ticket: &Ticket) -> Ticket {
    Ticket { cents: 1_000, seat: None, product: Some("equipaje".into()), ..ticket.clone() }
}

fn perhaps_again(booth: &mut Booth, sale: Made, per_mille: u32, tills: u8) {
    if booth.per_mille(per_mille) {
        booth.type_again(sale, tills);
    }
}
