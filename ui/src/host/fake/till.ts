/**
 * A till in memory: it sells, sends after a moment, asks about look-alikes and takes a manager's decision, close
 * enough to the real one that the whole screen can be opened in a browser and tested. It keeps nothing and reaches
 * nobody.
 */
import type { Charge } from '../../bindings/Charge';
import type { ChargeOutcome } from '../../bindings/ChargeOutcome';
import type { Checkout } from '../../bindings/Checkout';
import type { ConnectionState } from '../../bindings/ConnectionState';
import type { Decide } from '../../bindings/Decide';
import type { Frame } from '../../bindings/Frame';
import type { Language } from '../../bindings/Language';
import type { Line } from '../../bindings/Line';
import type { LookAlike } from '../../bindings/LookAlike';
import type { Offer } from '../../bindings/Offer';
import type { Person } from '../../bindings/Person';
import type { Phase } from '../../bindings/Phase';
import type { PracticeLine } from '../../bindings/PracticeLine';
import type { Problem } from '../../bindings/Problem';
import type { ProblemCode } from '../../bindings/ProblemCode';
import type { Quote } from '../../bindings/Quote';
import type { QuoteRequest } from '../../bindings/QuoteRequest';
import type { Review } from '../../bindings/Review';
import type { ReviewSide } from '../../bindings/ReviewSide';
import type { SalePage } from '../../bindings/SalePage';
import type { SaleReason } from '../../bindings/SaleReason';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { SeatMap } from '../../bindings/SeatMap';
import type { SendReport } from '../../bindings/SendReport';
import type { Shift } from '../../bindings/Shift';
import type { Host } from '../host';
import { cashDue, parseTyped, soles } from './amounts';
import { LAYOUTS, matches, offersOf } from './catalog';

export const CASHIER: Person = { person_id: 'p-caja', name: 'Caja', role: 'cashier' };
export const MANAGER: Person = { person_id: 'p-encargado', name: 'Encargado', role: 'manager' };
export const PINS: Record<string, string> = { [CASHIER.person_id]: '314159', [MANAGER.person_id]: '271828' };

const PAGE = 20;
const WINDOW_S = 600;
const ANSWER_MS = 900;
/** How much longer an answer takes on a slow line. */
const SLOW = 5;
const FIRST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = 60_000;

type Sold = {
  summary: SaleSummary;
  offer: Offer;
  committedAtYupy: boolean;
  /** A manager said that it is another sale. */
  confirming: boolean;
  timer: ReturnType<typeof setTimeout> | null;
};
type Told = { connection: ConnectionState; reason: SaleReason; standing: SaleSummary['standing'] };

/** What the till learns from each line of the practice network; `online` and `slow` get an answer. */
const FAILURES: Record<Exclude<PracticeLine, 'online' | 'slow'>, Told> = {
  offline: { connection: 'unreachable', reason: 'unreachable', standing: 'saved' },
  lost_reply: { connection: 'unreachable', reason: 'connection_lost', standing: 'unconfirmed' },
  portal: { connection: 'portal', reason: 'portal', standing: 'saved' },
};

export class FakeTill implements Host {
  #phase: Phase = { phase: 'welcome' };
  #language: Language = 'es';
  #people: Person[] = [CASHIER, MANAGER];
  #pins: Record<string, string> = { ...PINS };
  #practice = false;
  #line: PracticeLine = 'online';
  #connection: ConnectionState = 'unknown';
  #since: string | null = null;
  #seller: Person = CASHIER;
  #shift: Shift | null = null;
  #sold: Sold[] = [];
  #reviews = new Map<string, Review>();
  #checkouts = new Map<string, Checkout>();
  #drafts = 0;
  #questions = 0;
  readonly #listeners = new Set<() => void>();

  readonly #answerMs: number;

  /** `answerMs` is how long YUPY takes. */
  constructor(answerMs = ANSWER_MS) {
    this.#answerMs = answerMs;
  }

  /** How many times each command was called. */
  readonly calls: Record<string, number> = {};

  // --- what tests and scenes set up ---

  /** A till that cannot work. */
  becomeUnavailable(problem: Problem): void {
    this.#phase = { phase: 'unavailable', problem };
    this.#changed();
  }

  /** A till that is connected and has nobody to unlock it. */
  becomeUnpeopled(): void {
    this.#people = [];
    this.#phase = { phase: 'first_manager' };
    this.#changed();
  }

