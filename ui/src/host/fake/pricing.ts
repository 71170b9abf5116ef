/** What a ticket of the in-memory till costs. */
import type { Line } from '../../bindings/Line';
import type { Offer } from '../../bindings/Offer';
import type { Quote } from '../../bindings/Quote';
import type { QuoteRequest } from '../../bindings/QuoteRequest';
import { cashDue, parseTyped, soles } from './amounts';
import { refusal } from './sales';

export function quote({ lines, tender }: QuoteRequest, find: (offerId: string) => Offer): Quote {
  if (lines.length === 0) throw refusal('ticket_empty');
  const quoted = lines.map((line) => {
    const offer = find(line.offer_id);
    if (offer.price.minor !== line.shown_price_minor) throw refusal('price_changed');
    return {
      description: describe(offer, line),
      quantity: line.quantity,
      unit_price: offer.price,
      amount: soles(offer.price.minor * line.quantity),
    };
  });
  const total = quoted.reduce((sum, line) => sum + line.amount.minor, 0);
  const due = cashDue(total);
  const received = tender.received === null ? due : parseTyped(tender.received);
  if (received === null) throw refusal('amount_invalid');
  return {
    lines: quoted,
    total: soles(total),
    rounding: soles(total - due),
    due: soles(due),
    change: received >= due ? soles(received - due) : null,
    missing: received < due ? soles(due - received) : null,
  };
}

export function describe(offer: Offer, line: Line): string {
  const what = offer.departs_at ? `${offer.name} ${offer.departs_at.slice(11, 16)}` : offer.name;
  if (line.seat) return `${what} · asiento ${line.seat}`;
  return line.quantity === 1 ? what : `${line.quantity} × ${what}`;
}
