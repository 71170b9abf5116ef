//! The shapes of bodies, as JSON Schema.
//!
//! Invariant: an answer has no member that its schema does not name, and every required one; a test holds both against
//! real answers. Requests may have members that nobody knows (contract §3).

use serde_json::{Map, Value, json};
use turno_domain::{Currency, ids::Epoch, lookalike::Signal};
use turno_protocol::code::ErrorCode;

pub(super) fn schemas() -> Map<String, Value> {
    [requests(), transactions(), operations(), questions(), enrolment(), lists(), errors()]
        .into_iter()
        .flatten()
        .collect()
}

type Named = Vec<(String, Value)>;

/// No control characters, and no white space at either end. That it is in normal form C cannot be said here.
const READABLE: &str = r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$";

const NO_NUL: &str = r"^[^\x00]*$";

fn requests() -> Named {
    let id = || json!({"type": "string", "minLength": 1, "maxLength": 128, "pattern": READABLE});
    let text = || json!({"type": "string", "pattern": NO_NUL});
    let currency = || one_of(&Currency::all().map(Currency::code).collect::<Vec<_>>());
    let amount =
        || json!({"type": "string", "pattern": r"^(?!0(\.0+)?$)(0|[1-9][0-9]{0,6})(\.[0-9]{1,3})?$"});
    let new_transaction = [
        ("external_transaction_id", id()),
        ("amount", amount()),
        ("currency", currency()),
        ("buyer_name", text()),
        ("integration_experience", text()),
        ("shift_id", text()),
        ("device_id", text()),
        ("occurred_at", instant()),
        ("payment_method", text()),
        ("context", json!({"type": "object", "properties": nullable(context(&text()))})),
        ("duplicate_confirmation_token", text()),
        ("confirmed_by", text()),
        ("confirmation_reason", text()),
    ];
    let new_payment =
        [("external_payment_id", id()), ("amount", amount()), ("currency", currency()), ("method", text())];
    let resolution = [
        ("challenge_id", text()),
        ("duplicate_confirmation_token", text()),
        ("decision", decision()),
        ("decided_by", json!({"type": "string", "minLength": 1, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"})),
        ("reason", text()),
    ];
    let epoch = || json!({"type": "string", "pattern": format!("^[{}]{{3}}$", Epoch::ALPHABET)});
    let enrolment = [
        ("enrolment_code", json!({"type": "string", "minLength": 1})),
        ("installation_id", json!({"type": "string", "format": "uuid"})),
        ("epoch", epoch()),
    ];
    let registration = [
        ("device_id", json!({"type": "string", "pattern": "^[A-Z0-9]{1,16}$"})),
        ("installation_id", json!({"type": "string", "format": "uuid"})),
        ("epoch", epoch()),
    ];
    let event = [
        ("event_id", text()),
        ("acquirer_payment_id", text()),
        ("status", one_of(&["approved", "declined"])),
        ("amount", amount()),
        ("currency", currency()),
    ];
    vec![
        request(
            "NewTransaction",
            &new_transaction,
            &["external_transaction_id", "amount"],
            json!({
                "external_transaction_id": "D03-K7M-S44-0127", "amount": "85.50", "currency": "PEN",
                "buyer_name": "María Ramos", "integration_experience": "till", "shift_id": "S44",
                "device_id": "D03", "occurred_at": "2026-11-30T10:00:00-05:00", "payment_method": "cash",
                "context": {"route": "184", "service": "184-0800", "seat": "12A"},
            }),
        ),
        request(
            "NewVoid",
            &[("external_operation_id", id()), ("reason", text())],
            &["external_operation_id"],
            json!({"external_operation_id": "D03-K7M-V-9", "reason": "viaje cancelado"}),
        ),
        request(
            "NewPayment",
            &new_payment,
            &["external_payment_id", "amount"],
            json!({
                "external_payment_id": "D03-K7M-P-9", "amount": "85.50", "currency": "PEN", "method": "card",
            }),
        ),
        request(
            "NewResolution",
            &resolution,
            &["decision", "decided_by"],
            json!({
                "challenge_id": "ych_01a2", "decision": "different_sale", "decided_by": "Jefa de ruta",
                "reason": "dos pasajeros",
            }),
        ),
        request(
            "NewEnrolment",
            &enrolment,
            &["enrolment_code", "installation_id", "epoch"],
            json!({
                "enrolment_code": "K7M2P-QX4TD-9HWRA", "epoch": "K7M",
                "installation_id": "6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f",
            }),
        ),
        request(
            "NewEpoch",
            &registration,
            &["device_id", "installation_id", "epoch"],
            json!({
                "device_id": "D03", "epoch": "K7M", "installation_id": "6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f",
            }),
        ),
        request(
            "AcquirerEvent",
            &event,
            &["event_id", "acquirer_payment_id", "status", "amount", "currency"],
            json!({
                "event_id": "e-1", "acquirer_payment_id": "ypa_01a2", "status": "approved", "amount": "85.50",
                "currency": "PEN",
            }),
        ),
    ]
}

fn transactions() -> Named {
    let sale = || {
        vec![
            ("yupy_transaction_id", text()),
            ("external_transaction_id", text()),
            ("amount", text()),
            ("currency", currency()),
            ("occurred_at", instant()),
            ("state", reference("State")),
            ("created_at", instant()),
        ]
    };
    let details = [
        ("buyer_name?", text()),
        ("integration_experience?", text()),
        ("shift_id?", text()),
        ("device_id?", text()),
        ("payment_method?", text()),
        ("context?", reference("Context")),
        ("request_id?", text()),
    ];
    let created = [
        ("result", one_of(&["created"])),
        ("idempotency_replayed", json!({"const": false})),
        ("duplicate", json!({"const": false})),
        ("confirmed_duplicate_of?", list(text())),
        ("request_id", text()),
    ];
    let existing = [
        ("result", one_of(&["existing_transaction"])),
        ("idempotency_replayed", boolean()),
        ("duplicate?", json!({"const": true})),
        ("duplicate_type?", one_of(&["same_external_transaction"])),
        ("yupy_transaction_id", text()),
        ("external_transaction_id", text()),
        ("state", reference("State")),
        ("occurred_at", instant()),
        ("ignored_differences?", list(text())),
        ("original_status?", json!({"enum": [200, 201]})),
        ("created_at?", instant()),
        ("request_id", text()),
    ];
    let state = [
        ("operational", one_of(&["active", "voided"])),
        ("financial", one_of(&["awaiting_payment", "processing", "paid", "declined", "refunded"])),
    ];
    vec![
        answer("State", &state),
        (
            "Context".to_owned(),
            json!({"type": "object", "properties": context(&text()), "additionalProperties": false}),
        ),
        answer("Transaction", &[sale(), details.to_vec()].concat()),
        answer("Created", &[sale(), created.to_vec()].concat()),
        answer("Existing", &existing),
    ]
}

fn operations() -> Named {
    let void = [
        ("result", one_of(&["applied", "existing_operation", "already_in_state"])),
        ("idempotency_replayed", boolean()),
        ("yupy_transaction_id", text()),
        ("external_transaction_id", text()),
        ("external_operation_id", text()),
        ("state", reference("State")),
        ("original_status?", json!({"const": 200})),
        ("request_id", text()),
    ];
    let payment = [
        ("result", one_of(&["approved", "processing"])),
        ("idempotency_replayed", boolean()),
        ("duplicate?", json!({"const": true})),
        ("yupy_transaction_id", text()),
        ("external_transaction_id", text()),
        ("external_payment_id", text()),
        ("acquirer_payment_id", text()),
        ("amount", text()),
        ("currency", currency()),
        ("state", reference("State")),
        ("recovered?", json!({"const": true})),
        ("original_status?", json!({"const": 201})),
        ("request_id", text()),
    ];
    vec![
        answer("Void", &void),
        answer("Payment", &payment),
        answer("AcquirerEventResult", &[("result", one_of(&["closed", "no_effect"]))]),
        answer("Status", &[("status", one_of(&["ok", "ready"]))]),
    ]
}

fn questions() -> Named {
    let challenge = [
        ("challenge_id", text()),
        ("state", one_of(&["open", "spent", "superseded", "expired", "closed"])),
        ("decision?", decision()),
        ("decided_by?", text()),
        ("reason?", text()),
        ("decided_at?", instant()),
        ("asked_at", instant()),
        ("expires_at", instant()),
        ("matching_signals", list(signal())),
        ("asked", reference("AskedTransaction")),
        ("candidate", reference("Transaction")),
        ("candidates_count", count()),
        ("request_id?", text()),
    ];
    let asked = [
        ("external_transaction_id", text()),
        ("amount", text()),
        ("currency", currency()),
        ("occurred_at", instant()),
        ("buyer_name?", text()),
        ("shift_id?", text()),
        ("device_id?", text()),
        ("context?", reference("Context")),
    ];
    vec![answer("Challenge", &challenge), answer("AskedTransaction", &asked)]
}

fn enrolment() -> Named {
    let enrolment = [
        ("credential", text()),
        ("company", text()),
        ("integration", text()),
        ("environment", text()),
        ("device_id", text()),
        ("epoch", text()),
        ("currency", currency()),
        ("company_name", text()),
        ("catalog_url", text()),
        ("request_id", text()),
    ];
    let parts = || list(json!({"type": "object"}));
    let catalog = [
        ("revision", text()),
        ("currency", currency()),
        ("routes", parts()),
        ("services", parts()),
        ("layouts", parts()),
        ("fares", parts()),
        ("products", parts()),
    ];
    let epoch = [("device_id", text()), ("epoch", text()), ("request_id", text())];
    vec![answer("Enrolment", &enrolment), answer("Epoch", &epoch), answer("Catalog", &catalog)]
}

fn lists() -> Named {
    let page = |items: Value| [("items", list(items)), ("next", json!({"type": ["string", "null"]}))];
    // A newer server may say more of an event, and the chain holds all the same.
    let row = json!({
        "type": "object",
        "properties": {
            "event": text(), "at": instant(), "number": count(), "hash": text(), "prev_hash": text(),
        },
        "required": ["event", "at", "number", "hash", "prev_hash"],
    });
    vec![
        answer("TransactionPage", &page(reference("Transaction"))),
        answer("ChallengePage", &page(reference("Challenge"))),
        answer("AuditPage", &page(reference("AuditRow"))),
        ("AuditRow".to_owned(), row),
    ]
}

fn errors() -> Named {
    let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    let fault = [("path", text()), ("code", text())];
    let error = [
        ("code", one_of(&codes)),
        ("message", text()),
        ("request_id", text()),
        ("retryable", boolean()),
        ("fields?", list(reference("FieldFault"))),
        ("hint?", one_of(&["confirmation_requires_new_key"])),
        ("reason?", one_of(&["malformed", "not_issued_here", "payload_changed", "not_open"])),
        ("decision?", decision()),
        ("decided_by?", text()),
        ("external_transaction_id?", text()),
        ("yupy_transaction_id?", text()),
        ("conflicting_fields?", list(text())),
        ("candidate?", reference("Candidate")),
        ("candidates_count?", count()),
        ("matching_signals?", list(signal())),
        ("challenge_id?", text()),
        ("duplicate_confirmation_token?", text()),
        ("expires_at?", instant()),
        ("resolution?", one_of(&["review_before_creating"])),
        ("previous_confirmation?", one_of(&["superseded", "expired"])),
    ];
    let candidate = [
        ("yupy_transaction_id", text()),
        ("external_transaction_id", text()),
        ("amount", text()),
        ("currency", currency()),
        ("occurred_at", instant()),
        ("device_id?", text()),
        ("shift_id?", text()),
        ("state", reference("State")),
    ];
    let problem = [
        ("type", text()),
        ("title", text()),
        ("status", count()),
        ("code", one_of(&codes)),
        ("error", reference("ErrorBody")),
    ];
    vec![
        answer("Error", &[("error", reference("ErrorBody"))]),
        answer("Problem", &problem),
        answer("ErrorBody", &error),
        answer("FieldFault", &fault),
        answer("Candidate", &candidate),
    ]
}

/// An object with nothing but these members; those marked with `?` may be missing.
fn answer(name: &str, members: &[(&'static str, Value)]) -> (String, Value) {
    let required: Vec<_> =
        members.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    let properties =
        members.iter().map(|(name, schema)| (name.trim_end_matches('?').to_owned(), schema.clone()));
    let schema = json!({
        "type": "object", "properties": properties.collect::<Map<_, _>>(), "required": required,
        "additionalProperties": false,
    });
    (name.to_owned(), schema)
}

/// An object with at least the required members; `null` is as good as absent for the others.
fn request(
    name: &str,
    members: &[(&'static str, Value)],
    required: &[&str],
    example: Value,
) -> (String, Value) {
    let properties = members.iter().map(|(name, schema)| {
        let schema = if required.contains(name) {
            schema.clone()
        } else {
            json!({"anyOf": [schema, {"type": "null"}]})
        };
        ((*name).to_owned(), schema)
    });
    let properties: Map<_, _> = properties.collect();
    let schema =
        json!({"type": "object", "properties": properties, "required": required, "examples": [example]});
    (name.to_owned(), schema)
}

fn context(text: &Value) -> Value {
    let names = ["custom_reference_1", "custom_reference_2", "route", "seat", "order", "product", "service"];
    Value::Object(names.into_iter().map(|name| (name.to_owned(), text.clone())).collect())
}

fn nullable(mut properties: Value) -> Value {
    for schema in properties.as_object_mut().into_iter().flat_map(Map::values_mut) {
        *schema = json!({"anyOf": [schema, {"type": "null"}]});
    }
    properties
}

fn text() -> Value {
    json!({"type": "string"})
}

fn boolean() -> Value {
    json!({"type": "boolean"})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn instant() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn currency() -> Value {
    json!({"type": "string", "pattern": "^[A-Z]{3}$"})
}

fn decision() -> Value {
    one_of(&["same_sale", "different_sale"])
}

fn signal() -> Value {
    one_of(&Signal::ALL.map(Signal::as_str))
}

fn one_of(names: &[&str]) -> Value {
    json!({"enum": names})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
