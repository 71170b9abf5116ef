import { fireEvent } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import { testid } from '../src/shared/testids';
import {
  expectFocus,
  expectState,
  find,
  get,
  maybe,
  openPage,
  sellSeat,
  typeSeat,
  waitFor,
  within,
} from './harness';

const salesOf = async (till: Awaited<ReturnType<typeof openPage>>['till']) =>
  (await till.recentSales({ after: null })).items;

test('a sale needs the keyboard only, and no Tab', async () => {
  const { till, user } = await openPage();
  await expectFocus(testid.search);
  await user.keyboard('20:30{Enter}');
  await expectFocus(testid.seatTyped);
  await user.keyboard('12a{Enter}');
  await expectFocus(testid.buyerName);
  await user.keyboard('María Ramos{Enter}');
  await expectFocus(testid.received);
  await user.keyboard('100');
  await waitFor(() => expect(get(testid.change)).toHaveProperty('textContent', 'Vuelto S/ 14.50'));
  await user.keyboard('{Enter}');

  const last = await find(testid.lastSale);
  expect(last.textContent).toContain('D03-K7M-S44-0001');
  expect(get(testid.lastSaleChange).textContent).toBe('S/ 14.50');
  await expectFocus(testid.search);
  await expectState(testid.lastSaleState, 'accepted');
  expect(get(testid.lastSaleState).textContent).toBe('Confirmada por YUPY');
  expect(await salesOf(till)).toMatchObject([
    { seat: '12A', buyer_name: 'María Ramos', amount: { minor: 8550, currency: 'PEN' } },
  ]);
});

test('the arrows choose an offer and a seat', async () => {
  const { user } = await openPage();
  await expectFocus(testid.search);
  await user.keyboard('lima{ArrowDown}{Enter}');
  await expectFocus(testid.seatTyped);
  await waitFor(() => expect(maybe(testid.seat('1A'))).not.toBeNull());
  await user.keyboard('{ArrowRight}{ArrowRight}{ArrowUp}{Enter}');
  await expectFocus(testid.buyerName);
  expect(get(testid.line(0)).textContent).toContain('Asiento 2B');
});

test('the next sale can begin while YUPY has not answered', async () => {
  const { till, user } = await openPage();
  await till.setPracticeLine({ line: 'offline' });
  await sellSeat(user, '20:30', '12A');
  await sellSeat(user, '20:30', '12B');
  await sellSeat(user, 'ica', '3C');
  expect((await salesOf(till)).map((sale) => sale.standing)).not.toContain('confirmed');
  expect(await salesOf(till)).toHaveLength(3);
});

test('F9 charges the exact amount from anywhere', async () => {
  const { till, user } = await openPage();
  await expectFocus(testid.search);
  await user.keyboard('equipaje{Enter}');
  await find(testid.charge);
  await user.keyboard('{F9}');
  await find(testid.lastSale);
  expect(get(testid.lastSaleChange).textContent).toBe('Sin vuelto');
  expect(await salesOf(till)).toHaveLength(1);
});

test('Ctrl+Enter charges, and in the search field it chooses nothing', async () => {
  const { till, user } = await openPage();
  await expectFocus(testid.search);
  await user.keyboard('equipaje{Enter}');
  await find(testid.charge);
  await user.keyboard('escolar');
  await user.keyboard('{Control>}{Enter}{/Control}');
  await find(testid.lastSale);
  expect((await salesOf(till)).map((sale) => sale.description)).toEqual(['Equipaje extra']);
});

describe('a press too many', () => {
  test('a double click on Cobrar sells once', async () => {
    const { till, user } = await openPage();
    await typeSeat(user, '20:30', '12A');
    await user.dblClick(get(testid.charge));
    await find(testid.lastSale);
    expect(await salesOf(till)).toHaveLength(1);
  });

  test('a key that is held down sells once', async () => {
    const { till, user } = await openPage();
    await typeSeat(user, '20:30', '12A');
    await user.keyboard('{Enter}');
    await expectFocus(testid.received);
    await user.keyboard('100');
    const received = get(testid.received);
    for (let held = 0; held < 20; held += 1)
      await fireEvent.keyDown(received, { key: 'Enter', repeat: held > 0 });
    await find(testid.lastSale);
    expect(await salesOf(till)).toHaveLength(1);
  });

  test('six Enters in a row after a freeze sell nothing by themselves', async () => {
    const { till, user } = await openPage();
    await expectFocus(testid.search);
    await user.keyboard('{Enter}{Enter}{Enter}{Enter}{Enter}{Enter}');
    await user.keyboard('20:30{Enter}{Enter}{Enter}{Enter}{Enter}{Enter}');
    await typeSeatLabel(user);
    await user.keyboard('{Enter}{Enter}{Enter}{Enter}{Enter}{Enter}');
    expect(await salesOf(till)).toHaveLength(0);
  });

  async function typeSeatLabel(user: Awaited<ReturnType<typeof openPage>>['user']) {
    await expectFocus(testid.seatTyped);
    await user.keyboard('12A{Enter}');
    await expectFocus(testid.buyerName);
  }
});

