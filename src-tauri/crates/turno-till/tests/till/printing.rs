//! What is printed, when, and what becomes of it. The printer is a real one but for its paper: it listens on a port and
//! reads ESC/POS.

use std::net::TcpListener;
use std::time::Duration;

use turno_print::Columns;
use turno_print::fake::{Mood, Printer};
use turno_print::paper::Printed;
use turno_till::view::{
    AnswerPrintRequest, PreviewRow, PrintFailure, PrintJob, PrintKind, PrintState, PrinterCodePage,
    PrinterDevice, PrinterSettings, ProblemCode, SaleState, ShiftReportRequest, Tender, UnlockRequest,
};

use crate::support::{self, MANAGER_PIN, Shop, fare, luggage, recorded, seat};

fn network(address: &str) -> PrinterSettings {
    PrinterSettings {
        device: Some(PrinterDevice::Network { address: address.to_owned() }),
        columns: 32,
        code_page: PrinterCodePage::Pc858,
        qr_by_printer: true,
        cuts: true,
        prints_tickets: true,
        opens_drawer: false,
        says_no_receipt: true,
        footer_1: "Gracias por viajar".to_owned(),
        footer_2: String::new(),
    }
}

async fn as_manager(shop: &Shop) {
    let request = UnlockRequest { person_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() };
    shop.till.unlock(&request).await.unwrap();
}

/// A manager chooses the printer; the cashier goes on.
async fn choose(shop: &Shop, settings: &PrinterSettings) {
    as_manager(shop).await;
    shop.till.set_printer_settings(settings).await.unwrap();
    shop.unlock().await;
}

async fn with_printer() -> (Shop, Printer) {
    let (shop, printer) = (Shop::open().await, Printer::start());
    choose(&shop, &network(&printer.address())).await;
    (shop, printer)
}

/// Waits until the newest print of a sale is in this state.
async fn until(shop: &Shop, sale: &str, state: PrintState) -> PrintJob {
    let mut changes = shop.till.changes();
    for _ in 0..400 {
        let newest = shop.till.sale_prints(&[sale.to_owned()]).await.unwrap().pop();
        if let Some(job) = newest.filter(|job| job.state == state) {
            return job;
        }
        let _ = tokio::time::timeout(Duration::from_millis(100), changes.changed()).await;
    }
    panic!("{sale} never became {state:?}: {:?}", shop.till.sale_prints(&[sale.to_owned()]).await.unwrap());
}

async fn sell_printed(shop: &Shop, line: turno_till::view::Line, state: PrintState) -> String {
    let id = shop.sell(line).await.sales[0].external_transaction_id.clone();
    until(shop, &id, state).await;
    id
}

#[tokio::test(start_paused = true)]
async fn a_sale_is_printed_with_all_its_figures_and_its_number() {
    let (shop, printer) = with_printer().await;
    let mut request = support::charge(&shop.till.open_draft().draft_id, vec![luggage()]);
    request.lines[0].buyer_name = Some("Ángel Peñafiel Ñaña".to_owned());
    request.tenders = vec![Tender::Cash { received: Some("20".to_owned()) }];
    let id = recorded(shop.till.charge(&request).await.unwrap()).sales[0].external_transaction_id.clone();
    until(&shop, &id, PrintState::Printed).await;
    let paper = printer.lines();
    for line in [
        "Equipaje extra",
        "Pasajero: Ángel Peñafiel Ñaña",
        "Precio                   S/ 9.96",
        "Redondeo                -S/ 0.06",
        "TOTAL    S/ 9.90",
        "Recibido en efectivo    S/ 20.00",
        "Vuelto                  S/ 10.10",
        "Caja D03                Turno S1",
        "       Gracias por viajar",
    ] {
        assert!(paper.iter().any(|printed| printed == line), "{line:?} in {paper:#?}");
    }
    let whole = paper.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Transportes del Sur",
        "Vendió: Caja",
        &id,
        "Este documento no es comprobante de pago",
        "guardada aquí, pendiente de envío",
    ] {
        assert!(whole.contains(words), "{words:?} in {whole}");
    }
    assert!(printer.paper().contains(&Printed::Qr(id)));
    assert_eq!(printer.cuts(), 1);
    assert!(!printer.paper().iter().any(|printed| matches!(printed, Printed::Unknown(_))));
}

