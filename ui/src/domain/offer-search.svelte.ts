/**
 * The search field and its list. Invariant: Enter takes what matches the text as typed, never a row of an older
 * answer, and takes nothing when nothing was typed or pointed at: a scanner's spare Enter is harmless.
 */
import type { Offer } from '../bindings/Offer';
import type { Problem } from '../bindings/Problem';
import type { Host } from '../host/host';
import { toProblem } from './problem';

/** More rows than a person reads; the text narrows the rest. */
const SEARCH_LIMIT = 60;
const NOTHING = -1;

export class OfferSearch {
  readonly #host: Host;
  #text = $state('');
  #results = $state.raw<Offer[]>([]);
  #active = $state(NOTHING);
  #problem = $state.raw<Problem | null>(null);
  #asked = 0;
  #searching: Promise<void> = Promise.resolve();
  #taking = false;

  constructor(host: Host) {
    this.#host = host;
  }

  get text(): string {
    return this.#text;
  }
  set text(text: string) {
    this.#text = text;
    this.#active = NOTHING;
    void this.refresh();
  }
  get results(): Offer[] {
    return this.#results;
  }
  /** The row that Enter takes; −1 for none. */
  get active(): number {
    return this.#active;
  }
  get problem(): Problem | null {
    return this.#problem;
  }

  refresh(): Promise<void> {
    const asked = ++this.#asked;
    this.#searching = this.#search(asked, this.#text);
    return this.#searching;
  }

  move(by: 1 | -1): void {
    const last = this.#results.length - 1;
    if (last < 0) return;
    this.#active = Math.min(last, Math.max(0, this.#active + by));
  }

  /** What Enter takes, once the list is that of the typed text; clears the field. */
  async take(): Promise<Offer | null> {
    if (this.#taking) return null;
    this.#taking = true;
    try {
      await this.#searching;
      const offer = this.#results[this.#active] ?? null;
      if (offer) this.clear();
      return offer;
    } finally {
      this.#taking = false;
    }
  }

  clear(): void {
    this.text = '';
  }

  async #search(asked: number, text: string): Promise<void> {
    try {
      const results = await this.#host.searchOffers({ text, limit: SEARCH_LIMIT });
      if (asked !== this.#asked) return;
      const pointedAt = this.#results[this.#active]?.offer_id;
      this.#results = results;
      this.#problem = null;
      const still = results.findIndex((offer) => offer.offer_id === pointedAt);
      if (still >= 0) this.#active = still;
      else this.#active = text.trim() !== '' && results.length > 0 ? 0 : NOTHING;
    } catch (thrown) {
      if (asked === this.#asked) this.#problem = toProblem(thrown);
    }
  }
}
