//! Rows A to C: what is turned away before a key is looked at.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use crate::harness::{Answer, Server, sale};

struct Attempt {
    token: Option<&'static str>,
    media_type: Option<&'static str>,
    keys: Vec<&'static str>,
    body: Vec<u8>,
}

impl Attempt {
    fn good() -> Self {
        let body = sale("E-1", json!({})).to_string().into_bytes();
        Self { token: Some("Bearer pos"), media_type: Some("application/json"), keys: vec!["k"], body }
    }

    async fn send(self, server: &Server) -> Answer {
        let mut request = Request::post("/v1/transactions");
        if let Some(token) = self.token {
            request = request.header("authorization", token);
        }
        if let Some(media_type) = self.media_type {
            request = request.header("content-type", media_type);
        }
        for key in self.keys {
            request = request.header("idempotency-key", key.as_bytes());
        }
        server.send(request.body(Body::from(self.body)).unwrap()).await
    }
}

#[tokio::test]
async fn each_check_comes_before_the_next_and_none_of_them_touches_the_key() {
    let server = Server::new().await;
    let check = async |attempt: Attempt, status, code| {
        attempt.send(&server).await.refused(status, code);
    };
    let (bad_body, no_key, text) = (b"{".to_vec(), Vec::new(), Some("text/plain"));
    check(
        Attempt { token: None, media_type: text, keys: no_key.clone(), body: bad_body.clone() },
        401,
        "unauthenticated",
    )
    .await;
    check(
        Attempt {
            token: Some("Bearer reader"),
            media_type: text,
            keys: no_key.clone(),
            body: bad_body.clone(),
        },
        403,
        "forbidden",
    )
    .await;
    let good = Attempt::good;
    check(
        Attempt { media_type: text, keys: no_key.clone(), body: bad_body.clone(), ..good() },
        415,
        "unsupported_media_type",
    )
    .await;
    let large = [sale("E-1", json!({})).to_string().into_bytes(), vec![b' '; 64 * 1024]].concat();
    check(Attempt { keys: no_key.clone(), body: large, ..good() }, 413, "payload_too_large").await;
    check(Attempt { keys: no_key, body: bad_body.clone(), ..good() }, 400, "idempotency_key_required").await;
    check(
        Attempt { keys: vec!["two words"], body: bad_body.clone(), ..good() },
        400,
        "idempotency_key_invalid",
    )
    .await;
    check(Attempt { body: bad_body, ..good() }, 400, "malformed_request").await;
    good().send(&server).await.expect(201);
}

#[tokio::test]
async fn a_body_of_two_media_types_is_not_read() {
    let server = Server::new().await;
    let json = "application/json";
    for second in [json, "text/plain"] {
        let request = Request::post("/v1/transactions")
            .header("authorization", "Bearer pos")
            .header("idempotency-key", "k")
            .header("content-type", json)
            .header("content-type", second);
        let body = Body::from(sale("E-1", json!({})).to_string());
        server.send(request.body(body).unwrap()).await.refused(415, "unsupported_media_type");
    }
    Attempt::good().send(&server).await.expect(201);
}

#[tokio::test]
async fn a_query_says_each_thing_once_and_in_utf_8() {
    let server = Server::new().await;
    for (who, path) in [
        ("pos", "/v1/transactions?device_id=D"),
        ("manager", "/v1/audit?"),
        ("manager", "/v1/duplicate-challenges?"),
    ] {
        for rest in ["&limit=1&limit=1", "&limit=%ff", "&x=1&x=2", "&%ff=1"] {
            server.get_as(who, &format!("{path}{rest}")).await.refused(422, "validation_failed");
        }
        server.get_as(who, &format!("{path}&limit=1&x=%C3%B1")).await.expect(200);
    }
}

#[tokio::test]
async fn a_credential_is_its_exact_text() {
    let server = Server::new().await;
    for token in
        ["", "Bearer", "Bearer ", "Bearer po", "Bearer pos2", "Bearer POS", "Basic pos", "pos", "Bearer ñ"]
    {
        let attempt = Attempt { token: Some(token), ..Attempt::good() };
        let refused = attempt.send(&server).await.refused(401, "unauthenticated");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    }
}

