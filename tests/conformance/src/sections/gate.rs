//! Rows A to C: who may ask, and what can be read at all. Nothing that is stopped here touches a key.

use super::prelude::*;

section! { "gate":
    without_a_valid_credential_the_answer_is_401 covers A1;
    every_operation_asks_for_a_credential covers A1 Operations;
    a_credential_does_only_what_it_has_the_right_to covers A2;
    a_body_of_the_limit_is_read_and_one_byte_more_is_not covers A4 Body;
    only_json_media_types_are_read covers A4 Everywhere;
    a_body_has_one_media_type covers A4;
    a_creation_needs_a_key covers B1;
    a_key_is_one_header_of_visible_ascii covers B2;
    a_key_has_up_to_255_bytes_all_of_which_count covers B2 Keys;
    one_pair_of_quotes_is_no_part_of_a_key covers B2;
    what_is_no_json_is_malformed covers C1;
    what_is_no_utf_8_is_malformed covers C1;
    a_member_written_twice_is_malformed_at_any_depth covers C1 Body;
    nesting_is_read_up_to_32_levels covers C1 Validation;
    whole_numbers_are_read_up_to_2_to_the_53 covers C1;
    what_the_gate_stops_leaves_the_key_free covers A1 A2 A4 C1 D6;
    the_gate_answers_in_its_order covers A1 A2 A4 B1 C1;
}

