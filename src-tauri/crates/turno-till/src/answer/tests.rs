use serde_json::json;
use turno_domain::Currency;
use turno_protocol::code::ErrorProfile;

use super::*;

const OURS: &str = "D03-K7M-S44-0127";
const JSON: &str = "application/json";

/// Of a confirmation: every answer can be one to it.
fn expected(first_attempt: bool) -> Expected {
    Expected {
        external_transaction_id: OURS.to_owned(),
        occurred_at: "2026-11-30T10:00:00-05:00".parse().unwrap(),
        amount: Money::from_minor(8_550, Currency::PEN),
        first_attempt,
        confirms: true,
        corrected: None,
    }
}

fn answer(status: u16, media_type: &str, body: impl ToString) -> Response {
    Response {
        status,
        media_type: Some(media_type.to_owned()),
        body: body.to_string().into_bytes(),
        ..Response::default()
    }
}

/// What is read on a later attempt, in one line.
fn heard(answer: Response) -> String {
    words(&read(&Ok(answer), &expected(false)))
}

fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Accepted(acceptance) => format!("accepted {}", acceptance.yupy_transaction_id),
        Verdict::Wait { cause, retry_after_ms: None } => format!("wait: {}", cause.as_word()),
        Verdict::Wait { cause, retry_after_ms: Some(ms) } => format!("wait {ms} ms: {}", cause.as_word()),
        Verdict::Pause(cause) => format!("pause: {}", cause.as_word()),
        Verdict::Review(question) => format!("review {}", question.challenge_id),
        Verdict::ReviewAgain => "review again".to_owned(),
        Verdict::Attention { reason, detail } => format!("attention: {} [{detail}]", reason.as_word()),
        Verdict::Hold => "hold".to_owned(),
        Verdict::Collision(_) => "collision".to_owned(),
    }
}

fn ours() -> Value {
    json!({
        "result": "created", "yupy_transaction_id": "ypt-1", "external_transaction_id": OURS,
        "occurred_at": "2026-11-30T15:00:00Z", "state": { "operational": "active", "financial": "paid" },
    })
}

/// Our answer with one member changed; `null` is a value like any other.
fn ours_but(member: &str, value: Value) -> Value {
    let mut body = ours();
    body[member] = value;
    body
}

fn ours_without(member: &str) -> Value {
    let mut body = ours();
    body.as_object_mut().unwrap().remove(member).unwrap();
    body
}

fn error(code: &str) -> Value {
    json!({ "error": { "code": code, "message": "…", "request_id": "r-1", "retryable": false } })
}

fn question() -> Value {
    json!({ "error": {
        "code": "possible_duplicate_transaction", "message": "…", "request_id": "r-2", "retryable": false,
        "candidate": {
            "yupy_transaction_id": "ypt-0", "external_transaction_id": "D04-QRS-S2-0001", "amount": "85.50",
            "currency": "PEN", "occurred_at": "2026-11-30T14:59:20Z", "device_id": "D04", "shift_id": "S2",
            "state": { "operational": "active", "financial": "paid" },
        },
        "candidates_count": 2, "matching_signals": ["amount", "currency", "seat"], "challenge_id": "ch-1",
        "duplicate_confirmation_token": "token-1", "expires_at": "2026-12-01T15:00:00Z",
        "resolution": "review_before_creating", "previous_confirmation": "expired",
    } })
}

fn question_but(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = question();
    change(&mut body["error"]);
    body
}

