//! What the page may ask for. A command is one expression: it hands its request to the desk.
//!
//! Every command is async: a synchronous one would run on the window's own thread and freeze it.

use tauri::ipc::Invoke;
use tauri::{Runtime, State};
use turno_till::view::{
    AddPersonRequest, AnswerPrintRequest, AuditExported, AuditPage, AuditPageRequest, AuditVerified,
    CancelUnpaidRequest, ChangePinRequest, Charge, ChargeCardRequest, ChargeOutcome, CloseShiftRequest,
    ConnectRequest, CorrectSaleRequest, CreateManagerRequest, Decide, DecideOther, DiscardRequest,
    DraftOpened, ExportAuditRequest, ExportSalesRequest, ExportUnsentRequest, Frame, ImportUnsentRequest,
    MoveCashRequest, Offer, OpenShiftRequest, OtherReviews, PageRequest, PastShiftPage, PastShiftsRequest,
    PauseSendingRequest, PrintJob, PrintJobRequest, PrintedSaleRequest, PrinterSettings,
    PrinterSettingsRequest, Printing, Problem, Quote, QuoteRequest, Reconciliation, ResetPinRequest,
    RetirePersonRequest, RetryPrintRequest, Review, SaleDetail, SaleDetailRequest, SalePage,
    SalePrintsRequest, SalesExported, SavedReport, SearchOffersRequest, SearchSalesRequest, SeatMap,
    SeatMapRequest, SendReport, SetAppearanceRequest, SetLanguageRequest, SetPracticeLineRequest, Settings,
    ShiftReport, ShiftReportRequest, TicketPreview, UnlockRequest, UnsentExported, UnsentImported,
    VoidSaleRequest,
};

use crate::desk::Desk;

type Answer<T> = Result<T, Problem>;

/// All that `command_names.rs` names.
pub fn handler<R: Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        frame,
        start_practice,
        leave_practice,
        connect,
        create_manager,
        unlock,
        lock,
        add_person,
        reset_pin,
        retire_person,
        change_pin,
        open_shift,
        shift_report,
        move_cash,
        close_shift,
        past_shifts,
        save_shift_report,
        search_offers,
        seat_map,
        open_draft,
        quote,
        charge,
        pending,
        recent_sales,
        search_sales,
        export_sales,
        send_now,
        pause_sending,
        reconcile,
        last_reconciliation,
        reviews,
        decide,
        other_reviews,
        decide_other,
        audit_page,
        verify_audit,
        export_audit,
        take_back_discard,
        leave_discard,
        sale_detail,
        correct_sale,
        printer_settings,
        set_printer_settings,
        preview_test_page,
        print_test_page,
        printing,
        sale_prints,
        print_shift_report,
        preview_ticket,
        reprint,
        retry_print,
        dismiss_print,
        answer_print,
        void_sale,
        charge_card,
        cancel_unpaid,
        settings,
        back_up,
        export_unsent,
        import_unsent,
        set_practice_line,
        set_language,
        set_appearance,
    ]
}

#[tauri::command]
async fn frame(desk: State<'_, Desk>) -> Answer<Frame> {
    desk.frame().await
}

#[tauri::command]
async fn start_practice(desk: State<'_, Desk>) -> Answer<Frame> {
    desk.start_practice().await
}

#[tauri::command]
async fn leave_practice(desk: State<'_, Desk>) -> Answer<Frame> {
    desk.leave_practice().await
}

#[tauri::command]
async fn connect(desk: State<'_, Desk>, request: ConnectRequest) -> Answer<Frame> {
    desk.connect(request).await
}

#[tauri::command]
async fn create_manager(desk: State<'_, Desk>, request: CreateManagerRequest) -> Answer<Frame> {
    desk.create_manager(request).await
}

#[tauri::command]
async fn unlock(desk: State<'_, Desk>, request: UnlockRequest) -> Answer<Frame> {
    desk.unlock(request).await
}

#[tauri::command]
async fn lock(desk: State<'_, Desk>) -> Answer<Frame> {
    desk.lock().await
}

#[tauri::command]
async fn add_person(desk: State<'_, Desk>, request: AddPersonRequest) -> Answer<Frame> {
    desk.add_person(request).await
}

#[tauri::command]
async fn reset_pin(desk: State<'_, Desk>, request: ResetPinRequest) -> Answer<Frame> {
    desk.reset_pin(request).await
}

#[tauri::command]
async fn retire_person(desk: State<'_, Desk>, request: RetirePersonRequest) -> Answer<Frame> {
    desk.retire_person(request).await
}

#[tauri::command]
async fn change_pin(desk: State<'_, Desk>, request: ChangePinRequest) -> Answer<Frame> {
    desk.change_pin(request).await
}

