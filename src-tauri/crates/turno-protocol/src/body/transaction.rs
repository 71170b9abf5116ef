//! `POST /v1/transactions`: the body of a sale, made once at the sale and then frozen as bytes.
//!
//! Invariant: nothing serialises a sale twice. A confirmation is the frozen bytes with three members added at the
//! end, so it differs from what the question was about in nothing but the token and its companions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turno_domain::ids::ExternalTransactionId;
use turno_domain::lookalike::Traits;
use turno_domain::{Currency, Money};

use crate::lenient;
use crate::secret::Secret;

/// A sale as the till writes it. The order of the members is the order on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionBody {
    pub external_transaction_id: ExternalTransactionId,
    /// At full scale, e.g. `"85.50"`.
    pub amount: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integration_experience: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// RFC 3339 with the till's own offset: when the sale happened, never when it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<String>,
    #[serde(default, skip_serializing_if = "Context::is_empty", deserialize_with = "lenient::or_default")]
    pub context: Context,
    /// How the sale was paid, when it was not all cash. Not in the contract: YUPY keeps it as part of the content.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient::list")]
    pub tenders: Vec<PaidTender>,
}

/// What of a sale's amount was paid in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaidTender {
    pub method: String,
    /// At full scale; they add up to the sale's amount.
    pub amount: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_number: Option<String>,
}

/// What the sale was for, as far as it is known. Each field is a signal of the look-alike rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_reference_1: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_reference_2: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
}

/// A person's word that a sale is not the one that it looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confirmation {
    pub duplicate_confirmation_token: Secret,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation_reason: Option<String>,
}

/// Bytes that [`TransactionBody::to_bytes`] did not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the frozen body of a sale")]
pub struct NotAFrozenBody;

impl TransactionBody {
    /// A sale with what is required and its currency; the rest is for the caller to fill in before freezing.
    pub fn new(external_transaction_id: ExternalTransactionId, amount: Money) -> TransactionBody {
        TransactionBody {
            external_transaction_id,
            amount: amount.to_amount_text(),
            currency: Some(amount.currency()),
            buyer_name: None,
            integration_experience: None,
            shift_id: None,
            device_id: None,
            occurred_at: None,
            payment_method: None,
            context: Context::default(),
            tenders: Vec::new(),
        }
    }

    /// The bytes to store and to send, again and again, as they are.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts under fixed names are always json")
    }
}

impl Context {
    pub fn is_empty(&self) -> bool {
        *self == Context::default()
    }

    /// The traits of a sale with this context; buyer, shift and device are left to the caller.
    pub fn traits(&self, amount: Money, occurred_at: Timestamp) -> Traits {
        let Context { custom_reference_1, custom_reference_2, route, seat, order, product, service } =
            self.clone();
        Traits {
            custom_reference_1,
            custom_reference_2,
            route,
            seat,
            order,
            product,
            service,
            ..Traits::new(amount, occurred_at)
        }
    }
}

