import { expect, test, vi } from 'vitest';
import { Desk } from '../src/domain/desk.svelte';
import { Desks } from '../src/domain/desks';
import { openScene } from '../src/host/fake/scenes';

async function openDesk() {
  const host = await openScene('selling');
  const desk = new Desk(host);
  await desk.search.refresh();
  return { host, desk };
}

async function addProduct(desk: Desk, text = 'equipaje') {
  desk.search.text = text;
  await desk.takeOffer();
  await desk.ticket.settled();
}

async function addSeat(desk: Desk, text: string, seat: string) {
  desk.search.text = text;
  await desk.takeOffer();
  if (desk.seats) desk.seats.typed = seat;
  await desk.takeSeat();
  await desk.ticket.settled();
}

test('a seat leads to the passenger’s name', async () => {
  const { desk } = await openDesk();
  await addSeat(desk, '20:30', '12A');
  expect(desk.step).toBe('name');
  expect(desk.seats).toBeNull();
  expect(desk.ticket.lines[0]?.seat?.seat).toBe('12A');
});

test('a product is on the ticket at once and the search goes on', async () => {
  const { desk } = await openDesk();
  await addProduct(desk);
  expect(desk.step).toBe('search');
  expect(desk.ticket.lines).toHaveLength(1);
});

test('Enter in an empty Recibido does not charge', async () => {
  const { host, desk } = await openDesk();
  await addProduct(desk);
  await desk.enterReceived();
  await desk.enterReceived();
  expect(desk.hesitation).toBe('nothing_typed');
  expect(host.calls['charge']).toBeUndefined();
});

test('Enter in Recibido does not charge an amount that no customer hands over', async () => {
  const { host, desk } = await openDesk();
  await addProduct(desk);
  desk.setReceived('7750123');
  await desk.enterReceived();
  expect(desk.hesitation).toBe('implausible');
  expect(host.calls['charge']).toBeUndefined();
  desk.setReceived('20');
  expect(desk.hesitation).toBeNull();
  await desk.enterReceived();
  expect(host.calls['charge']).toBe(1);
});

test('Cobrar charges an unusual amount, because it was pressed on purpose', async () => {
  const { desk } = await openDesk();
  await addProduct(desk);
  desk.setReceived('500');
  await desk.charge();
  expect(desk.lastSale?.checkout.change.minor).toBe(48_500);
});

test('after Cobrar the search has the keyboard and the sale is shown', async () => {
  const { desk } = await openDesk();
  await addSeat(desk, '20:30', '12A');
  desk.setReceived('100');
  await desk.enterReceived();
  expect(desk.step).toBe('search');
  expect(desk.ticket.isEmpty).toBe(true);
  expect(desk.lastSale?.sales[0]?.external_transaction_id).toBe('D03-K7M-S44-0001');
});

test('the sale just made says what the till says, until YUPY has answered', async () => {
  vi.useFakeTimers();
  try {
    const { host, desk } = await openDesk();
    const stop = host.onChanged(() => desk.refresh());
    await host.setPracticeLine({ line: 'lost_reply' });
    await addProduct(desk);
    await desk.charge();
    expect(desk.lastSale?.leastSettled?.standing).toBe('saved');
    await vi.advanceTimersByTimeAsync(1000);
    expect(desk.lastSale?.leastSettled?.standing).toBe('unconfirmed');
    await host.setPracticeLine({ line: 'online' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(desk.lastSale?.leastSettled?.standing).toBe('confirmed');
    stop();
  } finally {
    vi.useRealTimers();
  }
});

test('of several sales of one checkout the least settled one is named', async () => {
  const { host, desk } = await openDesk();
  await addProduct(desk);
  await addProduct(desk, 'escolar');
  await desk.charge();
  const [first, second] = desk.lastSale?.sales ?? [];
  if (!first || !second) throw new Error('two sales were expected');
  vi.spyOn(host, 'recentSales').mockResolvedValue({
    items: [{ ...first, state: 'accepted', standing: 'confirmed' }, second],
    next: null,
  });
  await desk.lastSale?.refresh();
  expect(desk.lastSale?.leastSettled?.external_transaction_id).toBe(second.external_transaction_id);
});

test('a finger on a seat puts it on the ticket or takes it off, and the map stays', async () => {
  const { desk } = await openDesk();
  desk.search.text = '20:30';
  await desk.takeOffer();
  await vi.waitFor(() => expect(desk.seats?.map).not.toBeNull());
  const seats = desk.seats?.map?.decks[1]?.rows[0]?.filter((seat) => seat !== null) ?? [];
  const [first, second] = seats;
  if (!first || !second) throw new Error('two seats were expected');
  desk.toggleSeat(first);
  desk.toggleSeat(second);
  desk.toggleSeat(first);
  expect(desk.ticket.lines.map((line) => line.seat?.seat)).toEqual([second.seat]);
  expect(desk.seats).not.toBeNull();
});

test('+ and − change the quantity of a product and leave a seat alone', async () => {
  const { desk } = await openDesk();
  await addProduct(desk);
  desk.changeQuantity(1);
  expect(desk.ticket.selected?.quantity).toBe(2);
  await addSeat(desk, '20:30', '12A');
  desk.changeQuantity(1);
  expect(desk.ticket.selected?.quantity).toBe(1);
});

test('an unfinished ticket waits for the same person and is nobody else’s', async () => {
  const desks = new Desks(await openScene('selling'));
  const mine = desks.of('p-caja');
  expect(desks.of('p-caja')).toBe(mine);
  expect(desks.of('p-encargado')).not.toBe(mine);
});