#[test]
fn every_row_of_the_contracts_table_is_read_as_it_says() {
    let retry_later = |status, code: &str| Response {
        retry_after: Some("7".to_owned()),
        ..answer(status, JSON, error(code))
    };
    let rows = [
        // accepted: created, replayed by its key, known by its external id
        (answer(201, JSON, ours()), "accepted ypt-1"),
        (answer(200, JSON, ours_but("idempotency_replayed", json!(true))), "accepted ypt-1"),
        (answer(200, JSON, ours_but("duplicate", json!(true))), "accepted ypt-1"),
        // identity collision
        (answer(200, JSON, ours_but("occurred_at", json!("2026-11-30T15:00:01Z"))), "collision"),
        // waiting, with the same key
        (retry_later(409, "idempotency_in_progress"), "wait 7000 ms: in_progress_at_yupy"),
        (retry_later(202, "x"), "wait 7000 ms: in_progress_at_yupy"),
        (retry_later(408, "x"), "wait 7000 ms: in_progress_at_yupy"),
        (retry_later(425, "x"), "wait 7000 ms: in_progress_at_yupy"),
        (retry_later(429, "rate_limited"), "wait 7000 ms: server_busy"),
        (retry_later(500, "internal_error"), "wait 7000 ms: server_busy"),
        (retry_later(503, "outcome_unknown"), "wait 7000 ms: server_busy"),
        (answer(503, "text/html", "<h1>bad gateway"), "wait: server_busy"),
        (answer(408, "text/html", "<h1>time-out"), "wait: server_busy"),
        (answer(201, JSON, &ours().to_string()[..40]), "wait: unusable_answer"),
        // a portal or a proxy answered
        (answer(200, "text/html", "<html>"), "wait: portal"),
        (answer(200, "text/plain", ours()), "wait: portal"),
        (answer(200, JSON, "{}"), "wait: unusable_answer"),
        (
            answer(200, JSON, ours_but("external_transaction_id", json!("D03-K7M-S44-0128"))),
            "wait: unusable_answer",
        ),
        (answer(302, "text/html", ""), "wait: portal"),
        (answer(307, JSON, ours()), "wait: portal"),
        (answer(511, "text/html", "<html>"), "wait: portal"),
        (answer(204, JSON, ""), "wait: portal"),
        // in review
        (answer(409, JSON, question()), "review ch-1"),
        (answer(422, JSON, error("duplicate_confirmation_invalid")), "review again"),
        // needs attention
        (
            answer(
                409,
                JSON,
                json!({ "error": {
                "code": "external_transaction_conflict", "request_id": "r-9", "external_transaction_id": OURS,
                "yupy_transaction_id": "ypt-1", "conflicting_fields": ["amount", "seat"],
            } }),
            ),
            "attention: external_transaction_conflict [external_transaction_conflict: amount, seat (r-9)]",
        ),
        (
            answer(409, JSON, error("idempotency_conflict")),
            "attention: idempotency_conflict [idempotency_conflict (r-1)]",
        ),
        (
            answer(
                422,
                JSON,
                json!({ "error": {
                "code": "validation_failed", "request_id": "r-9", "fields": [{ "path": "amount", "code": "wrong_type" }],
            } }),
            ),
            "attention: validation_failed [validation_failed: amount (r-9)]",
        ),
        (
            answer(413, JSON, error("payload_too_large")),
            "attention: validation_failed [payload_too_large (r-1)]",
        ),
        (answer(418, JSON, error("teapot")), "attention: refused [teapot (r-1)]"),
        // on hold
        (answer(409, JSON, error("reconciliation_required")), "hold"),
        // the queue pauses
        (answer(401, JSON, error("unauthenticated")), "pause: credential_refused"),
        (answer(403, JSON, error("forbidden")), "pause: credential_refused"),
        (answer(404, JSON, error("not_found")), "pause: wrong_address"),
        (answer(405, JSON, error("method_not_allowed")), "pause: wrong_address"),
        (answer(415, JSON, error("unsupported_media_type")), "pause: wrong_address"),
    ];
    for (answer, said) in rows {
        assert_eq!(
            heard(answer.clone()),
            said,
            "{} {}",
            answer.status,
            String::from_utf8_lossy(&answer.body)
        );
    }
}

#[test]
fn an_attempt_that_brought_no_answer_waits_for_the_reason_that_it_had() {
    for failure in [
        Failure::NoNetwork,
        Failure::NoNameResolution,
        Failure::CertificateOrClock,
        Failure::Unreachable,
        Failure::ConnectionLost,
        Failure::TimedOut,
        Failure::UnusableAnswer,
    ] {
        let verdict = read(&Err(failure), &expected(true));
        assert_eq!(verdict, Verdict::Wait { cause: failure.cause(), retry_after_ms: None });
    }
}

