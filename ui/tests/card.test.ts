import { expect, test } from 'vitest';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, typeSeat, waitFor, type Page } from './harness';

/** A seat of S/ 70.96 on the ticket that a card is to pay, after the till was heard. */
async function atCard(): Promise<Page> {
  const page = await openPage();
  await page.till.sendNow();
  await typeSeat(page.user, 'cusco', '2B');
  await page.user.keyboard('{Enter}');
  await expectFocus(testid.received);
  await page.user.keyboard('{F8}{F8}');
  await expectFocus(testid.tender('card'));
  await waitFor(() => expect(get(testid.due).textContent).toBe('S/ 70.96'));
  return page;
}

async function newest({ till }: Page) {
  const [sale] = (await till.recentSales({ after: null })).items;
  return sale?.external_transaction_id ?? '';
}

/** The bank answers as these céntimos ask for. */
function price(page: Page, centimos: number) {
  const charge = page.till.charge.bind(page.till);
  page.till.charge = async (request) => {
    const outcome = await charge(request);
    if (outcome.outcome === 'recorded')
      for (const sale of outcome.checkout.sales) sale.amount.minor += centimos - (sale.amount.minor % 100);
    return outcome;
  };
}

test('a card is charged without Enter, and its dialog goes when the bank approved', async () => {
  const page = await atCard();
  await page.user.keyboard('{Enter}');
  expect(maybe(testid.lastSale)).toBeNull();
  await page.user.keyboard('{F9}');
  await find(testid.cardDialog);
  await waitFor(() => expect(maybe(testid.cardDialog)).toBeNull());
  await waitFor(() => expect(get(testid.lastSaleCard).textContent).toContain('Tarjeta aprobada'));
});

test('a declined card is followed by another one, or the sale is paid in another way', async () => {
  const page = await atCard();
  price(page, 1);
  await page.user.keyboard('{F9}');
  const id = await waitFor(() => newest(page));
  await waitFor(() => expect(get(testid.card(id)).dataset['progress']).toBe('declined'));
  await page.user.click(get(testid.cardCharge(id)));
  await waitFor(() => expect(get(testid.card(id)).dataset['unconfirmed']).toBe('true'));
  expect(maybe(testid.cardOtherwise)).toBeNull();
  await waitFor(() => expect(get(testid.card(id)).dataset['progress']).toBe('declined'));
  await page.user.click(get(testid.cardOtherwise));
  await waitFor(() => expect(maybe(testid.cardDialog)).toBeNull());
  await expectFocus(testid.received);
  const cancelled = (await page.till.saleDetail({ external_transaction_id: id })).sale;
  expect([cancelled.voided, cancelled.returned?.minor]).toEqual([cancelled.voided, 0]);
  expect(cancelled.voided).not.toBeNull();
  await page.user.keyboard('200{Enter}');
  await waitFor(async () => expect(await newest(page)).not.toBe(id));
});

test('while nobody knows, the next sale can begin and nothing else can be pressed than asking again', async () => {
  const page = await atCard();
  price(page, 2);
  await page.user.keyboard('{F9}');
  const id = await waitFor(() => newest(page));
  await waitFor(() => expect(get(testid.card(id)).dataset['unconfirmed']).toBe('true'));
  expect(get(testid.card(id)).textContent).toContain('Sin confirmar');
  expect([maybe(testid.cardOtherwise), maybe(testid.cardCancel(id))]).toEqual([null, null]);
  await page.user.click(get(testid.cardGoOn));
  await expectFocus(testid.search);
  expect(get(testid.lastSaleCard).textContent).toContain('Tarjeta sin confirmar');
  await expect(page.till.cancelUnpaid({ external_transaction_id: id, reason: 'x' })).rejects.toMatchObject({
    code: 'void_awaits_payment',
  });
});

test('a split ticket is not for a card, and a card is not for a split ticket', async () => {
  const page = await atCard();
  expect((get(testid.split) as HTMLButtonElement).disabled).toBe(true);
  await page.user.click(get(testid.tender('cash')));
  await page.user.click(get(testid.split));
  expect((get(testid.tender('card')) as HTMLInputElement).disabled).toBe(true);
});

test('without a line it says so before anything is pressed, and nothing is recorded', async () => {
  const page = await openPage();
  await page.till.pauseSending({ paused: true });
  await typeSeat(page.user, 'cusco', '2B');
  await page.user.keyboard('{Enter}');
  await expectFocus(testid.received);
  await page.user.keyboard('{F8}{F8}');
  await waitFor(() =>
    expect(document.body.textContent).toContain('Sin línea no se puede cobrar con tarjeta'),
  );
  await page.user.keyboard('{F9}');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('card_needs_line'));
  expect(maybe(testid.lastSale)).toBeNull();
});
