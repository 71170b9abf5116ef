//! What can be sold, and how it is found while somebody types.
//!
//! Built once from the catalog that YUPY gave, then only read. Invariant: every price in it is positive, every price
//! and code is within what YUPY accepts, and an id means one offer; an entry that breaks this is left out when the
//! catalog is loaded, so it can never be on a ticket.

use std::collections::{BTreeMap, HashMap};

use turno_domain::text::{fold_for_comparison, has_control};
use turno_domain::{Currency, Money};
use turno_protocol::catalog::{CatalogBody, Layout, is_barcode, is_list_code};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::clock::{Millis, rfc3339};
use crate::view::{self, OfferKind};

/// The product of every seat ticket: without it a seat and a suitcase of one price and one buyer would look alike.
const SEAT_PRODUCT: &str = "pasaje";
/// A bus that leaves late still takes passengers; after this it is gone from the list.
const SOLD_AFTER_DEPARTURE_MS: i64 = 30 * 60_000;
/// More results than a screen shows are no help.
pub const RESULTS_LIMIT: usize = 200;
/// Codes travel with a sale; one that is longer than any id of the contract is a mistake.
const CODE_BYTES: usize = 128;

#[derive(Clone, Debug)]
pub struct Offer {
    pub offer_id: String,
    pub kind: OfferKind,
    pub name: String,
    pub detail: String,
    pub price: Money,
    pub route: Option<String>,
    pub service: Option<String>,
    pub product: String,
    pub departs_at: Option<Millis>,
    /// Of a price list at which no cashier sells alone.
    pub needs_manager: bool,
    /// What a scanner reads off it.
    pub barcode: Option<String>,
    seat_prices: HashMap<String, Money>,
    layout: Option<usize>,
    /// Folded words for the search.
    words: Vec<String>,
}

impl Offer {
    /// The price of a place; seats of the lower deck may cost more.
    #[must_use]
    pub fn price_of(&self, seat: Option<&str>) -> Money {
        seat.and_then(|seat| self.seat_prices.get(seat)).copied().unwrap_or(self.price)
    }

    /// What a ticket line and a list call it.
    #[must_use]
    pub fn description(&self, seat: Option<&str>, quantity: u32) -> String {
        let mut text = self.name.clone();
        if let Some(at) = self.departs_at {
            text = format!("{text} {}", &rfc3339(at)[11..16]);
        }
        if let Some(seat) = seat {
            text = format!("{text} · asiento {seat}");
        }
        if quantity > 1 { format!("{quantity} × {text}") } else { text }
    }

