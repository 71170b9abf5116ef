import { expect, test } from 'vitest';
import { messages } from '../src/i18n/messages';
import { FakeTill, MANAGER, PINS } from '../src/host/fake/till';
import type { PrinterSettings } from '../src/bindings/PrinterSettings';
import { PrinterForm } from '../src/domain/printer-form.svelte';
import { testid } from '../src/shared/testids';
import { expectState, find, get, maybe, openPage, sellSeat, waitFor, type Page } from './harness';

const words = messages.es.printing;

/** A page on a till that has a printer. */
async function withPrinter(): Promise<Page> {
  const page = await openPage();
  page.till.printer.set({ ...page.till.printer.settings, device: { kind: 'network', address: '10.0.0.9' } });
  return page;
}

/** Somebody who may change settings is at the till. */
async function asManager(page: Page): Promise<void> {
  await page.till.unlock({ person_id: MANAGER.person_id, pin: PINS[MANAGER.person_id] ?? '' });
  page.till.hint();
  await waitFor(() => expect(document.body.textContent).toContain(MANAGER.name));
}

test('a till without a printer says nothing of printing and still shows its tickets', async () => {
  const { user } = await openPage();
  await sellSeat(user, 'lima arequipa', '12A');
  expect(maybe(testid.lastSalePrint)).toBeNull();
  expect(maybe(testid.lastSaleReprint)).toBeNull();
  await user.click(await find(testid.lastSaleSee));
  expect((await find(testid.slip)).textContent).toContain('Arequipa');
  expect(maybe(testid.slipReprint)).toBeNull();
});

test('a sale’s ticket is printed, and a reprint is a copy', async () => {
  const { user, till } = await withPrinter();
  await sellSeat(user, 'lima arequipa', '12A');
  await expectState(testid.lastSalePrint, 'printed');
  await user.click(get(testid.lastSaleReprint));
  await waitFor(() => expect(get(testid.lastSalePrint).textContent).toContain(`${words.kind.copy} 1`));
  expect(till.printer.jobs.map(({ kind }) => kind)).toEqual(['ticket', 'copy']);
});

test.each(['no_printer', 'no_paper', 'no_answer', 'wrong_name'] as const)(
  'the trouble %s has words of its own and stops nobody',
  async (trouble) => {
    const { user, till } = await withPrinter();
    till.printer.trouble = trouble;
    await sellSeat(user, 'lima arequipa', '12A');
    expect((await find(testid.printFailed)).textContent).toContain(words.failure[trouble]);
    await sellSeat(user, 'lima arequipa', '12B');
    await waitFor(() => expect(get(testid.printFailed).dataset['count']).toBe('2'));
    till.printer.trouble = null;
    await user.click(get(testid.printRetry));
    await waitFor(() => expect(maybe(testid.printFailed)).toBeNull());
    expect(till.printer.jobs.map(({ state }) => state)).toEqual(['printed', 'printed']);
  },
);

test('a ticket can be left unprinted', async () => {
  const { user, till } = await withPrinter();
  till.printer.trouble = 'no_paper';
  await sellSeat(user, 'lima arequipa', '12A');
  await user.click(await find(testid.printDismiss));
  await waitFor(() => expect(maybe(testid.printFailed)).toBeNull());
  await expectState(testid.lastSalePrint, 'dismissed');
});

test.each([
  [testid.printComplete, ['printed']],
  [testid.printIncomplete, ['replaced', 'printed']],
] as const)('an interrupted ticket is asked about: %s', async (answer, states) => {
  const { user, till } = await withPrinter();
  till.printer.trouble = 'no_answer';
  till.printer.inMidTicket = true;
  await sellSeat(user, 'lima arequipa', '12A');
  expect((await find(testid.printQuestion)).textContent).toContain(words.question);
  till.printer.trouble = null;
  await user.click(get(answer));
  await waitFor(() => expect(maybe(testid.printQuestion)).toBeNull());
  expect(till.printer.jobs.map(({ state }) => state)).toEqual(states);
});

test('a manager sets the printer and prints a test', async () => {
  const page = await openPage();
  const { user, till } = page;
  await asManager(page);
  await user.keyboard('{F10}');
  await user.click(await find(testid.printerDevice('network')));
  const save = get(testid.printerSave);
  await user.click(save);
  expect((await find(testid.problem)).dataset['code']).toBe('printer_settings_invalid');
  await user.type(get(testid.printerAddress), '192.168.1.50');
  await user.selectOptions(get(testid.printerColumns), '32');
  await waitFor(() => expect(get(testid.slip).className).toContain('columns-32'));
  await user.type(get(testid.printerFooter), 'Gracias');
  await waitFor(() => expect(get(testid.slip).textContent).toContain('Gracias'));
  expect(till.printer.settings.device).toBeNull();
  expect(get(testid.printerTest)).toHaveProperty('disabled', true);
  await user.click(save);
  await waitFor(() => expect(get(testid.printerSaved).textContent).toContain(words.saved));
  expect(till.printer.settings).toMatchObject({
    device: { kind: 'network', address: '192.168.1.50' },
    columns: 32,
    footer_1: 'Gracias',
  });
  await waitFor(() => expect(get(testid.printerTest)).toHaveProperty('disabled', false));
  await user.click(get(testid.printerTest));
  await waitFor(() => expect(get(testid.printerSaved).textContent).toContain(words.testAsked));
  expect(till.printer.jobs.map(({ kind }) => kind)).toEqual(['test']);
});

test('a cashier sees the printer’s settings and cannot change them', async () => {
  const { user } = await openPage();
  await user.keyboard('{F10}');
  await waitFor(() => expect(document.body.textContent).toContain(words.onlyManager));
  expect(get(testid.printerFooter).closest('fieldset')?.disabled).toBe(true);
  expect(get(testid.printerSave)).toHaveProperty('disabled', true);
});

test('every kind of printer comes back into the form as it was kept', async () => {
  const till = new FakeTill();
  const devices: PrinterSettings['device'][] = [
    { kind: 'network', address: 'cocina.local' },
    { kind: 'device_file', path: '/dev/usb/lp0' },
    { kind: 'file', path: '/tmp/tickets' },
    null,
  ];
  for (const device of devices) {
    till.printer.settings = { ...till.printer.settings, device };
    const form = new PrinterForm(till);
    await form.load();
    expect(form.settings?.device).toEqual(device);
    expect(form.isChanged).toBe(false);
  }
});
