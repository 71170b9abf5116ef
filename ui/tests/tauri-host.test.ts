import { clearMocks, mockIPC } from '@tauri-apps/api/mocks';
import { afterEach, expect, test, vi } from 'vitest';
import type { Host } from '../src/host/host';
import { tauriHost } from '../src/host/tauri';

afterEach(clearMocks);

type Call = { command: string; payload: unknown };

function listenToCalls(): Call[] {
  const calls: Call[] = [];
  mockIPC(
    (command, payload) => {
      calls.push({ command, payload });
      return null;
    },
    { shouldMockEvents: true },
  );
  return calls;
}

const request = { of: 'the test' };

/** The method, its command in the shell, and whether it takes a request. */
const commands: [Exclude<keyof Host, 'onChanged'>, string, 'request' | 'nothing'][] = [
  ['frame', 'frame', 'nothing'],
  ['startPractice', 'start_practice', 'nothing'],
  ['leavePractice', 'leave_practice', 'nothing'],
  ['connect', 'connect', 'request'],
  ['createManager', 'create_manager', 'request'],
  ['unlock', 'unlock', 'request'],
  ['lock', 'lock', 'nothing'],
  ['addPerson', 'add_person', 'request'],
  ['resetPin', 'reset_pin', 'request'],
  ['retirePerson', 'retire_person', 'request'],
  ['changePin', 'change_pin', 'request'],
  ['openShift', 'open_shift', 'request'],
  ['shiftReport', 'shift_report', 'request'],
  ['moveCash', 'move_cash', 'request'],
  ['closeShift', 'close_shift', 'request'],
  ['pastShifts', 'past_shifts', 'request'],
  ['saveShiftReport', 'save_shift_report', 'request'],
  ['searchOffers', 'search_offers', 'request'],
  ['seatMap', 'seat_map', 'request'],
  ['openDraft', 'open_draft', 'nothing'],
  ['quote', 'quote', 'request'],
  ['charge', 'charge', 'request'],
  ['pending', 'pending', 'request'],
  ['recentSales', 'recent_sales', 'request'],
  ['searchSales', 'search_sales', 'request'],
  ['exportSales', 'export_sales', 'request'],
  ['sendNow', 'send_now', 'nothing'],
  ['pauseSending', 'pause_sending', 'request'],
  ['reconcile', 'reconcile', 'nothing'],
  ['lastReconciliation', 'last_reconciliation', 'nothing'],
  ['reviews', 'reviews', 'nothing'],
  ['decide', 'decide', 'request'],
  ['otherReviews', 'other_reviews', 'nothing'],
  ['decideOther', 'decide_other', 'request'],
  ['auditPage', 'audit_page', 'request'],
  ['verifyAudit', 'verify_audit', 'nothing'],
  ['exportAudit', 'export_audit', 'request'],
  ['takeBackDiscard', 'take_back_discard', 'request'],
  ['leaveDiscard', 'leave_discard', 'request'],
  ['saleDetail', 'sale_detail', 'request'],
  ['chargeCard', 'charge_card', 'request'],
  ['cancelUnpaid', 'cancel_unpaid', 'request'],
  ['voidSale', 'void_sale', 'request'],
  ['correctSale', 'correct_sale', 'request'],
  ['printerSettings', 'printer_settings', 'nothing'],
  ['setPrinterSettings', 'set_printer_settings', 'request'],
  ['previewTestPage', 'preview_test_page', 'request'],
  ['printTestPage', 'print_test_page', 'nothing'],
  ['printing', 'printing', 'nothing'],
  ['printShiftReport', 'print_shift_report', 'request'],
  ['salePrints', 'sale_prints', 'request'],
  ['previewTicket', 'preview_ticket', 'request'],
  ['reprint', 'reprint', 'request'],
  ['retryPrint', 'retry_print', 'request'],
  ['dismissPrint', 'dismiss_print', 'request'],
  ['answerPrint', 'answer_print', 'request'],
  ['settings', 'settings', 'nothing'],
  ['backUp', 'back_up', 'nothing'],
  ['exportUnsent', 'export_unsent', 'request'],
  ['importUnsent', 'import_unsent', 'request'],
  ['setPracticeLine', 'set_practice_line', 'request'],
  ['setLanguage', 'set_language', 'request'],
  ['setAppearance', 'set_appearance', 'request'],
];

test.each(commands)('%s is the command %s with %s', async (method, command, takes) => {
  const calls = listenToCalls();
  const ask = tauriHost[method].bind(tauriHost) as (given?: unknown) => Promise<unknown>;
  await ask(takes === 'request' ? request : undefined);
  expect(calls).toEqual([{ command, payload: takes === 'request' ? { request } : {} }]);
});

test('no command is missing from this list', () => {
  expect(
    commands
      .map(([method]) => method)
      .concat()
      .sort(),
  ).toEqual(
    Object.keys(tauriHost)
      .filter((method) => method !== 'onChanged')
      .sort(),
  );
});

test('a subscription that is refused does not fail the page', async () => {
  mockIPC(() => Promise.reject(new Error('not allowed')));
  const stop = tauriHost.onChanged(vi.fn());
  expect(stop).not.toThrow();
  await Promise.resolve();
});
