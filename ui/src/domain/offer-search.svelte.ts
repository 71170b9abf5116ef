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
  #asked = $state(0);
  #answered = $state(0);
  /** The rows for the text as it is now; null when they could not be had. */
  #searching: Promise<Offer[] | null> = Promise.resolve([]);

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
  /** Whether the rows are those of the text as it is now. */
  get answered(): boolean {
    return this.#answered === this.#asked;
  }
  get problem(): Problem | null {
    return this.#problem;
  }

  refresh(): Promise<unknown> {
    const asked = ++this.#asked;
    this.#searching = this.#search(asked, this.#text);
    return this.#searching;
  }

  move(by: 1 | -1): void {
    const last = this.#results.length - 1;
    if (last < 0) return;
    this.#active = Math.min(last, Math.max(0, this.#active + by));
  }

  /**
   * What Enter takes. The field is empty at once: whatever comes next, another scan or a spare Enter, is about the
   * next offer.
   */
  async take(): Promise<Offer | null> {
    const typed = this.#text;
    const pointed = this.#results[this.#active] ?? null;
    if (typed.trim() === '' || this.answered) {
      if (pointed) this.clear();
      return pointed;
    }
    const searching = this.#searching;
    this.clear();
    const results = (await searching) ?? [];
    const offer = results.find((one) => one.offer_id === pointed?.offer_id) ?? results[0] ?? null;
    // What matched nothing goes back for correction, unless something else was typed meanwhile.
    if (!offer && this.#text === '') this.text = typed;
    return offer;
  }

  clear(): void {
    this.text = '';
  }

  async #search(asked: number, text: string): Promise<Offer[] | null> {
    try {
      const results = await this.#host.searchOffers({ text, limit: SEARCH_LIMIT });
      if (asked === this.#asked) this.#show(results, text);
      return results;
    } catch (thrown) {
      if (asked === this.#asked) this.#problem = toProblem(thrown);
      return null;
    }
  }

  #show(results: Offer[], text: string): void {
    const pointedAt = this.#results[this.#active]?.offer_id;
    const still = results.findIndex((offer) => offer.offer_id === pointedAt);
    const first = text.trim() !== '' && results.length > 0 ? 0 : NOTHING;
    this.#active = still >= 0 ? still : first;
    this.#results = results;
    this.#problem = null;
    this.#answered = this.#asked;
  }
}
