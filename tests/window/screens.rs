//! Every view on the smallest screen and on the usual one: nothing cut, nothing out of reach. The pictures are for
//! people to look at.

use anyhow::Result;
use turno_tests::{Machine, Window, key};

use crate::access::violations;
use crate::steps::{
    MANAGER_PIN, choose_seat, next_sale, see_accepted, see_reviews, sell_seat, selling, set_line, unlock,
};

/// What a person could not read or reach: texts in too little room, parts outside the window, a field half hidden in a
/// list that scrolls, a dialog that scrolls though the window has room, a keyboard that is in something nobody sees.
const CUT: &str = "
    const name = (part) => part.dataset.testid ?? part.innerText;
    const shown = [...document.querySelectorAll('button, h1, h2, label, kbd, th, dt, dd')]
        .filter((part) => part.checkVisibility() && part.innerText.trim() !== '')
        // Said to those who cannot see, and meant to be invisible.
        .filter((part) => !part.closest('.unseen'));
    const overflows = (part) => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== 'inline';
    const isOutside = (part) => {
        const box = part.getBoundingClientRect();
        return box.left < 0 || box.right > innerWidth + 1;
    };
    const cut = shown.filter((part) => overflows(part) || isOutside(part)).map(name);

    const page = document.documentElement;
    if (page.scrollWidth > innerWidth || page.scrollHeight > innerHeight) cut.push('the page itself');

    const dialog = document.querySelector('dialog[open]');
    const scrolls = (part) => part.scrollHeight > part.clientHeight + 1 && getComputedStyle(part).overflowY !== 'visible';
    const isSmall = dialog && dialog.getBoundingClientRect().height < 0.85 * innerHeight;
    if (isSmall && [dialog, ...dialog.querySelectorAll('div, ul, form')].some(scrolls)) cut.push('a dialog with room to grow');

    const clips = (part) => getComputedStyle(part).overflowY !== 'visible';
    // A page of settings scrolls, as every form that is longer than the window.
    const isOfForm = (part) => part.closest('[data-scrolls]') !== null;
    const fields = [...document.querySelectorAll('input')].filter((part) => part.checkVisibility());
    for (const field of fields.filter((part) => !isOfForm(part))) {
        const { top, bottom } = field.getBoundingClientRect();
        for (let around = field.parentElement; around; around = around.parentElement) {
            const room = around.getBoundingClientRect();
            if (clips(around) && (top < room.top - 1 || bottom > room.bottom + 1)) cut.push('the field ' + name(field));
        }
    }

    const focused = document.activeElement;
    const box = focused.getBoundingClientRect();
    const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!focused.contains(there)) cut.push('the keyboard is in ' + name(focused));
    return cut;
";

async fn look_at(till: &Window, name: &str) -> Result<()> {
    till.screenshot(name).await?;
    let cut = till.script(CUT).await?;
    assert_eq!(cut, serde_json::json!([]), "cut on {name}");
    let none: Vec<String> = Vec::new();
    assert_eq!(violations(till).await?, none, "on {name}");
    Ok(())
}

