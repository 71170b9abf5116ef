//! Connecting a till to a company's YUPY, and the ways in which that is refused.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::Result;
use axum::Router;
use axum::response::Html;
use rusqlite::Connection;
use turno_tests::{Machine, Window, Yupy, key};

use crate::steps::{last_sale, next_sale, open_shift, see_accepted, see_reviews};

pub const CODE: &str = "K7M2P-QX4TD-9HWRA";

async fn connect(till: &Window, address: &str, code: &str) -> Result<()> {
    if till.look("connect-address").await?.is_none() {
        till.click("welcome-connect").await?;
    }
    till.see_focused("connect-address").await?;
    till.keys(address).await?;
    till.keys(key::TAB).await?;
    till.see_focused("connect-code").await?;
    till.keys(code).await?;
    till.keys(key::ENTER).await
}

async fn see_refused(till: &Window, code: &str) -> Result<()> {
    till.see_where("problem", &format!("has the code {code}"), |part| part.is("code", code)).await?;
    till.see_where("connect-submit", "can be pressed again", |part| part.is_enabled).await?;
    till.screenshot(&format!("connect-{code}")).await?;
    Ok(())
}

/// Nothing was chosen: the next start asks again.
async fn see_nothing_kept(machine: &Machine, till: Window) -> Result<()> {
    till.kill().await?;
    let till = machine.open(&[]).await?;
    till.see("welcome-practice").await?;
    till.see("welcome-connect").await?;
    Ok(())
}

#[tokio::test]
async fn an_address_where_nobody_answers_is_refused() -> Result<()> {
    let machine = Machine::new()?;
    let till = machine.open(&[]).await?;
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    connect(&till, &format!("http://{closed}"), CODE).await?;
    see_refused(&till, "address_unreachable").await?;
    see_nothing_kept(&machine, till).await
}

#[tokio::test]
async fn an_address_that_is_none_is_refused() -> Result<()> {
    let machine = Machine::new()?;
    let till = machine.open(&[]).await?;
    connect(&till, "ftp://yupy.example", CODE).await?;
    see_refused(&till, "address_invalid").await?;
    see_nothing_kept(&machine, till).await
}

#[tokio::test]
async fn a_page_that_answers_is_not_taken_for_yupy() -> Result<()> {
    let machine = Machine::new()?;
    let portal = Yupy::serve(Router::new().fallback(async || Html("<h1>Bienvenido</h1>"))).await?;
    let till = machine.open(&[]).await?;
    connect(&till, &portal.address(), CODE).await?;
    see_refused(&till, "not_yupy").await?;
    see_nothing_kept(&machine, till).await
}

#[tokio::test]
async fn a_code_that_is_not_known_is_refused() -> Result<()> {
    let machine = Machine::new()?;
    let yupy = Yupy::start(&machine.path("yupy.db"), CODE).await?;
    let till = machine.open(&[]).await?;
    connect(&till, &yupy.address(), "AAAAA-AAAAA-AAAAA").await?;
    see_refused(&till, "enrolment_refused").await?;
    see_nothing_kept(&machine, till).await
}

/// Connects, makes the first manager, and opens the shift.
pub async fn selling_for(yupy: &Yupy, machine: &Machine, code: &str) -> Result<Window> {
    let till = machine.open(&[]).await?;
    connect(&till, &yupy.address(), code).await?;
    till.see_focused("manager-name").await?;
    till.screenshot("first-manager").await?;
    for text in ["Jefa de terminal", key::TAB, "804271", key::TAB, "804271", key::ENTER] {
        till.keys(text).await?;
    }
    till.see("pin-input").await?;
    till.keys("804271").await?;
    till.keys(key::ENTER).await?;
    open_shift(&till).await?;
    till.see_focused("search").await?;
    Ok(till)
}

pub async fn add_to_ticket(till: &Window, product: &str) -> Result<()> {
    till.keys(product).await?;
    till.keys(key::ENTER).await?;
    till.see("line-0").await?;
    Ok(())
}

/// Sells one product twice, about which a YUPY asks that was told to; the id of the second sale.
pub async fn sell_two_alike(till: &Window) -> Result<String> {
    add_to_ticket(till, "equipaje").await?;
    till.keys(key::F9).await?;
    let first = next_sale(till, None).await?;
    see_accepted(till).await?;
    till.keys(key::F2).await?;
    till.see_focused("search").await?;
    add_to_ticket(till, "equipaje").await?;
    till.keys(key::F9).await?;
    let second = next_sale(till, Some(first)).await?;
    see_reviews(till, 1).await?;
    Ok(second)
}

#[tokio::test]
async fn a_connected_till_gets_its_first_manager_and_sells() -> Result<()> {
    let machine = Machine::new()?;
    let database = machine.path("yupy.db");
    let yupy = Yupy::start(&database, CODE).await?;
    let till = selling_for(&yupy, &machine, CODE).await?;
    add_to_ticket(&till, "equipaje").await?;
    till.keys(key::F9).await?;
    let sale = next_sale(&till, None).await?;
    see_accepted(&till).await?;
    till.kill().await?;

    // A till that is connected stays so, with its people and its shift.
    let till = machine.open(&[]).await?;
    till.see("pin-input").await?;
    till.keys("804271").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("search").await?;
    assert_eq!(last_sale(&till).await?, None);
    till.kill().await?;
    drop(yupy);
    let held: Vec<String> = Connection::open(&database)?
        .prepare("SELECT external_transaction_id FROM sale")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    assert_eq!(held, [sale]);
    Ok(())
}

#[tokio::test]
async fn a_fare_that_vanished_from_the_catalog_is_refused_by_its_name() -> Result<()> {
    let machine = Machine::new()?;
    let yupy = Yupy::start(&machine.path("yupy.db"), CODE).await?;
    let till = selling_for(&yupy, &machine, CODE).await?;
    add_to_ticket(&till, "equipaje").await?;
    yupy.offer("SOBRE", "Sobre certificado").await?;
    till.keys(key::F3).await?;
    till.click("send-now").await?;
    till.keys(key::F2).await?;
    till.see_focused("search").await?;
    till.keys("sobre").await?;
    till.see("offer-product:SOBRE").await?;

    till.keys(key::F9).await?;
    let refusal =
        till.see_where("problem", "says what is gone", |part| part.is("code", "offer_gone")).await?;
    assert!(refusal.text.contains("«Equipaje extra»"), "{}", refusal.text);
    till.screenshot("offer-gone").await?;
    assert_eq!(last_sale(&till).await?, None, "nothing was sold");

    till.click("line-0-remove").await?;
    till.see_gone("line-0").await?;
    till.keys(key::F2).await?;
    till.see_focused("search").await?;
    add_to_ticket(&till, "sobre").await?;
    till.keys(key::F9).await?;
    see_accepted(&till).await
}

#[tokio::test]
async fn who_practised_can_connect_to_a_company() -> Result<()> {
    let machine = Machine::new()?;
    let yupy = Yupy::start(&machine.path("yupy.db"), CODE).await?;
    let till = machine.practise().await?;
    till.see("practice-line-online").await?;
    till.click("leave-practice").await?;
    connect(&till, &yupy.address(), CODE).await?;
    till.see_focused("manager-name").await?;
    till.see_gone("practice-line-online").await?;
    till.kill().await?;
    // From now on this is the company's till.
    let till = machine.open(&[]).await?;
    till.see_focused("manager-name").await
}
