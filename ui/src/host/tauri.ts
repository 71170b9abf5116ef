/** The till behind the window's shell. The only file that knows Tauri: no other import of it exists. */
import { invoke, isTauri } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import type { Host } from './host';

const CHANGED = 'till-changed';

export const insideTauri = isTauri;

export const tauriHost: Host = {
  frame: () => invoke('frame'),
  startPractice: () => invoke('start_practice'),
  leavePractice: () => invoke('leave_practice'),
  connect: (request) => invoke('connect', { request }),
  createManager: (request) => invoke('create_manager', { request }),
  unlock: (request) => invoke('unlock', { request }),
  lock: () => invoke('lock'),
  addPerson: (request) => invoke('add_person', { request }),
  resetPin: (request) => invoke('reset_pin', { request }),
  retirePerson: (request) => invoke('retire_person', { request }),
  changePin: (request) => invoke('change_pin', { request }),
  openShift: (request) => invoke('open_shift', { request }),
  shiftReport: (request) => invoke('shift_report', { request }),
  moveCash: (request) => invoke('move_cash', { request }),
  closeShift: (request) => invoke('close_shift', { request }),
  pastShifts: (request) => invoke('past_shifts', { request }),
  saveShiftReport: (request) => invoke('save_shift_report', { request }),
  searchOffers: (request) => invoke('search_offers', { request }),
  seatMap: (request) => invoke('seat_map', { request }),
  openDraft: () => invoke('open_draft'),
  quote: (request) => invoke('quote', { request }),
  charge: (request) => invoke('charge', { request }),
  pending: (request) => invoke('pending', { request }),
  recentSales: (request) => invoke('recent_sales', { request }),
  searchSales: (request) => invoke('search_sales', { request }),
  exportSales: (request) => invoke('export_sales', { request }),
  sendNow: () => invoke('send_now'),
  pauseSending: (request) => invoke('pause_sending', { request }),
  reconcile: () => invoke('reconcile'),
  lastReconciliation: () => invoke('last_reconciliation'),
  reviews: () => invoke('reviews'),
  decide: (request) => invoke('decide', { request }),
  otherReviews: () => invoke('other_reviews'),
  decideOther: (request) => invoke('decide_other', { request }),
  auditPage: (request) => invoke('audit_page', { request }),
  verifyAudit: () => invoke('verify_audit'),
  exportAudit: (request) => invoke('export_audit', { request }),
  takeBackDiscard: (request) => invoke('take_back_discard', { request }),
  leaveDiscard: (request) => invoke('leave_discard', { request }),
  saleDetail: (request) => invoke('sale_detail', { request }),
  chargeCard: (request) => invoke('charge_card', { request }),
  cancelUnpaid: (request) => invoke('cancel_unpaid', { request }),
  voidSale: (request) => invoke('void_sale', { request }),
  correctSale: (request) => invoke('correct_sale', { request }),
  printerSettings: () => invoke('printer_settings'),
  setPrinterSettings: (request) => invoke('set_printer_settings', { request }),
  previewTestPage: (request) => invoke('preview_test_page', { request }),
  printTestPage: () => invoke('print_test_page'),
  printing: () => invoke('printing'),
  printShiftReport: (request) => invoke('print_shift_report', { request }),
  salePrints: (request) => invoke('sale_prints', { request }),
  previewTicket: (request) => invoke('preview_ticket', { request }),
  reprint: (request) => invoke('reprint', { request }),
  retryPrint: (request) => invoke('retry_print', { request }),
  dismissPrint: (request) => invoke('dismiss_print', { request }),
  answerPrint: (request) => invoke('answer_print', { request }),
  settings: () => invoke('settings'),
  backUp: () => invoke('back_up'),
  exportUnsent: (request) => invoke('export_unsent', { request }),
  importUnsent: (request) => invoke('import_unsent', { request }),
  setPracticeLine: (request) => invoke('set_practice_line', { request }),
  setLanguage: (request) => invoke('set_language', { request }),
  setAppearance: (request) => invoke('set_appearance', { request }),
  onChanged: (listener) => {
    // Without hints the page still reads the frame now and then, so a refused subscription is no reason to fail.
    const stopping = listen(CHANGED, listener).catch(() => () => undefined);
    return () => void stopping.then((stop) => stop());
  },
};
