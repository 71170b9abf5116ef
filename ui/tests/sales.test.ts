import { fireEvent } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import type { SalePage } from '../src/bindings/SalePage';
import type { SearchSalesRequest } from '../src/bindings/SearchSalesRequest';
import { SaleSearch } from '../src/domain/sale-search.svelte';
import { MANAGER, PINS } from '../src/host/fake/till';
import type { Host } from '../src/host/host';
import { testid } from '../src/shared/testids';
import { dayAt } from '../src/shared/time';
import { expectFocus, find, get, maybe, openPage, sellSeat, waitFor, type Page } from './harness';

const FIRST = 'D03-K7M-S44-0001';
const SECOND = 'D03-K7M-S44-0002';

/** Two sales, and the view of all sales. */
async function openSales(): Promise<Page> {
  const page = await openPage();
  const { user } = page;
  await sellSeat(user, 'lima arequipa', '12A', 'María Ramos');
  await sellSeat(user, 'lima arequipa', '12B', 'José Ñáñez');
  await user.keyboard('{F6}');
  await expectFocus(testid.salesSearch);
  await shown(2);
  return page;
}

const rows = () =>
  [...document.querySelectorAll<HTMLElement>('tbody tr')].map((row) => row.dataset['testid'] ?? '');
const shown = (count: number) => waitFor(() => expect(rows()).toHaveLength(count));

test('what is typed leaves the sales that it means, and Escape brings all back', async () => {
  const { user } = await openSales();
  const ids = rows();
  await user.keyboard('nanez');
  await shown(1);
  expect(rows()).toEqual([ids[0]]);
  await user.keyboard('{Escape}');
  await shown(2);
  expect(get(testid.salesSearch)).toHaveProperty('value', '');
  for (const text of ['12a', 'maria ram', '12A lima', 'hoy maria']) {
    await user.keyboard(text);
    await shown(1);
    expect(rows(), text).toEqual([ids[1]]);
    await user.keyboard('{Escape}');
    await shown(2);
  }
});

test('Enter opens the newest sale that matches, also when it is typed faster than the till answers', async () => {
  const { user } = await openSales();
  await user.keyboard('maria{Enter}');
  const dialog = await find(testid.saleDialog);
  await waitFor(() => expect(dialog.textContent).toContain('María Ramos'));
});

test('Enter in an empty field opens nothing', async () => {
  const { user } = await openSales();
  await user.keyboard('{Enter}');
  expect(maybe(testid.saleDialog)).toBeNull();
});

test('what nobody bought says so, and one press shows every sale again', async () => {
  const { user } = await openSales();
  await user.keyboard('nadie');
  await find(testid.salesNone);
  await user.selectOptions(get(testid.salesStanding), 'voided');
  await user.click(await find(testid.salesClear));
  await shown(2);
  expect(get(testid.salesStanding)).toHaveProperty('value', '');
});

test('each filter leaves its own sales', async () => {
  const { user } = await openSales();
  await user.selectOptions(get(testid.salesStanding), 'voided');
  await find(testid.salesNone);
  await user.selectOptions(get(testid.salesStanding), '');
  await user.selectOptions(get(testid.salesTender), 'wallet');
  await find(testid.salesNone);
  await user.selectOptions(get(testid.salesTender), 'cash');
  await shown(2);
  await user.selectOptions(get(testid.salesPeriod), 'this_shift');
  await shown(2);
  await user.selectOptions(get(testid.salesPeriod), 'days');
  await find(testid.salesFrom);
  await shown(2);
  await fireEvent.change(get(testid.salesTo), { target: { value: '2020-01-01' } });
  await find(testid.salesNone);
});

test('the days that are looked at begin with today, each time they are chosen', async () => {
  const { user } = await openSales();
  const days = () => [testid.salesFrom, testid.salesTo].map((id) => (get(id) as HTMLInputElement).value);
  const today = dayAt(Date.now());
  await user.selectOptions(get(testid.salesPeriod), 'days');
  expect(days()).toEqual([today, today]);
  await fireEvent.change(get(testid.salesFrom), { target: { value: '2020-01-01' } });
  await fireEvent.change(get(testid.salesTo), { target: { value: '2020-01-02' } });
  await find(testid.salesNone);
  await user.selectOptions(get(testid.salesPeriod), 'always');
  await shown(2);
  await user.selectOptions(get(testid.salesPeriod), 'days');
  expect(days()).toEqual([today, today]);
  await shown(2);
});

/** The dialog in which the sales that are shown leave. */
async function openExport(user: Page['user']): Promise<HTMLInputElement> {
  await user.click(get(testid.salesExport));
  await expectFocus(testid.approvalPin);
  const path = get(testid.salesExportPath) as HTMLInputElement;
  await waitFor(() => expect(path.value).toMatch(/\.csv$/));
  return path;
}

