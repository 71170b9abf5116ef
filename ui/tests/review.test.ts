import { expect, test, vi } from 'vitest';
import { testid } from '../src/shared/testids';
import { sampleReview } from './samples';
import { expectFocus, find, get, maybe, openPage, sellSeat, waitFor, within, type Page } from './harness';

const SECOND = 'D03-K7M-S44-0002';

/** A page on which YUPY asks about the second of two sales of one seat. */
async function openQuestion(): Promise<Page> {
  const page = await openPage();
  const { user } = page;
  await sellSeat(user, '20:30', '12A');
  await waitFor(() => expect(get(testid.lastSaleState).dataset['state']).toBe('accepted'));
  await user.keyboard('20:30{Enter}');
  await expectFocus(testid.seatTyped);
  await user.keyboard('12A{Enter}');
  await expectFocus(testid.buyerName);
  await user.keyboard('{F9}');
  await user.click(await find(testid.lookAlikeSell));
  await waitFor(() => expect(get(testid.reviewCount).dataset['count']).toBe('1'));
  return page;
}

async function openDialog(): Promise<Page> {
  const page = await openQuestion();
  await page.user.keyboard('{F4}');
  await expectFocus(testid.reviewOpen(SECOND));
  await page.user.keyboard('{Enter}');
  await find(testid.reviewDialog);
  return page;
}

const stateOf = async ({ till }: Page, id: string) =>
  (await till.recentSales({ after: null })).items.find((sale) => sale.external_transaction_id === id)?.state;

test('a question that arrives while selling interrupts nothing and one key opens it', async () => {
  const { user } = await openQuestion();
  await expectFocus(testid.search);
  expect(maybe(testid.reviewDialog)).toBeNull();
  expect(get(testid.navReview).textContent).toContain('1');
  await user.keyboard('{F4}');
  await expectFocus(testid.reviewOpen(SECOND));
});

test('both sales stand side by side and each field says equal or different by a word', async () => {
  await openDialog();
  const dialog = within(get(testid.reviewDialog));
  const verdicts: Record<string, string | undefined> = Object.fromEntries(
    [...document.querySelectorAll<HTMLElement>('tr[data-field]')].map((row) => [
      row.dataset['field'] ?? '',
      row.querySelector('td.verdict')?.textContent.trim(),
    ]),
  );
  expect(verdicts).toMatchObject({
    amount: 'igual',
    seat: 'igual',
    route: 'igual',
    buyer_name: 'sin dato',
    external_transaction_id: 'distinto',
  });
  expect(dialog.getByText('D03-K7M-S44-0001')).toBeTruthy();
  expect(get(testid.reviewSentence).textContent).toMatch(
    /^Se parece a otra venta: mismo asiento 12A en la ruta/,
  );
});

test('a wrong PIN is said, nothing typed is lost, and the dialog stays', async () => {
  const page = await openDialog();
  const { user } = page;
  await user.click(get(testid.decideDifferent));
  await user.type(await find(testid.decideReason), 'son dos pasajeros');
  await user.type(get(testid.approvalPin), '999999');
  await user.click(get(testid.decideConfirm));
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('pin_wrong'));
  expect(get(testid.reviewDialog)).toBeTruthy();
  expect(get(testid.decideReason)).toHaveProperty('value', 'son dos pasajeros');
  expect(get(testid.approvalPin)).toHaveProperty('value', '');
  expect(await stateOf(page, SECOND)).toBe('in_review');

  await user.type(get(testid.approvalPin), '271828{Enter}');
  await waitFor(() => expect(maybe(testid.reviewDialog)).toBeNull());
  expect(get(testid.notice).textContent).toContain('es otra venta');
  await waitFor(async () => expect(await stateOf(page, SECOND)).toBe('accepted'));
});

test('the same sale asks what became of the money', async () => {
  const page = await openDialog();
  const { user } = page;
  await user.click(get(testid.decideSame));
  await user.type(await find(testid.decideReason), 'doble cobro');
  await user.type(get(testid.approvalPin), '271828');
  await user.click(get(testid.decideConfirm));
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('money_handling_required'));
  await user.click(get(testid.decideMoney('refunded')));
  await user.type(get(testid.approvalPin), '{Enter}');
  await waitFor(() => expect(maybe(testid.reviewDialog)).toBeNull());
  expect(await stateOf(page, SECOND)).toBe('discarded');
});

test('a reason from the list is enough', async () => {
  const page = await openDialog();
  const { user } = page;
  await user.click(get(testid.decideDifferent));
  await user.selectOptions(await find(testid.decideListed), 'Son dos pasajeros distintos');
  await user.type(get(testid.approvalPin), '271828{Enter}');
  await waitFor(() => expect(maybe(testid.reviewDialog)).toBeNull());
});

test('decide later changes nothing', async () => {
  const page = await openDialog();
  await page.user.click(get(testid.decideLater));
  await waitFor(() => expect(maybe(testid.reviewDialog)).toBeNull());
  expect(await stateOf(page, SECOND)).toBe('in_review');
  await expectFocus(testid.reviewOpen(SECOND));
});

test('a question that changed is shown anew and must be answered anew', async () => {
  const { till, user } = await openDialog();
  await user.click(get(testid.decideDifferent));
  await find(testid.approvalPin);
  vi.spyOn(till, 'reviews').mockResolvedValue([
    sampleReview({ external_transaction_id: SECOND, challenge_id: 'question-9' }),
  ]);
  till.hint();
  await waitFor(() => expect(maybe(testid.approvalPin)).toBeNull());
  expect(get(testid.reviewDialog).textContent).toContain('La pregunta cambió');
});

test('without a manager on this till nobody can decide, and it says so', async () => {
  const { till, user } = await openQuestion();
  const real = till.frame;
  vi.spyOn(till, 'frame').mockImplementation(async () => ({ ...(await real()), managers: [] }));
  till.hint();
  await user.keyboard('{F4}');
  await user.click(await find(testid.reviewOpen(SECOND)));
  await find(testid.reviewDialog);
  await waitFor(() => expect(get(testid.decideDifferent)).toHaveProperty('disabled', true));
  expect(get(testid.decideSame)).toHaveProperty('disabled', true);
  expect(get(testid.decideLater)).toHaveProperty('disabled', false);
});
