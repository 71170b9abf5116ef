import { expect, test } from 'vitest';
import type { Finding } from '../src/bindings/Finding';
import { messages } from '../src/i18n/messages';
import { formatMoney } from '../src/shared/money';
import { testid } from '../src/shared/testids';
import { find, get, maybe, openPage, waitFor } from './harness';

const { es } = messages;
const ours = { minor: 200, currency: 'PEN' };

const finding = (kind: Finding['kind'], id: string): Finding => ({
  kind,
  external_transaction_id: id,
  yupy_transaction_id: null,
  our_amount: ours,
  yupy_amount: 'PEN 2.10',
});

test('a comparison without differences says so, and when it was', async () => {
  const { user } = await openPage();
  await user.keyboard('{F6}');
  await waitFor(() => expect(get(testid.reconciliation).textContent).toContain(es.sales.neverCompared));
  await user.click(get(testid.reconcile));
  await waitFor(() => expect(get(testid.reconciliation).textContent).toContain(es.sales.noDifferences));
  expect(maybe(testid.reconciliationAlarm)).toBeNull();
});

test('each difference is named with both amounts and what to do, and people are told wherever they are', async () => {
  const { till, user } = await openPage();
  till.differences = [finding('amount_differs', 'D03-K7M-S1-0001'), finding('sent_again', 'D03-K7M-S1-0002')];
  await user.keyboard('{F6}');
  await user.click(await find(testid.reconcile));
  await waitFor(() => expect(document.body.textContent).toContain(es.sales.finding.amount_differs));
  expect(document.body.textContent).toContain('D03-K7M-S1-0001');
  expect(document.body.textContent).toContain(es.sales.amounts(formatMoney(ours), 'PEN 2.10'));
  expect(document.body.textContent).toContain(es.sales.finding.sent_again);
  await user.keyboard('{F2}');
  expect((await find(testid.reconciliationAlarm)).textContent).toContain('1 diferencia');
});

test('a comparison that is not possible now says why', async () => {
  const { till, user } = await openPage();
  await till.pauseSending({ paused: true });
  await user.keyboard('{F6}');
  await user.click(await find(testid.reconcile));
  expect((await find(testid.problem)).dataset['code']).toBe('not_allowed_now');
});