impl Confirmation {
    /// The frozen body of a sale with this confirmation added at its end; every other byte stays.
    pub fn add_to(&self, frozen: &[u8]) -> Result<Vec<u8>, NotAFrozenBody> {
        // Reading it back guards against cutting into something that only ends like an object.
        serde_json::from_slice::<TransactionBody>(frozen).map_err(|_| NotAFrozenBody)?;
        let open = frozen.strip_suffix(b"}").ok_or(NotAFrozenBody)?;
        let members = serde_json::to_vec(self).expect("texts under fixed names are always json");
        let members = members.strip_prefix(b"{").expect("a struct is written as an object");
        Ok([open, b",", members].concat())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::{canonical, strict_json};

    fn sale() -> TransactionBody {
        let id = ExternalTransactionId::parse("D03-K7M-S44-0127").unwrap();
        let mut body = TransactionBody::new(id, Money::from_minor(8_550, Currency::PEN));
        body.occurred_at = Some("2026-11-30T10:00:00-05:00".to_owned());
        body
    }

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_full_sale_is_written_in_the_contracts_order() {
        let some = |text: &str| Some(text.to_owned());
        let mut body = sale();
        body.buyer_name = some("María Ramos");
        body.integration_experience = some("till");
        body.shift_id = some("S44");
        body.device_id = some("D03");
        body.payment_method = some("cash");
        body.context = Context {
            custom_reference_1: some("ROUTE-184"),
            custom_reference_2: some("SEAT-12A"),
            route: some("184"),
            seat: some("12A"),
            order: some("O"),
            product: some("P"),
            service: some("N"),
        };
        assert_eq!(
            text(&body.to_bytes()),
            concat!(
                r#"{"external_transaction_id":"D03-K7M-S44-0127","amount":"85.50","currency":"PEN","#,
                r#""buyer_name":"María Ramos","integration_experience":"till","shift_id":"S44","device_id":"D03","#,
                r#""occurred_at":"2026-11-30T10:00:00-05:00","payment_method":"cash","context":{"#,
                r#""custom_reference_1":"ROUTE-184","custom_reference_2":"SEAT-12A","route":"184","seat":"12A","#,
                r#""order":"O","product":"P","service":"N"}}"#
            )
        );
    }

    #[test]
    fn how_a_sale_was_paid_stands_at_its_end_and_is_kept_when_it_is_read() {
        let mut body = sale();
        let yape = PaidTender {
            method: "wallet".to_owned(),
            amount: "40.00".to_owned(),
            provider: Some("yape".to_owned()),
            operation_number: Some("00123456".to_owned()),
        };
        let cash = PaidTender {
            method: "cash".to_owned(),
            amount: "45.50".to_owned(),
            provider: None,
            operation_number: None,
        };
        body.tenders = vec![yape, cash];
        let frozen = body.to_bytes();
        assert!(text(&frozen).ends_with(concat!(
            r#","tenders":[{"method":"wallet","amount":"40.00","provider":"yape","operation_number":"00123456"},"#,
            r#"{"method":"cash","amount":"45.50"}]}"#
        )));
        assert_eq!(serde_json::from_slice::<TransactionBody>(&frozen).unwrap(), body);
    }

    #[test]
    fn what_is_not_known_is_left_out_and_never_null() {
        assert_eq!(
            text(&sale().to_bytes()),
            r#"{"external_transaction_id":"D03-K7M-S44-0127","amount":"85.50","currency":"PEN","occurred_at":"2026-11-30T10:00:00-05:00"}"#
        );
    }

    #[test]
    fn a_frozen_body_reads_back_as_itself() {
        let body = sale();
        assert_eq!(serde_json::from_slice::<TransactionBody>(&body.to_bytes()).unwrap(), body);
    }

    #[test]
    fn a_confirmation_keeps_every_frozen_byte_and_adds_its_members_at_the_end() {
        let frozen = sale().to_bytes();
        let confirmation = Confirmation {
            duplicate_confirmation_token: Secret::new("t\"1"),
            confirmed_by: Some("Encargado".to_owned()),
            confirmation_reason: None,
        };
        let confirmed = confirmation.add_to(&frozen).unwrap();
        assert!(confirmed.starts_with(&frozen[..frozen.len() - 1]));
        assert_eq!(
            text(&confirmed[frozen.len() - 1..]),
            r#","duplicate_confirmation_token":"t\"1","confirmed_by":"Encargado"}"#
        );
        let value: serde_json::Value = serde_json::from_slice(&confirmed).unwrap();
        assert_eq!(value["duplicate_confirmation_token"], "t\"1");
    }

    #[test]
    fn members_of_another_version_survive_a_confirmation() {
        let frozen = br#"{"external_transaction_id":"E","amount":"1.00","of_tomorrow":[1]}"#;
        let confirmation = Confirmation {
            duplicate_confirmation_token: Secret::new("t"),
            confirmed_by: None,
            confirmation_reason: None,
        };
        let confirmed = confirmation.add_to(frozen).unwrap();
        assert!(text(&confirmed).contains(r#""of_tomorrow":[1],"duplicate_confirmation_token":"t"}"#));
        for other in [&b""[..], b"{}", b"[]", b"{\"amount\":\"1.00\"", b"no"] {
            assert_eq!(confirmation.add_to(other), Err(NotAFrozenBody));
        }
    }

    #[test]
    fn a_context_gives_its_fields_to_the_traits_of_the_same_name() {
        let json = r#"{"custom_reference_1":"1","custom_reference_2":"2","route":"r","seat":"s","order":"o","product":"p","service":"v"}"#;
        let context: Context = serde_json::from_str(json).unwrap();
        let traits = context.traits(Money::from_minor(1, Currency::PEN), Timestamp::UNIX_EPOCH);
        let seen = [
            &traits.custom_reference_1,
            &traits.custom_reference_2,
            &traits.route,
            &traits.seat,
            &traits.order,
            &traits.product,
            &traits.service,
        ];
        assert_eq!(seen.map(|field| field.as_deref().unwrap()), ["1", "2", "r", "s", "o", "p", "v"]);
        assert_eq!(traits.buyer_name, None);
    }

    #[test]
    fn null_and_absent_are_the_same_and_unknown_members_are_no_obstacle() {
        let json = r#"{"of_tomorrow":{"a":[]},"external_transaction_id":"E","amount":"1.00","currency":null,
            "buyer_name":null,"context":null}"#;
        let body: TransactionBody = serde_json::from_str(json).unwrap();
        assert_eq!(body.currency, None);
        assert_eq!(text(&body.to_bytes()), r#"{"external_transaction_id":"E","amount":"1.00"}"#);
    }

    fn any_body() -> impl Strategy<Value = TransactionBody> {
        let texts = || prop::array::uniform6(prop::option::of(any::<String>()));
        (1_i64..1_000_000_000, texts(), texts()).prop_map(|(minor, mut about, context)| {
            let id = ExternalTransactionId::parse("D03-K7M-S44-0127").expect("an id");
            let mut body = TransactionBody::new(id, Money::from_minor(minor, Currency::PEN));
            body.buyer_name = about[0].take();
            body.integration_experience = about[1].take();
            body.shift_id = about[2].take();
            body.device_id = about[3].take();
            body.payment_method = about[4].take();
            let [custom_reference_1, custom_reference_2, route, seat, order, product] = context;
            let service = about[5].take();
            body.context =
                Context { custom_reference_1, custom_reference_2, route, seat, order, product, service };
            body
        })
    }

    proptest! {
        #[test]
        fn every_frozen_body_is_strict_json_and_reads_back_as_itself(body in any_body()) {
            let frozen = body.to_bytes();
            prop_assert!(strict_json::parse(&frozen).is_ok());
            prop_assert_eq!(serde_json::from_slice::<TransactionBody>(&frozen).unwrap().to_bytes(), frozen);
        }

        #[test]
        fn without_its_three_members_a_confirmation_is_the_content_that_was_asked_about(
            body in any_body(), token in any::<String>(), by in prop::option::of(any::<String>()), why in prop::option::of(any::<String>()),
        ) {
            let frozen = body.to_bytes();
            let confirmation = Confirmation {
                duplicate_confirmation_token: Secret::new(token.clone()),
                confirmed_by: by.clone(),
                confirmation_reason: why.clone(),
            };
            let mut confirmed = strict_json::parse(&confirmation.add_to(&frozen).unwrap()).unwrap();
            let members = confirmed.as_object_mut().unwrap();
            prop_assert_eq!(members.remove("duplicate_confirmation_token"), Some(Value::from(token)));
            prop_assert_eq!(members.remove("confirmed_by"), by.map(Value::from));
            prop_assert_eq!(members.remove("confirmation_reason"), why.map(Value::from));
            let asked = strict_json::parse(&frozen).unwrap();
            prop_assert_eq!(canonical::to_bytes(&confirmed), canonical::to_bytes(&asked));
        }
    }
}
