//! §3, E1 and H1: what a sale may look like, and how what is wrong with it is named.

use super::prelude::*;

section! { "body":
    an_external_id_and_an_amount_are_enough covers H1 Body;
    a_created_sale_is_answered_whole covers H1 Body;
    amounts_are_answered_at_full_scale covers H1 Body;
    an_amount_in_another_spelling_is_refused covers E1 Body;
    the_currency_decides_the_decimals covers E1 H1 Body;
    a_currency_is_written_as_the_standard_has_it covers E1 Validation;
    an_external_id_comes_back_as_it_was_sent covers H1 Body;
    an_external_id_is_never_repaired covers E1 Body;
    a_time_is_rfc_3339_and_an_instant covers H1 Body Validation;
    what_is_no_time_is_refused covers E1 Body;
    every_failure_is_named_by_its_path covers E1 Validation;
    a_wrong_kind_of_json_is_a_failure_of_validation covers E1 Validation;
    who_confirms_without_a_token_is_refused covers E1 Validation;
    a_nul_is_refused_wherever_it_is covers E1 Validation;
    null_and_absent_are_the_same covers Body;
    cash_is_paid_at_once covers H1 Body;
    unknown_members_are_kept_out_of_the_sale covers Body;
}

async fn an_external_id_and_an_amount_are_enough(stage: Stage) -> Result<()> {
    stage.create("k", &stage.bare("E")).await?.expect(201)?.with(json!({
        "currency": "PEN", "state": {"operational": "active", "financial": "awaiting_payment"},
    }))?;
    for (n, context) in
        [json!({}), json!({"seat": "1"}), json!({"route": "1", "order": "2"})].iter().enumerate()
    {
        let label = format!("E{n}");
        let body = json!({
            "external_transaction_id": stage.id(&label), "amount": stage.amount(60), "context": context,
        });
        stage.create(&label, &body).await?.expect(201)?;
    }
    Ok(())
}

async fn a_created_sale_is_answered_whole(stage: Stage) -> Result<()> {
    let created = stage.create("k", &stage.sale("E", json!({}))).await?.expect(201)?;
    let created = created.with_header("idempotency-replayed", "false")?.with(json!({
        "result": "created", "idempotency_replayed": false, "duplicate": false,
        "external_transaction_id": stage.id("E"), "amount": stage.amount(50), "currency": "PEN",
        "state": {"operational": "active", "financial": "awaiting_payment"}, "confirmed_duplicate_of": null,
    }))?;
    ensure!(!created.text("yupy_transaction_id")?.is_empty(), "an empty id");
    same_instant(&created.text("occurred_at")?, &stage.time(-60))?;
    created.text("created_at")?.parse::<jiff::Timestamp>()?;
    ensure!(!created.text("request_id")?.is_empty(), "an empty request id");
    Ok(())
}

fn same_instant(one: &str, other: &str) -> Result<()> {
    let (a, b): (jiff::Timestamp, jiff::Timestamp) = (one.parse()?, other.parse()?);
    ensure!(a == b, "{one} is not {other}");
    Ok(())
}

async fn amounts_are_answered_at_full_scale(stage: Stage) -> Result<()> {
    for (sent, answered) in [
        ("7", "7.00"),
        ("7.5", "7.50"),
        ("7.05", "7.05"),
        ("0.01", "0.01"),
        ("0.50", "0.50"),
        ("9999999.99", "9999999.99"),
    ] {
        let mut sale = stage.bare(sent);
        sale["amount"] = json!(sent);
        stage.create(sent, &sale).await?.expect(201)?.with(json!({"amount": answered}))?;
    }
    Ok(())
}

async fn an_amount_in_another_spelling_is_refused(stage: Stage) -> Result<()> {
    for amount in [
        json!("085.50"),
        json!("+85.5"),
        json!("-85.5"),
        json!("8.55e1"),
        json!("85,50"),
        json!(85.5),
        json!(85),
        json!("85.500"),
        json!("85."),
        json!(".5"),
        json!(""),
        json!(" 85.50"),
        json!("85.50 "),
        json!("0"),
        json!("0.00"),
        json!("00.50"),
        json!("10000000"),
        json!("10000000.00"),
        json!("1 000"),
        json!("８5"),
        json!("NaN"),
        json!("1_0"),
        json!(null),
        json!(["1"]),
        json!("99999999999999999999999999999999"),
    ] {
        let mut sale = stage.bare("E");
        sale["amount"] = amount;
        stage.create("k", &sale).await?.invalid(&["amount"])?;
    }
    ensure!(stage.count(&stage.id("E")).await? == 0, "a sale of a bad amount");
    Ok(())
}

