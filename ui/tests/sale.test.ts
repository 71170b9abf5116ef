import { expect, test } from 'vitest';
import { testid } from '../src/shared/testids';
import { textForSupport } from '../src/domain/sale-text';
import { messages } from '../src/i18n/messages';
import {
  expectFocus,
  expectState,
  find,
  get,
  maybe,
  openPage,
  sellSeat,
  waitFor,
  type Page,
} from './harness';

const FIRST = 'D03-K7M-S44-0001';

/** A page whose first sale was refused by YUPY. */
async function openRefused(): Promise<Page> {
  const page = await openPage();
  await sellSeat(page.user, '20:30', '12A', 'María Ramos');
  await expectState(testid.lastSaleState, 'accepted');
  page.till.breakASale(1);
  await page.user.keyboard('{F3}');
  await page.user.click(await find(testid.saleOpen(FIRST)));
  await find(testid.saleVerdict);
  return page;
}

test('a sale is opened from the history and says first whether it counts', async () => {
  const { user } = await openPage();
  await sellSeat(user, '20:30', '12A');
  await expectState(testid.lastSaleState, 'accepted');
  await user.keyboard('{F6}');
  await user.click(await find(testid.saleOpen(FIRST)));
  await waitFor(() => expect(get(testid.saleVerdict).dataset['verdict']).toBe('counts'));
  expect(get(testid.saleTimeline).querySelectorAll('li').length).toBeGreaterThan(1);
  expect(maybe(testid.saleCorrect)).toBeNull();
  await user.click(get(testid.saleClose));
  expect(maybe(testid.saleDialog)).toBeNull();
});

test('a manager corrects what was refused; a wrong PIN loses nothing that was typed', async () => {
  const { user } = await openRefused();
  await user.click(get(testid.saleCorrect));
  const name = get(testid.correctField('buyer_name'));
  await user.clear(name);
  await user.type(name, 'Maria Ramos');
  await user.type(get(testid.approvalReason), 'El nombre tenía un error');
  await user.type(get(testid.approvalPin), '000000{Enter}');
  await waitFor(() => expect(get('problem').dataset['code']).toBe('pin_wrong'));
  expect(name).toHaveProperty('value', 'Maria Ramos');
  await user.type(get(testid.approvalPin), '271828{Enter}');
  await waitFor(() => expect(maybe(testid.correctForm)).toBeNull());
  await waitFor(() => expect(get(testid.saleVerdict).dataset['verdict']).toBe('counts'));
  expect(get(testid.saleTimeline).querySelector('[data-happened=corrected]')?.textContent).toContain(
    'Encargado',
  );
});

test('without a reason nothing is asked of the till', async () => {
  const { user, till } = await openRefused();
  await user.click(get(testid.saleCorrect));
  await user.type(get(testid.approvalPin), '271828{Enter}');
  await waitFor(() => expect(get('problem').dataset['code']).toBe('reason_required'));
  expect(till.calls['correct_sale']).toBeUndefined();
});

test('the text for support has the ids and nothing personal', async () => {
  const { till } = await openRefused();
  const detail = await till.saleDetail({ external_transaction_id: FIRST });
  const named = {
    ...detail,
    timeline: detail.timeline.map((entry) => ({ ...entry, person: 'Encargado', reason: 'su prima' })),
  };
  const text = textForSupport(named, messages.es);
  expect(text).toContain(FIRST);
  expect(text).toContain(detail.idempotency_key);
  for (const personal of ['María', 'Caja', 'Encargado', 'su prima']) expect(text).not.toContain(personal);
});

test('what is given back stands there before a manager voids, and the sale no longer counts', async () => {
  const { user, till } = await openPage();
  await sellSeat(user, '20:30', '12A');
  await expectState(testid.lastSaleState, 'accepted');
  await user.keyboard('{F6}');
  await user.click(await find(testid.saleOpen(FIRST)));
  await user.click(await find(testid.saleVoid));
  expect(get(testid.voidReturned).textContent).toContain('85.50');
  await expectFocus(testid.approvalReason);
  await user.keyboard('Viaje cancelado');
  await user.type(get(testid.approvalPin), '271828{Enter}');
  await waitFor(() => expect(maybe(testid.voidForm)).toBeNull());
  await waitFor(() => expect(get(testid.saleVerdict).dataset['verdict']).toBe('voided'));
  expect(maybe(testid.saleVoid)).toBeNull();
  await waitFor(async () => {
    const { items } = await till.recentSales({ after: null });
    expect(items[0]?.voided).toBe('confirmed');
  });
});