  /** A sale that YUPY refused. */
  breakASale(sequence: number): void {
    const sold = this.#sold.find(({ summary }) => summary.sequence === sequence);
    if (sold)
      this.#update(sold, {
        state: 'needs_attention',
        standing: 'saved',
        reason: 'validation_failed',
        detail: 'buyer_name: forbidden characters',
        yupy_transaction_id: null,
      });
  }

  /** Hints at a change, as the shell does. */
  hint(): void {
    this.#changed();
  }

  identityCollisions = 0;

  // --- Host ---

  frame = (): Promise<Frame> => this.#answer('frame', () => this.#frame());

  startPractice = (): Promise<Frame> =>
    this.#answer('start_practice', () => {
      this.#practice = true;
      this.#phase = this.#locked();
      this.#learn('online');
      return this.#frame();
    });

  connect: Host['connect'] = ({ address, enrolment_code }) =>
    this.#answer('connect', () => {
      if (!/^https?:\/\/\S+$/.test(address)) throw refusal('address_invalid');
      if (address.includes('nadie')) throw refusal('address_unreachable');
      if (address.includes('portal')) throw refusal('not_yupy');
      if (!enrolment_code.startsWith('TURNO')) throw refusal('enrolment_refused');
      this.#people = [];
      this.#phase = { phase: 'first_manager' };
      this.#learn('online');
      return this.#frame();
    });

  createManager: Host['createManager'] = ({ name, pin }) =>
    this.#answer('create_manager', () => {
      if (name.trim() === '' || name.length > 60) throw refusal('name_invalid');
      if (!/^\d{6,}$/.test(pin) || /^(\d)\1+$/.test(pin) || '01234567890'.includes(pin))
        throw refusal('pin_weak');
      const person: Person = { person_id: 'p-1', name: name.trim(), role: 'manager' };
      this.#people = [person];
      this.#pins = { [person.person_id]: pin };
      this.#phase = this.#locked();
      return this.#frame();
    });

  unlock: Host['unlock'] = ({ person_id, pin }) =>
    this.#answer('unlock', () => {
      const person = this.#people.find((one) => one.person_id === person_id);
      if (!person || this.#pins[person_id] !== pin) throw refusal('pin_wrong');
      this.#seller = person;
      this.#phase = this.#shift
        ? { phase: 'selling', person, shift: this.#shift }
        : { phase: 'no_shift', person };
      return this.#frame();
    });

  lock = (): Promise<Frame> =>
    this.#answer('lock', () => {
      this.#phase = this.#locked();
      return this.#frame();
    });

  openShift: Host['openShift'] = ({ float }) =>
    this.#answer('open_shift', () => {
      const minor = parseTyped(float);
      if (minor === null) throw refusal('amount_invalid');
      const shift: Shift = {
        shift_id: 'S44',
        opened_at: this.#stamp(),
        opened_by: this.#seller,
        float: soles(minor),
        sales_count: 0,
        sold: soles(0),
      };
      this.#shift = shift;
      this.#phase = { phase: 'selling', person: this.#seller, shift };
      return this.#frame();
    });

  searchOffers: Host['searchOffers'] = ({ text, limit }) =>
    this.#answer('search_offers', () =>
      this.#offers()
        .filter((offer) => matches(offer, text))
        .slice(0, limit),
    );

  seatMap: Host['seatMap'] = ({ offer_id }) =>
    this.#answer('seat_map', (): SeatMap => {
      const offer = this.#offer(offer_id);
      const decks = (LAYOUTS.get(offer_id) ?? []).map((deck) => ({
        number: deck.number,
        rows: deck.rows.map((row) =>
          row.map((seat) =>
            seat === null ? null : { seat, price: offer.price, sold: this.#soldSeat(offer_id, seat) },
          ),
        ),
      }));
      return { offer, decks };
    });

  openDraft: Host['openDraft'] = () =>
    this.#answer('open_draft', () => ({ draft_id: `draft-${String((this.#drafts += 1))}` }));

  quote: Host['quote'] = (request) => this.#answer('quote', () => this.#quote(request));

  charge: Host['charge'] = (request) => this.#answer('charge', () => this.#charge(request));

  pending: Host['pending'] = ({ after }) =>
    this.#answer('pending', () =>
      page(
        this.#sold.map((sold) => sold.summary).filter(isUnsettled),
        (sale) => after === null || sale.sequence > after,
      ),
    );

  recentSales: Host['recentSales'] = ({ after }) =>
    this.#answer('recent_sales', () =>
      page(
        this.#sold.map((sold) => sold.summary).toReversed(),
        (sale) => after === null || sale.sequence < after,
      ),
    );

  sendNow: Host['sendNow'] = async () => {
    this.#count('send_now');
    const waiting = this.#sold.filter(({ summary }) => summary.state === 'queued');
    for (const sold of waiting) this.#attempt(sold);
    await pause(this.#answerTime);
    for (const sold of waiting) if (sold.summary.state === 'sending') this.#settle(sold);
    return {
      attempted: waiting.length,
      accepted: waiting.filter(({ summary }) => summary.state === 'accepted').length,
      still_pending: this.#sold.filter(({ summary }) => isUnsettled(summary)).length,
      connection: this.#frame().status?.connection ?? {
        state: 'unknown',
        since: null,
        next_attempt_at: null,
      },
    } satisfies SendReport;
  };

  reviews = (): Promise<Review[]> => this.#answer('reviews', () => [...this.#reviews.values()]);

  decide: Host['decide'] = (request) =>
    this.#answer('decide', () => {
      this.#decide(request);
      return this.#frame();
    });

  setPracticeLine: Host['setPracticeLine'] = ({ line }) =>
    this.#answer('set_practice_line', () => {
      this.#line = line;
      return this.#frame();
    });

  setLanguage: Host['setLanguage'] = ({ language }) =>
    this.#answer('set_language', () => {
      this.#language = language;
      return this.#frame();
    });

  onChanged = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  // --- how it sells ---

  #quote({ lines, tender }: QuoteRequest): Quote {
    if (lines.length === 0) throw refusal('ticket_empty');
    const quoted = lines.map((line) => {
      const offer = this.#offer(line.offer_id);
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

  #charge(request: Charge): ChargeOutcome {
    const recorded = this.#checkouts.get(request.draft_id);
    if (recorded) return { outcome: 'recorded', checkout: recorded };
    if (!this.#shift) throw refusal('shift_required');
    const quote = this.#quote(request);
    if (quote.missing || !quote.change) throw refusal('received_too_little');
    const warnings = request.look_alikes === 'ask' ? this.#lookAlikes(request.lines) : [];
    if (warnings.length > 0) return { outcome: 'look_alike', warnings };

    const sales = request.lines.map((line) => this.#record(line));
    const checkout: Checkout = {
      draft_id: request.draft_id,
      recorded_at: this.#stamp(),
      sales,
      total: quote.total,
      rounding: quote.rounding,
      due: quote.due,
      received: soles(quote.due.minor + quote.change.minor),
      change: quote.change,
    };
    this.#checkouts.set(request.draft_id, checkout);
    this.#shift = {
      ...this.#shift,
      sales_count: this.#shift.sales_count + sales.length,
      sold: soles(this.#shift.sold.minor + quote.total.minor),
    };
    this.#phase = { phase: 'selling', person: this.#seller, shift: this.#shift };
    this.#changed();
    return { outcome: 'recorded', checkout };
  }

  #record(line: Line): SaleSummary {
    const offer = this.#offer(line.offer_id);
    const sequence = this.#sold.length + 1;
    const summary: SaleSummary = {
      external_transaction_id: `D03-K7M-S44-${String(sequence).padStart(4, '0')}`,
      sequence,
      shift_id: 'S44',
      description: describe(offer, line),
      route: offer.route,
      seat: line.seat,
      buyer_name: line.buyer_name,
      amount: soles(offer.price.minor * line.quantity),
      occurred_at: this.#stamp(),
      seller: this.#seller.name,
      state: 'queued',
      standing: 'saved',
      reason: 'not_tried_yet',
      detail: null,
      attempts: 0,
      next_attempt_at: null,
      yupy_transaction_id: null,
    };
    const sold: Sold = { summary, offer, committedAtYupy: false, confirming: false, timer: null };
    this.#sold.push(sold);
    sold.timer = setTimeout(() => this.#attempt(sold), 0);
    return summary;
  }

  // --- how it sends ---

  #attempt(sold: Sold): void {
    if (sold.timer) clearTimeout(sold.timer);
    this.#update(sold, {
      state: 'sending',
      standing: 'unconfirmed',
      reason: sold.confirming ? 'confirming' : null,
      attempts: sold.summary.attempts + 1,
      next_attempt_at: null,
    });
    sold.timer = setTimeout(() => this.#settle(sold), this.#answerTime);
  }

  get #answerTime(): number {
    return this.#line === 'slow' ? SLOW * this.#answerMs : this.#answerMs;
  }

  #settle(sold: Sold): void {
    if (sold.timer) clearTimeout(sold.timer);
    sold.timer = null;
    if (this.#line === 'online' || this.#line === 'slow') {
      this.#learn('online');
      this.#answered(sold);
      return;
    }
    const told = FAILURES[this.#line];
    if (this.#line === 'lost_reply') sold.committedAtYupy = true;
    this.#learn(told.connection);
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (sold.summary.attempts - 1));
    this.#update(sold, {
      state: 'queued',
      standing: sold.committedAtYupy ? 'unconfirmed' : told.standing,
      reason: told.reason,
      next_attempt_at: this.#stamp(wait),
    });
    sold.timer = setTimeout(() => this.#attempt(sold), wait);
  }

  #answered(sold: Sold): void {
    const earlier = sold.committedAtYupy ? null : this.#candidateAtYupy(sold);
    if (earlier && !sold.confirming) {
      this.#ask(sold, earlier);
      return;
    }
    sold.committedAtYupy = true;
    this.#update(sold, {
      state: 'accepted',
      standing: 'confirmed',
      reason: null,
      yupy_transaction_id: `yt_${sold.summary.external_transaction_id.slice(-4)}`,
    });
  }

  #ask(sold: Sold, earlier: Sold): void {
    this.#questions += 1;
    const review: Review = {
      external_transaction_id: sold.summary.external_transaction_id,
      challenge_id: `question-${this.#questions}`,
      own: { ...side(sold), operational: null, financial: null },
      candidate: { ...side(earlier), operational: 'active', financial: 'paid', seller: null },
      candidates_count: 1,
      matching_signals: signals(sold, earlier),
      seconds_apart: secondsApart(sold.summary, earlier.summary),
      asked_at: this.#stamp(),
      expires_at: this.#stamp(24 * 3600 * 1000),
      previous_confirmation: null,
    };
    this.#reviews.set(review.external_transaction_id, review);
    this.#update(sold, { state: 'in_review', standing: 'saved', reason: 'possible_duplicate' });
  }

  #decide(request: Decide): void {
    const review = this.#reviews.get(request.external_transaction_id);
    const sold = this.#sold.find(
      (one) => one.summary.external_transaction_id === request.external_transaction_id,
    );
    if (!review || !sold) throw refusal('not_in_review');
    if (review.challenge_id !== request.challenge_id) throw refusal('question_changed');
    const manager = this.#people.find((one) => one.person_id === request.manager_id);
    if (manager?.role !== 'manager') throw refusal('manager_required');
    if (this.#pins[manager.person_id] !== request.pin) throw refusal('pin_wrong');
    if (request.reason.trim() === '') throw refusal('reason_required');
    if (request.decision === 'same_sale' && !request.money) throw refusal('money_handling_required');
    this.#reviews.delete(request.external_transaction_id);
    if (request.decision === 'same_sale') {
      this.#update(sold, { state: 'discarded', standing: 'saved', reason: 'same_sale' });
      return;
    }
    sold.confirming = true;
    this.#attempt(sold);
  }

  #lookAlikes(lines: Line[]): LookAlike[] {
    return lines.flatMap((line, index) => {
      if (line.seat === null) return [];
      const earlier = this.#sold.findLast(
        ({ offer, summary }) =>
          offer.offer_id === line.offer_id && summary.seat === line.seat && this.#ageOf(summary) < WINDOW_S,
      );
      if (!earlier) return [];
      return [
        {
          line: index,
          earlier: earlier.summary,
          matching_signals: ['amount', 'currency', 'shift_id', 'device_id', 'route', 'seat'],
          seconds_apart: this.#ageOf(earlier.summary),
        },
      ];
    });
  }

  #candidateAtYupy(sold: Sold): Sold | undefined {
    if (sold.summary.seat === null) return undefined;
    return this.#sold.find(
      (one) =>
        one !== sold &&
        one.committedAtYupy &&
        one.offer.offer_id === sold.offer.offer_id &&
        one.summary.seat === sold.summary.seat &&
        secondsApart(one.summary, sold.summary) < WINDOW_S,
    );
  }

  // --- what it shows ---

  #frame(): Frame {
    const enrolled = this.#phase.phase !== 'welcome' && this.#phase.phase !== 'unavailable';
    const summaries = this.#sold.map(({ summary }) => summary);
    const next = summaries.map((sale) => sale.next_attempt_at).filter((at) => at !== null);
    return {
      phase: this.#phase,
      language: this.#language,
      device_id: enrolled ? 'D03' : null,
      currency: 'PEN',
      status: enrolled
        ? {
            connection: {
              state: this.#connection,
              since: this.#since,
              next_attempt_at: next.toSorted()[0] ?? null,
            },
            pending_count: summaries.filter(isUnsettled).length,
            in_review_count: summaries.filter((sale) => sale.state === 'in_review').length,
            needs_attention_count: summaries.filter((sale) => sale.state === 'needs_attention').length,
            identity_collision_count: this.identityCollisions,
          }
        : null,
      practice: this.#practice
        ? {
            pins: this.#people.map(({ name, role, person_id }) => ({
              name,
              role,
              pin: this.#pins[person_id] ?? '',
            })),
            line: this.#line,
          }
        : null,
      managers: this.#people.filter((person) => person.role === 'manager'),
    };
  }

  #locked(): Phase {
    return { phase: 'locked', people: this.#people, last_person_id: this.#people[0]?.person_id ?? null };
  }

  #learn(state: ConnectionState): void {
    if (this.#connection !== state) this.#since = this.#stamp();
    this.#connection = state;
  }

  #update(sold: Sold, change: Partial<SaleSummary>): void {
    sold.summary = { ...sold.summary, ...change };
    this.#changed();
  }

  #offers(): Offer[] {
    return offersOf(this.#stamp().slice(0, 10)).map((offer) =>
      offer.seats_free === null
        ? offer
        : {
            ...offer,
            seats_free:
              offer.seats_free - this.#sold.filter((sold) => sold.offer.offer_id === offer.offer_id).length,
          },
    );
  }

  #offer(id: string): Offer {
    const offer = this.#offers().find((one) => one.offer_id === id);
    if (!offer) throw refusal('offer_gone');
    return offer;
  }

  #soldSeat(offerId: string, seat: string) {
    const sold = this.#sold.find((one) => one.offer.offer_id === offerId && one.summary.seat === seat);
    if (!sold) return null;
    const { external_transaction_id, occurred_at, buyer_name } = sold.summary;
    return { external_transaction_id, occurred_at, buyer_name };
  }

  #ageOf(sale: SaleSummary): number {
    return Math.floor((Date.now() - Date.parse(sale.occurred_at)) / 1000);
  }

  /** Now, or a moment from now, as the till writes times. */
  #stamp(inMs = 0): string {
    return stampOf(Date.now() + inMs);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #count(command: string): void {
    this.calls[command] = (this.calls[command] ?? 0) + 1;
  }

  async #answer<T>(command: string, work: () => T): Promise<T> {
    this.#count(command);
    await Promise.resolve();
    return work();
  }
}