#[tokio::test]
async fn a_key_may_be_quoted_but_not_doubled() {
    let server = Server::new().await;
    Attempt { keys: vec!["\"k\""], ..Attempt::good() }.send(&server).await.expect(201);
    assert!(Attempt::good().send(&server).await.expect(200).is_replay());
    Attempt { keys: vec!["k", "k"], ..Attempt::good() }
        .send(&server)
        .await
        .refused(400, "idempotency_key_invalid");
    for empty in ["", "  ", "\"\""] {
        let attempt = Attempt { keys: vec![empty], ..Attempt::good() };
        attempt.send(&server).await.refused(400, "idempotency_key_required");
    }
}

#[tokio::test]
async fn what_two_readers_could_take_differently_is_malformed() {
    let server = Server::new().await;
    for body in [
        r#"{"external_transaction_id": "E", "amount": "1.00", "amount": "2.00"}"#,
        r#"{"external_transaction_id": "E", "amount": "1.00", "n": 9007199254740992}"#,
        r#"{"external_transaction_id": "E", "amount": "1.00"} {}"#,
        "\u{feff}{}",
    ] {
        let attempt = Attempt { body: body.as_bytes().to_vec(), ..Attempt::good() };
        attempt.send(&server).await.refused(400, "malformed_request");
    }
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_errors_like_any_other() {
    let server = Server::new().await;
    server.get("/v1/nothing").await.refused(404, "not_found");
    let put = Request::put("/v1/transactions").body(Body::empty()).unwrap();
    server.send(put).await.refused(405, "method_not_allowed");
    for id in ["%FF", "..%2Fhealth", "%27%3B--", &"x".repeat(300)] {
        server.get(&format!("/v1/transactions/{id}")).await.refused(404, "transaction_not_found");
        server.get(&format!("/v1/duplicate-challenges/{id}")).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn the_description_has_every_operation_under_a_name_of_its_own() {
    let server = Server::new().await;
    let description: Value = serde_json::from_str(&server.text("/openapi.json").await).unwrap();
    let operations = description["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    let mut ids: Vec<_> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!((ids.len(), all), (17, 17));
    for reference in description.to_string().split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(description["components"]["schemas"].get(name).is_some(), "{name} is described");
    }
}

#[tokio::test]
async fn pages_have_limits_and_cursors_are_only_those_given_out() {
    let server = Server::new().await;
    for n in 0..5 {
        let body = sale(&format!("E-{n}"), json!({"context": {"seat": n.to_string()}}));
        server.create(&format!("k{n}"), body).await.expect(201);
    }
    let mut path = "/v1/transactions?device_id=D03&limit=2".to_owned();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let page = server.get(&path).await.expect(200);
        seen.extend(
            page.body["items"].as_array().unwrap().iter().map(|item| item["external_transaction_id"].clone()),
        );
        if let Some(next) = page.body["next"].as_str() {
            path = format!("/v1/transactions?device_id=D03&limit=2&after={next}");
        } else {
            assert!(page.body["next"].is_null());
        }
    }
    assert_eq!(seen, ["E-0", "E-1", "E-2", "E-3", "E-4"]);
    for query in ["limit=0", "limit=501", "limit=-1", "limit=ten", "after=not-a-cursor", "after=c0"] {
        let path = format!("/v1/transactions?device_id=D03&{query}");
        server.get(&path).await.refused(422, "validation_failed");
    }
    server.get("/v1/transactions").await.refused(422, "validation_failed");
}

#[tokio::test]
async fn a_catalog_that_is_known_is_not_sent_again() {
    let server = Server::new().await;
    let first = server.get("/v1/catalog").await.expect(200);
    let version = first.header("etag").unwrap();
    let request =
        Request::get("/v1/catalog").header("authorization", "Bearer pos").header("if-none-match", version);
    let again = server.send(request.body(Body::empty()).unwrap()).await.expect(304);
    assert_eq!(again.header("etag"), Some(version));
    assert_eq!(again.body, Value::Null);
}
