/** What a ticket of the in-memory till costs. */
import type { Discount } from '../../bindings/Discount';
import type { Line } from '../../bindings/Line';
import type { Offer } from '../../bindings/Offer';
import type { Quote } from '../../bindings/Quote';
import type { QuoteRequest } from '../../bindings/QuoteRequest';
import type { Tender } from '../../bindings/Tender';
import type { TenderShare } from '../../bindings/TenderShare';
import { typedAmount } from '../../shared/money';
import { cashDue, parseTyped, soles } from './amounts';
import { needsManager } from './catalog';
import { refusal } from './sales';

export function quote({ lines, tenders }: QuoteRequest, find: (offerId: string) => Offer): Quote {
  if (lines.length === 0) throw refusal('ticket_empty');
  const quoted = lines.map((line) => {
    const offer = find(line.offer_id);
    if (offer.price.minor !== line.shown_price_minor) throw refusal('price_changed');
    const list = offer.price.minor * line.quantity;
    const off = line.discount ? discountOf(list, line.discount) : null;
    return {
      description: describe(offer, line),
      quantity: line.quantity,
      unit_price: offer.price,
      discount: off === null ? null : soles(off),
      amount: soles(list - (off ?? 0)),
    };
  });
  const total = quoted.reduce((sum, line) => sum + line.amount.minor, 0);
  // A tenth is a cashier's.
  const needs_manager =
    lines.some(({ offer_id }) => needsManager(offer_id)) ||
    quoted.some(({ discount, amount }) => discount !== null && discount.minor * 9 > amount.minor);
  return { lines: quoted, total: soles(total), needs_manager, ...divided(total, tenders) };
}

/** What is taken off a price; a percentage is cut off to the céntimo. */
function discountOf(list: number, { kind, value }: Discount): number {
  const typed = parseTyped(value);
  if (typed === null) throw refusal('discount_invalid');
  const off = kind === 'amount' ? typed : (list * typed - ((list * typed) % 10_000)) / 10_000;
  if (off < 1 || list - off < 10) throw refusal('discount_invalid');
  return off;
}

/** What each tender pays; near enough to the till, which has the exact rules. */
function divided(total: number, tenders: Tender[]): Omit<Quote, 'lines' | 'total' | 'needs_manager'> {
  let left = total;
  const shares: TenderShare[] = [];
  const byWallet = (tender: Tender & { method: 'wallet' }, minor: number) => {
    const { provider, operation_number } = tender;
    shares.push({ method: 'wallet', provider, operation_number, amount: soles(minor) });
    left -= minor;
  };
  if (tenders.some(({ method }) => method === 'card')) {
    if (tenders.length > 1) throw refusal('card_alone');
    const whole = { method: 'card', provider: null, operation_number: null, amount: soles(total) } as const;
    const none = soles(0);
    return {
      rounding: none,
      due: soles(total),
      cash_due: none,
      tenders: [whole],
      change: none,
      missing: null,
    };
  }
  for (const tender of tenders) {
    if (tender.method !== 'wallet' || tender.amount === null) continue;
    const minor = parseTyped(tender.amount);
    if (minor === null || minor === 0) throw refusal('amount_invalid');
    if (minor > left) throw refusal('tender_too_much', `PEN ${typedAmount(soles(left))}`);
    byWallet(tender, minor);
  }
  const rest = tenders.find(
    (tender) => tender.method === 'cash' || (tender.method === 'wallet' && tender.amount === null),
  );
  if (rest?.method === 'wallet') {
    if (left === 0) throw refusal('tender_too_much', 'PEN 0.00');
    byWallet(rest, left);
  }
  if (rest?.method !== 'cash') {
    const [change, missing] = left === 0 ? [soles(0), null] : [null, soles(left)];
    return { rounding: soles(0), due: soles(total), cash_due: soles(0), tenders: shares, change, missing };
  }
  const cash = cashDue(left);
  const received = rest.received === null ? cash : parseTyped(rest.received);
  if (received === null) throw refusal('amount_invalid');
  if (left > 0) shares.push({ method: 'cash', provider: null, operation_number: null, amount: soles(cash) });
  return {
    rounding: soles(left - cash),
    due: soles(total - left + cash),
    cash_due: soles(cash),
    tenders: shares,
    change: received >= cash ? soles(received - cash) : null,
    missing: received < cash ? soles(cash - received) : null,
  };
}

export function describe(offer: Offer, line: Line): string {
  const what = offer.departs_at ? `${offer.name} ${offer.departs_at.slice(11, 16)}` : offer.name;
  if (line.seat) return `${what} · asiento ${line.seat}`;
  return line.quantity === 1 ? what : `${line.quantity} × ${what}`;
}

/** The numbers that this ticket is paid with; refuses one that is none, or that paid another sale. */
export function operationsOf(tenders: Tender[], used: ReadonlyMap<string, string>): string[] {
  const wallets = tenders.filter((tender) => tender.method === 'wallet');
  const numbers = wallets.map(({ operation_number }) => operation_number.trim().toUpperCase());
  for (const number of numbers) {
    if (!/^[0-9A-Z]{4,32}$/.test(number)) throw refusal('operation_number_invalid');
    if (used.has(number)) throw refusal('operation_number_used', used.get(number));
  }
  if (new Set(numbers).size < numbers.length) throw refusal('operation_number_used');
  return numbers;
}
