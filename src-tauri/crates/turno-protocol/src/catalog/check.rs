//! Whether a catalog can be sold from, asked before a till lets it replace the one that it has.
//!
//! Invariant: after a check has passed, every price is an amount, every name that is referred to exists, and no name
//! means two things.

use std::collections::{BTreeMap, BTreeSet};

use turno_domain::Money;
use turno_domain::money::AmountError;

use super::{CatalogBody, Service};

/// Shorter ones could not be told from what a person types.
const BARCODE_CHARS_MIN: usize = 4;
/// As many as a Code 128 label of the usual width holds.
const BARCODE_CHARS_MAX: usize = 48;

/// The first thing that is wrong with a catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogFault {
    #[error("{kind} `{name}` is there twice")]
    Twice { kind: &'static str, name: String },
    #[error("`{referrer}` refers to {kind} `{name}`, which does not exist")]
    Unknown { referrer: String, kind: &'static str, name: String },
    #[error("price list `{name}` has other characters than letters, digits and hyphens")]
    Code { name: String },
    #[error("`{of}` has a barcode that is not 4 to 48 ASCII letters and digits: `{barcode}`")]
    Barcode { of: String, barcode: String },
    #[error("`{of}` costs `{price}`, which is no amount")]
    Price { of: String, price: String, source: AmountError },
}

impl CatalogBody {
    pub fn check(&self) -> Result<(), CatalogFault> {
        let routes = unique("route", self.routes.iter().map(|route| route.route.as_str()))?;
        let layouts = unique("layout", self.layouts.iter().map(|layout| layout.layout.as_str()))?;
        unique("service", self.services.iter().map(|service| service.service.as_str()))?;
        unique("fare", self.fares.iter().map(|fare| fare.fare.as_str()))?;
        unique("product", self.products.iter().map(|product| product.product.as_str()))?;
        unique("barcode", self.products.iter().filter_map(|product| product.barcode.as_deref()))?;
        let lists = unique("price list", self.price_lists.iter().map(|list| list.price_list.as_str()))?;
        for name in &lists {
            if !is_list_code(name) {
                return Err(CatalogFault::Code { name: (*name).to_owned() });
            }
        }
        for layout in &self.layouts {
            unique("seat", layout.seats())?;
        }
        for service in &self.services {
            known("route", &routes, &service.service, &service.route)?;
            known("layout", &layouts, &service.service, &service.layout)?;
            self.prices(service, &service.fare, &service.seat_fares)?;
            for (list, prices) in &service.list_fares {
                known("price list", &lists, &service.service, list)?;
                self.prices(service, &prices.fare, &prices.seat_fares)?;
            }
        }
        for fare in &self.fares {
            known("route", &routes, &fare.fare, &fare.route)?;
            self.price(&fare.fare, &fare.price)?;
        }
        for product in &self.products {
            self.price(&product.product, &product.price)?;
            if let Some(barcode) = product.barcode.as_ref().filter(|barcode| !is_barcode(barcode)) {
                return Err(CatalogFault::Barcode { of: product.product.clone(), barcode: barcode.clone() });
            }
        }
        Ok(())
    }

    fn prices(
        &self,
        service: &Service,
        fare: &str,
        seat_fares: &BTreeMap<String, String>,
    ) -> Result<(), CatalogFault> {
        self.price(&service.service, fare)?;
        for (seat, price) in seat_fares {
            self.seat_is_known(&service.service, &service.layout, seat)?;
            self.price(&service.service, price)?;
        }
        Ok(())
    }

    fn price(&self, of: &str, price: &str) -> Result<(), CatalogFault> {
        match Money::parse_amount(price, self.currency) {
            Ok(_) => Ok(()),
            Err(source) => Err(CatalogFault::Price { of: of.to_owned(), price: price.to_owned(), source }),
        }
    }

    fn seat_is_known(&self, service: &str, layout: &str, seat: &str) -> Result<(), CatalogFault> {
        let mut layouts = self.layouts.iter().filter(|candidate| candidate.layout == layout);
        if layouts.any(|layout| layout.seats().any(|known| known == seat)) {
            return Ok(());
        }
        Err(unknown("seat", service, seat))
    }
}

/// A code that can stand before another one in an offer's id and be told from it.
pub fn is_list_code(code: &str) -> bool {
    !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// 4 to 48 ASCII letters and digits: what EAN, UPC and ITF labels carry, and Code 39 and 128 ones that are meant for a
/// till. Anything else may be a key of its own to the program that the scanner types into.
pub fn is_barcode(code: &str) -> bool {
    (BARCODE_CHARS_MIN..=BARCODE_CHARS_MAX).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn unique<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<&'a str>, CatalogFault> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(CatalogFault::Twice { kind, name: name.to_owned() });
        }
    }
    Ok(seen)
}

fn known(kind: &'static str, names: &BTreeSet<&str>, referrer: &str, name: &str) -> Result<(), CatalogFault> {
    if names.contains(name) { Ok(()) } else { Err(unknown(kind, referrer, name)) }
}

