/**
 * How the in-memory till sends: each sale gets an answer after a moment, or the failure of the practice line, and a
 * second sale of a seat gets a question. Believable, not complete: the real rules are the till's.
 */
import type { ConnectionState } from '../../bindings/ConnectionState';
import type { Decision } from '../../bindings/Decision';
import type { Offer } from '../../bindings/Offer';
import type { PracticeLine } from '../../bindings/PracticeLine';
import type { Review } from '../../bindings/Review';
import type { ReviewSide } from '../../bindings/ReviewSide';
import type { SaleReason } from '../../bindings/SaleReason';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { SendReport } from '../../bindings/SendReport';
import type { Standing } from '../../bindings/Standing';
import type { Status } from '../../bindings/Status';
import { FakeCards } from './cards';
import { seatsOf } from './catalog';
import {
  canTakeBack,
  isUnsettled,
  isWithinWindow,
  refusal,
  secondsApart,
  stamp,
  type Correction,
  type GivenBack,
  type Sold,
} from './sales';

/** How much longer an answer takes on a slow line. */
const SLOW = 5;
const FIRST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = 60_000;
const QUESTION_LIVES_MS = 24 * 3600 * 1000;

type Told = { connection: ConnectionState; reason: SaleReason; standing: Standing };

/** What the till learns from each line of the practice network; `online` and `slow` get an answer. */
const FAILURES: Record<Exclude<PracticeLine, 'online' | 'slow'>, Told> = {
  offline: { connection: 'unreachable', reason: 'unreachable', standing: 'saved' },
  lost_reply: { connection: 'unreachable', reason: 'connection_lost', standing: 'unconfirmed' },
  portal: { connection: 'portal', reason: 'portal', standing: 'saved' },
};

export class FakeRelay {
  line: PracticeLine = 'online';
  readonly cards: FakeCards;
  readonly #answerMs: number;
  readonly #changed: () => void;
  readonly #sold: Sold[] = [];
  readonly #reviews = new Map<string, Review>();
  #connection: ConnectionState = 'unknown';
  #paused = false;
  #since: string | null = null;
  #questions = 0;