const pin = `${PINS[MANAGER.person_id] ?? ''}{Enter}`;

test('what leaves in a table is what is looked for, and not what is on the screen', async () => {
  const { till, user } = await openSales();
  const exported = vi.spyOn(till, 'exportSales');
  await user.keyboard('nanez');
  await shown(1);
  await user.selectOptions(get(testid.salesTender), 'cash');
  const path = await openExport(user);
  await user.keyboard(pin);
  expect((await find(testid.salesExported)).textContent).toBe(`1 venta en ${path.value}.`);
  expect(exported.mock.lastCall?.[0]).toEqual({
    path: path.value,
    search: { text: 'nanez', standing: null, tender: 'cash', period: { kind: 'always' }, after: null },
    decimal: 'point',
    mark: 'utf8',
    approval: { manager_id: MANAGER.person_id, pin: PINS[MANAGER.person_id] },
  });
  await user.click(get(testid.salesExportComma));
  await user.click(get(testid.salesExportExcel));
  await user.clear(path);
  await user.type(path, '/media/usb/ventas.csv');
  await user.type(get(testid.approvalPin), pin);
  await waitFor(() => expect(exported).toHaveBeenCalledTimes(2));
  expect(exported.mock.lastCall?.[0]).toMatchObject({ decimal: 'comma', mark: 'none' });
});

test('a wrong PIN, a folder that is gone and a file that is there are told, and nothing is said to be done', async () => {
  const { user } = await openSales();
  const path = await openExport(user);
  const refused = (code: string) => waitFor(() => expect(get(testid.problem).dataset['code']).toBe(code));
  await user.keyboard('000000{Enter}');
  await refused('pin_wrong');
  expect(get(testid.approvalPin)).toHaveProperty('value', '');
  await user.clear(path);
  await user.type(path, '/media/sin-usb/a.csv');
  await user.type(get(testid.approvalPin), pin);
  await refused('folder_missing');
  expect(get(testid.problem).textContent).toContain('/media/sin-usb');
  expect(maybe(testid.salesExported)).toBeNull();
  await user.clear(path);
  await user.type(path, '/media/usb/a.csv');
  await user.type(get(testid.approvalPin), pin);
  await find(testid.salesExported);
  await user.type(get(testid.approvalPin), pin);
  await refused('file_exists');
  expect(maybe(testid.salesExported)).toBeNull();
});

test('without sales there is nothing to export', async () => {
  const { user } = await openSales();
  await user.keyboard('nadie');
  await find(testid.salesNone);
  expect(get(testid.salesExport)).toHaveProperty('disabled', true);
});

type Asked = { request: SearchSalesRequest; answer: (page: SalePage) => void };

/** A search whose answers come when the test says so. */
function slowSearch() {
  const asked: Asked[] = [];
  const searchSales: Host['searchSales'] = (request) =>
    new Promise((answer) => {
      asked.push({ request, answer });
    });
  return { asked, search: new SaleSearch({ searchSales } as Host) };
}

const pageOf = (...ids: string[]): SalePage => ({
  items: ids.map((external_transaction_id, at) => ({
    external_transaction_id,
    sequence: at,
  })) as SalePage['items'],
  next: null,
});

test('an older answer never stands under a newer question', async () => {
  const { asked, search } = slowSearch();
  void search.filter({ text: 'm' });
  void search.filter({ text: 'ma' });
  asked[1]?.answer(pageOf(SECOND));
  await waitFor(() => expect(search.answered).toBe(true));
  asked[0]?.answer(pageOf(FIRST));
  await Promise.resolve();
  expect(search.items?.map((sale) => sale.external_transaction_id)).toEqual([SECOND]);
});

test('Enter waits for the answer to what stands in the field', async () => {
  const { asked, search } = slowSearch();
  void search.filter({ text: 'm' });
  asked[0]?.answer(pageOf(FIRST));
  await waitFor(() => expect(search.answered).toBe(true));
  void search.filter({ text: 'ma' });
  const first = search.first();
  asked[1]?.answer(pageOf(SECOND));
  expect((await first)?.external_transaction_id).toBe(SECOND);
});

test('one day is a period, and no day is none', () => {
  const { search } = slowSearch();
  void search.filter({ period: 'days' });
  expect(search.request.period).toEqual({ kind: 'always' });
  void search.filter({ from: '2026-11-12' });
  expect(search.request.period).toEqual({ kind: 'days', from: '2026-11-12', to: '2026-11-12' });
  void search.filter({ to: '2026-11-30' });
  expect(search.request.period).toEqual({ kind: 'days', from: '2026-11-12', to: '2026-11-30' });
});