describe('a scanner', () => {
  test.each([
    ['CR', '{Enter}'],
    ['CRLF', '{Enter}{Enter}'],
  ])('that ends with %s adds one line and confirms nothing', async (_, end) => {
    const { till, user } = await openPage();
    await expectFocus(testid.search);
    await user.keyboard(`equipaje${end}`);
    await find(testid.line(0));
    await user.keyboard(`grande${end}`);
    await find(testid.line(1));
    expect(get(testid.line(0)).textContent).toContain('Equipaje extra');
    expect(get(testid.line(1)).textContent).toContain('Encomienda grande');
    expect(await salesOf(till)).toHaveLength(0);
  });

  test('that types into Recibido charges nothing', async () => {
    const { till, user } = await openPage();
    await typeSeat(user, '20:30', '12A');
    await user.keyboard('{Enter}');
    await expectFocus(testid.received);
    await user.keyboard('7751234{Enter}{Enter}');
    await waitFor(() => expect(document.querySelector('.hesitation')).not.toBeNull());
    expect(await salesOf(till)).toHaveLength(0);
  });
});

test('quantity by keyboard, by finger, and an empty ticket when there is none left', async () => {
  const { user } = await openPage();
  await expectFocus(testid.search);
  await user.keyboard('escolar{Enter}');
  await find(testid.line(0));
  await expectFocus(testid.search);
  await user.keyboard('++');
  await waitFor(() => expect(get(testid.lineQuantity).textContent).toBe('3'));
  await waitFor(() => expect(get(testid.due).textContent).toBe('S/ 3.60'));
  await user.click(get(testid.lineFewer));
  await user.click(get(testid.lineFewer));
  await user.click(get(testid.lineFewer));
  await waitFor(() => expect(maybe(testid.line(0))).toBeNull());
});

test('cash rounding is its own figure', async () => {
  const { user } = await openPage();
  await typeSeat(user, 'cusco', '2B');
  await waitFor(() => expect(get(testid.total).textContent).toBe('S/ 70.96'));
  expect(get(testid.due).textContent).toBe('S/ 70.90');
});

test('a note is one touch, and what is missing is said while typing', async () => {
  const { user } = await openPage();
  await typeSeat(user, '20:30', '12A');
  await waitFor(() => expect(get(testid.due).textContent).toBe('S/ 85.50'));
  await user.click(within(document.body).getByRole('button', { name: '100' }));
  await waitFor(() => expect(get(testid.change).textContent).toBe('Vuelto S/ 14.50'));
  await expectFocus(testid.received);
  await user.clear(get(testid.received));
  await user.type(get(testid.received), '50');
  await waitFor(() => expect(get(testid.change).textContent).toBe('Falta S/ 35.50'));
  await user.keyboard('{Enter}');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('received_too_little'));
});

describe('a seat that was sold here', () => {
  test('says so on the map and on the ticket, and asks before it is sold again', async () => {
    const { till, user } = await openPage();
    await sellSeat(user, '20:30', '12A', 'Rosa');
    await expectState(testid.lastSaleState, 'accepted');

    await user.keyboard('20:30{Enter}');
    await waitFor(() => expect(get(testid.seat('12A')).dataset['sold']).toBe('true'));
    expect(get(testid.seat('12A')).textContent).toMatch(/vendido aquí \d\d:\d\d/);
    await user.keyboard('12A{Enter}');
    await expectFocus(testid.buyerName);
    expect(get(testid.line(0)).textContent).toMatch(/Ya se vendió aquí a las \d\d:\d\d/);

    await user.keyboard('{F9}');
    const dialog = await find(testid.lookAlike);
    expect(dialog.textContent).toMatch(/El asiento 12A ya se vendió hace \d+ s/);
    expect(dialog.textContent).toContain('mismo asiento');
    expect(document.activeElement).toBe(get(testid.lookAlikeBack));
    expect(await salesOf(till)).toHaveLength(1);

    await user.click(get(testid.lookAlikeBack));
    await waitFor(() => expect(maybe(testid.lookAlike)).toBeNull());
    expect(get(testid.line(0)).textContent).toContain('12A');

    await user.keyboard('{F9}');
    await find(testid.lookAlikeSell);
    await user.click(get(testid.lookAlikeSell));
    await waitFor(async () => expect(await salesOf(till)).toHaveLength(2));
    await expectFocus(testid.search);
  });

  test('keys behind the question do nothing', async () => {
    const { till, user } = await openPage();
    await sellSeat(user, '20:30', '12A');
    await typeSeat(user, '20:30', '12A');
    await user.keyboard('{F9}');
    await find(testid.lookAlike);
    await user.keyboard('{F9}{F3}{F9}');
    expect(get(testid.navSell).getAttribute('aria-current')).toBe('page');
    expect(await salesOf(till)).toHaveLength(1);
  });
});

test('Escape leaves the seat map and the ticket as it was', async () => {
  const { user } = await openPage();
  await expectFocus(testid.search);
  await user.keyboard('equipaje{Enter}');
  await find(testid.line(0));
  await user.keyboard('20:30{Enter}');
  await expectFocus(testid.seatTyped);
  await user.keyboard('{Escape}');
  await expectFocus(testid.search);
  expect(maybe(testid.line(0))).not.toBeNull();
  expect(maybe(testid.line(1))).toBeNull();
});

test('typing after a touch on a button goes on where the keyboard was', async () => {
  const { user } = await openPage();
  await expectFocus(testid.search);
  await user.click(get(testid.practiceLine('offline')));
  await user.keyboard('i');
  await expectFocus(testid.search);
});

test('the ticket waits while another view is open and while the screen is locked', async () => {
  const { user } = await openPage();
  await typeSeat(user, '20:30', '12A');
  await user.keyboard('{F6}');
  await waitFor(() => expect(maybe(testid.charge)).toBeNull());
  await user.keyboard('{F2}');
  await find(testid.charge);
  await user.click(get(testid.lock));
  await find(testid.pinInput);
  await user.keyboard('314159{Enter}');
  await find(testid.charge);
  expect(get(testid.line(0)).textContent).toContain('12A');
});