#[tauri::command]
async fn open_shift(desk: State<'_, Desk>, request: OpenShiftRequest) -> Answer<Frame> {
    desk.open_shift(request).await
}

#[tauri::command]
async fn shift_report(desk: State<'_, Desk>, request: ShiftReportRequest) -> Answer<ShiftReport> {
    desk.till().await?.shift_report(&request).await
}

#[tauri::command]
async fn move_cash(desk: State<'_, Desk>, request: MoveCashRequest) -> Answer<ShiftReport> {
    desk.till().await?.move_cash(&request).await
}

#[tauri::command]
async fn close_shift(desk: State<'_, Desk>, request: CloseShiftRequest) -> Answer<Frame> {
    desk.close_shift(request).await
}

#[tauri::command]
async fn past_shifts(desk: State<'_, Desk>, request: PastShiftsRequest) -> Answer<PastShiftPage> {
    desk.till().await?.past_shifts(&request).await
}

#[tauri::command]
async fn save_shift_report(desk: State<'_, Desk>, request: ShiftReportRequest) -> Answer<SavedReport> {
    desk.till().await?.save_shift_report(&request).await
}

#[tauri::command]
async fn search_offers(desk: State<'_, Desk>, request: SearchOffersRequest) -> Answer<Vec<Offer>> {
    desk.till().await?.search_offers(&request.text, request.limit).await
}

#[tauri::command]
async fn seat_map(desk: State<'_, Desk>, request: SeatMapRequest) -> Answer<SeatMap> {
    desk.till().await?.seat_map(&request.offer_id).await
}

#[tauri::command]
async fn open_draft(desk: State<'_, Desk>) -> Answer<DraftOpened> {
    Ok(desk.till().await?.open_draft())
}

#[tauri::command]
async fn quote(desk: State<'_, Desk>, request: QuoteRequest) -> Answer<Quote> {
    desk.till().await?.quote(&request)
}

#[tauri::command]
async fn charge(desk: State<'_, Desk>, request: Charge) -> Answer<ChargeOutcome> {
    let _recording = desk.recording().await;
    desk.till().await?.charge(&request).await
}

#[tauri::command]
async fn pending(desk: State<'_, Desk>, request: PageRequest) -> Answer<SalePage> {
    desk.till().await?.pending(request.after).await
}

#[tauri::command]
async fn recent_sales(desk: State<'_, Desk>, request: PageRequest) -> Answer<SalePage> {
    desk.till().await?.recent_sales(request.after).await
}

#[tauri::command]
async fn search_sales(desk: State<'_, Desk>, request: SearchSalesRequest) -> Answer<SalePage> {
    desk.till().await?.search_sales(&request).await
}

#[tauri::command]
async fn export_sales(desk: State<'_, Desk>, request: ExportSalesRequest) -> Answer<SalesExported> {
    let _recording = desk.recording().await;
    desk.till().await?.export_sales(&request).await
}

#[tauri::command]
async fn send_now(desk: State<'_, Desk>) -> Answer<SendReport> {
    desk.till().await?.send_now().await
}

#[tauri::command]
async fn pause_sending(desk: State<'_, Desk>, request: PauseSendingRequest) -> Answer<Frame> {
    desk.pause_sending(request).await
}

#[tauri::command]
async fn reconcile(desk: State<'_, Desk>) -> Answer<Reconciliation> {
    desk.till().await?.reconcile().await
}

#[tauri::command]
async fn last_reconciliation(desk: State<'_, Desk>) -> Answer<Option<Reconciliation>> {
    desk.till().await?.last_reconciliation().await
}

#[tauri::command]
async fn reviews(desk: State<'_, Desk>) -> Answer<Vec<Review>> {
    desk.till().await?.reviews().await
}

#[tauri::command]
async fn decide(desk: State<'_, Desk>, request: Decide) -> Answer<Frame> {
    let _recording = desk.recording().await;
    desk.decide(request).await
}

#[tauri::command]
async fn other_reviews(desk: State<'_, Desk>) -> Answer<OtherReviews> {
    desk.till().await?.other_reviews().await
}

#[tauri::command]
async fn decide_other(desk: State<'_, Desk>, request: DecideOther) -> Answer<()> {
    let _recording = desk.recording().await;
    desk.till().await?.decide_other(&request).await
}

#[tauri::command]
async fn audit_page(desk: State<'_, Desk>, request: AuditPageRequest) -> Answer<AuditPage> {
    desk.till().await?.audit_page(&request).await
}

#[tauri::command]
async fn verify_audit(desk: State<'_, Desk>) -> Answer<AuditVerified> {
    desk.till().await?.verify_audit().await
}

