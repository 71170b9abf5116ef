/** Two sides of a question, field by field: equal, different, or not known on one side. */
import type { Review } from '../bindings/Review';
import type { ReviewSide } from '../bindings/ReviewSide';
import type { Messages } from '../i18n/messages';
import type { Giving } from './decision.svelte';
import { formatMoney } from '../shared/money';
import { isolated } from '../shared/text';
import { day, duration, timeOfDayWithSeconds } from '../shared/time';

export type Verdict = 'equal' | 'different' | 'unknown';
export type ComparedField = keyof Messages['review']['fields'];
export type Compared = {
  field: ComparedField;
  own: string | null;
  candidate: string | null;
  verdict: Verdict;
  /** More than the word, where there is more to say: the time between. */
  note: string | null;
};

/** In the order in which a manager asks: what, when, who, where, and the numbers last. */
export function compareSides(review: Review, t: Messages): Compared[] {
  const { own, candidate } = review;
  const row = (
    field: ComparedField,
    pick: (side: ReviewSide) => string | null,
    signal: string = field,
  ): Compared => {
    const [a, b] = [pick(own), pick(candidate)];
    return {
      field,
      own: a,
      candidate: b,
      verdict: verdictOf(a, b, review.matching_signals.includes(signal)),
      note: null,
    };
  };
  const text = (field: ComparedField & keyof ReviewSide) =>
    row(field, (side) => side[field] as string | null);
  return [
    row('amount', (side) => formatMoney(side.amount)),
    timeRow(review, t),
    text('route'),
    text('seat'),
    text('buyer_name'),
    text('description'),
    text('device_id'),
    text('shift_id'),
    text('seller'),
    row('state', (side) => stateAtYupy(side, t), 'none'),
    text('external_transaction_id'),
    text('yupy_transaction_id'),
  ];
}

/** YUPY's word counts: it compares names whatever their case, and spaces whatever their number. */
function verdictOf(own: string | null, candidate: string | null, namedByYupy: boolean): Verdict {
  if (own === null || candidate === null) return 'unknown';
  return namedByYupy || own === candidate ? 'equal' : 'different';
}

function timeRow(review: Review, t: Messages): Compared {
  const { own, candidate, seconds_apart: apart } = review;
  const shown = (side: ReviewSide) =>
    side.occurred_at && `${day(side.occurred_at, t)} ${timeOfDayWithSeconds(side.occurred_at)}`;
  return {
    field: 'occurred_at',
    own: shown(own),
    candidate: shown(candidate),
    verdict: apart === null ? 'unknown' : apart === 0 ? 'equal' : 'different',
    note: apart === null ? null : timeBetween(review, apart, t),
  };
}

function timeBetween(review: Review, apart: number, t: Messages): string {
  if (apart === 0) return t.review.sentence.sameTime;
  const later = Date.parse(review.candidate.occurred_at ?? '') > Date.parse(review.own.occurred_at ?? '');
  const words = later ? t.review.sentence.after : t.review.sentence.before;
  return words(duration(apart, t));
}

function stateAtYupy(side: ReviewSide, t: Messages): string | null {
  if (side.yupy_transaction_id === null) return t.review.notAtYupy;
  const words = [
    nameOf(t.review.operational, side.operational),
    nameOf(t.review.financial, side.financial),
  ].filter((word) => word !== null);
  return words.length === 0 ? null : words.join(', ');
}

function nameOf(names: Record<string, string>, code: string | null): string | null {
  return code === null ? null : (names[code] ?? code);
}

/** Signals that the sentence says in words of its own, or that go without saying beside those. */
const SAID: ReadonlySet<string> = new Set([
  'amount',
  'currency',
  'buyer_name',
  'shift_id',
  'device_id',
  'route',
  'seat',
]);
/** A seat is a seat of one departure and of one kind of product. */
const SAID_BY_SEAT: ReadonlySet<string> = new Set(['service', 'product']);

/** *Se parece a otra venta: mismo asiento 12A en la ruta 184, 40 s antes, en este mismo equipo.* */
export function reviewSentence(review: Review, t: Messages, place: Giving['place'] = 'here'): string {
  const words = t.review.sentence;
  const { own } = review;
  const has = (signal: string) => review.matching_signals.includes(signal);
  const parts: string[] = [];
  if (has('seat') && own.seat) {
    parts.push(has('route') && own.route ? words.seatAndRoute(own.seat, own.route) : words.seat(own.seat));
  } else if (has('route') && own.route) {
    parts.push(words.route(own.route));
  }
  if (has('buyer_name') && own.buyer_name) parts.push(words.buyer(isolated(own.buyer_name)));
  if (has('amount')) parts.push(words.amount(formatMoney(own.amount)));
  const isSaid = (signal: string) => SAID.has(signal) || (has('seat') && SAID_BY_SEAT.has(signal));
  parts.push(
    ...signalWords(
      review.matching_signals.filter((signal) => !isSaid(signal)),
      t,
    ),
  );
  if (review.seconds_apart !== null) parts.push(timeBetween(review, review.seconds_apart, t));
  if (has('device_id')) parts.push(place === 'here' ? words.sameTill : words.sameOtherTill);
  return words.lead(parts.join(', '));
}

/** What two sales have in common, in words. */
export function signalWords(signals: string[], t: Messages): string[] {
  const names: Record<string, string> = t.signal;
  return signals.map((signal) => names[signal] ?? signal);
}