  constructor(answerMs: number, changed: () => void) {
    this.#answerMs = answerMs;
    this.cards = new FakeCards(answerMs, (sold, card) => this.#update(sold, { card }));
    this.#changed = changed;
  }

  get sales(): SaleSummary[] {
    return this.#sold.map(({ summary }) => summary);
  }
  get reviews(): Review[] {
    return [...this.#reviews.values()];
  }
  get status(): Omit<
    Status,
    | 'identity_collision_count'
    | 'new_epoch'
    | 'clock_ahead_s'
    | 'reconciliation_alarm_count'
    | 'storage_warnings'
  > {
    const count = (wanted: (sale: SaleSummary) => boolean) => this.sales.filter(wanted).length;
    const next = this.sales.map((sale) => sale.next_attempt_at).filter((at) => at !== null);
    return {
      connection: {
        state: this.#paused ? 'paused' : this.#connection,
        since: this.#since,
        next_attempt_at: this.#paused ? null : (next.toSorted()[0] ?? null),
      },
      pending_count: count(isUnsettled),
      in_review_count: count((sale) => sale.state === 'in_review'),
      needs_attention_count: count((sale) => sale.state === 'needs_attention'),
    };
  }

  /** The newest sale of a seat. */
  soldSeat(offerId: string, seat: string): SaleSummary | null {
    const sold = this.#sold.findLast(
      (one) =>
        seatsOf(one.offer.offer_id) === seatsOf(offerId) && one.summary.seat === seat && one.given === null,
    );
    return sold?.summary ?? null;
  }

  seatsSold(offerId: string): number {
    return this.#sold.filter((one) => seatsOf(one.offer.offer_id) === seatsOf(offerId) && one.given === null)
      .length;
  }

  queue(summary: SaleSummary, offer: Offer): void {
    const sold: Sold = {
      summary,
      offer,
      committedAtYupy: false,
      confirming: false,
      timer: null,
      corrections: [],
      given: null,
      discarded: null,
    };
    this.#sold.push(sold);
    sold.timer = setTimeout(() => this.#attempt(sold), 0);
  }

  async sendNow(): Promise<SendReport> {
    const waiting = this.#paused ? [] : this.#sold.filter(({ summary }) => summary.state === 'queued');
    for (const sold of waiting) this.#attempt(sold);
    await new Promise((resolve) => setTimeout(resolve, this.#answerTime));
    for (const sold of waiting) if (sold.summary.state === 'sending') this.#settle(sold);
    const { connection, pending_count } = this.status;
    return {
      attempted: waiting.length,
      accepted: waiting.filter(({ summary }) => summary.state === 'accepted').length,
      still_pending: pending_count,
      connection,
    };
  }

  /** Nothing leaves while it is so; afterwards everything that waits does. */
  pause(paused: boolean): void {
    this.#paused = paused;
    for (const sold of this.#sold) if (sold.summary.state === 'queued') this.#attempt(sold);
    this.#changed();
  }

  decide(review: Review, decision: Decision, by: string, reason: string): void {
    const sold = this.#sold.find(
      ({ summary }) => summary.external_transaction_id === review.external_transaction_id,
    );
    if (!sold) return;
    this.#reviews.delete(review.external_transaction_id);
    if (decision === 'same_sale') {
      sold.discarded = { review, by, at: stamp(), reason };
      this.#update(sold, {
        state: 'discarded',
        standing: 'saved',
        reason: 'same_sale',
        resolution: 'queued',
      });
      return;
    }
    sold.confirming = true;
    this.#attempt(sold);
  }

  /** YUPY's answer to every discard that waits: it takes it, or somebody else was first. */
  hearDiscards(answer: 'told' | 'decided_otherwise'): void {
    for (const sold of this.#sold)
      if (sold.summary.resolution === 'queued') this.#update(sold, { resolution: answer });
  }

  takeBack(sold: Sold): void {
    if (!sold.discarded || !canTakeBack(sold)) throw refusal('take_back_too_late');
    this.#reviews.set(sold.summary.external_transaction_id, sold.discarded.review);
    sold.discarded = null;
    this.#update(sold, { state: 'in_review', reason: 'possible_duplicate', resolution: null });
  }

  leave(sold: Sold): void {
    if (sold.summary.resolution !== 'decided_otherwise') throw refusal('not_allowed_now');
    this.#update(sold, { resolution: 'acknowledged' });
  }

  /** The sale with this id. */
  find(id: string): Sold {
    const sold = this.#sold.find(({ summary }) => summary.external_transaction_id === id);
    if (!sold) throw refusal('not_found');
    return sold;
  }

  void(sold: Sold, given: GivenBack): void {
    sold.given = given;
    const { state } = sold.summary;
    if (state === 'needs_attention') {
      this.#update(sold, {
        state: 'withdrawn',
        reason: 'withdrawn',
        voided: 'local',
        returned: given.returned,
      });
      return;
    }
    this.#update(sold, { voided: state === 'accepted' ? 'queued' : 'waiting', returned: given.returned });
    if (state === 'accepted') this.#confirmVoid(sold);
  }

  correct(sold: Sold, correction: Correction): void {
    sold.corrections.push(correction);
    this.#update(sold, { state: 'queued', reason: 'corrected', detail: null });
    this.#attempt(sold);
  }

  /** YUPY was heard from, or was not. */
  learn(state: ConnectionState): void {
    if (this.#connection !== state) this.#since = stamp();
    this.#connection = state;
  }

  /** A sale that YUPY refused. */
  refuse(sequence: number): void {
    const sold = this.#sold.find(({ summary }) => summary.sequence === sequence);
    if (!sold) return;
    this.#update(sold, {
      state: 'needs_attention',
      standing: 'saved',
      reason: 'validation_failed',
      detail: 'buyer_name: forbidden characters',
      yupy_transaction_id: null,
    });
  }