#[tokio::test(start_paused = true)]
async fn a_seat_is_printed_with_its_departure_and_the_preview_shows_the_same() {
    let (shop, printer) = with_printer().await;
    let id = sell_printed(&shop, seat("12A"), PrintState::Printed).await;
    let paper = printer.lines();
    assert!(paper.iter().any(|line| line == "Salida          30/11/2026 20:30"), "{paper:#?}");
    assert!(paper.iter().any(|line| line == "Asiento      12A"), "{paper:#?}");
    let preview = shop.till.preview_ticket(&id).await.unwrap();
    let seen: Vec<_> = preview
        .rows
        .iter()
        .filter_map(|row| match row {
            PreviewRow::Line { text, .. } => Some(text.trim_end().to_owned()),
            PreviewRow::Picture { .. } | PreviewRow::Cut => None,
        })
        .filter(|line| !line.contains("Al imprimir") && !line.contains("YUPY") && !line.contains("envío"))
        .collect();
    assert!(seen.iter().all(|line| line.contains("aquí") || paper.contains(line)), "{seen:#?} {paper:#?}");
}

#[tokio::test(start_paused = true)]
async fn every_ticket_of_a_checkout_is_printed_and_the_drawer_opens_once() {
    let (shop, printer) = with_printer().await;
    choose(&shop, &PrinterSettings { opens_drawer: true, ..network(&printer.address()) }).await;
    let sales = recorded(shop.charge(vec![seat("11A"), seat("11B"), fare(3)]).await.unwrap()).sales;
    for sale in &sales {
        until(&shop, &sale.external_transaction_id, PrintState::Printed).await;
    }
    let codes: Vec<_> =
        printer.paper().into_iter().filter(|printed| matches!(printed, Printed::Qr(_))).collect();
    let in_order: Vec<_> =
        sales.iter().map(|sale| Printed::Qr(sale.external_transaction_id.clone())).collect();
    assert_eq!(codes, in_order);
    assert_eq!(printer.paper().iter().filter(|printed| **printed == Printed::DrawerOpened).count(), 1);
    assert_eq!(printer.paper()[0], Printed::DrawerOpened, "the cashier reaches for the change first");
    let whole = printer.lines().join(" ");
    assert!(whole.contains("Total de la compra (3") && whole.contains("3 x S/ 2.00"), "{whole}");
}

