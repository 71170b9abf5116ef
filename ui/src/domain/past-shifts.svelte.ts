/** Closed shifts in pages, the newest first. A hint re-reads every page on the screen; what was scrolled to stays. */
import type { PastShift } from '../bindings/PastShift';
import type { PastShiftPage } from '../bindings/PastShiftPage';
import type { Problem } from '../bindings/Problem';
import type { Host } from '../host/host';
import { Live } from './live.svelte';

export class PastShifts {
  readonly #host: Host;
  readonly #pages: Live<PastShiftPage[]>;
  #wanted = 1;

  constructor(host: Host) {
    this.#host = host;
    this.#pages = new Live(() => this.#readAll());
  }

  /** Null until the first page came back. */
  get shifts(): PastShift[] | null {
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

  async #readAll(): Promise<PastShiftPage[]> {
    const pages: PastShiftPage[] = [];
    let before: number | null = null;
    for (let page = 0; page < this.#wanted; page += 1) {
      const read: PastShiftPage = await this.#host.pastShifts({ before });
      pages.push(read);
      if (read.next === null) break;
      before = read.next;
    }
    return pages;
  }
}
