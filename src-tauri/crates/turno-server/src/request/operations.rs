//! The smaller bodies: void, payment, resolution, enrolment, the acquirer's webhook.

use serde_json::Value;
use turno_domain::{
    Currency, Money,
    ids::{DeviceId, Epoch, ExternalOperationId, ExternalPaymentId},
    text::normalise_free_text,
};
use turno_protocol::{
    body::Decision,
    enrol::{EnrolRequest, EpochRequest},
    secret::Secret,
};
use uuid::Uuid;

use super::fields::{Faults, Fields};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVoid {
    pub external_operation_id: ExternalOperationId,
    pub reason: Option<String>,
}

pub fn read_void(body: &Value) -> Result<NewVoid, Faults> {
    let mut fields = Fields::of(body)?;
    let external_operation_id = fields.required("external_operation_id", |text| {
        ExternalOperationId::parse(text).map_err(|error| error.code())
    });
    let reason = fields.free_text("reason");
    fields
        .finish(external_operation_id.map(|external_operation_id| NewVoid { external_operation_id, reason }))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPayment {
    pub external_payment_id: ExternalPaymentId,
    pub amount: Money,
    pub method: Option<String>,
}

pub fn read_payment(body: &Value, default_currency: Currency) -> Result<NewPayment, Faults> {
    let mut fields = Fields::of(body)?;
    let external_payment_id = fields
        .required("external_payment_id", |text| ExternalPaymentId::parse(text).map_err(|error| error.code()));
    let amount = fields.money(default_currency);
    let method = fields.optional_text("method");
    let payment = external_payment_id.zip(amount).map(|(external_payment_id, amount)| NewPayment {
        external_payment_id,
        amount,
        method,
    });
    fields.finish(payment)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub target: ResolutionTarget,
    pub decision: Decision,
    pub decided_by: String,
    pub reason: Option<String>,
}

/// A question, named by whoever decides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolutionTarget {
    Challenge(String),
    Token(Secret),
}

pub fn read_resolution(body: &Value) -> Result<Resolution, Faults> {
    let mut fields = Fields::of(body)?;
    let challenge = fields.text("challenge_id");
    let token = fields.text("duplicate_confirmation_token");
    let target = match (challenge, token) {
        (Some(id), None) => Some(ResolutionTarget::Challenge(id.to_owned())),
        (None, Some(token)) => Some(ResolutionTarget::Token(Secret::new(token))),
        (Some(_), Some(_)) => {
            fields.fault("challenge_id", "one_of_two");
            None
        }
        (None, None) => {
            if !fields.has("challenge_id") && !fields.has("duplicate_confirmation_token") {
                fields.fault("challenge_id", "required");
            }
            None
        }
    };
    let decision = fields.required("decision", |text| match text {
        "same_sale" => Ok(Decision::SameSale),
        "different_sale" => Ok(Decision::DifferentSale),
        _ => Err("unknown_decision"),
    });
    let decided_by = fields.required("decided_by", |text| {
        let name = normalise_free_text(text);
        if name.is_empty() { Err("empty") } else { Ok(name) }
    });
    let reason = fields.free_text("reason");
    let resolution = target
        .zip(decision)
        .zip(decided_by)
        .map(|((target, decision), decided_by)| Resolution { target, decision, decided_by, reason });
    fields.finish(resolution)
}

pub type Enrolment = EnrolRequest;

pub fn read_enrolment(body: &Value) -> Result<Enrolment, Faults> {
    let mut fields = Fields::of(body)?;
    let code =
        fields.required(
            "enrolment_code",
            |text| if text.is_empty() { Err("empty") } else { Ok(Secret::new(text)) },
        );
    let installation_id =
        fields.required("installation_id", |text| Uuid::parse_str(text).map_err(|_| "not_a_uuid"));
    let epoch = fields.required("epoch", |text| Epoch::parse(text).map_err(|_| "not_an_epoch"));
    let enrolment = code.zip(installation_id).zip(epoch).map(|((enrolment_code, installation_id), epoch)| {
        Enrolment { enrolment_code, installation_id, epoch }
    });
    fields.finish(enrolment)
}

pub fn read_epoch(body: &Value) -> Result<EpochRequest, Faults> {
    let mut fields = Fields::of(body)?;
    let device_id = fields.required("device_id", |text| DeviceId::parse(text).map_err(|_| "not_a_device_id"));
    let installation_id =
        fields.required("installation_id", |text| Uuid::parse_str(text).map_err(|_| "not_a_uuid"));
    let epoch = fields.required("epoch", |text| Epoch::parse(text).map_err(|_| "not_an_epoch"));
    let registration = device_id
        .zip(installation_id)
        .zip(epoch)
        .map(|((device_id, installation_id), epoch)| EpochRequest { device_id, installation_id, epoch });
    fields.finish(registration)
}

/// What the acquirer tells about a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEvent {
    pub event_id: String,
    pub acquirer_payment_id: String,
    pub status: WebhookStatus,
    pub amount: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookStatus {
    Approved,
    Declined,
}

/// As long as a key may be (row B2): it is one.
const EVENT_ID_BYTES: usize = 255;

pub fn read_webhook(body: &Value) -> Result<WebhookEvent, Faults> {
    let mut fields = Fields::of(body)?;
    let not_empty = |text: &str| if text.is_empty() { Err("empty") } else { Ok(text.to_owned()) };
    let event_id = fields.required("event_id", |text| {
        if text.len() > EVENT_ID_BYTES { Err("too_long") } else { not_empty(text) }
    });
    let acquirer_payment_id = fields.required("acquirer_payment_id", not_empty);
    let status = fields.required("status", |text| match text {
        "approved" => Ok(WebhookStatus::Approved),
        "declined" => Ok(WebhookStatus::Declined),
        _ => Err("unknown_status"),
    });
    if !fields.has("currency") {
        fields.fault("currency", "required");
    }
    let amount = fields.money(Currency::PEN);
    let event = event_id.zip(acquirer_payment_id).zip(status).zip(amount).map(
        |(((event_id, acquirer_payment_id), status), amount)| WebhookEvent {
            event_id,
            acquirer_payment_id,
            status,
            amount,
        },
    );
    fields.finish(event)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resolution_names_one_question_a_decision_and_who_decided() {
        let good = json!({"challenge_id": "c", "decision": "same_sale", "decided_by": " Jefa  de ruta "});
        assert_eq!(read_resolution(&good).unwrap().decided_by, "Jefa de ruta");
        check(json!({}), &["challenge_id", "decision", "decided_by"]);
        check(json!({"duplicate_confirmation_token": "t"}), &["decision", "decided_by"]);
        check(
            json!({"challenge_id": 7, "decision": "maybe", "decided_by": " "}),
            &["challenge_id", "decision", "decided_by"],
        );
        check(
            json!({"challenge_id": "c", "duplicate_confirmation_token": "t", "decision": "same_sale", "decided_by": "J"}),
            &["challenge_id"],
        );

        fn check(body: Value, paths: &[&str]) {
            let faults = read_resolution(&body).unwrap_err();
            assert_eq!(faults.iter().map(|fault| fault.path.as_str()).collect::<Vec<_>>(), paths, "{body}");
        }
    }

    #[test]
    fn an_enrolment_needs_its_three_parts() {
        let id = "6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f";
        read_enrolment(&json!({"enrolment_code": "C", "installation_id": id, "epoch": "K7M"})).unwrap();
        let faults = read_enrolment(&json!({"enrolment_code": "", "installation_id": "x", "epoch": "0O1"}))
            .unwrap_err();
        assert_eq!(faults.len(), 3);
    }
}
