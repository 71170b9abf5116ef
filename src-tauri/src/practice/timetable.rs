//! The demo catalog: an invented company's timetable, turned into real departures of the coming days.
//!
//! Invariant: whenever the program is opened there is something to sell soon, since departures are counted from today.

use std::collections::BTreeMap;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use turno_domain::Currency;
use turno_protocol::catalog::{
    CatalogBody, Deck, Fare, Layout, ListFare, PriceList, Product, Route, Service,
};

const TIMETABLE: &str = include_str!("timetable.json");

/// Peru keeps UTC-05:00 all year.
const PERU: Offset = Offset::constant(-5);
/// Today and the days after it: enough to sell ahead, few enough to look through.
const DAYS: i64 = 3;
const MONTHS: [&str; 12] =
    ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "set", "oct", "nov", "dic"];

#[derive(Deserialize)]
struct Timetable {
    routes: Vec<Route>,
    layouts: Vec<Layout>,
    departures: Vec<Departures>,
    fares: Vec<Fare>,
    products: Vec<Product>,
    price_lists: Vec<PriceList>,
}

/// One class of bus on one route, every day at the same times.
#[derive(Deserialize)]
struct Departures {
    route: String,
    times: Vec<Time>,
    class: String,
    layout: String,
    fare: String,
    /// The wide seats below cost more.
    lower_deck_fare: Option<String>,
    #[serde(default)]
    list_fares: BTreeMap<String, ListFare>,
}

/// What the practice server offers on the day that contains `now`, and on the days after it.
pub fn catalog(now: Timestamp) -> CatalogBody {
    let timetable: Timetable = serde_json::from_str(TIMETABLE).expect("the timetable is checked by a test");
    let today = PERU.to_datetime(now).date();
    let mut services = Vec::new();
    for ahead in 0..DAYS {
        let date = today + SignedDuration::from_hours(24 * ahead);
        for departures in &timetable.departures {
            services.extend(
                departures.times.iter().map(|&time| timetable.service(departures, date, time, date == today)),
            );
        }
    }
    CatalogBody {
        revision: format!("practica-{today}"),
        currency: Currency::PEN,
        routes: timetable.routes,
        services,
        layouts: timetable.layouts,
        fares: timetable.fares,
        products: timetable.products,
        price_lists: timetable.price_lists,
    }
}

impl Timetable {
    fn service(&self, departures: &Departures, date: Date, time: Time, is_today: bool) -> Service {
        let route = self.routes.iter().find(|route| route.route == departures.route);
        let clock = time.strftime("%H:%M");
        let when = if is_today { clock.to_string() } else { format!("{} {clock}", short(date)) };
        let departs_at =
            PERU.to_timestamp(date.to_datetime(time)).expect("the coming days are in the calendar");
        Service {
            service: format!("{}-{}", departures.route, date.to_datetime(time).strftime("%m%d-%H%M")),
            route: departures.route.clone(),
            departs_at,
            name: route.map_or_else(|| departures.route.clone(), |route| route.name.clone()),
            detail: format!("{when} · {}", departures.class),
            layout: departures.layout.clone(),
            fare: departures.fare.clone(),
            seat_fares: self.lower_deck_fares(departures),
            list_fares: departures.list_fares.clone(),
        }
    }

    fn lower_deck_fares(&self, departures: &Departures) -> BTreeMap<String, String> {
        let Some(fare) = &departures.lower_deck_fare else { return BTreeMap::new() };
        let layout = self.layouts.iter().find(|layout| layout.layout == departures.layout);
        let lower = layout.into_iter().flat_map(|layout| &layout.decks).filter(|deck| deck.number == 1);
        let seats = lower.flat_map(|deck: &Deck| deck.rows.iter().flatten().flatten());
        seats.map(|seat| (seat.clone(), fare.clone())).collect()
    }
}

