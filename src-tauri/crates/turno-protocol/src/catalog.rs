//! `GET /v1/catalog`: what a till can sell.
//!
//! Invariant: prices are texts as in a sale and are read as money in the catalog's currency, never as numbers. A
//! catalog that [`CatalogBody::check`] passes has no price that cannot be charged and no name that leads nowhere.

mod check;

use std::collections::BTreeMap;

pub use check::{CatalogFault, is_barcode, is_list_code};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turno_domain::Currency;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogBody {
    /// Changes whenever anything below does.
    pub revision: String,
    pub currency: Currency,
    #[serde(default)]
    pub routes: Vec<Route>,
    #[serde(default)]
    pub services: Vec<Service>,
    #[serde(default)]
    pub layouts: Vec<Layout>,
    #[serde(default)]
    pub fares: Vec<Fare>,
    #[serde(default)]
    pub products: Vec<Product>,
    /// Other prices for the same seats: for children, for pupils, on holidays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub price_lists: Vec<PriceList>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceList {
    /// Letters, digits and hyphens.
    pub price_list: String,
    /// As people say it, e.g. `Escolar`.
    pub name: String,
    /// Whether a cashier may not sell at it alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_manager: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The code that goes into a sale's context, e.g. `184`.
    pub route: String,
    pub name: String,
    pub kind: RouteKind,
    #[serde(default)]
    pub stops: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteKind {
    /// Sold by seat, for a departure.
    Intercity,
    /// Sold by fare, for whatever bus comes next.
    Urban,
}

/// One departure of an intercity route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The code that goes into a sale's context.
    pub service: String,
    pub route: String,
    pub departs_at: Timestamp,
    pub name: String,
    #[serde(default)]
    pub detail: String,
    pub layout: String,
    /// The price of every seat that `seat_fares` does not name.
    pub fare: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seat_fares: BTreeMap<String, String>,
    /// What its seats cost in other price lists; in those that are not named it is not sold.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub list_fares: BTreeMap<String, ListFare>,
}

/// The prices of a departure's seats in one price list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListFare {
    /// The price of every seat that `seat_fares` does not name.
    pub fare: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seat_fares: BTreeMap<String, String>,
}

/// How the seats of a bus stand, front to back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub layout: String,
    pub decks: Vec<Deck>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deck {
    pub number: u8,
    /// Rows from the front, seats from left to right as one looks ahead; `None` is an aisle or a gap.
    pub rows: Vec<Vec<Option<String>>>,
}

/// A ticket without a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fare {
    pub fare: String,
    pub route: String,
    pub name: String,
    #[serde(default)]
    pub detail: String,
    pub price: String,
}

/// Whatever else is sold: luggage, parcels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    pub product: String,
    pub name: String,
    #[serde(default)]
    pub detail: String,
    pub price: String,
    /// What a scanner reads off it, see [`is_barcode`]; no two products share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barcode: Option<String>,
}

impl Service {
    /// The price of a seat, as a text.
    pub fn seat_price(&self, seat: &str) -> &str {
        self.seat_fares.get(seat).unwrap_or(&self.fare)
    }
}

impl Layout {
    /// Every seat's code, deck by deck and row by row.
    pub fn seats(&self) -> impl Iterator<Item = &str> {
        self.decks.iter().flat_map(|deck| deck.rows.iter().flatten().flatten().map(String::as_str))
    }
}
