import { expect, test, vi } from 'vitest';
import type { ChargeOutcome } from '../src/bindings/ChargeOutcome';
import type { Offer } from '../src/bindings/Offer';
import type { Seat } from '../src/bindings/Seat';
import { Ticket } from '../src/domain/ticket.svelte';
import { openScene } from '../src/host/fake/scenes';

async function openTicket() {
  const host = await openScene('selling');
  const offers = await host.searchOffers({ text: '', limit: 60 });
  const offer = (id: string) => offers.find((one) => one.offer_id === id) as Offer;
  const ticket = new Ticket(host);
  const seatOf = async (id: string, label: string): Promise<Seat> => {
    const map = await host.seatMap({ offer_id: id });
    return map.decks.flatMap((deck) => deck.rows.flat()).find((seat) => seat?.seat === label) as Seat;
  };
  return { host, ticket, offer, seatOf };
}

test('every figure is the till’s', async () => {
  const { ticket, offer, seatOf } = await openTicket();
  ticket.add(offer('412-2000'), await seatOf('412-2000', '2B'));
  ticket.tenders.received = '100';
  await ticket.settled();
  expect(ticket.quote?.total.minor).toBe(7096);
  expect(ticket.quote?.due.minor).toBe(7090);
  expect(ticket.change?.minor).toBe(2910);
});

test('equal fares are one line with a quantity, a seat twice is one seat', async () => {
  const { ticket, offer, seatOf } = await openTicket();
  ticket.add(offer('urban-adult'), null);
  ticket.add(offer('urban-adult'), null);
  const seat = await seatOf('184-2030', '12A');
  ticket.add(offer('184-2030'), seat);
  ticket.add(offer('184-2030'), seat);
  expect(ticket.lines.map(({ seat, quantity }) => [seat?.seat, quantity])).toEqual([
    [undefined, 2],
    ['12A', 1],
  ]);
});

test('fewer than one takes the line away, and an empty ticket forgets what was received', async () => {
  const { ticket, offer } = await openTicket();
  ticket.add(offer('urban-adult'), null);
  ticket.tenders.received = '5';
  ticket.setQuantity(ticket.lines[0]?.key ?? 0, 0);
  expect(ticket.isEmpty).toBe(true);
  expect(ticket.tenders.received).toBe('');
  expect(ticket.quote).toBeNull();
});

test('two presses at once charge once', async () => {
  const { host, ticket, offer } = await openTicket();
  ticket.add(offer('urban-adult'), null);
  const presses = await Promise.all([ticket.charge(), ticket.charge(), ticket.charge()]);
  expect(presses.map((press) => press.result)).toEqual(['recorded', 'ignored', 'ignored']);
  expect(host.calls['charge']).toBe(1);
});

test('a press whose answer was lost is repeated under the same draft and sells once', async () => {
  const { host, ticket, offer } = await openTicket();
  const real = host.charge;
  const drafts: string[] = [];
  vi.spyOn(host, 'charge').mockImplementation(async (request) => {
    drafts.push(request.draft_id);
    const answer = await real(request);
    if (drafts.length === 1) throw new Error('the channel closed');
    return answer;
  });
  ticket.add(offer('urban-adult'), null);
  expect((await ticket.charge()).result).toBe('refused');
  expect(ticket.problem?.code).toBe('internal');
  expect(ticket.lines).toHaveLength(1);
  expect((await ticket.charge()).result).toBe('recorded');
  expect(drafts).toEqual(['draft-1', 'draft-1']);
  expect((await host.recentSales({ after: null })).items).toHaveLength(1);
});

test('each ticket has a draft of its own, also after one was thrown away', async () => {
  const { host, ticket, offer } = await openTicket();
  const charge = vi.spyOn(host, 'charge');
  ticket.add(offer('urban-adult'), null);
  await ticket.charge();
  ticket.add(offer('urban-adult'), null);
  ticket.clear();
  ticket.add(offer('urban-adult'), null);
  await ticket.charge();
  expect(charge.mock.calls.map(([request]) => request.draft_id)).toEqual(['draft-1', 'draft-3']);
});

test('a draft that could not be opened is asked for again by the next press', async () => {
  const { host, ticket, offer } = await openTicket();
  vi.spyOn(host, 'openDraft').mockRejectedValueOnce({ code: 'disk_full', message: '', detail: null });
  ticket.add(offer('urban-adult'), null);
  await ticket.settled();
  expect((await ticket.charge()).result).toBe('recorded');
});

test('while a press is under way the ticket holds still', async () => {
  const { host, ticket, offer } = await openTicket();
  let answer: (outcome: ChargeOutcome) => void = () => undefined;
  vi.spyOn(host, 'charge').mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  ticket.add(offer('urban-adult'), null);
  const press = ticket.charge();
  await vi.waitFor(() => expect(host.charge).toHaveBeenCalled());
  ticket.add(offer('luggage'), null);
  ticket.remove(ticket.lines[0]?.key ?? 0);
  ticket.clear();
  expect(ticket.lines).toHaveLength(1);
  expect(ticket.charging).toBe(true);
  answer({ outcome: 'look_alike', warnings: [] });
  await press;
  expect(ticket.charging).toBe(false);
});

