import { expect, test } from 'vitest';
import type { Charge } from '../src/bindings/Charge';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, typeSeat, waitFor, type Page } from './harness';

/** A seat of S/ 70.96 on the ticket, and the keyboard in *Recibido*. */
async function atPayment(): Promise<Page & { charged: Charge[] }> {
  const page = await openPage();
  const charged: Charge[] = [];
  const charge = page.till.charge.bind(page.till);
  page.till.charge = (request) => {
    charged.push(request);
    return charge(request);
  };
  await typeSeat(page.user, 'cusco', '2B');
  await page.user.keyboard('{Enter}');
  await expectFocus(testid.received);
  return { ...page, charged };
}

const due = (text: string) => waitFor(() => expect(get(testid.due).textContent).toBe(text));

test('F8 goes to the payment and then through the ways to pay; a wallet pays exactly', async () => {
  const { user, charged } = await atPayment();
  await due('S/ 70.90');
  await user.keyboard('{F8}');
  await expectFocus(testid.walletOperation('rest'));
  await due('S/ 70.96');
  await user.keyboard('00ab12{Enter}');
  await find(testid.lastSale);
  expect(charged[0]?.tenders).toEqual([
    { method: 'wallet', provider: 'yape', operation_number: '00ab12', amount: null },
  ]);
  await typeSeat(user, 'cusco', '3B');
  expect(maybe(testid.walletOperation('rest'))).toBeNull();
  expect((get(testid.tender('cash')) as HTMLInputElement).checked).toBe(true);
});

test('F8 three times is cash again', async () => {
  const { user } = await atPayment();
  await user.keyboard('{F8}{F8}{F8}');
  await expectFocus(testid.received);
  await due('S/ 70.90');
});

test('Enter without a number charges nothing and says what to type', async () => {
  const { user, charged } = await atPayment();
  await user.keyboard('{F8}{Enter}');
  await waitFor(() => expect(document.body.textContent).toContain('Escriba el número de operación'));
  await user.keyboard('12{Enter}');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('operation_number_invalid'));
  expect(charged).toHaveLength(1);
  expect(maybe(testid.lastSale)).toBeNull();
});

test('a split says what is left in cash, rounds only that, and names both tenders afterwards', async () => {
  const { till, user, charged } = await atPayment();
  await user.keyboard('{Shift>}{F8}{/Shift}');
  await expectFocus(testid.partAmount('1'));
  await user.keyboard('20{Enter}');
  await expectFocus(testid.walletOperation('1'));
  await user.keyboard('98765{Enter}');
  await expectFocus(testid.received);
  await waitFor(() => expect(get(testid.cashDue).textContent).toBe('S/ 50.90'));
  await user.keyboard('30');
  await waitFor(() => expect(get(testid.change).textContent).toBe('Falta S/ 20.90'));
  await user.clear(get(testid.received));
  await user.keyboard('60');
  await waitFor(() => expect(get(testid.change).textContent).toBe('Vuelto S/ 9.10'));
  await user.keyboard('{Enter}');
  await find(testid.lastSale);
  expect(charged[0]?.tenders).toEqual([
    { method: 'wallet', provider: 'yape', operation_number: '98765', amount: '20' },
    { method: 'cash', received: '60' },
  ]);
  const [sale] = (await till.recentSales({ after: null })).items;
  await user.keyboard('{F6}');
  await user.click(await find(testid.saleOpen(sale?.external_transaction_id ?? '')));
  const paid = await find(testid.paidWith);
  expect(paid.textContent).toMatch(/Yape\s*S\/ 20\.00\s*op\.\s*98765.*Efectivo\s*S\/ 50\.90/s);
});

test('a part that is more than what is left is refused with the figure, and the ticket stays', async () => {
  const { user, charged } = await atPayment();
  await user.keyboard('{Shift>}{F8}{/Shift}');
  await expectFocus(testid.partAmount('1'));
  await user.keyboard('71');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('tender_too_much'));
  expect(get(testid.problem).textContent).toContain('PEN 70.96');
  await user.keyboard('{F9}');
  expect(charged).toHaveLength(0);
  await user.click(get(testid.partRemove('1')));
  await waitFor(() => expect(maybe(testid.problem)).toBeNull());
  await due('S/ 70.90');
});

test('a payment that paid a sale already is refused and the sale is named', async () => {
  const { user } = await atPayment();
  await user.keyboard('{F8}');
  await user.keyboard('AB1234{Enter}');
  await find(testid.lastSale);
  await typeSeat(user, 'cusco', '3B');
  await user.keyboard('{Enter}{F8}');
  await expectFocus(testid.walletOperation('rest'));
  await user.keyboard('ab1234{Enter}');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('operation_number_used'));
  expect(get(testid.problem).textContent).toContain('D03-K7M-S44-0001');
});