async fn without_a_valid_credential_the_answer_is_401(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let token = stage.fixture().token(Role::Till)?;
    stage.creation("k", &sale).by_nobody().send().await?.refused(401, "unauthenticated")?;
    for value in [
        "Bearer no-such-token".to_owned(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {token}"),
        token.to_owned(),
        format!("Bearer {token}x"),
        format!("Bearer {}", token.to_uppercase()),
    ] {
        stage.creation("k", &sale).authorization(value).send().await?.refused(401, "unauthenticated")?;
    }
    ensure!(stage.count(&stage.id("E")).await? == 0, "a stranger has sold");
    Ok(())
}

async fn every_operation_asks_for_a_credential(stage: Stage) -> Result<()> {
    for path in [
        "/v1/transactions?device_id=D",
        "/v1/transactions/x",
        "/v1/duplicate-challenges",
        "/v1/duplicate-challenges/x",
        "/v1/catalog",
        "/v1/audit",
    ] {
        stage.get(path).by_nobody().send().await?.refused(401, "unauthenticated")?;
    }
    for path in ["/v1/transactions/x/void", "/v1/transactions/x/payments", "/v1/duplicate-resolutions"] {
        let ask = stage.post(path).by_nobody().key("k").json(&json!({}));
        ask.send().await?.refused(401, "unauthenticated")?;
    }
    Ok(())
}

async fn a_credential_does_only_what_it_has_the_right_to(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k", &sale).await?;
    for role in [Role::Reader, Role::Manager] {
        stage
            .creation("other", &stage.sale("F", json!({})))
            .by(role)
            .send()
            .await?
            .refused(403, "forbidden")?;
        stage.voiding(&id, "v", "V").by(role).send().await?.refused(403, "forbidden")?;
        let payment = json!({"external_payment_id": stage.id("P"), "amount": stage.amount(50)});
        let pay = stage.post(format!("/v1/transactions/{id}/payments")).by(role).key("p").json(&payment);
        pay.send().await?.refused(403, "forbidden")?;
        stage.get(format!("/v1/transactions/{id}")).by(role).send().await?.expect(200)?;
    }
    for role in [Role::Reader, Role::Till] {
        stage.get("/v1/audit").by(role).send().await?.refused(403, "forbidden")?;
        stage.get("/v1/duplicate-challenges").by(role).send().await?.refused(403, "forbidden")?;
    }
    let decision = json!({"challenge_id": "x", "decision": "same_sale", "decided_by": "Nobody"});
    let resolve = stage.post("/v1/duplicate-resolutions").by(Role::Reader).json(&decision);
    resolve.send().await?.refused(403, "forbidden")?;
    stage.read(&id).await?.with(json!({"state": {"operational": "active"}}))?;
    ensure!(stage.count(&stage.id("F")).await? == 0, "somebody sold without the right to");
    Ok(())
}

async fn a_body_of_the_limit_is_read_and_one_byte_more_is_not(stage: Stage) -> Result<()> {
    let limit = stage.fixture().body_limit();
    let padded = |body: &Value, length: usize| {
        let mut bytes = body.to_string().into_bytes();
        bytes.resize(length, b' ');
        bytes
    };
    let (fits, too_large) = (stage.sale("FITS", json!({})), stage.sale("TOO-LARGE", json!({})));
    let post = |key: &str, bytes| stage.post("/v1/transactions").key(key).bytes(bytes);
    post("fits", padded(&fits, limit)).send().await?.expect(201)?;
    post("fits", padded(&fits, limit)).chunked().send().await?.expect(200)?;
    let over = || padded(&too_large, limit + 1);
    post("over", over()).send().await?.refused(413, "payload_too_large")?;
    post("over", over()).chunked().send().await?.refused(413, "payload_too_large")?;
    ensure!(stage.count(&stage.id("TOO-LARGE")).await? == 0, "a sale of a refused body");
    Ok(())
}

async fn only_json_media_types_are_read(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    for media_type in
        [None, Some("text/plain"), Some("text/json"), Some("application/x-www-form-urlencoded"), Some("json")]
    {
        let ask = stage.creation("k", &sale).media_type(media_type);
        ask.send().await?.refused(415, "unsupported_media_type")?;
    }
    stage
        .creation("k", &sale)
        .media_type(Some("application/json; charset=utf-8"))
        .send()
        .await?
        .expect(201)?;
    stage.creation("k", &sale).media_type(Some("Application/JSON")).send().await?.expect(200)?;
    Ok(())
}

async fn a_body_has_one_media_type(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    for second in ["application/json", "text/plain"] {
        let ask = stage.creation("k", &sale).header("content-type", second);
        ask.send().await?.refused(415, "unsupported_media_type")?;
    }
    stage.creation("k", &sale).send().await?.expect(201)?;
    Ok(())
}

async fn a_creation_needs_a_key(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let post = || stage.post("/v1/transactions").json(&sale);
    post().send().await?.refused(400, "idempotency_key_required")?;
    post().raw_key("").send().await?.refused(400, "idempotency_key_required")?;
    post().raw_key("\"\"").send().await?.failed(400)?;
    ensure!(stage.count(&stage.id("E")).await? == 0, "a sale without a key");
    Ok(())
}

async fn a_key_is_one_header_of_visible_ascii(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let post = || stage.post("/v1/transactions").json(&sale);
    let refused = |answer: Answer| answer.refused(400, "idempotency_key_invalid");
    for keys in [["one", "two"], ["same", "same"]] {
        refused(post().raw_key(stage.key(keys[0])).raw_key(stage.key(keys[1])).send().await?)?;
    }
    for key in ["a b", "a\tb", "clave-ñ", "\u{e9}"] {
        refused(post().raw_key(format!("{}-{key}", stage.tag)).send().await?)?;
    }
    ensure!(stage.count(&stage.id("E")).await? == 0, "a sale under a bad key");
    Ok(())
}

async fn a_key_has_up_to_255_bytes_all_of_which_count(stage: Stage) -> Result<()> {
    let key = |last: char| format!("{:x<254}{last}", stage.tag);
    let post = |key: String, body: &Value| stage.post("/v1/transactions").raw_key(key).json(body);
    let [one, two, three] =
        ["ONE", "TWO", "THREE"].map(|label| stage.sale(label, json!({"context": {"seat": label}})));
    post(key('a'), &one).send().await?.expect(201)?;
    post(key('b'), &two).send().await?.expect(201)?;
    // Case counts too.
    post(key('A'), &three).send().await?.expect(201)?;
    post(key('a'), &one).send().await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    post(format!("{}x", key('a')), &one).send().await?.refused(400, "idempotency_key_invalid")?;
    Ok(())
}

async fn one_pair_of_quotes_is_no_part_of_a_key(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let long = format!("{:x<255}", stage.tag);
    let post = |key: String| stage.post("/v1/transactions").raw_key(key).json(&sale);
    post(format!("\"{long}\"")).send().await?.expect(201)?;
    post(long.clone()).send().await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    let other = stage.sale("F", json!({"context": {"seat": "1B"}}));
    let twice = format!("\"\"{}\"\"", stage.key("k"));
    stage.post("/v1/transactions").raw_key(twice).json(&other).send().await?.expect(201)?;
    stage.create("k", &stage.sale("G", json!({"context": {"seat": "1C"}}))).await?.expect(201)?;
    Ok(())
}

async fn what_is_no_json_is_malformed(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({})).to_string();
    let cut = &sale[..sale.len() - 1];
    for body in [
        "",
        "{",
        "{}}",
        "nothing",
        "{\"external_transaction_id\": 'E'}",
        "{\"amount\": 01}",
        "{\"amount\": NaN}",
        "{\"amount\": \"1\",}",
        "{\"a\": \"\\x\"}",
        "{\"a\": \"tab\there\"}",
        "// comment\n{}",
        cut,
        &format!("{sale} {sale}"),
    ] {
        malformed(&stage, body.as_bytes()).await?;
    }
    ensure!(stage.count(&stage.id("E")).await? == 0, "a sale of a malformed body");
    Ok(())
}