export function stampOf(ms: number): string {
  return `${new Date(ms - 5 * 3600 * 1000).toISOString().slice(0, 19)}-05:00`;
}

function refusal(code: ProblemCode, detail: string | null = null): Problem & Error {
  return Object.assign(new Error(code), { code, detail });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const isUnsettled = (sale: SaleSummary) => sale.state !== 'accepted' && sale.state !== 'discarded';

function page(sales: SaleSummary[], isAfter: (sale: SaleSummary) => boolean): SalePage {
  const rest = sales.filter(isAfter);
  const items = rest.slice(0, PAGE);
  return { items, next: rest.length > PAGE ? (items.at(-1)?.sequence ?? null) : null };
}

function describe(offer: Offer, line: Line): string {
  const what = offer.departs_at ? `${offer.name} ${offer.departs_at.slice(11, 16)}` : offer.name;
  if (line.seat) return `${what} · asiento ${line.seat}`;
  return line.quantity === 1 ? what : `${line.quantity} × ${what}`;
}

function secondsApart(a: SaleSummary, b: SaleSummary): number {
  return Math.abs(Date.parse(a.occurred_at) - Date.parse(b.occurred_at)) / 1000;
}

function signals(a: Sold, b: Sold): string[] {
  const sameBuyer = a.summary.buyer_name !== null && a.summary.buyer_name === b.summary.buyer_name;
  const names = ['amount', 'currency', 'buyer_name', 'shift_id', 'device_id', 'route', 'seat', 'service'];
  return names.filter((name) => name !== 'buyer_name' || sameBuyer);
}

function side({ summary }: Sold): Omit<ReviewSide, 'operational' | 'financial'> {
  return {
    external_transaction_id: summary.external_transaction_id,
    yupy_transaction_id: summary.yupy_transaction_id,
    amount: summary.amount,
    occurred_at: summary.occurred_at,
    device_id: 'D03',
    shift_id: summary.shift_id,
    route: summary.route,
    seat: summary.seat,
    buyer_name: summary.buyer_name,
    seller: summary.seller,
    description: summary.description,
  };
}
