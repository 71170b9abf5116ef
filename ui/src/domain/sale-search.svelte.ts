/**
 * The sales that somebody looks for. Invariant: rows of one question never stand for the answer to another; an older
 * answer does not replace a newer one.
 */
import type { Problem } from '../bindings/Problem';
import type { SaleSummary } from '../bindings/SaleSummary';
import type { SalesPeriod } from '../bindings/SalesPeriod';
import type { SalesStanding } from '../bindings/SalesStanding';
import type { SearchSalesRequest } from '../bindings/SearchSalesRequest';
import type { TenderMethod } from '../bindings/TenderMethod';
import type { Host } from '../host/host';
import { Pages } from './pages.svelte';

/** What is looked for; empty does not matter. */
export type SaleFilters = {
  text: string;
  standing: SalesStanding | '';
  tender: TenderMethod | '';
  period: SalesPeriod['kind'];
  from: string;
  to: string;
};

const ALL: SaleFilters = { text: '', standing: '', tender: '', period: 'always', from: '', to: '' };

export class SaleSearch {
  readonly #host: Host;
  #filters = $state.raw(ALL);
  /** What was asked last, and what is on the screen until its answer is there. */
  #asked: Pages<SaleSummary>;
  #shown: Pages<SaleSummary>;
  #answering: Promise<void> | null = null;

  constructor(host: Host) {
    this.#host = host;
    this.#asked = $state.raw(this.#pages());
    this.#shown = $state.raw(this.#asked);
  }

  get filters(): SaleFilters {
    return this.#filters;
  }
  get items(): SaleSummary[] | null {
    return this.#shown.items;
  }
  get hasMore(): boolean {
    return this.#shown.hasMore;
  }
  get problem(): Problem | null {
    return this.#shown.problem;
  }
  /** Whether the rows are those of the question as it is now. */
  get answered(): boolean {
    return this.#shown === this.#asked && this.#shown.items !== null;
  }
  get narrowed(): boolean {
    const { text, standing, tender, period } = this.#filters;
    return text.trim() !== '' || standing !== '' || tender !== '' || period !== 'always';
  }

  filter(change: Partial<SaleFilters>): Promise<void> {
    this.#filters = { ...this.#filters, ...change };
    this.#asked = this.#pages();
    return this.refresh();
  }

  clear(): Promise<void> {
    return this.filter(ALL);
  }

  refresh(): Promise<void> {
    const asked = this.#asked;
    this.#answering = asked.refresh().then(() => {
      if (asked === this.#asked) this.#shown = asked;
    });
    return this.#answering;
  }

  loadMore(): Promise<void> {
    return this.#shown.loadMore();
  }

  /** The newest sale that matches, as soon as it is known. */
  async first(): Promise<SaleSummary | null> {
    const asked = this.#asked;
    if (!this.answered) await (this.#answering ?? this.refresh());
    return asked === this.#asked ? (this.items?.[0] ?? null) : null;
  }

  /** The question as the till is asked it. */
  get request(): Omit<SearchSalesRequest, 'after'> {
    const { text, standing, tender } = this.#filters;
    return {
      text,
      standing: standing === '' ? null : standing,
      tender: tender === '' ? null : tender,
      period: this.#period(),
    };
  }

  /** One day is a period too; while none is chosen the days do not matter. */
  #period(): SalesPeriod {
    const { period, from, to } = this.#filters;
    if (period === 'days') {
      if (from === '' && to === '') return { kind: 'always' };
      return { kind: 'days', from: from === '' ? to : from, to: to === '' ? from : to };
    }
    return { kind: period };
  }

  #pages(): Pages<SaleSummary> {
    const request = this.request;
    return new Pages((after) => this.#host.searchSales({ ...request, after }));
  }
}
