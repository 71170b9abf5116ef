//! The body of `POST /v1/transactions`.

use jiff::Timestamp;
use serde_json::Value;
use turno_domain::{Currency, ids::ExternalTransactionId};
use turno_protocol::{
    body::{Confirmation, Context},
    secret::Secret,
};

use super::fields::{Faults, Fields};
use crate::{
    instant::parse_rfc3339,
    sale::{Details, NewSale},
};

/// Unknown members are content (§4) but no part of the sale.
pub fn read_sale(body: &Value, default_currency: Currency) -> Result<NewSale, Faults> {
    let mut fields = Fields::of(body)?;
    let external_transaction_id = fields.required("external_transaction_id", |text| {
        ExternalTransactionId::parse(text).map_err(|error| error.code())
    });
    let amount = fields.money(default_currency);
    let occurred_at = occurred_at(&mut fields);
    let details = Details {
        buyer_name: fields.free_text("buyer_name"),
        integration_experience: fields.optional_text("integration_experience"),
        shift_id: fields.optional_text("shift_id"),
        device_id: fields.optional_text("device_id"),
        payment_method: fields.optional_text("payment_method"),
        context: context(&mut fields),
    };
    let confirmation = confirmation(&mut fields);
    let sale = external_transaction_id.zip(amount).map(|(external_transaction_id, amount)| NewSale {
        external_transaction_id,
        amount,
        occurred_at,
        details,
        confirmation,
    });
    fields.finish(sale)
}

fn occurred_at(fields: &mut Fields<'_>) -> Option<Timestamp> {
    let time = parse_rfc3339(fields.text("occurred_at")?);
    if time.is_err() {
        fields.fault("occurred_at", "not_a_time");
    }
    time.ok()
}

fn context(fields: &mut Fields<'_>) -> Context {
    let Some(mut inner) = fields.nested("context", "context.") else { return Context::default() };
    let context = Context {
        custom_reference_1: inner.free_text("custom_reference_1"),
        custom_reference_2: inner.free_text("custom_reference_2"),
        route: inner.free_text("route"),
        seat: inner.free_text("seat"),
        order: inner.free_text("order"),
        product: inner.free_text("product"),
        service: inner.free_text("service"),
    };
    fields.absorb(inner);
    context
}

fn confirmation(fields: &mut Fields<'_>) -> Option<Confirmation> {
    let token = fields.text("duplicate_confirmation_token");
    let confirmed_by = fields.free_text("confirmed_by");
    let confirmation_reason = fields.free_text("confirmation_reason");
    if !fields.has("duplicate_confirmation_token") {
        for name in ["confirmed_by", "confirmation_reason"] {
            if fields.has(name) {
                fields.fault(name, "without_token");
            }
        }
    }
    let duplicate_confirmation_token = Secret::new(token?);
    Some(Confirmation { duplicate_confirmation_token, confirmed_by, confirmation_reason })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_is_named_by_its_path() {
        let body = json!({
            "external_transaction_id": " E", "amount": 85.5, "currency": "pen", "occurred_at": "yesterday",
            "buyer_name": 7, "context": {"seat": 12, "route": "1\u{0}84"}, "confirmed_by": "Jefa", "note": ["\u{0}"],
        });
        let faults = read_sale(&body, Currency::PEN).unwrap_err();
        let mut paths: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(
            paths,
            [
                "amount",
                "buyer_name",
                "confirmed_by",
                "context.route",
                "context.seat",
                "currency",
                "external_transaction_id",
                "note.0",
                "occurred_at",
            ]
        );
    }

    #[test]
    fn an_amount_in_an_unknown_currency_is_only_blamed_for_what_no_currency_allows() {
        let paths = |amount: &str| {
            let body = json!({"external_transaction_id": "E", "amount": amount, "currency": "QQQ"});
            let faults = read_sale(&body, Currency::PEN).unwrap_err();
            faults.into_iter().map(|fault| fault.path).collect::<Vec<_>>()
        };
        assert_eq!(paths("85.505"), ["currency"]);
        assert_eq!(paths("-1"), ["currency", "amount"]);
    }

    #[test]
    fn a_body_that_is_no_object_is_a_fault_of_the_whole() {
        for body in [json!([]), json!("x"), json!(1), json!(null)] {
            assert_eq!(read_sale(&body, Currency::PEN).unwrap_err()[0].path, "", "{body}");
        }
    }

    #[test]
    fn empty_texts_are_absent_and_free_texts_are_normalised() {
        let body = json!({
            "external_transaction_id": "E", "amount": "1", "buyer_name": "  María \t Ramos ", "device_id": "",
            "context": {"seat": " ", "order": " O 1 ", "route": null},
        });
        let sale = read_sale(&body, Currency::PEN).unwrap();
        assert_eq!(sale.details.buyer_name.as_deref(), Some("María Ramos"));
        assert_eq!(sale.details.device_id, None);
        assert_eq!(sale.details.context, Context { order: Some("O 1".to_owned()), ..Context::default() });
        assert_eq!(sale.confirmation, None);
    }
}