/// With its status in both profiles, without the envelope, and with statuses that it does not belong to.
#[test]
fn every_code_is_read_in_one_way_whatever_it_travels_in() {
    let mut table = String::new();
    for code in ErrorCode::ALL {
        let body =
            if code == ErrorCode::PossibleDuplicateTransaction { question() } else { error(code.as_str()) };
        let at = |status: u16| heard(answer(status, JSON, &body));
        let documented = at(code.status());
        assert_eq!(at(code.status_in(ErrorProfile::Ietf)), documented, "{code:?}");
        let bare = body["error"].clone();
        assert_eq!(heard(answer(code.status(), "application/problem+json", bare)), documented, "{code:?}");
        for elsewhere in [400, 402, 409, 410, 413, 422, 451] {
            assert_eq!(at(elsewhere), documented, "{code:?} with {elsewhere}");
        }
        table += &format!("{} {} → {documented}\n", code.status(), code.as_str());
    }
    insta::assert_snapshot!(table, @r"
    400 malformed_request → attention: validation_failed [malformed_request (r-1)]
    400 idempotency_key_required → attention: validation_failed [idempotency_key_required (r-1)]
    400 idempotency_key_invalid → attention: validation_failed [idempotency_key_invalid (r-1)]
    401 unauthenticated → pause: credential_refused
    402 payment_declined → attention: refused [payment_declined (r-1)]
    403 forbidden → pause: credential_refused
    403 enrolment_refused → pause: credential_refused
    404 not_found → pause: wrong_address
    404 transaction_not_found → pause: wrong_address
    405 method_not_allowed → pause: wrong_address
    409 idempotency_conflict → attention: idempotency_conflict [idempotency_conflict (r-1)]
    409 idempotency_in_progress → wait: in_progress_at_yupy
    409 external_transaction_conflict → attention: external_transaction_conflict [external_transaction_conflict (r-1)]
    409 possible_duplicate_transaction → review ch-1
    409 reconciliation_required → hold
    409 already_resolved → attention: refused [already_resolved (r-1)]
    409 invalid_state → attention: refused [invalid_state (r-1)]
    409 epoch_taken → attention: refused [epoch_taken (r-1)]
    413 payload_too_large → attention: validation_failed [payload_too_large (r-1)]
    415 unsupported_media_type → pause: wrong_address
    422 validation_failed → attention: validation_failed [validation_failed (r-1)]
    422 duplicate_confirmation_invalid → review again
    429 rate_limited → wait: server_busy
    500 internal_error → wait: server_busy
    503 service_unavailable → wait: server_busy
    503 outcome_unknown → wait: server_busy
    ");
}

#[test]
fn a_conflict_over_its_key_is_a_collision_only_where_no_earlier_attempt_can_have_arrived() {
    for status in [409, 422] {
        let conflict = Ok(answer(status, JSON, error("idempotency_conflict")));
        assert_eq!(words(&read(&conflict, &expected(true))), "collision");
        assert!(words(&read(&conflict, &expected(false))).starts_with("attention: idempotency_conflict"));
    }
}

#[test]
fn a_sale_that_is_looked_up_is_ours_only_if_its_amount_and_its_time_are() {
    let transaction = |changes: Value| {
        let mut item = json!({
            "yupy_transaction_id": "ypt-1", "external_transaction_id": OURS, "amount": "85.50", "currency": "PEN",
            "occurred_at": "2026-11-30T15:00:00Z", "created_at": "2026-11-30T15:00:01Z",
            "state": { "operational": "voided", "financial": "refunded" },
        });
        item.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        item
    };
    let list = |items: Value| Ok(answer(200, JSON, json!({ "items": items, "next": null })));
    let look_up = |outcome: Result<Response, Failure>| {
        read_look_up(&outcome, &expected(true)).map_or_else(|| "none".to_owned(), |verdict| words(&verdict))
    };
    assert_eq!(look_up(list(json!([]))), "none");
    assert_eq!(look_up(list(json!([transaction(json!({}))]))), "accepted ypt-1");
    for other in [
        json!({ "amount": "85.51" }),
        json!({ "currency": "USD" }),
        json!({ "occurred_at": "2026-11-30T15:00:00.001Z" }),
    ] {
        assert_eq!(look_up(list(json!([transaction(other.clone())]))), "collision", "{other}");
    }
    let two = json!([transaction(json!({})), transaction(json!({}))]);
    for unusable in [
        list(two),
        list(json!([transaction(json!({ "external_transaction_id": "D03-K7M-S44-0128" }))])),
        list(json!([{}])),
        Ok(answer(200, JSON, json!({}))),
        Ok(answer(201, JSON, json!({ "items": [], "next": null }))),
    ] {
        assert_eq!(look_up(unusable), "wait: unusable_answer");
    }
    assert_eq!(look_up(Ok(answer(200, "text/html", "<html>"))), "wait: portal");
    assert_eq!(look_up(Ok(answer(404, JSON, error("not_found")))), "pause: wrong_address");
    assert_eq!(look_up(Err(Failure::TimedOut)), "wait: timed_out");
}

#[test]
fn the_time_of_a_known_sale_must_be_ours_and_that_of_a_new_one_is_not_looked_at() {
    let at = |status, at: Value| heard(answer(status, JSON, ours_but("occurred_at", at)));
    for same in ["2026-11-30T10:00:00-05:00", "2026-11-30T15:00:00.000Z", "2026-11-30T16:00:00+01:00"] {
        assert_eq!(at(200, json!(same)), "accepted ypt-1", "{same}");
    }
    assert_eq!(at(200, json!("2026-11-30T15:00:00.001Z")), "collision");
    assert_eq!(at(201, json!("2026-11-30T15:00:00.001Z")), "accepted ypt-1");
    for status in [200, 201] {
        assert_eq!(at(status, Value::Null), "accepted ypt-1");
        assert_eq!(heard(answer(status, JSON, ours_without("occurred_at"))), "accepted ypt-1");
        for odd in [json!("yesterday"), json!(1_796_050_800), json!({}), json!("")] {
            assert_eq!(at(status, odd.clone()), "wait: unusable_answer", "{odd}");
        }
    }
}

#[test]
fn media_types_are_compared_without_case_and_parameters() {
    for json in [
        "application/json",
        "APPLICATION/JSON",
        "Application/Json; charset=UTF-8",
        " application/json ;x=y",
        "application/problem+json",
        "application/vnd.yupy+JSON",
    ] {
        assert_eq!(heard(answer(201, json, ours())), "accepted ypt-1", "{json}");
    }
    for other in
        ["", "json", "text/json", "text/html", "application/jsonp", "application/json-seq", "x/y+json"]
    {
        assert_eq!(heard(answer(201, other, ours())), "wait: portal", "{other}");
    }
    let untyped = Response { media_type: None, ..answer(201, "", ours()) };
    assert_eq!(heard(untyped), "wait: portal");
}

#[test]
fn a_question_keeps_the_candidates_own_values_and_what_was_said_with_it() {
    let odd_state = question_but(|error| error["candidate"]["state"]["financial"] = json!("disputed"));
    let Verdict::Review(asked) = read(&Ok(answer(409, JSON, &odd_state)), &expected(true)) else {
        panic!("no question")
    };
    assert_eq!(asked.candidate, odd_state["error"]["candidate"], "a state of tomorrow hides nothing");
    assert_eq!(asked.candidate_transaction_id, "ypt-0");
    assert_eq!(asked.token.expose(), "token-1");
    assert_eq!(asked.candidates_count, 2);
    assert_eq!(asked.matching_signals, ["amount", "currency", "seat"]);
    assert_eq!(asked.expires_at, "2026-12-01T15:00:00Z");
    assert_eq!(asked.previous_confirmation.as_deref(), Some("expired"));
}

#[test]
fn a_question_that_nobody_could_decide_is_asked_again() {
    let cut: [fn(&mut Value); 11] = [
        |error| error["candidate"] = Value::Null,
        |error| error["candidate"] = json!("ypt-0"),
        |error| error["candidate"]["yupy_transaction_id"] = Value::Null,
        |error| error["candidate"]["yupy_transaction_id"] = json!(""),
        |error| error["challenge_id"] = json!(""),
        |error| error["challenge_id"] = json!("c".repeat(129)),
        |error| error["duplicate_confirmation_token"] = json!("t".repeat(4_097)),
        |error| error["challenge_id"] = Value::Null,
        |error| error["duplicate_confirmation_token"] = json!(""),
        |error| error["duplicate_confirmation_token"] = Value::Null,
        |error| error["expires_at"] = json!("soon"),
    ];
    for change in cut {
        let body = question_but(change);
        assert_eq!(heard(answer(409, JSON, &body)), "wait: unusable_answer", "{body}");
    }
}

#[test]
fn a_count_that_was_not_said_is_not_one_candidate() {
    let body = question_but(|error| error["candidates_count"] = json!("many"));
    let Verdict::Review(asked) = read(&Ok(answer(409, JSON, body)), &expected(true)) else {
        panic!("no question")
    };
    assert_eq!(asked.candidates_count, 0);
}

#[test]
fn what_is_kept_for_support_names_fields_and_no_values_and_is_short() {
    let long = json!({ "error": { "code": "c".repeat(5_000), "request_id": "r", "message": "María Ramos" } });
    let Verdict::Attention { detail, .. } = read(&Ok(answer(422, JSON, long)), &expected(true)) else {
        panic!("not for attention")
    };
    assert_eq!(detail, "c".repeat(DETAIL_LIMIT));
}

/// Bodies that somebody may send, and whether YUPY can have meant our sale as accepted by it.
fn bodies() -> Vec<(String, bool)> {
    let mut bodies = vec![
        (ours().to_string(), true),
        (ours_without("occurred_at").to_string(), true),
        (ours_but("occurred_at", Value::Null).to_string(), true),
        (ours_but("occurred_at", json!("2020-01-01T00:00:00Z")).to_string(), true),
        (ours_but("state", json!("odd")).to_string(), true),
        (ours_but("occurred_at", json!("soon")).to_string(), false),
        (ours_but("external_transaction_id", json!("D03-K7M-S44-0128")).to_string(), false),
        (ours_but("external_transaction_id", json!(format!("{OURS} "))).to_string(), false),
        (ours_but("external_transaction_id", json!(OURS.to_lowercase())).to_string(), false),
        (ours_but("external_transaction_id", Value::Null).to_string(), false),
        (ours_but("yupy_transaction_id", json!("")).to_string(), false),
        (ours_but("yupy_transaction_id", json!(7)).to_string(), false),
        (ours_but("yupy_transaction_id", Value::Null).to_string(), false),
        (ours_without("yupy_transaction_id").to_string(), false),
        (ours_without("external_transaction_id").to_string(), false),
        (format!("[{}]", ours()), false),
        (json!({ "transaction": ours() }).to_string(), false),
        (format!("{}x", ours()), false),
        // Two ids, the second of them ours: two readers may take it differently.
        (format!(r#"{{"external_transaction_id":"D03-K7M-S44-0001",{}"#, &ours().to_string()[1..]), false),
        (ours().to_string()[..60].to_owned(), false),
        (r#"{"status":"ok"}"#.to_owned(), false),
        (question().to_string(), false),
        (question()["error"].to_string(), false),
        ("<html>".to_owned(), false),
        ("{}".to_owned(), false),
        ("null".to_owned(), false),
        (String::new(), false),
    ];
    for code in ErrorCode::ALL.map(ErrorCode::as_str).into_iter().chain(["a_code_of_tomorrow", ""]) {
        bodies.push((error(code).to_string(), false));
        bodies.push((error(code)["error"].to_string(), false));
    }
    bodies
}

#[test]
fn only_yupys_own_word_about_our_sale_settles_it_whatever_else_comes() {
    for (body, about_ours) in bodies() {
        for media_type in [JSON, "application/problem+json", "text/html"] {
            for status in 100..=599 {
                for first_attempt in [true, false] {
                    let answer = answer(status, media_type, &body);
                    let is_json = answer.is_json();
                    let verdict = read(&Ok(answer), &expected(first_attempt));
                    let context = || format!("{status} {media_type} {body} → {verdict:?}");
                    let settles = matches!(status, 200 | 201) && is_json && about_ours;
                    match &verdict {
                        Verdict::Accepted(_) => assert!(settles, "{}", context()),
                        Verdict::Collision(collision) => {
                            let by_key = first_attempt && body.contains(r#""idempotency_conflict""#);
                            let by_time = status == 200 && settles && collision.yupy_transaction_id.is_some();
                            assert!(by_time || (by_key && is_json), "{}", context());
                        }
                        Verdict::Review(_) => {
                            assert!(
                                is_json && body.contains("possible_duplicate_transaction"),
                                "{}",
                                context()
                            );
                            assert!((400..500).contains(&status), "{}", context());
                        }
                        Verdict::ReviewAgain | Verdict::Hold | Verdict::Attention { .. } => {
                            assert!(is_json && (400..500).contains(&status), "{}", context());
                        }
                        Verdict::Pause(_) => assert!((400..500).contains(&status), "{}", context()),
                        Verdict::Wait { .. } => assert!(!settles, "{}", context()),
                    }
                    let asks = matches!(verdict, Verdict::Review(_) | Verdict::ReviewAgain);
                    assert!(!asks || !body.contains(r#""code":"idempotency"#), "{}", context());
                }
            }
        }
    }
}
