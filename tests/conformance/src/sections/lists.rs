//! §2 and §11: look-ups and the list with which a till reconciles.

use super::prelude::*;

section! { "lists":
    a_sale_is_read_by_its_id_as_it_is_now covers Operations;
    an_id_that_was_never_given_out_is_not_found covers Everywhere;
    a_look_up_by_external_id_gives_the_sale_or_nothing_and_takes_nothing covers Operations;
    a_tills_list_is_paged_in_order_of_arrival_without_gaps covers Operations Everywhere;
    a_cursor_never_misses_what_arrives_later covers Operations;
    a_tills_list_has_its_own_sales_and_no_questions covers Operations G3;
    a_page_has_1_to_500_items_and_a_cursor_is_the_servers covers Everywhere;
    a_query_says_each_thing_once_and_in_utf_8 covers Everywhere;
}

async fn a_sale_is_read_by_its_id_as_it_is_now(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({"payment_method": "cash"}))).await?;
    let is = json!({
        "yupy_transaction_id": id, "external_transaction_id": stage.id("E"), "amount": stage.amount(50),
        "currency": "PEN", "state": {"operational": "active", "financial": "paid"},
    });
    stage.read(&id).await?.with(is)?;
    stage.void(&id).await?;
    stage.read(&id).await?.with(json!({"state": {"operational": "voided"}}))?;
    Ok(())
}

async fn an_id_that_was_never_given_out_is_not_found(stage: Stage) -> Result<()> {
    for id in ["no-such-sale", "%00", "%ff", "..", "%20", &"x".repeat(2_000)] {
        let answer = stage.get(format!("/v1/transactions/{id}")).send().await?;
        ensure!(answer.status == 404, "{}", answer.summary());
    }
    stage.get("/v1/transactions/no-such-sale").send().await?.refused(404, "transaction_not_found")?;
    for query in
        ["external_transaction_id=%00", "external_transaction_id=%ff", "device_id=%00", "device_id=%ff"]
    {
        let list = stage.get(format!("/v1/transactions?{query}")).send().await?;
        ensure!(
            list.status < 500 && list.body["items"].as_array().is_none_or(Vec::is_empty),
            "{}",
            list.summary()
        );
    }
    Ok(())
}

async fn a_look_up_by_external_id_gives_the_sale_or_nothing_and_takes_nothing(stage: Stage) -> Result<()> {
    ensure!(stage.count(&stage.id("E")).await? == 0, "it is there already");
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let external = stage.id("E");
    let query = [("external_transaction_id", external.as_str())];
    let found = stage.get("/v1/transactions").query(&query).send().await?.expect(200)?;
    ensure!(found.items()?[0]["yupy_transaction_id"] == json!(id), "{}", found.summary());
    found.with(json!({"next": null}))?;
    Ok(())
}

/// So many sales of this run's device, in order of arrival.
async fn sell(stage: &Stage, labels: impl Iterator<Item = u32>) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for n in labels {
        let label = format!("E{n}");
        // What arrives later has happened earlier.
        let at = stage.time(-1_000 * i64::from(n));
        let sale = stage.sale(&label, json!({"occurred_at": at, "context": {"seat": stage.id(&label)}}));
        ids.push(stage.created(&label, &sale).await?);
    }
    Ok(ids)
}

fn ids(items: &[Value]) -> Vec<String> {
    items.iter().filter_map(|item| item["yupy_transaction_id"].as_str().map(str::to_owned)).collect()
}

async fn a_tills_list_is_paged_in_order_of_arrival_without_gaps(stage: Stage) -> Result<()> {
    let sold = sell(&stage, 0..7).await?;
    let device = stage.id("DEVICE");
    for limit in ["1", "2", "3", "7", "8", "500"] {
        let items =
            stage.all(Role::Till, "/v1/transactions", &[("device_id", &device), ("limit", limit)]).await?;
        ensure!(ids(&items) == sold, "in pages of {limit}: {:?}, sold were {sold:?}", ids(&items));
    }
    let page = stage
        .get("/v1/transactions")
        .query(&[("device_id", &device), ("limit", "3")])
        .send()
        .await?
        .expect(200)?;
    ensure!(page.items()?.len() == 3 && page.body["next"].is_string(), "{}", page.summary());
    let whole = stage.get("/v1/transactions").query(&[("device_id", &device)]).send().await?.expect(200)?;
    whole.with(json!({"next": null}))?;
    Ok(())
}