/// Goes through the day and stops at every view.
async fn tour(machine: &Machine, size: &str) -> Result<()> {
    let name = |view: &str| format!("{size}-{view}");
    let till = machine.open(&[]).await?;
    till.see_focused("welcome-practice").await?;
    look_at(&till, &name("1-welcome")).await?;
    till.keys(key::ENTER).await?;
    till.see("pin-input").await?;
    look_at(&till, &name("2-locked")).await?;
    unlock(&till).await?;
    till.see("float").await?;
    look_at(&till, &name("3-no-shift")).await?;
    till.keys("100").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("search").await?;
    look_at(&till, &name("4-sell-empty")).await?;

    let first = sell_seat(&till, "12A", "María del Carmen Quispe Huamán").await?;
    see_accepted(&till).await?;
    look_at(&till, &name("5-sold")).await?;
    till.keys("lima arequipa").await?;
    till.keys(key::ENTER).await?;
    till.see("seat-11A").await?;
    look_at(&till, &name("6-seats")).await?;
    till.keys("12A").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("buyer-name").await?;
    till.keys("María del Carmen Quispe Huamán").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("received").await?;
    till.keys("100").await?;
    till.see_where("change", "shows the change", |part| part.text.contains('.')).await?;
    look_at(&till, &name("7-ticket")).await?;
    till.keys(key::ENTER).await?;
    till.see("look-alike").await?;
    look_at(&till, &name("8-look-alike")).await?;
    till.click("look-alike-sell").await?;
    let second = next_sale(&till, Some(first)).await?;
    see_reviews(&till, 1).await?;

    set_line(&till, "offline").await?;
    sell_seat(&till, "10A", "").await?;
    till.keys(key::F3).await?;
    till.see("send-now").await?;
    look_at(&till, &name("9-pending")).await?;
    till.keys(key::F4).await?;
    till.see_focused(&format!("review-open-{second}")).await?;
    look_at(&till, &name("10-reviews")).await?;
    till.keys(key::ENTER).await?;
    till.see("review-sentence").await?;
    look_at(&till, &name("11-review")).await?;
    till.click("decide-same").await?;
    till.see("approval-pin").await?;
    look_at(&till, &name("12-decide")).await?;
    till.click("decide-later").await?;
    till.keys(key::F6).await?;
    till.see_match("[data-testid^=sale-]").await?;
    look_at(&till, &name("13-sales")).await?;
    till.click("sales-export").await?;
    till.see_focused("approval-pin").await?;
    look_at(&till, &name("13-sales-export")).await?;
    till.keys(key::ESCAPE).await?;
    till.see_gone("sales-export-dialog").await?;
    till.click(&format!("sale-open-{second}")).await?;
    till.see("sale-timeline").await?;
    look_at(&till, &name("14-sale")).await?;
    till.keys(key::ESCAPE).await?;
    till.see_gone("sale-timeline").await?;
    till.keys(key::F7).await?;
    till.see_text("report-pending", "S/").await?;
    look_at(&till, &name("15-shift")).await?;
    till.click("cash-out").await?;
    till.see_focused("cash-amount").await?;
    look_at(&till, &name("16-pay-out")).await?;
    till.keys(key::ESCAPE).await?;
    till.see_gone("cash-amount").await?;
    till.click("shift-close").await?;
    till.see_focused("count-20000").await?;
    look_at(&till, &name("17-closing")).await?;
    till.keys(key::F10).await?;
    till.see("theme-dark").await?;
    till.see("slip").await?;
    look_at(&till, &name("18-settings")).await?;
    till.click("export-open").await?;
    till.see_focused("file-passphrase").await?;
    look_at(&till, &name("19-export")).await?;
    till.keys(key::F12).await?;
    till.see_focused("pin-input").await?;
    look_at(&till, &name("20-switch")).await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_text("switch-person", "Encargado").await?;
    till.keys(key::F10).await?;
    till.see("person-add").await?;
    look_at(&till, &name("21-people")).await?;
    till.click("person-add").await?;
    till.see_focused("person-name").await?;
    look_at(&till, &name("22-person")).await
}

#[tokio::test]
async fn nothing_is_cut_on_the_smallest_screen() -> Result<()> {
    tour(&Machine::with_screen(1024, 600)?, "1024x600").await
}

#[tokio::test]
async fn nothing_is_cut_on_the_usual_screen() -> Result<()> {
    tour(&Machine::with_screen(1280, 800)?, "1280x800").await
}

#[tokio::test]
async fn the_language_is_switched_at_once_and_remembered() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    till.click("nav-settings").await?;
    till.click("language-en").await?;
    till.see_text("nav-sell", "Sell").await?;
    till.click("nav-sell").await?;
    choose_seat(&till, "9B", "").await?;
    till.see_text("charge", "Charge").await?;
    till.screenshot("english").await?;
    till.kill().await?;
    let till = machine.open(&[]).await?;
    till.see_text("unlock", "Unlock").await?;
    Ok(())
}
