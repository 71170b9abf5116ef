//! A printer in the real window: it listens on a port, reads ESC/POS and has the troubles that printers have.

use anyhow::Result;
use turno_print::fake::{Mood, Printer};
use turno_print::paper::Printed;
use turno_tests::{Machine, Window, key};

use crate::steps::{MANAGER_PIN, next_sale, open_shift, see_accepted, sell_seat};

/// A till in practice with an open shift, a manager at it, and a printer that was chosen on the screen.
async fn selling_with(machine: &Machine, printer: &Printer) -> Result<Window> {
    let till = machine.practise().await?;
    till.click("person-manager").await?;
    till.see("pin-input").await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_gone("pin-input").await?;
    open_shift(&till).await?;
    till.keys(key::F10).await?;
    till.click("printer-device-network").await?;
    till.click("printer-address").await?;
    till.keys(&printer.address()).await?;
    till.click("printer-save").await?;
    till.see_text("printer-saved", "Guardado").await?;
    Ok(till)
}

async fn lines(till: &Window, printer: &Printer, what: &str, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let seen = async || Ok(printer.lines().iter().any(|line| wanted(line)).then_some(()));
    till.wait(&format!("the paper shows {what}"), seen).await
}

async fn see_printed(till: &Window) -> Result<()> {
    till.see_state("last-sale-print", "printed").await?;
    Ok(())
}

#[tokio::test]
async fn a_sale_prints_its_ticket_and_a_reprint_says_that_it_is_a_copy() -> Result<()> {
    let (machine, printer) = (Machine::new()?, Printer::start());
    let till = selling_with(&machine, &printer).await?;
    till.click("printer-test").await?;
    lines(&till, &printer, "the test page", |line| line.contains("Peñafiel, Ángel, Ñaña, S/ 12.50")).await?;
    till.screenshot("printer-settings").await?;
    let sale = sell_seat(&till, "12A", "Ángel Peñafiel").await?;
    see_accepted(&till).await?;
    see_printed(&till).await?;
    till.screenshot("printed").await?;
    for text in ["Pasajero: Ángel Peñafiel", "Asiento", &sale, "no es comprobante de pago"] {
        lines(&till, &printer, text, |line| line.contains(text)).await?;
    }
    assert!(!printer.paper().iter().any(|printed| matches!(printed, Printed::Unknown(_))));
    till.click("last-sale-reprint").await?;
    lines(&till, &printer, "COPIA 1", |line| line.contains("COPIA 1")).await?;
    till.click("last-sale-see").await?;
    till.see_text("slip", &sale).await?;
    till.screenshot("slip").await?;
    Ok(())
}

#[tokio::test]
async fn without_paper_the_sale_goes_on_and_the_ticket_comes_out_later() -> Result<()> {
    let (machine, printer) = (Machine::new()?, Printer::start());
    let till = selling_with(&machine, &printer).await?;
    printer.set(Mood::NoPaper);
    let first = sell_seat(&till, "12A", "").await?;
    let part = till.see_text("print-failed", &first).await?;
    assert!(part.is("failure", "no_paper"), "{part:?}");
    assert!(part.text.contains("papel"), "{part:?}");
    see_accepted(&till).await?;
    till.screenshot("no-paper").await?;
    sell_seat(&till, "12B", "").await?;
    till.see_where("print-failed", "counts two", |part| part.is("count", "2")).await?;
    assert_eq!(printer.cuts(), 0);
    printer.set(Mood::Works);
    till.click("print-retry").await?;
    till.see_gone("print-failed").await?;
    till.wait("both tickets are cut off", async || Ok((printer.cuts() == 2).then_some(()))).await?;
    assert!(!printer.lines().iter().any(|line| line.contains("COPIA")), "{:?}", printer.lines());
    Ok(())
}

#[tokio::test]
async fn a_ticket_that_broke_off_is_asked_about_and_a_no_prints_a_copy() -> Result<()> {
    let (machine, printer) = (Machine::with_screen(1024, 600)?, Printer::start());
    let till = selling_with(&machine, &printer).await?;
    till.screenshot("printer-settings-small").await?;
    printer.set(Mood::VanishesAfter(4));
    let sale = sell_seat(&till, "12A", "").await?;
    till.see_text("print-question", &sale).await?;
    till.screenshot("print-question").await?;
    printer.set(Mood::Works);
    printer.tear_off();
    till.click("print-incomplete").await?;
    till.see_gone("print-question").await?;
    lines(&till, &printer, "COPIA 1", |line| line.contains("COPIA 1")).await?;
    Ok(())
}

#[tokio::test]
async fn a_till_killed_while_it_prints_asks_and_prints_nothing_twice() -> Result<()> {
    let (machine, printer) = (Machine::new()?, Printer::start());
    let till = selling_with(&machine, &printer).await?;
    printer.set(Mood::TakesNothing);
    let sale = sell_seat(&till, "12A", "").await?;
    till.see_state("last-sale-print", "printing").await?;
    till.kill().await?;
    printer.set(Mood::Works);
    printer.tear_off();

    let till = machine.open(&[]).await?;
    till.see("pin-input").await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_text("print-question", &sale).await?;
    sell_seat(&till, "12B", "").await?;
    see_printed(&till).await?;
    assert_eq!(printer.cuts(), 1, "the ticket of the second sale");
    assert!(!printer.lines().iter().any(|line| line.contains(&sale)), "{:?}", printer.lines());
    till.click("print-complete").await?;
    till.see_gone("print-question").await?;
    let third = next_sale(&till, None).await?;
    assert_ne!(third, sale);
    assert_eq!(printer.cuts(), 1);
    Ok(())
}
