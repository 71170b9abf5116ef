/**
 * The ticket being made: lines, what was received, and the press of *Cobrar*. Every figure comes from the till's
 * quote. Invariant: a ticket is charged under one draft id, however often and however it is pressed, and the draft
 * id changes only after the till said that it recorded the sale or the person threw the ticket away.
 */
import type { Charge } from '../bindings/Charge';
import type { Approval } from '../bindings/Approval';
import type { Checkout } from '../bindings/Checkout';
import type { Discount } from '../bindings/Discount';
import type { Line } from '../bindings/Line';
import type { LookAlike } from '../bindings/LookAlike';
import type { LookAlikePolicy } from '../bindings/LookAlikePolicy';
import type { Money } from '../bindings/Money';
import type { Offer } from '../bindings/Offer';
import type { Problem } from '../bindings/Problem';
import type { ProblemCode } from '../bindings/ProblemCode';
import type { Quote } from '../bindings/Quote';
import type { Seat } from '../bindings/Seat';
import type { Host } from '../host/host';
import { ownProblem, toProblem } from './problem';
import { Tenders } from './tenders.svelte';

export type TicketLine = {
  readonly key: number;
  readonly offer: Offer;
  readonly seat: Seat | null;
  readonly quantity: number;
  readonly buyerName: string;
  readonly discount: Discount | null;
};

/** What the last press came to. Nothing was recorded in any other case than `recorded`. */
export type Pressed =
  | { result: 'recorded'; checkout: Checkout; lines: TicketLine[] }
  | { result: 'asked' | 'needs_manager' | 'refused' | 'ignored' };

/** Refusals that are about how it is paid and not about what is sold. */
const OF_TENDERS: ReadonlySet<ProblemCode> = new Set([
  'amount_invalid',
  'tender_too_much',
  'tenders_invalid',
]);