async fn the_currency_decides_the_decimals(stage: Stage) -> Result<()> {
    for (currency, sent, answered) in
        [("CLP", "1500", "1500"), ("KWD", "1.5", "1.500"), ("KWD", "1.125", "1.125"), ("USD", "2.5", "2.50")]
    {
        let label = format!("{currency}-{sent}");
        let mut sale = stage.bare(&label);
        sale["amount"] = json!(sent);
        sale["currency"] = json!(currency);
        let created = stage.create(&label, &sale).await?.expect(201)?;
        created.with(json!({"amount": answered, "currency": currency}))?;
    }
    for (currency, amount) in [("CLP", "1500.5"), ("CLP", "1500.0"), ("KWD", "1.1255"), ("PEN", "1.125")] {
        let mut sale = stage.bare("REFUSED");
        sale["amount"] = json!(amount);
        sale["currency"] = json!(currency);
        stage.create("refused", &sale).await?.invalid(&["amount"])?;
    }
    Ok(())
}

async fn a_currency_is_written_as_the_standard_has_it(stage: Stage) -> Result<()> {
    for currency in
        [json!("pen"), json!("Pen"), json!("QQQ"), json!("PE"), json!("PEN "), json!(""), json!(604)]
    {
        let mut sale = stage.bare("E");
        sale["amount"] = json!("1");
        sale["currency"] = currency;
        stage.create("k", &sale).await?.invalid(&["currency"])?;
    }
    Ok(())
}

async fn an_external_id_comes_back_as_it_was_sent(stage: Stage) -> Result<()> {
    let longest = format!("{:x<128}", stage.tag);
    for label in ["ORDER-10483", "con espacio dentro", "ñandú №7", "🚌", "a/b?c=d&e#f%20", "<b>\"'", &longest]
    {
        let id = if label == longest { longest.clone() } else { stage.id(label) };
        let mut sale = stage.bare("");
        sale["external_transaction_id"] = json!(id);
        stage
            .create(&format!("{:x}", sum(&id)), &sale)
            .await?
            .expect(201)?
            .with(json!({"external_transaction_id": id}))?;
        ensure!(stage.count(&id).await? == 1, "{id} is not found");
    }
    Ok(())
}