test('too little is refused before anything is asked', async () => {
  const { host, ticket, offer } = await openTicket();
  ticket.add(offer('luggage'), null);
  ticket.tenders.received = '10';
  expect((await ticket.charge()).result).toBe('refused');
  expect(ticket.problem?.code).toBe('received_too_little');
  expect(host.calls['charge']).toBeUndefined();
  ticket.tenders.received = '20';
  await ticket.settled();
  expect(ticket.problem).toBeNull();
});

test('an amount that cannot be read costs the change, not the total, and is never charged', async () => {
  const { host, ticket, offer } = await openTicket();
  ticket.add(offer('luggage'), null);
  ticket.tenders.received = '15.';
  await ticket.settled();
  expect(ticket.tenderProblem?.code).toBe('amount_invalid');
  expect(ticket.quote?.due.minor).toBe(1500);
  expect(ticket.change).toBeNull();
  expect((await ticket.charge()).result).toBe('refused');
  expect(host.calls['charge']).toBeUndefined();
});

test('a price that changed is refused with its code and the ticket stays', async () => {
  const { host, ticket, offer } = await openTicket();
  vi.spyOn(host, 'charge').mockRejectedValueOnce({ code: 'price_changed', message: '', detail: null });
  ticket.add(offer('luggage'), null);
  expect((await ticket.charge()).result).toBe('refused');
  expect(ticket.problem?.code).toBe('price_changed');
  expect(ticket.lines).toHaveLength(1);
});

test('an offer that vanished is named as its line is, and the ticket stays', async () => {
  const { host, ticket, offer } = await openTicket();
  const gone = { code: 'offer_gone' as const, message: '' };
  ticket.add(offer('luggage'), null);
  await ticket.settled();
  for (const [detail, named] of [
    [offer('luggage').offer_id, offer('luggage').name],
    ['product:of-another-ticket', null],
  ] as const) {
    vi.spyOn(host, 'charge').mockRejectedValueOnce({ ...gone, detail });
    expect((await ticket.charge()).result).toBe('refused');
    expect(ticket.problem).toEqual({ ...gone, detail: named });
    vi.spyOn(host, 'quote').mockRejectedValueOnce({ ...gone, detail });
    ticket.setQuantity(ticket.lines[0]?.key ?? 0, 2);
    await ticket.settled();
    expect(ticket.problem).toEqual({ ...gone, detail: named });
  }
  expect(ticket.lines).toHaveLength(1);
});

test('only the figures of the ticket as it is now are shown', async () => {
  const { host, ticket, offer } = await openTicket();
  const real = host.quote;
  const answers: (() => void)[] = [];
  vi.spyOn(host, 'quote').mockImplementation(
    (request) => new Promise((resolve) => answers.push(() => void real(request).then(resolve))),
  );
  ticket.add(offer('luggage'), null);
  ticket.add(offer('luggage'), null);
  for (const answer of answers.toReversed()) answer();
  await vi.waitFor(() => expect(ticket.quote?.total.minor).toBe(3000));
  await Promise.resolve();
  expect(ticket.quote?.total.minor).toBe(3000);
});

test('the prices sent are those that were shown, and a blank name is no name', async () => {
  const { host, ticket, offer, seatOf } = await openTicket();
  const charge = vi.spyOn(host, 'charge');
  ticket.add(offer('184-2030'), await seatOf('184-2030', '12A'));
  ticket.setBuyerName(ticket.lines[0]?.key ?? 0, '   ');
  await ticket.charge();
  expect(charge.mock.calls[0]?.[0]).toEqual({
    draft_id: 'draft-1',
    lines: [
      {
        offer_id: '184-2030',
        seat: '12A',
        quantity: 1,
        buyer_name: null,
        shown_price_minor: 8550,
        discount: null,
      },
    ],
    tenders: [{ method: 'cash', received: null }],
    look_alikes: 'ask',
    approval: null,
  });
});

test('a look-alike asks, records nothing, and sells when the cashier says so', async () => {
  const { host, ticket, offer, seatOf } = await openTicket();
  const seat = await seatOf('184-2030', '12A');
  ticket.add(offer('184-2030'), seat);
  await ticket.charge();
  ticket.add(offer('184-2030'), seat);
  expect((await ticket.charge()).result).toBe('asked');
  expect(ticket.warnings).toHaveLength(1);
  expect((await host.recentSales({ after: null })).items).toHaveLength(1);
  ticket.goBack();
  expect(ticket.warnings).toEqual([]);
  expect(ticket.lines).toHaveLength(1);
  expect((await ticket.charge('sell_anyway')).result).toBe('recorded');
  expect((await host.recentSales({ after: null })).items).toHaveLength(2);
});
