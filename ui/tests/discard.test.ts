import { expect, test } from 'vitest';
import { testid } from '../src/shared/testids';
import { expectState, find, get, maybe, openPage, sellSeat, waitFor, type Page } from './harness';

const SECOND = 'D03-K7M-S44-0002';

/** A page on which a manager has just said that the second sale is the same as the first. */
async function openDiscarded(): Promise<Page> {
  const page = await openPage();
  await sellSeat(page.user, '20:30', '12A', 'María Ramos');
  await expectState(testid.lastSaleState, 'accepted');
  await page.user.keyboard('{F2}');
  await page.till.charge({
    draft_id: (await page.till.openDraft()).draft_id,
    lines: [
      {
        offer_id: '184-2030',
        seat: '12A',
        quantity: 1,
        buyer_name: 'María Ramos',
        shown_price_minor: 8550,
        discount: null,
      },
    ],
    tenders: [{ method: 'cash', received: null }],
    look_alikes: 'sell_anyway',
    approval: null,
  });
  await page.user.keyboard('{F4}');
  await page.user.click(await find(testid.reviewOpen(SECOND)));
  await page.user.click(await find(testid.decideSame));
  await page.user.click(get(testid.decideMoney('refunded')));
  await page.user.type(get(testid.decideReason), 'se tecleó dos veces');
  await page.user.type(get(testid.approvalPin), '271828');
  await page.user.click(get(testid.decideConfirm));
  await find(testid.discardSee);
  return page;
}

async function approve({ user }: Page, reason: string): Promise<void> {
  await user.type(get(testid.approvalReason), reason);
  await user.type(get(testid.approvalPin), '271828');
  await user.click(get(testid.discardConfirm));
}

test('a discard waits among the pending ones until YUPY knows of it', async () => {
  const { user, till } = await openDiscarded();
  await user.keyboard('{F3}');
  await find(testid.sale(SECOND));
  till.hearDiscards('told');
  await waitFor(() => expect(maybe(testid.sale(SECOND))).toBeNull());
});

test('a manager who sees at once that the answer was wrong takes it back', async () => {
  const page = await openDiscarded();
  await page.user.click(get(testid.discardSee));
  await page.user.click(await find(testid.discardTakeBack));
  await approve(page, 'eran dos pasajeros');
  await waitFor(() => expect(get(testid.saleVerdict).dataset['verdict']).toBe('awaits_decision'));
  expect(maybe(testid.discardTakeBack)).toBeNull();
  await page.user.click(get(testid.saleClose));
  await find(testid.reviewOpen(SECOND));
});

test('without a reason nothing is taken back', async () => {
  const page = await openDiscarded();
  await page.user.click(get(testid.discardSee));
  await page.user.click(await find(testid.discardTakeBack));
  await page.user.type(get(testid.approvalPin), '271828');
  await page.user.click(get(testid.discardConfirm));
  await waitFor(() => expect(get('problem').dataset['code']).toBe('reason_required'));
  expect(page.till.calls['take_back_discard']).toBeUndefined();
});

test('what somebody else decided first is said with their name, and a manager leaves it or not', async () => {
  const page = await openDiscarded();
  page.till.hearDiscards('decided_otherwise');
  await page.user.click(get(testid.discardSee));
  await waitFor(() => expect(get(testid.saleVerdict).dataset['verdict']).toBe('discard_disputed'));
  expect(get(testid.saleDiscard).textContent).toContain('Rosa decidió antes');
  await page.user.click(get(testid.discardLeave));
  await approve(page, 'se avisó a la oficina');
  await waitFor(() => expect(get(testid.saleVerdict).dataset['verdict']).toBe('does_not_count'));
  expect(maybe(testid.discardLeave)).toBeNull();
});

test('once YUPY knows of it there is nothing to take back', async () => {
  const { user, till } = await openDiscarded();
  till.hearDiscards('told');
  await user.click(get(testid.discardSee));
  await waitFor(() => expect(get(testid.saleDiscard).dataset['progress']).toBe('told'));
  expect(maybe(testid.discardTakeBack)).toBeNull();
});