    #[must_use]
    pub fn view(&self, seats_free: Option<u32>) -> view::Offer {
        view::Offer {
            offer_id: self.offer_id.clone(),
            kind: self.kind,
            name: self.name.clone(),
            detail: self.detail.clone(),
            route: self.route.clone(),
            departs_at: self.departs_at.map(rfc3339),
            price: self.price.into(),
            seats_free,
            barcode: self.barcode.clone(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Catalog {
    offers: Vec<Offer>,
    by_id: HashMap<String, usize>,
    by_barcode: HashMap<String, usize>,
    layouts: Vec<Layout>,
    route_names: HashMap<String, String>,
}

impl Catalog {
    /// Reads a catalog; entries that cannot be sold are left out.
    #[must_use]
    pub fn new(body: &CatalogBody, currency: Currency) -> Self {
        let mut catalog = Self::default();
        let mut layouts = HashMap::new();
        for layout in body.layouts.iter().filter(|layout| layout.seats().all(can_travel)) {
            layouts.entry(layout.layout.as_str()).or_insert(catalog.layouts.len());
            catalog.layouts.push(layout.clone());
        }
        let mut stops = HashMap::new();
        for route in &body.routes {
            stops.entry(route.route.as_str()).or_insert_with(|| route.stops.join(" "));
            catalog.route_names.entry(route.route.clone()).or_insert_with(|| route.name.clone());
        }
        let price = |text: &str| Money::parse_amount(text, currency).ok();
        for service in &body.services {
            let (Some(fare), Some(&layout)) = (price(&service.fare), layouts.get(service.layout.as_str()))
            else {
                continue;
            };
            let seat_prices = |fares: &BTreeMap<String, String>| {
                fares.iter().filter_map(|(seat, fare)| Some((seat.clone(), price(fare)?))).collect()
            };
            let stops = stops.get(service.route.as_str()).map(String::as_str).unwrap_or_default();
            let full = Offer {
                offer_id: format!("departure:{}", service.service),
                kind: OfferKind::Departure,
                name: service.name.clone(),
                detail: service.detail.clone(),
                price: fare,
                route: Some(service.route.clone()),
                service: Some(service.service.clone()),
                product: SEAT_PRODUCT.to_owned(),
                departs_at: Some(service.departs_at.as_millisecond()),
                needs_manager: false,
                barcode: None,
                seat_prices: seat_prices(&service.seat_fares),
                layout: Some(layout),
                words: Vec::new(),
            };
            catalog.add(full.clone(), &[stops, &service.route]);
            // An offer each, of the same seats: a price list is found as everything else is, by typing.
            for list in body.price_lists.iter().filter(|list| is_list_code(&list.price_list)) {
                let Some(listed) = service.list_fares.get(&list.price_list) else { continue };
                let Some(fare) = price(&listed.fare) else { continue };
                let offer = Offer {
                    offer_id: format!("listed:{}:{}", list.price_list, service.service),
                    // First, since a narrow screen cuts the end off.
                    name: format!("{} · {}", list.name, service.name),
                    price: fare,
                    needs_manager: list.needs_manager,
                    seat_prices: seat_prices(&listed.seat_fares),
                    ..full.clone()
                };
                catalog.add(offer, &[stops, &service.route]);
            }
        }
        for fare in &body.fares {
            let Some(amount) = price(&fare.price) else { continue };
            let offer = Offer {
                route: Some(fare.route.clone()),
                ..plain(OfferKind::Fare, &fare.fare, &fare.name, &fare.detail, amount)
            };
            catalog.add(offer, &[&fare.route]);
        }
        for product in &body.products {
            let Some(amount) = price(&product.price) else { continue };
            let offer = Offer {
                barcode: product.barcode.clone().filter(|barcode| is_barcode(barcode)),
                ..plain(OfferKind::Product, &product.product, &product.name, &product.detail, amount)
            };
            catalog.add(offer, &[]);
        }
        catalog
    }

    /// Of two entries with one id the first counts: what is shown must be what is sold.
    fn add(&mut self, mut offer: Offer, more: &[&str]) {
        let codes = [offer.route.as_deref(), offer.service.as_deref(), Some(&*offer.product)];
        if self.by_id.contains_key(&offer.offer_id) || !codes.into_iter().flatten().all(can_travel) {
            tracing::warn!(offer_id = ?offer.offer_id, "an entry of the catalog cannot be sold; it is left out");
            return;
        }
        let time = offer.departs_at.map(|at| rfc3339(at)[11..16].to_owned()).unwrap_or_default();
        let text = [offer.name.as_str(), &offer.detail, &time, &more.join(" ")].join(" ");
        offer.words = words(&text);
        self.by_id.insert(offer.offer_id.clone(), self.offers.len());
        if let Some(barcode) = &offer.barcode {
            self.by_barcode.entry(barcode.clone()).or_insert(self.offers.len());
        }
        self.offers.push(offer);
    }

    /// How people call a route.
    #[must_use]
    pub fn route_name(&self, route: &str) -> Option<&str> {
        self.route_names.get(route).map(String::as_str)
    }

    #[must_use]
    pub fn offer(&self, offer_id: &str) -> Option<&Offer> {
        self.by_id.get(offer_id).and_then(|&index| self.offers.get(index))
    }

    #[must_use]
    pub fn layout(&self, offer: &Offer) -> Option<&Layout> {
        offer.layout.and_then(|index| self.layouts.get(index))
    }

    /// Offers of which every typed word begins a word: departures that have not left, soonest first, then fares,
    /// then products. A whole barcode finds what it is on and nothing else.
    #[must_use]
    pub fn search(&self, text: &str, now: Millis, limit: usize) -> Vec<&Offer> {
        if let Some(scanned) = self.by_barcode.get(text.trim()).and_then(|&index| self.offers.get(index)) {
            return vec![scanned];
        }
        let wanted = words(text);
        let begins = |offer: &Offer| {
            wanted.iter().all(|want| offer.words.iter().any(|word| word.starts_with(want.as_str())))
        };
        let on_sale = |offer: &Offer| {
            offer.departs_at.is_none_or(|at| at.saturating_add(SOLD_AFTER_DEPARTURE_MS) > now)
        };
        let mut found: Vec<&Offer> =
            self.offers.iter().filter(|offer| on_sale(offer) && begins(offer)).collect();
        found.sort_by_key(|offer| (rank(offer.kind), offer.departs_at));
        found.truncate(limit.min(RESULTS_LIMIT));
        found
    }
}

/// Without a seat, a departure or a route.
fn plain(kind: OfferKind, id: &str, name: &str, detail: &str, price: Money) -> Offer {
    let prefix = match kind {
        OfferKind::Fare => "fare",
        OfferKind::Product => "product",
        OfferKind::Departure => "departure",
    };
    Offer {
        offer_id: format!("{prefix}:{id}"),
        kind,
        name: name.to_owned(),
        detail: detail.to_owned(),
        price,
        route: None,
        service: None,
        product: id.to_owned(),
        departs_at: None,
        needs_manager: false,
        barcode: None,
        seat_prices: HashMap::new(),
        layout: None,
        words: Vec::new(),
    }
}

/// Whether YUPY takes this code as a part of a sale. Refused afterwards, the money would have been taken already.
fn can_travel(code: &str) -> bool {
    !code.trim().is_empty() && code.len() <= CODE_BYTES && !has_control(code)
}

fn rank(kind: OfferKind) -> u8 {
    match kind {
        OfferKind::Departure => 0,
        OfferKind::Fare => 1,
        OfferKind::Product => 2,
    }
}

/// Words without case and accents: nobody types `Huánuco` on a bus.
pub(crate) fn words(text: &str) -> Vec<String> {
    let plain: String =
        fold_for_comparison(text).nfd().filter(|letter| !is_combining_mark(*letter)).collect();
    plain
        .split(|letter: char| !letter.is_alphanumeric() && letter != ':')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