#[tauri::command]
async fn export_audit(desk: State<'_, Desk>, request: ExportAuditRequest) -> Answer<AuditExported> {
    let _recording = desk.recording().await;
    desk.till().await?.export_audit(&request).await
}

#[tauri::command]
async fn take_back_discard(desk: State<'_, Desk>, request: DiscardRequest) -> Answer<Frame> {
    let _recording = desk.recording().await;
    desk.take_back_discard(request).await
}

#[tauri::command]
async fn leave_discard(desk: State<'_, Desk>, request: DiscardRequest) -> Answer<Frame> {
    let _recording = desk.recording().await;
    desk.leave_discard(request).await
}

#[tauri::command]
async fn sale_detail(desk: State<'_, Desk>, request: SaleDetailRequest) -> Answer<SaleDetail> {
    desk.till().await?.sale_detail(&request.external_transaction_id).await
}

#[tauri::command]
async fn charge_card(desk: State<'_, Desk>, request: ChargeCardRequest) -> Answer<Frame> {
    desk.charge_card(request).await
}

#[tauri::command]
async fn cancel_unpaid(desk: State<'_, Desk>, request: CancelUnpaidRequest) -> Answer<Frame> {
    desk.cancel_unpaid(request).await
}

#[tauri::command]
async fn void_sale(desk: State<'_, Desk>, request: VoidSaleRequest) -> Answer<Frame> {
    desk.void_sale(request).await
}

#[tauri::command]
async fn correct_sale(desk: State<'_, Desk>, request: CorrectSaleRequest) -> Answer<Frame> {
    desk.correct_sale(request).await
}

#[tauri::command]
async fn printer_settings(desk: State<'_, Desk>) -> Answer<PrinterSettings> {
    desk.till().await?.printer_settings().await
}

#[tauri::command]
async fn set_printer_settings(
    desk: State<'_, Desk>,
    request: PrinterSettingsRequest,
) -> Answer<PrinterSettings> {
    desk.till().await?.set_printer_settings(&request.settings).await
}

#[tauri::command]
async fn preview_test_page(desk: State<'_, Desk>, request: PrinterSettingsRequest) -> Answer<TicketPreview> {
    desk.till().await?.preview_test_page(&request.settings)
}

#[tauri::command]
async fn print_test_page(desk: State<'_, Desk>) -> Answer<Printing> {
    desk.till().await?.print_test_page().await
}

#[tauri::command]
async fn printing(desk: State<'_, Desk>) -> Answer<Printing> {
    desk.till().await?.printing().await
}

#[tauri::command]
async fn sale_prints(desk: State<'_, Desk>, request: SalePrintsRequest) -> Answer<Vec<PrintJob>> {
    desk.till().await?.sale_prints(&request.external_transaction_ids).await
}

#[tauri::command]
async fn print_shift_report(desk: State<'_, Desk>, request: ShiftReportRequest) -> Answer<Printing> {
    desk.till().await?.print_shift_report(&request).await
}

#[tauri::command]
async fn preview_ticket(desk: State<'_, Desk>, request: PrintedSaleRequest) -> Answer<TicketPreview> {
    desk.till().await?.preview_ticket(&request.external_transaction_id).await
}

#[tauri::command]
async fn reprint(desk: State<'_, Desk>, request: PrintedSaleRequest) -> Answer<Printing> {
    desk.till().await?.reprint(&request.external_transaction_id).await
}

#[tauri::command]
async fn retry_print(desk: State<'_, Desk>, request: RetryPrintRequest) -> Answer<Printing> {
    desk.till().await?.retry_print(request.job_id).await
}

#[tauri::command]
async fn dismiss_print(desk: State<'_, Desk>, request: PrintJobRequest) -> Answer<Printing> {
    desk.till().await?.dismiss_print(request.job_id).await
}

#[tauri::command]
async fn answer_print(desk: State<'_, Desk>, request: AnswerPrintRequest) -> Answer<Printing> {
    desk.till().await?.answer_print(&request).await
}

#[tauri::command]
async fn settings(desk: State<'_, Desk>) -> Answer<Settings> {
    desk.settings().await
}

#[tauri::command]
async fn back_up(desk: State<'_, Desk>) -> Answer<Settings> {
    desk.back_up().await
}

#[tauri::command]
async fn export_unsent(desk: State<'_, Desk>, request: ExportUnsentRequest) -> Answer<UnsentExported> {
    desk.till().await?.export_unsent(&request).await
}

#[tauri::command]
async fn import_unsent(desk: State<'_, Desk>, request: ImportUnsentRequest) -> Answer<UnsentImported> {
    desk.till().await?.import_unsent(&request).await
}

