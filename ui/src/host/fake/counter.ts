/** The counter of the in-memory till: what can be sold, what was put on a ticket, and what became of it. */
import type { Charge } from '../../bindings/Charge';
import type { ChargeOutcome } from '../../bindings/ChargeOutcome';
import type { Checkout } from '../../bindings/Checkout';
import type { Line } from '../../bindings/Line';
import type { LookAlike } from '../../bindings/LookAlike';
import type { Offer } from '../../bindings/Offer';
import type { Person } from '../../bindings/Person';
import type { Quote } from '../../bindings/Quote';
import type { QuoteLine } from '../../bindings/QuoteLine';
import type { QuoteRequest } from '../../bindings/QuoteRequest';
import type { SaleDetail } from '../../bindings/SaleDetail';
import type { SaleDiscount } from '../../bindings/SaleDiscount';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { SeatMap } from '../../bindings/SeatMap';
import type { SeatSold } from '../../bindings/SeatSold';
import { soles } from './amounts';
import { FIRST_CARD } from './cards';
import { LAYOUTS, offersOf } from './catalog';
import { detailOf } from './detail';
import type { FakePeople } from './people';
import { describe, operationsOf, quote } from './pricing';
import type { FakePrinter } from './printer';
import type { FakeRelay } from './relay';
import { isWithinWindow, refusal, secondsApart, stamp } from './sales';
import type { FakeShifts } from './shift';

export class FakeCounter {
  readonly #relay: FakeRelay;
  readonly #shifts: FakeShifts;
  readonly #people: FakePeople;
  readonly #printer: FakePrinter;
  readonly #checkouts = new Map<string, Checkout>();
  readonly #discounts = new Map<string, SaleDiscount>();
  readonly #operations = new Map<string, string>();
  #drafts = 0;

  constructor(relay: FakeRelay, shifts: FakeShifts, people: FakePeople, printer: FakePrinter) {
    this.#relay = relay;
    this.#shifts = shifts;
    this.#people = people;
    this.#printer = printer;
  }

  offers(): Offer[] {
    return offersOf(stamp().slice(0, 10)).map((offer) =>
      offer.seats_free === null
        ? offer
        : {
            ...offer,
            seats_free: offer.seats_free - this.#relay.seatsSold(offer.offer_id),
          },
    );
  }

  #offer(id: string): Offer {
    const offer = this.offers().find((one) => one.offer_id === id);
    if (!offer) throw refusal('offer_gone', id);
    return offer;
  }

  seatMap(offerId: string): SeatMap {
    const offer = this.#offer(offerId);
    const decks = (LAYOUTS.get(offerId) ?? []).map((deck) => ({
      number: deck.number,
      rows: deck.rows.map((row) =>
        row.map((seat) =>
          seat === null ? null : { seat, price: offer.price, sold: this.#soldSeat(offerId, seat) },
        ),
      ),
    }));
    return { offer, decks };
  }

  draft(): string {
    return `draft-${String((this.#drafts += 1))}`;
  }

  quote(request: QuoteRequest): Quote {
    return quote(request, (id) => this.#offer(id));
  }

  charge(request: Charge, seller: Person): ChargeOutcome {
    const recorded = this.#checkouts.get(request.draft_id);
    if (recorded) return { outcome: 'recorded', checkout: recorded };
    const shift = this.#shifts.current;
    if (!shift) throw refusal('shift_required');
    const quoted = quote(request, (id) => this.#offer(id));
    if (quoted.missing || !quoted.change) throw refusal('received_too_little');
    const byCard = request.tenders.some(({ method }) => method === 'card');
    if (byCard && this.#relay.status.connection.state !== 'online') throw refusal('card_needs_line');
    const approver = this.#people.approver(request.approval);
    if (quoted.needs_manager && !approver) throw refusal('manager_required');
    if (request.lines.some(({ discount }) => discount?.reason.trim() === ''))
      throw refusal('reason_required');
    const operations = operationsOf(request.tenders, this.#operations);
    const warnings = request.look_alikes === 'ask' ? this.#lookAlikes(request.lines) : [];
    if (warnings.length > 0) return { outcome: 'look_alike', warnings };

    const sales = request.lines.map((line, at) =>
      this.#record(line, shift.shift_id, seller, quoted.lines[at], approver, byCard),
    );
    for (const operation of operations)
      this.#operations.set(operation, sales[0]?.external_transaction_id ?? '');
    const checkout: Checkout = {
      draft_id: request.draft_id,
      recorded_at: stamp(),
      sales,
      total: quoted.total,
      rounding: quoted.rounding,
      due: quoted.due,
      received: soles(quoted.due.minor + quoted.change.minor),
      change: quoted.change,
      tenders: quoted.tenders,
    };
    this.#checkouts.set(request.draft_id, checkout);
    return { outcome: 'recorded', checkout };
  }

  detail(id: string): SaleDetail {
    const of = (checkout: Checkout) => checkout.sales.some((sale) => sale.external_transaction_id === id);
    return detailOf(
      this.#relay.find(id),
      [...this.#checkouts.values()].find(of)?.tenders ?? null,
      this.#discounts.get(id) ?? null,
    );
  }

  #record(
    line: Line,
    shiftId: string,
    seller: Person,
    priced: QuoteLine | undefined,
    approver: Person | null,
    byCard: boolean,
  ): SaleSummary {
    const offer = this.#offer(line.offer_id);
    const sequence = this.#relay.sales.length + 1;
    const summary: SaleSummary = {
      external_transaction_id: `D03-K7M-${shiftId}-${String(sequence).padStart(4, '0')}`,
      sequence,
      shift_id: shiftId,
      description: describe(offer, line),
      route: offer.route,
      seat: line.seat,
      buyer_name: line.buyer_name,
      amount: priced?.amount ?? offer.price,
      occurred_at: stamp(),
      seller: seller.name,
      state: 'queued',
      standing: 'saved',
      reason: 'not_tried_yet',
      detail: null,
      attempts: 0,
      next_attempt_at: null,
      yupy_transaction_id: null,
      voided: null,
      returned: null,
      resolution: null,
      card: byCard ? FIRST_CARD : null,
      origin_device_id: null,
    };
    if (line.discount && priced?.discount)
      this.#discounts.set(summary.external_transaction_id, {
        list: soles(summary.amount.minor + priced.discount.minor),
        discount: priced.discount,
        reason: line.discount.reason,
        approved_by: approver?.name ?? null,
      });
    this.#relay.queue(summary, offer);
    this.#printer.sold(summary);
    return summary;
  }

  #lookAlikes(lines: Line[]): LookAlike[] {
    const now = stamp();
    return lines.flatMap((line, index) => {
      const earlier = line.seat === null ? null : this.#relay.soldSeat(line.offer_id, line.seat);
      if (!earlier || !isWithinWindow(earlier.occurred_at, now)) return [];
      return [
        {
          line: index,
          earlier,
          matching_signals: ['amount', 'currency', 'shift_id', 'device_id', 'route', 'seat'],
          seconds_apart: secondsApart(earlier.occurred_at, now),
        },
      ];
    });
  }

  #soldSeat(offerId: string, seat: string): SeatSold | null {
    const sale = this.#relay.soldSeat(offerId, seat);
    if (!sale) return null;
    const { external_transaction_id, occurred_at, buyer_name } = sale;
    return { external_transaction_id, occurred_at, buyer_name };
  }
}