/// A key for a text that no key can hold.
fn sum(text: &str) -> u64 {
    text.bytes().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

async fn an_external_id_is_never_repaired(stage: Stage) -> Result<()> {
    let tag = &stage.tag;
    for id in [
        json!(""),
        json!(" "),
        json!(format!(" {tag}")),
        json!(format!("{tag} ")),
        json!(format!("{tag}\u{a0}")),
        json!(format!("\u{3000}{tag}")),
        json!(format!("{tag}\n")),
        json!(format!("a\u{7}{tag}")),
        json!(format!("a\u{85}{tag}")),
        json!(format!("a\u{0}{tag}")),
        // `é` in two characters is not in normal form C.
        json!(format!("e\u{301}{tag}")),
        json!(format!("{tag:x<129}")),
        // 128 characters are more bytes than that.
        json!(format!("{tag:ñ<128}")),
        json!(7),
        json!(null),
    ] {
        let mut sale = stage.bare("E");
        sale["external_transaction_id"] = id;
        stage.create("k", &sale).await?.invalid(&["external_transaction_id"])?;
    }
    Ok(())
}

async fn a_time_is_rfc_3339_and_an_instant(stage: Stage) -> Result<()> {
    for (n, time) in [
        "2026-11-30T10:00:00-05:00",
        "2026-11-30T15:00:00Z",
        "2026-11-30T15:00:00.123Z",
        "2026-11-30t15:00:00z",
        "2026-12-01T00:30:00+09:30",
        "2024-02-29T23:59:59Z",
    ]
    .into_iter()
    .enumerate()
    {
        let label = format!("E{n}");
        let mut sale = stage.bare(&label);
        sale["occurred_at"] = json!(time);
        let created = stage.create(&label, &sale).await?.expect(201)?;
        same_instant(&created.text("occurred_at")?, &time.to_uppercase())?;
    }
    // Two spellings of one instant are one content.
    let mut again = stage.bare("E0");
    again["occurred_at"] = json!("2026-11-30T15:00:00Z");
    let existing = stage.create("another-key", &again).await?.expect(200)?;
    existing.with(json!({"ignored_differences": []}))?;
    Ok(())
}

async fn what_is_no_time_is_refused(stage: Stage) -> Result<()> {
    for time in [
        json!("yesterday"),
        json!(""),
        json!("2026-11-30"),
        json!("2026-11-30T10:00:00"),
        json!("2026-11-30 10:00"),
        json!("2026-13-01T10:00:00Z"),
        json!("2025-02-29T10:00:00Z"),
        json!("2026-11-30T25:00:00Z"),
        json!("2026-11-30T10:00:00-05:00[America/Lima]"),
        json!("30/11/2026 10:00"),
        json!(1_790_000_000),
    ] {
        let mut sale = stage.bare("E");
        sale["occurred_at"] = time;
        stage.create("k", &sale).await?.invalid(&["occurred_at"])?;
    }
    Ok(())
}

async fn every_failure_is_named_by_its_path(stage: Stage) -> Result<()> {
    let body = json!({
        "amount": 85.5, "currency": "soles", "occurred_at": "today", "buyer_name": 7, "shift_id": [],
        "context": {"seat": 12, "route": {}, "order": "fine"}, "confirmed_by": "Manager",
    });
    let answer = stage.create("k", &body).await?.invalid(&[
        "external_transaction_id",
        "amount",
        "currency",
        "occurred_at",
        "buyer_name",
        "shift_id",
        "context.seat",
        "context.route",
        "confirmed_by",
    ])?;
    let fields = answer.at("error.fields").as_array().cloned().unwrap_or_default();
    let all_have_codes =
        fields.iter().all(|field| field["code"].as_str().is_some_and(|code| !code.is_empty()));
    ensure!(all_have_codes, "{}", answer.summary());
    Ok(())
}

async fn a_wrong_kind_of_json_is_a_failure_of_validation(stage: Stage) -> Result<()> {
    for body in [json!([]), json!("text"), json!(7), json!(null), json!(true)] {
        stage.create("k", &body).await?.refused(422, "validation_failed")?;
    }
    for name in ["integration_experience", "shift_id", "device_id", "payment_method", "buyer_name"] {
        let mut sale = stage.bare("E");
        sale[name] = json!(7);
        stage.create("k", &sale).await?.invalid(&[name])?;
    }
    let mut sale = stage.bare("E");
    sale["context"] = json!("184");
    stage.create("k", &sale).await?.invalid(&["context"])?;
    Ok(())
}

async fn who_confirms_without_a_token_is_refused(stage: Stage) -> Result<()> {
    for name in ["confirmed_by", "confirmation_reason"] {
        let mut sale = stage.bare("E");
        sale[name] = json!("Manager");
        stage.create("k", &sale).await?.invalid(&[name])?;
    }
    Ok(())
}

async fn a_nul_is_refused_wherever_it_is(stage: Stage) -> Result<()> {
    for (path, more) in [
        ("buyer_name", json!({"buyer_name": "A\u{0}B"})),
        ("device_id", json!({"device_id": "\u{0}"})),
        ("context.seat", json!({"context": {"seat": "1\u{0}"}})),
        ("note.0.text", json!({"note": [{"text": "\u{0}"}]})),
    ] {
        stage.create("k", &stage.sale("E", more)).await?.invalid(&[path])?;
    }
    Ok(())
}

async fn null_and_absent_are_the_same(stage: Stage) -> Result<()> {
    let bare = stage.bare("E");
    let mut nulls = bare.clone();
    for name in ["currency", "buyer_name", "occurred_at", "context", "payment_method", "of_tomorrow"] {
        nulls[name] = json!(null);
    }
    stage.create("k", &bare).await?.expect(201)?;
    stage.create("k", &nulls).await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    Ok(())
}

async fn cash_is_paid_at_once(stage: Stage) -> Result<()> {
    for (method, financial) in
        [(json!("cash"), "paid"), (json!("card"), "awaiting_payment"), (json!(null), "awaiting_payment")]
    {
        let label = format!("E-{}", method.as_str().unwrap_or("none"));
        let mut sale = stage.bare(&label);
        sale["payment_method"] = method;
        stage.create(&label, &sale).await?.expect(201)?.with(json!({"state": {"financial": financial}}))?;
    }
    Ok(())
}

async fn unknown_members_are_kept_out_of_the_sale(stage: Stage) -> Result<()> {
    let mut sale = stage.sale("E", json!({}));
    sale["of_tomorrow"] = json!({"hidden": stage.id("HIDDEN")});
    let id = stage.created("k", &sale).await?;
    stage.read(&id).await?.without(&["of_tomorrow", &stage.id("HIDDEN")])?;
    sale["of_tomorrow"] = json!({"hidden": "other"});
    stage.create("k", &sale).await?.refused(409, "idempotency_conflict")?;
    Ok(())
}
