import { expect, test } from 'vitest';
import { messages } from '../src/i18n/messages';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, waitFor, type Page } from './harness';

/** The audit, as a manager opens it. */
async function openAudit(): Promise<Page> {
  const page = await openPage();
  await page.user.keyboard('{F12}');
  await expectFocus(testid.pinInput);
  await page.user.keyboard('271828{Enter}');
  await waitFor(() => expect(maybe(testid.switchDialog)).toBeNull());
  await page.user.keyboard('{F10}');
  await page.user.click(await find(testid.auditOpen));
  await find(testid.auditRow(45));
  return page;
}

test('a cashier finds no audit in the settings', async () => {
  const { user } = await openPage();
  await user.keyboard('{F10}');
  await find(testid.backUp);
  expect(maybe(testid.auditOpen)).toBeNull();
});

test('rows come newest first, and the older ones on request', async () => {
  const { user } = await openAudit();
  expect(maybe(testid.auditRow(25))).toBeNull();
  await user.click(get(testid.auditMore));
  await find(testid.auditRow(25));
  await user.click(get(testid.auditMore));
  await find(testid.auditRow(1));
  expect(maybe(testid.auditMore)).toBeNull();
});

test('every filter leaves its own rows and can be taken off again', async () => {
  const { user } = await openAudit();
  await user.selectOptions(get(testid.auditKind), 'people');
  await waitFor(() => expect(maybe(testid.auditRow(45))).toBeNull());
  const events = [...document.querySelectorAll<HTMLElement>('[data-event]')].map(
    (row) => row.dataset['event'],
  );
  expect(new Set(events)).toEqual(new Set(['pin_refused']));
  await user.selectOptions(get(testid.auditPerson), 'p-caja');
  await waitFor(() =>
    expect(get(testid.auditDialog).querySelector('tbody')?.textContent).not.toContain('Encargado'),
  );
  await user.selectOptions(get(testid.auditKind), '');
  await user.selectOptions(get(testid.auditPerson), '');
  await find(testid.auditRow(45));
});

test('the chain is verified, and the first row that does not hold is named', async () => {
  const { user, till } = await openAudit();
  await user.click(get(testid.auditVerify));
  await waitFor(() => expect(get(testid.auditVerified).textContent).toContain('45 filas'));
  till.audit.brokenAt = 17;
  await user.click(get(testid.auditVerify));
  await waitFor(() => expect(get(testid.auditVerified).dataset['broken']).toBe('17'));
  expect(get(testid.auditVerified).textContent).toContain('fila 17');
});

test('a file is written with a manager’s PIN, and a wrong one keeps what was typed', async () => {
  const { user } = await openAudit();
  await user.click(get(testid.auditExport));
  await user.type(get(testid.auditPath), '/media/usb/a.jsonl');
  await user.type(get(testid.approvalPin), '000000{Enter}');
  await waitFor(() => expect(get('problem').dataset['code']).toBe('pin_wrong'));
  expect(get(testid.auditPath)).toHaveProperty('value', '/media/usb/a.jsonl');
  await user.type(get(testid.approvalPin), '271828{Enter}');
  await waitFor(() => expect(get(testid.auditExported).textContent).toContain('/media/usb/a.jsonl'));
});

test('both languages name the same events', () => {
  expect(Object.keys(messages.en.audit.events).sort()).toEqual(Object.keys(messages.es.audit.events).sort());
});
