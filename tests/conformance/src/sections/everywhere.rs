//! §2 and §11: what holds for every address. The headers and the shape of errors are checked on every answer of
//! every case.

use reqwest::Method;

use super::prelude::*;

section! { "everywhere":
    an_unknown_path_is_404_with_an_error_body covers Everywhere;
    a_wrong_method_is_405_with_an_error_body covers Everywhere;
    health_and_description_need_no_credential covers Operations;
    the_description_names_every_operation covers Operations;
    a_catalog_whose_version_is_known_is_not_sent_again covers Operations;
    an_enrolment_code_that_nobody_gave_out_enrols_nobody covers Operations;
    a_creation_says_where_the_sale_is covers H1 Operations;
}

async fn an_unknown_path_is_404_with_an_error_body(stage: Stage) -> Result<()> {
    for path in ["/v1/no-such-thing", "/v1/transactions/x/no-such-thing", "/v1"] {
        stage.get(path).send().await?.failed(404)?;
    }
    stage.post("/v1/no-such-thing").key("k").json(&json!({})).send().await?.failed(404)?;
    Ok(())
}

async fn a_wrong_method_is_405_with_an_error_body(stage: Stage) -> Result<()> {
    for (method, path) in [
        (Method::DELETE, "/v1/transactions"),
        (Method::PUT, "/v1/transactions"),
        (Method::PATCH, "/v1/transactions/x"),
        (Method::GET, "/v1/duplicate-resolutions"),
        (Method::POST, "/v1/audit"),
    ] {
        stage.ask(method, path).send().await?.failed(405)?;
    }
    Ok(())
}

async fn health_and_description_need_no_credential(stage: Stage) -> Result<()> {
    for path in ["/health", "/ready", "/openapi.json"] {
        let answer = stage.get(path).by_nobody().send_outside().await?;
        ensure!(answer.status == 200, "{}", answer.summary());
    }
    Ok(())
}

async fn the_description_names_every_operation(stage: Stage) -> Result<()> {
    let description = stage.get("/openapi.json").by_nobody().send_outside().await?;
    let paths = description.body["paths"].as_object();
    for (path, method) in [
        ("/v1/transactions", "post"),
        ("/v1/transactions", "get"),
        ("/v1/transactions/{}", "get"),
        ("/v1/transactions/{}/void", "post"),
        ("/v1/transactions/{}/payments", "post"),
        ("/v1/duplicate-challenges", "get"),
        ("/v1/duplicate-challenges/{}", "get"),
        ("/v1/duplicate-resolutions", "post"),
        ("/v1/acquirer/webhook", "post"),
        ("/v1/devices/enroll", "post"),
        ("/v1/catalog", "get"),
        ("/v1/audit", "get"),
    ] {
        let mut described = paths.into_iter().flatten();
        let is_there =
            described.any(|(known, methods)| without_names(known) == path && methods.get(method).is_some());
        ensure!(is_there, "{method} {path} is not described");
    }
    Ok(())
}

/// Parameters may be called anything: `/a/{id}/b` is `/a/{}/b`.
fn without_names(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

async fn a_catalog_whose_version_is_known_is_not_sent_again(stage: Stage) -> Result<()> {
    let catalog = stage.get("/v1/catalog").send().await?.expect(200)?;
    let Some(tag) = catalog.header("etag").map(str::to_owned) else {
        return catalog.fail("expected an ETag");
    };
    let known = stage.get("/v1/catalog").header("if-none-match", &tag).send().await?.expect(304)?;
    ensure!(known.text.is_empty(), "304 with a body: {}", known.summary());
    stage.get("/v1/catalog").header("if-none-match", "\"another\"").send().await?.expect(200)?;
    Ok(())
}

async fn an_enrolment_code_that_nobody_gave_out_enrols_nobody(stage: Stage) -> Result<()> {
    let body = json!({
        "enrolment_code": stage.id("CODE"), "installation_id": "6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f", "epoch": "K7M",
    });
    let answer = stage.post("/v1/devices/enroll").by_nobody().json(&body).send().await?;
    answer.failed(403)?;
    Ok(())
}

async fn a_creation_says_where_the_sale_is(stage: Stage) -> Result<()> {
    let created = stage.create("k", &stage.sale("E", json!({}))).await?.expect(201)?;
    let id = created.text("yupy_transaction_id")?;
    let Some(place) = created.header("location").map(str::to_owned) else {
        return created.fail("expected a Location");
    };
    // An absolute address names the same path.
    let path = place.find("/v1/").map_or(place.as_str(), |at| &place[at..]);
    stage.get(path).send().await?.expect(200)?.with(json!({"yupy_transaction_id": id}))?;
    Ok(())
}
