/**
 * A list of sales in pages. A hint re-reads every page on the screen, so that no row shows an old state; what was
 * scrolled to stays.
 */
import type { Problem } from '../bindings/Problem';
import type { SalePage } from '../bindings/SalePage';
import type { SaleSummary } from '../bindings/SaleSummary';
import { Live } from './live.svelte';

export class SalePages {
  readonly #read: (after: number | null) => Promise<SalePage>;
  readonly #pages: Live<SalePage[]>;
  #wanted = 1;

  constructor(read: (after: number | null) => Promise<SalePage>) {
    this.#read = read;
    this.#pages = new Live(() => this.#readAll());
  }

  /** Null until the first page came back. */
  get sales(): SaleSummary[] | null {
    return this.#pages.value?.flatMap((page) => page.items) ?? null;
  }
  get hasMore(): boolean {
    return (this.#pages.value?.at(-1)?.next ?? null) !== null;
  }
  get problem(): Problem | null {
    return this.#pages.problem;
  }

  refresh(): Promise<void> {
    return this.#pages.refresh();
  }

  loadMore(): Promise<void> {
    if (this.hasMore) this.#wanted += 1;
    return this.refresh();
  }

  async #readAll(): Promise<SalePage[]> {
    const pages: SalePage[] = [];
    let after: number | null = null;
    for (let page = 0; page < this.#wanted; page += 1) {
      const read: SalePage = await this.#read(after);
      pages.push(read);
      if (read.next === null) break;
      after = read.next;
    }
    return pages;
  }
}