async fn malformed(stage: &Stage, body: &[u8]) -> Result<()> {
    let answer = stage.post("/v1/transactions").key("malformed").bytes(body).send().await?;
    match answer.is_refused(400, "malformed_request") {
        true => Ok(()),
        false => answer.fail(&format!("expected 400 malformed_request for `{}`", body.escape_ascii())),
    }
}

async fn what_is_no_utf_8_is_malformed(stage: Stage) -> Result<()> {
    for bytes in [&b"\xff"[..], b"\xc3\x28", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf"] {
        let body = [b"{\"external_transaction_id\": \"", bytes, b"\", \"amount\": \"1\"}"].concat();
        malformed(&stage, &body).await?;
    }
    let utf_16: Vec<u8> = stage.bare("E").to_string().encode_utf16().flat_map(u16::to_be_bytes).collect();
    malformed(&stage, &utf_16).await
}

async fn a_member_written_twice_is_malformed_at_any_depth(stage: Stage) -> Result<()> {
    let id = stage.id("E");
    for members in [
        r#""amount": "1", "amount": "1""#,
        r#""amount": "1", "am\u006funt": "2""#,
        r#""amount": "1", "context": {"seat": "1", "seat": "1"}"#,
        r#""amount": "1", "note": [{"a": {"b": 1, "b": 2}}]"#,
    ] {
        malformed(&stage, format!(r#"{{"external_transaction_id": "{id}", {members}}}"#).as_bytes()).await?;
    }
    Ok(())
}

async fn nesting_is_read_up_to_32_levels(stage: Stage) -> Result<()> {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let body = |label: &str, inner: String| {
        format!(r#"{{"external_transaction_id": "{}", "amount": "1", "note": {inner}}}"#, stage.id(label))
    };
    let post = |body: String| stage.post("/v1/transactions").key("nested").bytes(body);
    post(body("E", nested(32))).send().await?.refused(400, "malformed_request")?;
    // The object itself is the first level.
    post(body("E", nested(31))).send().await?.expect(201)?;
    // Brackets in a text are no levels.
    let text =
        stage.post("/v1/transactions").key("text").bytes(body("F", format!("\"{}\"", "[{".repeat(99))));
    text.send().await?.expect(201)?;
    Ok(())
}

async fn whole_numbers_are_read_up_to_2_to_the_53(stage: Stage) -> Result<()> {
    let body = |number: &str| {
        format!(r#"{{"external_transaction_id": "{}", "amount": "1", "note": [{number}]}}"#, stage.id(number))
    };
    for number in ["9007199254740991", "-9007199254740991"] {
        stage.post("/v1/transactions").key(number).bytes(body(number)).send().await?.expect(201)?;
    }
    let huge = "9".repeat(400);
    for number in ["9007199254740992", "-9007199254740992", "18446744073709551616", huge.as_str()] {
        malformed(&stage, body(number).as_bytes()).await?;
    }
    Ok(())
}

async fn what_the_gate_stops_leaves_the_key_free(stage: Stage) -> Result<()> {
    let (stopped, sale) = (stage.sale("STOPPED", json!({})), stage.sale("E", json!({})));
    let limit = stage.fixture().body_limit();
    stage.creation("k", &stopped).by_nobody().send().await?.refused(401, "unauthenticated")?;
    stage.creation("k", &stopped).by(Role::Reader).send().await?.refused(403, "forbidden")?;
    stage.creation("k", &stopped).media_type(None).send().await?.refused(415, "unsupported_media_type")?;
    let large = stage.post("/v1/transactions").key("k").bytes(vec![b' '; limit + 1]);
    large.send().await?.refused(413, "payload_too_large")?;
    stage.post("/v1/transactions").key("k").bytes("{").send().await?.refused(400, "malformed_request")?;
    stage.create("k", &sale).await?.expect(201)?;
    Ok(())
}

async fn the_gate_answers_in_its_order(stage: Stage) -> Result<()> {
    let post = || stage.post("/v1/transactions").bytes("{").media_type(None);
    post().by_nobody().send().await?.refused(401, "unauthenticated")?;
    post().by(Role::Reader).send().await?.refused(403, "forbidden")?;
    post().send().await?.refused(415, "unsupported_media_type")?;
    let json = || stage.post("/v1/transactions").bytes("{");
    json().send().await?.refused(400, "idempotency_key_required")?;
    json().key("k").send().await?.refused(400, "malformed_request")?;
    Ok(())
}
