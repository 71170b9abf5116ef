//! The description of the API, made from the table of operations.
//!
//! Invariant: statuses come from the codes and the profile, as in the answers themselves. That the schemas fit what is
//! answered is a test over real answers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use turno_protocol::{
    chain::AUDIT_HEAD_HEADER,
    code::{ErrorCode, ErrorProfile},
};

use super::{
    operations::{self, About, Key, Operation, Proof},
    schemas::schemas,
};
use crate::{config::MetricsPlace, ledger::Ledger};

pub(super) fn document<L: Ledger>(place: MetricsPlace) -> Value {
    let mut paths = Map::new();
    for operation in operations::at::<L>(place) {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = describe(&operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "YUPY",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What a till and a YUPY server say to each other. Programs read `error.code` and `error.retryable`.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "credential": {"type": "http", "scheme": "bearer"},
                "acquirer": {"type": "apiKey", "in": "header", "name": "X-Acquirer-Signature"},
            },
        },
    })
}

fn describe<L>(operation: &Operation<L>) -> Value {
    let about = &operation.about;
    let mut described = json!({
        "operationId": about.id,
        "summary": about.summary,
        "parameters": parameters(operation.path, about),
        "responses": responses(about),
    });
    if let Some(body) = about.body {
        described["requestBody"] = json!({"required": true, "content": content("application/json", body)});
    }
    match about.proof {
        Proof::Nothing => {}
        Proof::Credential(rights) => {
            described["security"] = json!([{"credential": []}]);
            let rights: Vec<_> = rights.iter().map(|right| right.as_str()).collect();
            described["description"] = format!("Needs one of these rights: {}.", rights.join(", ")).into();
        }
        Proof::Signature => described["security"] = json!([{"acquirer": []}]),
    }
    described
}

fn parameters(path: &str, about: &About) -> Vec<Value> {
    let mut parameters = Vec::new();
    if path.contains("{id}") {
        let schema = json!({"type": "string", "minLength": 1});
        parameters.push(json!({"name": "id", "in": "path", "required": true, "schema": schema}));
    }
    if about.key != Key::None {
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"});
        let required = about.key == Key::Required;
        parameters
            .push(json!({"name": "Idempotency-Key", "in": "header", "required": required, "schema": schema}));
    }
    for &name in about.headers {
        // No pattern: whatever is no head is not refused, it is not said.
        let mut header =
            json!({"name": name, "in": "header", "required": false, "schema": {"type": "string"}});
        if name == AUDIT_HEAD_HEADER {
            header["description"] = json!(
                "How far the till's own audit has come: the number of its rows, a colon, and the SHA-256 of the last \
                 one as 64 small hexadecimal digits. Kept with the sale, so that a tail that is cut off shows. \
                 Anything else is ignored."
            );
        }
        parameters.push(header);
    }
    for &name in about.query {
        let schema = match name {
            "limit" => json!({"type": "integer", "minimum": 1, "maximum": 500}),
            "state" => json!({"type": "string", "enum": ["open"]}),
            "after" => {
                json!({"type": "string", "minLength": 1, "description": "The `next` of the page before."})
            }
            _ => json!({"type": "string"}),
        };
        parameters.push(json!({"name": name, "in": "query", "required": false, "schema": schema}));
    }
    parameters
}

fn responses(about: &About) -> Map<String, Value> {
    let mut responses = Map::new();
    for (status, schema) in about.answers {
        let mut response = json!({"description": "Done."});
        if let Some(schema) = schema {
            response["content"] = content("application/json", schema);
        }
        response["headers"] = headers(*status, about);
        if let Some(links) = links(*status, about) {
            response["links"] = links;
        }
        responses.insert(status.to_string(), response);
    }
    for (status, codes) in errors_by_status(about) {
        let names: Vec<_> = codes.iter().map(|code| format!("`{}`", code.as_str())).collect();
        let mut content = content("application/json", "Error");
        content["application/problem+json"] = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
        let waits = codes.iter().all(|code| code.needs_retry_after());
        let mut headers = always();
        if codes.iter().any(|code| code.needs_retry_after()) {
            headers["Retry-After"] = json!({"required": waits, "schema": {"type": "integer", "minimum": 1}});
        }
        let response = json!({"description": names.join(" · "), "headers": headers, "content": content});
        responses.insert(status.to_string(), response);
    }
    responses
}

/// The headers of every answer.
fn always() -> Value {
    json!({
        "X-Request-Id": {"required": true, "schema": {"type": "string", "minLength": 1}},
        "Cache-Control": {"required": true, "schema": {"const": "no-store"}},
    })
}

/// The headers of an answer that is no error.
fn headers(status: u16, about: &About) -> Value {
    let mut headers = always();
    if about.key == Key::Required {
        let schema = json!({"type": "string", "enum": ["true", "false"]});
        headers["Idempotency-Replayed"] = json!({"required": true, "schema": schema});
    }
    if status == 201 && !about.links.is_empty() {
        headers["Location"] = json!({"required": true, "schema": {"type": "string"}});
    }
    headers
}

fn links(status: u16, about: &About) -> Option<Value> {
    let of_status = about.links.iter().filter(|link| link.status == status);
    let links: Map<_, _> = of_status
        .map(|link| {
            let id = format!("$response.body#{}", link.id);
            (link.operation.to_owned(), json!({"operationId": link.operation, "parameters": {"id": id}}))
        })
        .collect();
    (!links.is_empty()).then(|| links.into())
}

/// Everything that can go wrong, under each status that either profile gives it.
fn errors_by_status(about: &About) -> Vec<(u16, Vec<ErrorCode>)> {
    let mut codes: BTreeSet<ErrorCode> = about.errors.iter().copied().collect();
    let is_quiet = matches!(about.proof, Proof::Nothing) && about.body.is_none();
    if !is_quiet {
        codes.extend([ErrorCode::InternalError, ErrorCode::ServiceUnavailable]);
    }
    match about.proof {
        Proof::Nothing => {}
        Proof::Credential(_) => {
            codes.extend([ErrorCode::Unauthenticated, ErrorCode::Forbidden, ErrorCode::RateLimited]);
        }
        Proof::Signature => codes.extend([ErrorCode::Unauthenticated]),
    }
    if about.body.is_some() {
        codes.extend([
            ErrorCode::UnsupportedMediaType,
            ErrorCode::PayloadTooLarge,
            ErrorCode::MalformedRequest,
            ErrorCode::ValidationFailed,
        ]);
    }
    if about.key == Key::Required {
        codes.extend([
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::IdempotencyKeyInvalid,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyInProgress,
        ]);
    }
    let statuses =
        |code: ErrorCode| [ErrorProfile::Default, ErrorProfile::Ietf].map(|profile| code.status_in(profile));
    let all: BTreeSet<u16> = codes.iter().flat_map(|code| statuses(*code)).collect();
    let of = |status: u16| codes.iter().copied().filter(|code| statuses(*code).contains(&status)).collect();
    all.into_iter().map(|status| (status, of(status))).collect()
}

fn content(media_type: &str, schema: &str) -> Value {
    json!({media_type: {"schema": {"$ref": format!("#/components/schemas/{schema}")}}})
}
