import { expect, test, vi } from 'vitest';
import type { Offer } from '../src/bindings/Offer';
import { SeatChoice, type SeatMove } from '../src/domain/seat-choice.svelte';
import { openScene } from '../src/host/fake/scenes';

async function openSeats(offerId = '184-2030') {
  const host = await openScene('selling');
  const offers = await host.searchOffers({ text: '', limit: 60 });
  const offer = offers.find((one) => one.offer_id === offerId) as Offer;
  const seats = new SeatChoice(host, offer);
  await seats.refresh();
  return { host, seats };
}

function walk(seats: SeatChoice, moves: SeatMove[]): string | undefined {
  for (const move of moves) seats.move(move);
  return seats.pointed?.seat;
}

test('a typed label is found whatever its case, on either deck', async () => {
  const { seats } = await openSeats();
  seats.typed = ' 12a ';
  expect(seats.pointed?.seat).toBe('12A');
  expect((await seats.take())?.seat).toBe('12A');
  seats.typed = '1c';
  expect((await seats.take())?.seat).toBe('1C');
});

test('a label typed before the map came is found when it comes', async () => {
  const { host, seats: first } = await openSeats();
  const seats = new SeatChoice(host, first.offer);
  seats.typed = '9D';
  expect((await seats.take())?.seat).toBe('9D');
});

test('an unknown label is said and kept for correction', async () => {
  const { seats } = await openSeats();
  seats.typed = '99Z';
  expect(await seats.take()).toBeNull();
  expect(seats.problem).toMatchObject({ code: 'seat_unknown', detail: '99Z' });
  expect(seats.typed).toBe('99Z');
  seats.typed = '9';
  expect(seats.problem).toBeNull();
});

test('part of a label is no seat', async () => {
  const { seats } = await openSeats();
  seats.typed = '12';
  expect(seats.pointed).toBeNull();
  expect(await seats.take()).toBeNull();
});

test('Enter with nothing typed and nothing pointed at takes nothing', async () => {
  const { seats } = await openSeats();
  expect(await seats.take()).toBeNull();
  expect(seats.problem?.code).toBe('seat_required');
});

test('the first arrow points at the first seat, the next ones move along the bus', async () => {
  const { seats } = await openSeats();
  expect(walk(seats, ['back'])).toBe('1A');
  expect(walk(seats, ['back'])).toBe('2A');
  expect(walk(seats, ['forward', 'forward'])).toBe('1A');
});

test('across the aisle and past the side of the lower deck to the upper one, and back', async () => {
  const { seats } = await openSeats();
  seats.move('back');
  expect(walk(seats, ['right'])).toBe('1B');
  expect(walk(seats, ['right'])).toBe('1C');
  expect(walk(seats, ['right'])).toBe('5A');
  expect(walk(seats, ['left'])).toBe('1C');
  expect(walk(seats, ['left', 'left', 'left', 'left'])).toBe('1A');
});

test('the ends of the bus hold the cursor', async () => {
  const { seats } = await openSeats();
  seats.typed = '16D';
  expect(walk(seats, ['back', 'back', 'right', 'right'])).toBe('16D');
});

test('a row without that column gives its nearest seat', async () => {
  const { host, seats } = await openSeats();
  const map = seats.map;
  if (!map) throw new Error('no map');
  const [seat] = map.decks[0]?.rows[0] ?? [];
  if (!seat) throw new Error('no seat');
  const named = (label: string) => ({ ...seat, seat: label });
  vi.spyOn(host, 'seatMap').mockResolvedValue({
    ...map,
    decks: [
      {
        number: 1,
        rows: [
          [named('1A'), named('1B'), null, named('1C')],
          [null, null, null, null],
          [null, named('3B'), null, null],
        ],
      },
    ],
  });
  await seats.refresh();
  seats.typed = '1C';
  expect(walk(seats, ['back'])).toBe('3B');
  expect(walk(seats, ['right'])).toBe('3B');
});

test('decks are shown lower first however they arrive', async () => {
  const { host, seats } = await openSeats();
  const map = seats.map;
  if (!map) throw new Error('no map');
  vi.spyOn(host, 'seatMap').mockResolvedValue({ ...map, decks: map.decks.toReversed() });
  await seats.refresh();
  expect(seats.map.decks.map((deck) => deck.number)).toEqual([1, 2]);
});

test('a map that cannot be read says why', async () => {
  const { host, seats } = await openSeats();
  vi.spyOn(host, 'seatMap').mockRejectedValueOnce({ code: 'offer_gone', message: '', detail: 'Lima – Ica' });
  await seats.refresh();
  expect(seats.problem?.code).toBe('offer_gone');
});