#[tokio::test(start_paused = true)]
async fn a_till_without_a_printer_prints_nothing_and_says_so_when_asked() {
    let shop = Shop::open().await;
    let id = shop.sell(luggage()).await.sales[0].external_transaction_id.clone();
    assert_eq!(shop.till.sale_prints(std::slice::from_ref(&id)).await.unwrap(), []);
    assert_eq!(shop.till.reprint(&id).await.unwrap_err().code, ProblemCode::PrinterMissing);
    assert_eq!(shop.till.print_test_page().await.unwrap_err().code, ProblemCode::PrinterMissing);
    let printing = shop.till.printing().await.unwrap();
    assert!(!printing.has_printer && printing.failed.is_empty() && printing.questions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn three_sales_without_a_printer_are_three_tickets_to_print_and_each_comes_out_once() {
    let shop = Shop::open().await;
    // A port that was free a moment ago: nobody listens.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    choose(&shop, &network(&nobody)).await;
    let mut sold = Vec::new();
    for _ in 0..3 {
        let id = sell_printed(&shop, fare(1), PrintState::Failed).await;
        // The printer's trouble is not the sale's.
        shop.until(&id, SaleState::Accepted).await;
        sold.push(id);
    }
    let printing = shop.till.printing().await.unwrap();
    assert_eq!(printing.failed_count, 3);
    assert!(printing.failed.iter().all(|job| job.failure == Some(PrintFailure::NoPrinter)), "{printing:?}");

    let printer = Printer::start();
    choose(&shop, &network(&printer.address())).await;
    shop.till.retry_print(None).await.unwrap();
    for id in &sold {
        until(&shop, id, PrintState::Printed).await;
    }
    let codes: Vec<_> =
        printer.paper().into_iter().filter(|printed| matches!(printed, Printed::Qr(_))).collect();
    assert_eq!(codes, sold.into_iter().map(Printed::Qr).collect::<Vec<_>>(), "each once, in order");
    assert!(!printer.lines().iter().any(|line| line.contains("COPIA")), "there was no original before");
}

#[tokio::test(start_paused = true)]
async fn out_of_paper_is_named_and_the_ticket_comes_out_when_there_is_some() {
    let (shop, printer) = with_printer().await;
    printer.set(Mood::NoPaper);
    let id = sell_printed(&shop, luggage(), PrintState::Failed).await;
    let failed = shop.till.printing().await.unwrap().failed.remove(0);
    assert_eq!((failed.failure, failed.kind), (Some(PrintFailure::NoPaper), PrintKind::Ticket));
    assert_eq!(printer.lines(), [""; 0]);
    printer.set(Mood::Works);
    shop.till.retry_print(Some(failed.job_id)).await.unwrap();
    until(&shop, &id, PrintState::Printed).await;
    assert_eq!(printer.cuts(), 1);
    assert_eq!(shop.till.printing().await.unwrap().failed_count, 0);
}

#[tokio::test(start_paused = true)]
async fn four_troubles_are_told_apart() {
    let shop = Shop::open().await;
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let out_of_paper = Printer::start();
    out_of_paper.set(Mood::NoPaper);
    let mut told = Vec::new();
    for address in [nobody.as_str(), "impresora.invalid", &out_of_paper.address()] {
        choose(&shop, &network(address)).await;
        let id = sell_printed(&shop, fare(1), PrintState::Failed).await;
        told.extend(shop.till.sale_prints(std::slice::from_ref(&id)).await.unwrap()[0].failure);
    }
    // Takes the ticket and answers nothing but that it is there.
    let printer = Printer::start();
    printer.set(Mood::TakesNothing);
    choose(&shop, &network(&printer.address())).await;
    let id = sell_printed(&shop, fare(1), PrintState::Unknown).await;
    told.extend(shop.till.sale_prints(std::slice::from_ref(&id)).await.unwrap()[0].failure);
    assert_eq!(
        told,
        [PrintFailure::NoPrinter, PrintFailure::WrongName, PrintFailure::NoPaper, PrintFailure::NoAnswer]
    );
}

#[tokio::test(start_paused = true)]
async fn a_printer_that_vanishes_in_mid_ticket_leaves_a_question_and_a_no_prints_a_copy() {
    let (shop, printer) = with_printer().await;
    printer.set(Mood::VanishesAfter(3));
    let id = sell_printed(&shop, luggage(), PrintState::Unknown).await;
    printer.set(Mood::Works);
    printer.tear_off();
    // Others are printed meanwhile, and it is not printed by itself.
    sell_printed(&shop, fare(1), PrintState::Printed).await;
    let question = shop.till.printing().await.unwrap().questions.remove(0);
    assert_eq!(question.external_transaction_id.as_deref(), Some(id.as_str()));
    assert!(!printer.paper().contains(&Printed::Qr(id.clone())));

    let answer = AnswerPrintRequest { job_id: question.job_id, is_complete: false };
    shop.till.answer_print(&answer).await.unwrap();
    let copy = until(&shop, &id, PrintState::Printed).await;
    assert_eq!((copy.kind, copy.copy_number), (PrintKind::Copy, 1));
    assert!(printer.lines().iter().any(|line| line.contains("COPIA 1")));
    assert_eq!(
        shop.till.sale_prints(std::slice::from_ref(&id)).await.unwrap()[0].state,
        PrintState::Replaced
    );
    let again = shop.till.answer_print(&answer).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::NotFound, "it was answered");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_ticket_that_came_out_whole_is_printed_and_that_is_all() {
    let (shop, printer) = with_printer().await;
    printer.set(Mood::VanishesAfter(3));
    let id = sell_printed(&shop, luggage(), PrintState::Unknown).await;
    printer.set(Mood::Works);
    printer.tear_off();
    let question = shop.till.printing().await.unwrap().questions.remove(0);
    let answer = AnswerPrintRequest { job_id: question.job_id, is_complete: true };
    shop.till.answer_print(&answer).await.unwrap();
    let prints = shop.till.sale_prints(std::slice::from_ref(&id)).await.unwrap();
    assert_eq!((prints.len(), prints[0].state), (1, PrintState::Printed));
    sell_printed(&shop, fare(1), PrintState::Printed).await;
    assert_eq!(printer.cuts(), 1, "only the ticket of the next sale");
}

#[tokio::test(start_paused = true)]
async fn a_till_that_ends_in_mid_ticket_asks_and_does_not_print_it_again() {
    let (mut shop, printer) = with_printer().await;
    printer.set(Mood::TakesNothing);
    let id = sell_printed(&shop, luggage(), PrintState::Printing).await;
    shop.crash().await;
    let job = until(&shop, &id, PrintState::Unknown).await;
    assert_eq!(job.failure, Some(PrintFailure::Interrupted));
    let printer = Printer::start();
    choose(&shop, &network(&printer.address())).await;
    sell_printed(&shop, fare(1), PrintState::Printed).await;
    assert_eq!(printer.cuts(), 1);
    assert!(!printer.paper().contains(&Printed::Qr(id)));
}

#[tokio::test(start_paused = true)]
async fn a_reprint_says_which_copy_it_is_and_sends_nothing() {
    let (shop, printer) = with_printer().await;
    let id = sell_printed(&shop, seat("12A"), PrintState::Printed).await;
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales().len();
    for copy in 1..=3 {
        printer.tear_off();
        shop.till.reprint(&id).await.unwrap();
        let job = until(&shop, &id, PrintState::Printed).await;
        assert_eq!((job.kind, job.copy_number), (PrintKind::Copy, copy));
        let lines = printer.lines();
        assert!(lines.iter().any(|line| line.trim() == format!("COPIA {copy}")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("30/11/2026 20:30")), "{lines:#?}");
        assert!(lines.join(" ").contains("confirmada por YUPY"), "{lines:#?}");
    }
    assert_eq!(shop.yupy.sales().len(), sent);
}

#[tokio::test(start_paused = true)]
async fn asking_again_for_a_ticket_that_never_came_out_prints_the_original() {
    let (shop, printer) = with_printer().await;
    printer.set(Mood::LidOpen);
    let id = sell_printed(&shop, luggage(), PrintState::Failed).await;
    printer.set(Mood::Works);
    shop.till.reprint(&id).await.unwrap();
    let job = until(&shop, &id, PrintState::Printed).await;
    assert_eq!(job.kind, PrintKind::Ticket);
    assert!(!printer.lines().iter().any(|line| line.contains("COPIA")));
    assert_eq!(shop.till.printing().await.unwrap().failed_count, 0, "the failed one is settled by it");
}

#[tokio::test(start_paused = true)]
async fn a_ticket_that_is_given_up_is_off_the_list_and_stays_unprinted() {
    let (shop, printer) = with_printer().await;
    printer.set(Mood::NoPaper);
    let id = sell_printed(&shop, luggage(), PrintState::Failed).await;
    let job = shop.till.printing().await.unwrap().failed.remove(0);
    assert_eq!(shop.till.dismiss_print(job.job_id).await.unwrap().failed_count, 0);
    printer.set(Mood::Works);
    shop.till.retry_print(None).await.unwrap();
    assert_eq!(until(&shop, &id, PrintState::Dismissed).await.failure, Some(PrintFailure::NoPaper));
    assert_eq!(printer.cuts(), 0);
}

#[tokio::test(start_paused = true)]
async fn only_a_manager_sets_the_printer_and_tickets_are_not_written_over_the_tills_files() {
    let shop = Shop::open().await;
    let settings = network("192.168.1.50");
    let refused = |settings: PrinterSettings| {
        let till = shop.till.clone();
        async move { till.set_printer_settings(&settings).await.unwrap_err() }
    };
    assert_eq!(refused(settings.clone()).await.code, ProblemCode::ManagerRequired);
    as_manager(&shop).await;
    let own = shop.folder().join("till.db").to_string_lossy().into_owned();
    let file = |path: &str| Some(PrinterDevice::File { path: path.to_owned() });
    for (wrong, what) in [
        (PrinterSettings { columns: 40, ..settings.clone() }, "columns"),
        (PrinterSettings { footer_1: "a\u{1b}b".to_owned(), ..settings.clone() }, "footer"),
        (network("  "), "address"),
        (PrinterSettings { device: file(&own), ..settings.clone() }, "path"),
        (PrinterSettings { device: file("relativo.bin"), ..settings.clone() }, "path"),
        (PrinterSettings { device: file("/tmp/../etc/x"), ..settings.clone() }, "path"),
    ] {
        let problem = refused(wrong).await;
        assert_eq!(problem.code, ProblemCode::PrinterSettingsInvalid);
        assert_eq!(problem.detail.as_deref(), Some(what));
    }
    assert_eq!(shop.till.printer_settings().await.unwrap().device, None);
    shop.till.set_printer_settings(&settings).await.unwrap();
    assert_eq!(shop.till.printer_settings().await.unwrap(), settings);
}

#[tokio::test(start_paused = true)]
async fn the_test_page_shows_letters_width_and_code_and_is_previewed_before_it_is_kept() {
    let (shop, printer) = with_printer().await;
    shop.till.print_test_page().await.unwrap();
    let mut changes = shop.till.changes();
    while printer.cuts() == 0 {
        let _ = tokio::time::timeout(Duration::from_millis(50), changes.changed()).await;
    }
    let lines = printer.lines();
    assert!(lines.iter().any(|line| line == "Peñafiel, Ángel, Ñaña, S/ 12.50"), "{lines:#?}");
    assert!(lines.iter().any(|line| line == "12345678901234567890123456789012"), "{lines:#?}");
    assert!(printer.paper().iter().any(|printed| matches!(printed, Printed::Picture { height: 24, .. })));
    let wide = PrinterSettings { columns: 48, ..network("x") };
    let preview = shop.till.preview_test_page(&wide).unwrap();
    assert_eq!(preview.columns, 48);
    assert!(preview.rows.iter().any(|row| matches!(row, PreviewRow::Picture { .. })), "the code");
}

#[tokio::test(start_paused = true)]
async fn a_shift_s_report_is_printed_line_by_line_as_it_is_shown() {
    let (shop, printer) = with_printer().await;
    sell_printed(&shop, luggage(), PrintState::Printed).await;
    printer.tear_off();
    let request = ShiftReportRequest { shift_id: None };
    let lines = turno_till::shift::lines(&shop.till.shift_report(&request).await.unwrap(), Columns::C32);
    shop.till.print_shift_report(&request).await.unwrap();
    // What comes behind it is on paper once it is.
    sell_printed(&shop, fare(1), PrintState::Printed).await;
    let paper = printer.lines();
    assert_eq!(paper[..lines.len()], lines, "{paper:#?}");
    assert_eq!(printer.cuts(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_made_is_named_and_stops_nothing_behind_it() {
    let (shop, printer) = with_printer().await;
    rusqlite::Connection::open(shop.folder().join("till.db"))
        .unwrap()
        .execute_batch(
            "INSERT INTO print_jobs (kind, copy_number, document, opens_drawer, person_id, state, created_at_ms,
                                     changed_at_ms)
             VALUES ('report', 0, 'of tomorrow', 0, 'c', 'queued', 0, 0)",
        )
        .unwrap();
    sell_printed(&shop, luggage(), PrintState::Printed).await;
    assert_eq!(printer.cuts(), 1);
    let failed = shop.till.printing().await.unwrap().failed;
    assert_eq!(failed.iter().map(|job| job.failure).collect::<Vec<_>>(), [Some(PrintFailure::NotMade)]);
}
