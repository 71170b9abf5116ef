//! Sales that are likely to look alike, for properties of the stores.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::json;
use turno_domain::{
    Currency, Money,
    ids::{ExternalTransactionId, YupyTransactionId},
    lookalike::{Rule, Signal, Traits, rank},
};
use turno_protocol::body::{Financial, Operational, State};

use super::StoredSale;
use crate::request::read_sale;

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub sale: StoredSale,
    /// Its row was written before names were folded.
    pub is_from_before_folding: bool,
}

impl Case {
    pub(crate) fn is_active(&self) -> bool {
        self.sale.state.operational == Operational::Active
    }

    /// With ids of its own.
    pub(crate) fn numbered(&self, number: usize) -> Self {
        let mut case = self.clone();
        case.sale.yupy_transaction_id = YupyTransactionId::parse(format!("ypt_{number}")).unwrap();
        case.sale.external_transaction_id = ExternalTransactionId::parse(format!("E-{number}")).unwrap();
        case
    }
}

/// As they are sent: read and normalised as every sale is.
pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    let name =
        sometimes(&["María Ramos", "MARÍA RAMOS", "Mari\u{301}a  Ramos", "Straße", "STRASSE", "Σ", "ς", " "]);
    let value = || sometimes(&["1", "1 ", "2", "a", "A", "\u{e9}", "e\u{301}"]);
    let context = (value(), value(), value(), value(), value(), value(), value());
    let ids = (value(), value());
    let amount = prop::sample::select(vec!["2.00", "85.50"]);
    let currency = prop::sample::select(vec!["PEN", "PEN", "USD"]);
    // Around both edges of the shortest window.
    let apart_ms = prop_oneof![Just(0), 29_998..=30_002_i64, -30_002..=-29_998_i64, -40_000..40_000_i64];
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.3));
    (name, context, ids, amount, currency, apart_ms, 0..1_000_000_i32, flags).prop_map(
        |(buyer, context, (shift, device), amount, currency, apart_ms, nanos, (is_voided, is_old))| {
            let (reference_1, reference_2, route, seat, order, product, service) = context;
            let body = json!({
                "external_transaction_id": "E", "amount": amount, "currency": currency, "buyer_name": buyer,
                "shift_id": shift, "device_id": device,
                "context": {
                    "custom_reference_1": reference_1, "custom_reference_2": reference_2, "route": route,
                    "seat": seat, "order": order, "product": product, "service": service,
                },
            });
            let sent = read_sale(&body, Currency::PEN).unwrap();
            let noon: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
            let apart = SignedDuration::from_millis(apart_ms) + SignedDuration::from_nanos(nanos.into());
            let operational = if is_voided { Operational::Voided } else { Operational::Active };
            let sale = StoredSale {
                yupy_transaction_id: YupyTransactionId::parse("ypt").unwrap(),
                external_transaction_id: sent.external_transaction_id,
                amount: Money::from_minor(sent.amount.minor(), sent.amount.currency()),
                occurred_at: noon + apart,
                details: sent.details,
                state: State { operational, financial: Financial::Paid },
                created_at: noon,
            };
            Case { sale, is_from_before_folding: is_old }
        },
    )
}

pub(crate) fn any_rule() -> impl Strategy<Value = Rule> {
    let may_identify: Vec<_> = Signal::ALL[2..].to_vec();
    prop_oneof![
        Just(Rule::DEFAULT_IDENTIFYING.to_vec()),
        prop::sample::subsequence(may_identify.clone(), 0..may_identify.len()),
    ]
    .prop_map(|identifying| Rule::new(Rule::SHORTEST_WINDOW, identifying).unwrap())
}

fn sometimes(values: &'static [&'static str]) -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![Just(None), prop::sample::select(values).prop_map(Some)]
}

/// The ids of what looks like `asked`, the best first.
pub(crate) fn look_alikes(asked: &Traits, among: &[StoredSale], rule: &Rule) -> Vec<String> {
    let traits: Vec<_> = among.iter().map(StoredSale::traits).collect();
    let ranked = rank(asked, among.iter().zip(&traits), rule);
    ranked.into_iter().map(|found| found.sale.yupy_transaction_id.to_string()).collect()
}