async fn a_cursor_never_misses_what_arrives_later(stage: Stage) -> Result<()> {
    let first = sell(&stage, 0..3).await?;
    let device = stage.id("DEVICE");
    let page = |query: Vec<(&'static str, String)>| {
        let stage = &stage;
        async move {
            let pairs: Vec<_> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
            stage.get("/v1/transactions").query(&pairs).send().await?.expect(200)
        }
    };
    let mine = |limit: &str| vec![("device_id", device.clone()), ("limit", limit.to_owned())];
    let two = page(mine("2")).await?;
    ensure!(ids(two.items()?) == first[..2], "{}", two.summary());
    let later = sell(&stage, 3..5).await?;
    let mut rest = mine("500");
    rest.push(("after", two.text("next")?));
    let rest = page(rest).await?;
    let wanted: Vec<_> = first[2..].iter().chain(&later).cloned().collect();
    ensure!(ids(rest.items()?) == wanted, "{}", rest.summary());
    Ok(())
}

async fn a_tills_list_has_its_own_sales_and_no_questions(stage: Stage) -> Result<()> {
    let id = stage.created("a", &stage.sale("A", json!({}))).await?;
    let alike = stage.sale("B", json!({}));
    stage.create("b", &alike).await?.refused(409, "possible_duplicate_transaction")?;
    let other = stage.sale("C", json!({"device_id": stage.id("OTHER"), "context": {"seat": "9"}}));
    stage.created("c", &other).await?;
    let device = stage.id("DEVICE");
    let query = [("device_id", device.as_str())];
    let list = || stage.all(Role::Till, "/v1/transactions", &query);
    ensure!(ids(&list().await?) == [id.clone()], "not this till's sale alone");
    stage.void(&id).await?;
    let items = list().await?;
    ensure!(items[0]["state"]["operational"] == "voided", "{items:?}");
    Ok(())
}

async fn a_page_has_1_to_500_items_and_a_cursor_is_the_servers(stage: Stage) -> Result<()> {
    for (path, role) in [
        ("/v1/transactions?device_id=D", Role::Till),
        ("/v1/audit?x=", Role::Manager),
        ("/v1/duplicate-challenges?state=open", Role::Manager),
    ] {
        for limit in ["0", "501", "-1", "many", "1.5", "99999999999999999999"] {
            let answer = stage.get(format!("{path}&limit={limit}")).by(role).send().await?;
            answer.invalid(&["limit"])?;
        }
        for after in ["no-such-cursor", "%00", "-1"] {
            let answer = stage.get(format!("{path}&after={after}")).by(role).send().await?;
            answer.invalid(&["after"])?;
        }
        for limit in ["1", "500"] {
            stage.get(format!("{path}&limit={limit}")).by(role).send().await?.expect(200)?;
        }
    }
    Ok(())
}

async fn a_query_says_each_thing_once_and_in_utf_8(stage: Stage) -> Result<()> {
    for (path, role) in [
        ("/v1/transactions?device_id=D", Role::Till),
        ("/v1/audit?x=", Role::Manager),
        ("/v1/duplicate-challenges?state=open", Role::Manager),
    ] {
        for (query, name) in [("limit=1&limit=2", "limit"), ("limit=%ff", "limit"), ("after=%ff", "after")] {
            stage.get(format!("{path}&{query}")).by(role).send().await?.invalid(&[name])?;
        }
    }
    let twice = stage.get("/v1/transactions?device_id=D&device_id=E").send().await?;
    twice.invalid(&["device_id"])?;
    Ok(())
}