  get #answerTime(): number {
    return this.line === 'slow' ? SLOW * this.#answerMs : this.#answerMs;
  }

  #attempt(sold: Sold): void {
    if (sold.timer) clearTimeout(sold.timer);
    if (this.#paused) return;
    this.#update(sold, {
      state: 'sending',
      standing: 'unconfirmed',
      reason: sold.confirming ? 'confirming' : null,
      attempts: sold.summary.attempts + 1,
      next_attempt_at: null,
    });
    sold.timer = setTimeout(() => this.#settle(sold), this.#answerTime);
  }

  #settle(sold: Sold): void {
    if (sold.timer) clearTimeout(sold.timer);
    sold.timer = null;
    if (this.line === 'online' || this.line === 'slow') {
      this.learn('online');
      this.#answered(sold);
      return;
    }
    const told = FAILURES[this.line];
    if (this.line === 'lost_reply') sold.committedAtYupy = true;
    this.learn(told.connection);
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (sold.summary.attempts - 1));
    this.#update(sold, {
      state: 'queued',
      standing: sold.committedAtYupy ? 'unconfirmed' : told.standing,
      reason: told.reason,
      next_attempt_at: stamp(wait),
    });
    sold.timer = setTimeout(() => this.#attempt(sold), wait);
  }

  #answered(sold: Sold): void {
    const earlier = sold.committedAtYupy || sold.confirming ? undefined : this.#candidateAtYupy(sold);
    if (earlier) {
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
    if (sold.given) this.#confirmVoid(sold);
    this.cards.ask(sold);
  }

  #confirmVoid(sold: Sold): void {
    this.#update(sold, { voided: 'sending' });
    setTimeout(() => this.#update(sold, { voided: 'confirmed' }), this.#answerTime);
  }

  #ask(sold: Sold, earlier: Sold): void {
    this.#questions += 1;
    const review: Review = {
      external_transaction_id: sold.summary.external_transaction_id,
      challenge_id: `question-${this.#questions}`,
      own: { ...side(sold.summary), operational: null, financial: null },
      candidate: { ...side(earlier.summary), operational: 'active', financial: 'paid', seller: null },
      candidates_count: 1,
      matching_signals: signals(sold.summary, earlier.summary),
      seconds_apart: secondsApart(sold.summary.occurred_at, earlier.summary.occurred_at),
      asked_at: stamp(),
      expires_at: stamp(QUESTION_LIVES_MS),
      previous_confirmation: null,
      decided_elsewhere: null,
    };
    this.#reviews.set(review.external_transaction_id, review);
    this.#update(sold, { state: 'in_review', standing: 'saved', reason: 'possible_duplicate' });
  }

  #candidateAtYupy(sold: Sold): Sold | undefined {
    if (sold.summary.seat === null) return undefined;
    return this.#sold.find(
      (one) =>
        one !== sold &&
        one.committedAtYupy &&
        one.offer.offer_id === sold.offer.offer_id &&
        one.summary.seat === sold.summary.seat &&
        isWithinWindow(one.summary.occurred_at, sold.summary.occurred_at),
    );
  }

  #update(sold: Sold, change: Partial<SaleSummary>): void {
    sold.summary = { ...sold.summary, ...change };
    this.#changed();
  }
}

function signals(a: SaleSummary, b: SaleSummary): string[] {
  const sameBuyer = a.buyer_name !== null && a.buyer_name === b.buyer_name;
  const names = ['amount', 'currency', 'buyer_name', 'shift_id', 'device_id', 'route', 'seat', 'service'];
  return names.filter((name) => name !== 'buyer_name' || sameBuyer);
}

function side(sale: SaleSummary): Omit<ReviewSide, 'operational' | 'financial'> {
  return {
    external_transaction_id: sale.external_transaction_id,
    yupy_transaction_id: sale.yupy_transaction_id,
    amount: sale.amount,
    occurred_at: sale.occurred_at,
    device_id: 'D03',
    shift_id: sale.shift_id,
    route: sale.route,
    seat: sale.seat,
    buyer_name: sale.buyer_name,
    seller: sale.seller,
    description: sale.description,
  };
}
