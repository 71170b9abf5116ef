import { expect, test } from 'vitest';
import { MANAGER, PINS } from '../src/host/fake/till';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, sellSeat, typeSeat, waitFor } from './harness';

test('a price list is found by its name and sold at its price, with nothing more to press', async () => {
  const { till, user } = await openPage();
  await typeSeat(user, 'huancayo nino', '3C');
  await waitFor(() => expect(get(testid.due).textContent).toBe('S/ 30.00'));
  await user.keyboard('{Enter}');
  await expectFocus(testid.received);
  await user.keyboard('30{Enter}');
  await find(testid.lastSale);
  expect(maybe(testid.approveTicket)).toBeNull();
  const [sale] = (await till.recentSales({ after: null })).items;
  expect(sale).toMatchObject({ description: 'Niño · Lima – Huancayo 13:15 · asiento 3C', seat: '3C' });
  expect(sale?.amount.minor).toBe(3000);
});

test('without a list’s name Enter takes the full price', async () => {
  const { till, user } = await openPage();
  await sellSeat(user, 'huancayo', '3C');
  const [sale] = (await till.recentSales({ after: null })).items;
  expect(sale?.amount.minor).toBe(4500);
});

test('at a list that no cashier uses alone a manager’s PIN is asked for, and nothing is sold before', async () => {
  const { till, user } = await openPage();
  await typeSeat(user, 'huancayo estudiante', '3C');
  await user.keyboard('{Enter}');
  await expectFocus(testid.received);
  await user.keyboard('30{Enter}');
  await find(testid.approveTicket);
  await expectFocus(testid.approvalPin);
  await user.keyboard('000000{Enter}');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('pin_wrong'));
  expect((await till.recentSales({ after: null })).items).toEqual([]);
  await user.keyboard(`${PINS[MANAGER.person_id] ?? ''}{Enter}`);
  await find(testid.lastSale);
  expect((await till.recentSales({ after: null })).items[0]?.amount.minor).toBe(2250);
});

test('a seat that was sold at one price is taken at every other', async () => {
  const { till, user } = await openPage();
  await sellSeat(user, 'huancayo nino', '3C');
  const [full, child] = (await till.searchOffers({ text: 'huancayo', limit: 10 })).map(
    ({ seats_free }) => seats_free,
  );
  expect(full).toBe(child);
  const { decks } = await till.seatMap({ offer_id: '330-1315' });
  const taken = decks[0]?.rows.flat().find((place) => place?.seat === '3C');
  expect(taken?.sold).not.toBeNull();
  await typeSeat(user, 'huancayo', '3C');
  await user.keyboard('{F9}');
  await find(testid.lookAlike);
});
