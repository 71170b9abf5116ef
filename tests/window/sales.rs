//! Ventas: finding a sale again.

use std::path::Path;

use anyhow::Result;
use turno_tests::{Machine, Window, key};

use crate::steps::{MANAGER_PIN, sell_seat, selling, set_line};

/// Waits until just these sales are listed, in this order.
async fn see_listed(till: &Window, expected: &[&str]) -> Result<()> {
    till.wait(&format!("the list is {expected:?}"), async || {
        let rows = till.look_all("tbody tr[data-testid^=sale-]").await?;
        let ids: Vec<_> =
            rows.iter().map(|row| row.test_id().trim_start_matches("sale-").to_owned()).collect();
        Ok((ids == expected).then_some(()))
    })
    .await
}

/// Typed as a person types, with what stood there before gone.
async fn search(till: &Window, text: &str) -> Result<()> {
    till.see_focused("sales-search").await?;
    till.keys(key::ESCAPE).await?;
    till.see_where("sales-search", "is empty", |part| part.value.as_deref() == Some("")).await?;
    till.keys(text).await
}

#[tokio::test]
async fn a_sale_is_found_by_whatever_is_known_of_it_and_opened_by_keyboard() -> Result<()> {
    let machine = Machine::with_screen(1024, 600)?;
    let till = selling(&machine).await?;
    let jose = sell_seat(&till, "12A", "José Ñáñez Peña").await?;
    let maria = sell_seat(&till, "10B", "María Ramos").await?;
    set_line(&till, "offline").await?;
    let waiting = sell_seat(&till, "11A", "Josefa Quispe").await?;
    till.keys(key::F6).await?;
    see_listed(&till, &[&waiting, &maria, &jose]).await?;
    till.screenshot("sales-1024x600").await?;
    let number = jose.rsplit('-').next().unwrap_or_default().to_owned();
    for (text, found) in [
        ("nanez", vec![&jose]),
        ("12a", vec![&jose]),
        ("jos", vec![&waiting, &jose]),
        (&number, vec![&jose]),
        ("hoy ramos", vec![&maria]),
        (maria.as_str(), vec![&maria]),
    ] {
        search(&till, text).await?;
        see_listed(&till, &found.into_iter().map(String::as_str).collect::<Vec<_>>()).await?;
    }
    search(&till, "nadie").await?;
    till.see("sales-none").await?;
    till.screenshot("sales-none-1024x600").await?;
    till.click("sales-clear").await?;
    see_listed(&till, &[&waiting, &maria, &jose]).await?;
    let choose = "const part = document.querySelector('[data-testid=sales-standing]');
        part.value = 'waiting'; part.dispatchEvent(new Event('change', { bubbles: true }));";
    till.script(choose).await?;
    see_listed(&till, &[&waiting]).await?;
    till.script(&choose.replace("'waiting'", "''")).await?;
    till.script(
        "const part = document.querySelector('[data-testid=sales-period]');
        part.value = 'days'; part.dispatchEvent(new Event('change', { bubbles: true }));",
    )
    .await?;
    till.see("sales-from").await?;
    till.screenshot("sales-days-1024x600").await?;
    for theme in ["dark", "high_contrast"] {
        till.keys(key::F10).await?;
        till.click(&format!("theme-{theme}")).await?;
        till.keys(key::F6).await?;
        search(&till, "jos").await?;
        see_listed(&till, &[&waiting, &jose]).await?;
        till.screenshot(&format!("sales-{theme}-1024x600")).await?;
    }
    till.keys(key::ENTER).await?;
    till.see_text("sale-dialog", "Josefa Quispe").await?;
    Ok(())
}

#[tokio::test]
async fn the_sales_that_are_found_leave_in_a_table_with_a_managers_pin() -> Result<()> {
    let machine = Machine::with_screen(1024, 600)?;
    let till = selling(&machine).await?;
    let jose = sell_seat(&till, "12A", "=José; \"Pepe\" Ñáñez").await?;
    let maria = sell_seat(&till, "10B", "María Ramos").await?;
    till.keys(key::F6).await?;
    see_listed(&till, &[&maria, &jose]).await?;
    search(&till, "nanez").await?;
    see_listed(&till, &[&jose]).await?;
    till.click("sales-export").await?;
    till.see_focused("approval-pin").await?;
    let path = till
        .see_where("sales-export-path", "is suggested", |part| {
            part.value.as_deref().is_some_and(|path| path.ends_with(".csv"))
        })
        .await?
        .value
        .unwrap_or_default();
    till.click("sales-export-comma").await?;
    till.click("approval-pin").await?;
    till.keys("000000").await?;
    till.keys(key::ENTER).await?;
    till.see_text("problem", "PIN").await?;
    assert!(!Path::new(&path).exists(), "nothing leaves with a wrong PIN");
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_text("sales-exported", "1 venta en").await?;
    till.screenshot("sales-export-1024x600").await?;
    let text = std::fs::read_to_string(&path)?;
    let lines: Vec<_> = text.trim_end().split("\r\n").collect();
    assert_eq!(lines.len(), 2, "a header and what was found");
    assert!(lines[0].starts_with("\u{feff}external_transaction_id;"), "{}", lines[0]);
    for cell in [jose.as_str(), "\"'=José; \"\"Pepe\"\" Ñáñez\"", ";79,90;"] {
        assert!(lines[1].contains(cell), "{cell} is in {}", lines[1]);
    }
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_text("problem", "Ya hay un archivo").await?;
    till.keys(key::ESCAPE).await?;
    till.see_gone("sales-export-dialog").await?;
    for theme in ["dark", "high_contrast"] {
        till.keys(key::F10).await?;
        till.click(&format!("theme-{theme}")).await?;
        till.keys(key::F6).await?;
        till.click("sales-export").await?;
        till.see_focused("approval-pin").await?;
        till.screenshot(&format!("sales-export-{theme}-1024x600")).await?;
        till.keys(key::ESCAPE).await?;
    }
    Ok(())
}
