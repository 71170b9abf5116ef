import { expect, test } from 'vitest';
import { MANAGER, PINS } from '../src/host/fake/till';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, typeSeat, waitFor, type Page } from './harness';

/** A seat of S/ 85.50 on the ticket, and a discount of this much on it. */
async function discounted(value: string): Promise<Page> {
  const page = await openPage();
  await typeSeat(page.user, '20:30', '12A');
  await page.user.keyboard('{Control>}d{/Control}');
  await expectFocus(testid.discountValue);
  await page.user.keyboard(value);
  await page.user.type(get(testid.discountReason), 'asiento roto{Enter}');
  await waitFor(() => expect(maybe(testid.discountDialog)).toBeNull());
  await expectFocus(testid.received);
  return page;
}

test('a discount by keyboard changes what is to be paid and is told with the sale', async () => {
  const { till, user } = await discounted('10');
  await waitFor(() => expect(get(testid.due).textContent).toBe('S/ 76.90'));
  expect(get(testid.discount).textContent).toContain('S/ 8.55');
  await user.keyboard('80{Enter}');
  await find(testid.lastSale);
  const [sale] = (await till.recentSales({ after: null })).items;
  expect(sale?.amount.minor).toBe(7695);
  await user.keyboard('{F6}');
  await user.click(await find(testid.saleOpen(sale?.external_transaction_id ?? '')));
  const told = await find(testid.saleDiscount);
  expect(told.textContent).toMatch(/S\/ 8\.55.*precio de lista S\/ 85\.50.*asiento roto/s);
  expect(told.textContent).not.toContain('aprobó');
});

test('beyond a tenth a manager’s PIN is asked for, and a wrong one is asked for again', async () => {
  const { till, user } = await discounted('10.02');
  await user.keyboard('100{Enter}');
  await find(testid.approveTicket);
  await expectFocus(testid.approvalPin);
  expect(till.calls['charge']).toBeUndefined();
  await user.keyboard('000000{Enter}');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('pin_wrong'));
  expect(maybe(testid.lastSale)).toBeNull();
  await expectFocus(testid.approvalPin);
  await user.keyboard(`${PINS[MANAGER.person_id] ?? ''}{Enter}`);
  await find(testid.lastSale);
  expect(maybe(testid.approveTicket)).toBeNull();
  const id = (await till.recentSales({ after: null })).items[0]?.external_transaction_id ?? '';
  const { discount } = await till.saleDetail({ external_transaction_id: id });
  expect(discount).toMatchObject({ discount: { minor: 856 }, approved_by: 'Encargado' });
});

test('a discount that leaves no price is refused, and can be taken off the line', async () => {
  const { till, user } = await discounted('100');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('discount_invalid'));
  await user.keyboard('{F9}');
  expect(till.calls['charge']).toBeUndefined();
  await user.click(get(testid.discount));
  await user.click(await find(testid.discountRemove));
  await waitFor(() => expect(maybe(testid.problem)).toBeNull());
  await waitFor(() => expect(get(testid.due).textContent).toBe('S/ 85.50'));
});
