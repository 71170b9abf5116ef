/**
 * A list in pages. A hint re-reads every page on the screen, so that no row shows an old state; what was scrolled to
 * stays.
 */
import type { Problem } from '../bindings/Problem';
import { Live } from './live.svelte';

/** `next` is where the following page begins; null at the end. */
export type Page<Item> = { items: Item[]; next: number | null };

export class Pages<Item> {
  readonly #read: (from: number | null) => Promise<Page<Item>>;
  readonly #pages: Live<Page<Item>[]>;
  #wanted = 1;

  constructor(read: (from: number | null) => Promise<Page<Item>>) {
    this.#read = read;
    this.#pages = new Live(() => this.#readAll());
  }

  /** Null until the first page came back. */
  get items(): Item[] | null {
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

  async #readAll(): Promise<Page<Item>[]> {
    const pages: Page<Item>[] = [];
    let from: number | null = null;
    for (let page = 0; page < this.#wanted; page += 1) {
      const read: Page<Item> = await this.#read(from);
      pages.push(read);
      if (read.next === null) break;
      from = read.next;
    }
    return pages;
  }
}