#[tauri::command]
async fn set_practice_line(desk: State<'_, Desk>, request: SetPracticeLineRequest) -> Answer<Frame> {
    desk.set_practice_line(request).await
}

#[tauri::command]
async fn set_language(desk: State<'_, Desk>, request: SetLanguageRequest) -> Answer<Frame> {
    desk.set_language(request).await
}

#[tauri::command]
async fn set_appearance(desk: State<'_, Desk>, request: SetAppearanceRequest) -> Answer<Frame> {
    desk.set_appearance(request).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};
    use tauri::ipc::{CallbackFn, InvokeBody};
    use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
    use tauri::webview::InvokeRequest;
    use tauri::{App, Manager, WebviewWindow, WebviewWindowBuilder};
    use tempfile::TempDir;

    use super::*;
    use crate::command_names::COMMANDS;
    use crate::desk::Folders;
    use crate::options::Options;

    /// The shell without a window: our handler behind the real capability file.
    fn app(folder: &TempDir) -> App<MockRuntime> {
        let context = tauri::generate_context!(test = true);
        let app = mock_builder().invoke_handler(handler()).build(context).expect("the shell starts");
        let [data, secrets, home] = ["data", "state", "home"].map(|name| folder.path().join(name));
        app.manage(Desk::new(Folders { data, secrets, home }, Options::default()));
        app
    }

    fn window(app: &App<MockRuntime>, label: &str) -> WebviewWindow<MockRuntime> {
        WebviewWindowBuilder::new(app, label, tauri::WebviewUrl::default())
            .build()
            .expect("a mocked window opens")
    }

    fn invoke(window: &WebviewWindow<MockRuntime>, command: &str) -> Result<Value, Value> {
        let request = InvokeRequest {
            cmd: command.into(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: "tauri://localhost".parse().unwrap(),
            body: InvokeBody::Json(json!({})),
            headers: tauri::http::HeaderMap::new(),
            invoke_key: INVOKE_KEY.to_owned(),
        };
        get_ipc_response(window, request).map(|body| body.deserialize().unwrap())
    }

    #[test]
    fn the_window_may_call_every_command_and_each_has_a_handler() {
        let folder = TempDir::new().unwrap();
        let app = app(&folder);
        let main = window(&app, "main");
        assert_eq!(invoke(&main, "frame").unwrap()["phase"]["phase"], "welcome");
        for command in COMMANDS {
            // Without arguments most are refused; what counts is who refuses.
            let refusal = invoke(&main, command).err().unwrap_or_default();
            let text = refusal.as_str().unwrap_or_default();
            assert!(!text.contains("not allowed"), "{command} lacks its permission: {text}");
            assert!(!text.contains("not found"), "{command} has no handler: {text}");
        }
        // Two need no arguments and were in earnest: practice was begun and left.
        assert_eq!(invoke(&main, "frame").unwrap()["phase"]["phase"], "welcome");
    }

    #[test]
    fn practice_can_be_left_and_begun_again_with_what_was_practised() {
        let folder = TempDir::new().unwrap();
        let app = app(&folder);
        let main = window(&app, "main");
        let phase = |command: &str| invoke(&main, command).unwrap()["phase"]["phase"].clone();
        assert!(invoke(&main, "leave_practice").is_err(), "there is nothing to leave");
        let first = invoke(&main, "start_practice").unwrap()["device_id"].clone();
        assert_eq!(phase("leave_practice"), "welcome");
        assert_eq!(phase("start_practice"), "locked");
        assert_eq!(invoke(&main, "frame").unwrap()["device_id"], first);
    }

    #[test]
    fn another_window_and_another_command_are_refused() {
        let folder = TempDir::new().unwrap();
        let app = app(&folder);
        let other = window(&app, "other");
        assert!(invoke(&other, "frame").is_err(), "the capability is for the window `main` only");
        let main = window(&app, "main");
        for foreign in ["plugin:fs|read_file", "plugin:webview|create_webview", "no_such_command"] {
            assert!(invoke(&main, foreign).is_err(), "{foreign}");
        }
    }

    #[test]
    fn the_capability_grants_our_commands_and_listening_and_nothing_else() {
        let file = include_str!("../capabilities/main.json");
        let capability: Value = serde_json::from_str(file).unwrap();
        assert_eq!(capability["windows"], json!(["main"]));
        let granted = capability["permissions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned());
        let ours = COMMANDS.iter().map(|command| format!("allow-{}", command.replace('_', "-")));
        let listening = ["core:event:allow-listen", "core:event:allow-unlisten"].map(str::to_owned);
        assert_eq!(granted.collect::<BTreeSet<_>>(), ours.chain(listening).collect());
    }
}