/// `2 dic`.
fn short(date: Date) -> String {
    let month = usize::try_from(date.month() - 1).expect("months are counted from 1");
    format!("{} {}", date.day(), MONTHS[month])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use turno_domain::Money;
    use turno_protocol::catalog::RouteKind;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_demo_has_intercity_routes_an_urban_line_luggage_and_parcels() {
        let catalog = catalog(at("2026-12-01T12:00:00-05:00"));
        let of_kind = |kind| catalog.routes.iter().filter(|route| route.kind == kind).count();
        assert!(of_kind(RouteKind::Intercity) >= 4, "at least four intercity routes");
        assert!(of_kind(RouteKind::Urban) >= 1, "an urban line");
        assert!(catalog.products.iter().any(|product| product.name.starts_with("Equipaje")));
        assert!(catalog.products.iter().any(|product| product.name.starts_with("Encomienda")));
        assert!(
            catalog
                .layouts
                .iter()
                .any(|layout| layout.decks.len() == 2 && layout.seats().any(|seat| seat == "12A"))
        );
    }

    #[test]
    fn every_reference_is_known_and_every_price_is_money() {
        let catalog = catalog(at("2026-12-01T12:00:00-05:00"));
        let routes: BTreeSet<_> = catalog.routes.iter().map(|route| &route.route).collect();
        for service in &catalog.services {
            assert!(routes.contains(&service.route), "{}", service.service);
            let layout = catalog.layouts.iter().find(|layout| layout.layout == service.layout).unwrap();
            assert!(service.seat_fares.keys().all(|seat| layout.seats().any(|known| known == seat)));
        }
        assert!(catalog.fares.iter().all(|fare| routes.contains(&fare.route)));
        let prices =
            (catalog.services.iter().flat_map(|service| service.seat_fares.values().chain([&service.fare])))
                .chain(catalog.fares.iter().map(|fare| &fare.price))
                .chain(catalog.products.iter().map(|product| &product.price));
        for price in prices {
            assert!(Money::parse_amount(price, Currency::PEN).is_ok(), "{price}");
        }
        assert_eq!(catalog.check(), Ok(()));
        let codes: BTreeSet<_> = catalog.services.iter().map(|service| &service.service).collect();
        assert_eq!(codes.len(), catalog.services.len(), "no two departures share a code");
    }

    #[test]
    fn some_departures_are_sold_at_a_list_for_everybody_and_at_one_for_managers() {
        let catalog = catalog(at("2026-12-01T12:00:00-05:00"));
        let listed = |code: &str| catalog.services.iter().any(|it| it.list_fares.contains_key(code));
        for needs_manager in [false, true] {
            let mut lists = catalog.price_lists.iter().filter(|list| list.needs_manager == needs_manager);
            assert!(lists.any(|list| listed(&list.price_list)), "needs a manager: {needs_manager}");
        }
        assert!(catalog.services.iter().any(|it| it.list_fares.is_empty()), "most have no list");
    }

    #[test]
    fn every_product_has_an_ean_13_that_a_real_scanner_would_read() {
        for product in catalog(at("2026-12-01T12:00:00-05:00")).products {
            let barcode = product.barcode.expect("practising with a scanner takes something to scan");
            let weighed = barcode.chars().zip([1, 3].into_iter().cycle());
            let sum: u32 = weighed.map(|(digit, weight)| digit.to_digit(10).expect("digits") * weight).sum();
            assert_eq!((barcode.len(), sum % 10), (13, 0), "{barcode}");
        }
    }

    #[test]
    fn a_minute_before_midnight_there_is_still_a_day_to_sell() {
        let now = at("2026-12-31T23:59:00-05:00");
        let ahead: Vec<_> =
            catalog(now).services.into_iter().filter(|service| service.departs_at > now).collect();
        assert!(ahead.len() >= 20, "{} departures", ahead.len());
        let next = ahead.iter().find(|service| service.service == "LIM-AQP-0101-2030").unwrap();
        assert_eq!(next.departs_at, at("2027-01-01T20:30:00-05:00"));
        assert_eq!(next.detail, "1 ene 20:30 · Cama 160°");
    }
}