export class Ticket {
  readonly tenders = new Tenders(() => this.#requote());
  readonly #host: Host;
  #lines = $state.raw<TicketLine[]>([]);
  #selected = $state<number | null>(null);
  #quote = $state.raw<Quote | null>(null);
  #quoteProblem = $state.raw<Problem | null>(null);
  #pressProblem = $state.raw<Problem | null>(null);
  #tenderProblem = $state.raw<Problem | null>(null);
  #warnings = $state.raw<LookAlike[]>([]);
  #charging = $state(false);
  #nextKey = 1;
  #quotes = 0;
  #quoting: Promise<void> = Promise.resolve();
  #draft: Promise<string> | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  get lines(): TicketLine[] {
    return this.#lines;
  }
  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }
  /** The line whose name or quantity is being edited. */
  get selected(): TicketLine | null {
    return this.#lines.find((line) => line.key === this.#selected) ?? null;
  }
  get quote(): Quote | null {
    return this.#quote;
  }
  /** Why the last press recorded nothing, or why the ticket cannot be charged as it is. */
  get problem(): Problem | null {
    return this.#pressProblem ?? this.#quoteProblem;
  }
  /** Why what was typed as received, or as a part, cannot pay. */
  get tenderProblem(): Problem | null {
    return this.#tenderProblem;
  }
  /** Earlier sales that this ticket looks like; while there are any, the person is being asked. */
  get warnings(): LookAlike[] {
    return this.#warnings;
  }
  get charging(): boolean {
    return this.#charging;
  }
  /** In cash; null while nothing was typed. */
  get change(): Money | null {
    return this.tenders.received.trim() === '' ? null : (this.#quote?.change ?? null);
  }

  /** Equal fares and products are one line with a quantity; a seat is a line of its own. */
  add(offer: Offer, seat: Seat | null): void {
    if (this.#charging) return;
    const same = this.#lines.find(
      (line) => line.offer.offer_id === offer.offer_id && line.seat?.seat === seat?.seat,
    );
    if (same) {
      this.#selected = same.key;
      if (!seat) this.#change(same.key, { quantity: same.quantity + 1, offer });
      return;
    }
    const line: TicketLine = {
      key: this.#nextKey++,
      offer,
      seat,
      quantity: 1,
      buyerName: '',
      discount: null,
    };
    this.#lines = [...this.#lines, line];
    this.#selected = line.key;
    void this.#openDraft().catch(() => undefined);
    this.#requote();
  }

  /** Lines of a ticket that was not paid after all, before whatever is on this one. */
  putBack(lines: TicketLine[]): void {
    if (this.#charging || lines.length === 0) return;
    const back = lines.map((line) => ({ ...line, key: this.#nextKey++ }));
    this.#lines = [...back, ...this.#lines];
    this.#selected = back.at(-1)?.key ?? null;
    void this.#openDraft().catch(() => undefined);
    this.#requote();
  }

  remove(key: number): void {
    if (this.#charging) return;
    this.#lines = this.#lines.filter((line) => line.key !== key);
    if (this.#selected === key) this.#selected = this.#lines.at(-1)?.key ?? null;
    if (this.isEmpty) this.tenders.clear();
    this.#requote();
  }

  select(key: number): void {
    this.#selected = key;
  }

  has(offer: Offer, seat: Seat): TicketLine | null {
    return (
      this.#lines.find((line) => line.offer.offer_id === offer.offer_id && line.seat?.seat === seat.seat) ??
      null
    );
  }

  setQuantity(key: number, quantity: number): void {
    if (this.#charging) return;
    if (quantity < 1) this.remove(key);
    else this.#change(key, { quantity });
  }

  setBuyerName(key: number, buyerName: string): void {
    if (this.#charging) return;
    this.#change(key, { buyerName });
  }

  setDiscount(key: number, discount: Discount | null): void {
    if (this.#charging) return;
    this.#change(key, { discount });
  }

  /** Throws the ticket away; the next one has a draft of its own. */
  clear(): void {
    if (this.#charging) return;
    this.#reset();
  }

  /** One press of *Cobrar*. A press while another is under way is not a press. */
  async charge(lookAlikes: LookAlikePolicy = 'ask', approval: Approval | null = null): Promise<Pressed> {
    if (this.#charging || this.isEmpty) return { result: 'ignored' };
    this.#charging = true;
    this.#pressProblem = null;
    try {
      if (this.#quoteProblem) this.#requote();
      await this.#quoting;
      const blocking = this.#quoteProblem ?? this.#tenderProblem ?? this.#tooLittle();
      if (blocking) {
        this.#pressProblem = blocking;
        return { result: 'refused' };
      }
      if (this.#quote?.needs_manager && !approval) return { result: 'needs_manager' };
      const request: Charge = {
        draft_id: await this.#openDraft(),
        lines: this.#wireLines(),
        tenders: this.tenders.wire,
        look_alikes: lookAlikes,
        approval,
      };
      const answer = await this.#host.charge(request);
      if (answer.outcome === 'look_alike') {
        this.#warnings = answer.warnings;
        return { result: 'asked' };
      }
      const lines = this.#lines;
      this.#reset();
      return { result: 'recorded', checkout: answer.checkout, lines };
    } catch (thrown) {
      this.#warnings = [];
      this.#pressProblem = this.#named(thrown);
      return { result: 'refused' };
    } finally {
      this.#charging = false;
    }
  }

  /** Back from the look-alike question without selling. */
  goBack(): void {
    this.#warnings = [];
  }

  /** Resolves when the figures shown are those of the lines and the amount as they are now. */
  settled(): Promise<void> {
    return this.#quoting;
  }

  #reset(): void {
    this.#lines = [];
    this.#selected = null;
    this.tenders.clear();
    this.#quote = null;
    this.#quoteProblem = null;
    this.#pressProblem = null;
    this.#tenderProblem = null;
    this.#warnings = [];
    this.#draft = null;
    this.#quotes += 1;
  }

  #change(key: number, change: Partial<TicketLine>): void {
    this.#lines = this.#lines.map((line) => (line.key === key ? { ...line, ...change } : line));
    this.#requote();
  }

  /** The till names an offer by its id; a person knows the line by its name. */
  #named(thrown: unknown): Problem {
    const problem = toProblem(thrown);
    if (problem.code !== 'offer_gone') return problem;
    const gone = this.#lines.find((line) => line.offer.offer_id === problem.detail);
    return { ...problem, detail: gone?.offer.name ?? null };
  }

  #tooLittle(): Problem | null {
    return this.#quote?.missing ? ownProblem('received_too_little') : null;
  }

  #openDraft(): Promise<string> {
    this.#draft ??= this.#host.openDraft().then(
      (opened) => opened.draft_id,
      (thrown: unknown) => {
        this.#draft = null;
        throw toProblem(thrown);
      },
    );
    return this.#draft;
  }

  #wireLines(): Line[] {
    return this.#lines.map(({ offer, seat, quantity, buyerName, discount }) => ({
      offer_id: offer.offer_id,
      seat: seat?.seat ?? null,
      quantity,
      buyer_name: buyerName.trim() === '' ? null : buyerName,
      shown_price_minor: (seat?.price ?? offer.price).minor,
      discount,
    }));
  }

  #requote(): void {
    const asked = ++this.#quotes;
    this.#quoteProblem = null;
    this.#pressProblem = null;
    this.#tenderProblem = null;
    if (this.isEmpty) {
      this.#quote = null;
      return;
    }
    this.#quoting = this.#ask(asked);
  }

  /** An amount that cannot be read costs the change, not the total: it is asked for again without it. */
  async #ask(asked: number): Promise<void> {
    const lines = this.#wireLines();
    const tenders = this.tenders.quotable;
    let unpayable: Problem | null = null;
    try {
      let quote: Quote;
      try {
        quote = await this.#host.quote({ lines, tenders });
      } catch (thrown) {
        unpayable = toProblem(thrown);
        if (!OF_TENDERS.has(unpayable.code)) throw thrown;
        quote = await this.#host.quote({ lines, tenders: [{ method: 'cash', received: null }] });
        quote = { ...quote, change: null, missing: null, tenders: [] };
      }
      if (asked !== this.#quotes) return;
      this.#quote = quote;
      this.#tenderProblem = unpayable;
    } catch (thrown) {
      if (asked === this.#quotes) this.#quoteProblem = this.#named(thrown);
    }
  }
}