fn unknown(kind: &'static str, referrer: &str, name: &str) -> CatalogFault {
    CatalogFault::Unknown { referrer: referrer.to_owned(), kind, name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOG: &str = r#"{
        "revision": "1", "currency": "PEN", "of_tomorrow": [],
        "routes": [{"route": "LIM-AQP", "name": "Lima – Arequipa", "kind": "intercity", "stops": ["Lima", "Nasca", "Arequipa"]},
                   {"route": "U1", "name": "Línea 1", "kind": "urban"}],
        "services": [{"service": "LIM-AQP-2030", "route": "LIM-AQP", "departs_at": "2026-11-30T20:30:00-05:00", "name": "20:30",
                      "layout": "L1", "fare": "90.00", "seat_fares": {"1A": "110.00"},
                      "list_fares": {"escolar": {"fare": "45.00", "seat_fares": {"1A": "55.00"}}}}],
        "price_lists": [{"price_list": "escolar", "name": "Escolar", "needs_manager": true}],
        "layouts": [{"layout": "L1", "decks": [{"number": 1, "rows": [["1A", "1B", null, "1C"], ["2A", null, null, "2C"]]}]}],
        "fares": [{"fare": "U1-A", "route": "U1", "name": "Adulto", "price": "2.00"}],
        "products": [{"product": "BAG", "name": "Equipaje", "detail": "hasta 20 kg", "price": "10.00", "barcode": "7750182000017"},
                     {"product": "BOX", "name": "Caja", "price": "3.50", "barcode": "7750182000024"}]
    }"#;

    fn read(json: &str) -> CatalogBody {
        serde_json::from_str(json).expect("a catalog")
    }

    fn check(find: &str, replace: &str, expected: &str) {
        assert!(CATALOG.contains(find), "{find}");
        let fault = read(&CATALOG.replacen(find, replace, 1)).check().expect_err(replace);
        assert_eq!(fault.to_string(), expected);
    }

    #[test]
    fn a_catalog_without_faults_passes_and_reads_back_as_itself() {
        let catalog = read(CATALOG);
        assert_eq!(catalog.check(), Ok(()));
        assert_eq!(read(&serde_json::to_string(&catalog).unwrap()), catalog);
    }

    #[test]
    fn seats_are_named_row_by_row_and_priced_one_by_one() {
        let catalog = read(CATALOG);
        assert_eq!(catalog.layouts[0].seats().collect::<Vec<_>>(), ["1A", "1B", "1C", "2A", "2C"]);
        assert_eq!(catalog.services[0].seat_price("1A"), "110.00");
        assert_eq!(catalog.services[0].seat_price("1B"), "90.00");
    }

    #[test]
    fn the_first_fault_is_named() {
        check(r#""U1", "name""#, r#""LIM-AQP", "name""#, "route `LIM-AQP` is there twice");
        check(r#""2A", null"#, r#""1A", null"#, "seat `1A` is there twice");
        check(
            r#""layout": "L1", "fare""#,
            r#""layout": "L2", "fare""#,
            "`LIM-AQP-2030` refers to layout `L2`, which does not exist",
        );
        check(
            r#""route": "U1", "name": "Adulto""#,
            r#""route": "U2", "name": "Adulto""#,
            "`U1-A` refers to route `U2`, which does not exist",
        );
        check(
            r#"{"1A": "110.00"}"#,
            r#"{"9Z": "110.00"}"#,
            "`LIM-AQP-2030` refers to seat `9Z`, which does not exist",
        );
        check(
            r#"{"escolar": {"fare""#,
            r#"{"feriado": {"fare""#,
            "`LIM-AQP-2030` refers to price list `feriado`, which does not exist",
        );
        check(
            r#""price_list": "escolar""#,
            r#""price_list": "es:colar""#,
            "price list `es:colar` has other characters than letters, digits and hyphens",
        );
        check("45.00", "0", "`LIM-AQP-2030` costs `0`, which is no amount");
        check("55.00", "free", "`LIM-AQP-2030` costs `free`, which is no amount");
        check("90.00", "90,00", "`LIM-AQP-2030` costs `90,00`, which is no amount");
        check("110.00", "0.00", "`LIM-AQP-2030` costs `0.00`, which is no amount");
        check(r#""price": "2.00""#, r#""price": "2.005""#, "`U1-A` costs `2.005`, which is no amount");
        check("7750182000024", "7750182000017", "barcode `7750182000017` is there twice");
        check(r#""price": "10.00""#, r#""price": "-1""#, "`BAG` costs `-1`, which is no amount");
    }

    #[test]
    fn a_barcode_is_four_to_forty_eight_letters_and_digits() {
        for code in ["7750", "77501820", "7750182000017", "CAJA15kg", &"9".repeat(48)] {
            assert!(is_barcode(code), "{code}");
        }
        for code in ["", "775", &"9".repeat(49), "7750 182", "7750-182", "7750182\r", "٧٧٥٠١٨", "ñandú"]
        {
            assert!(!is_barcode(code), "{code}");
        }
        check(
            "7750182000024",
            "775\\n0",
            "`BOX` has a barcode that is not 4 to 48 ASCII letters and digits: `775\n0`",
        );
    }
}
