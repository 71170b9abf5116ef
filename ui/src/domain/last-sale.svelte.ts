/**
 * The sale just made, shown beside the next ticket without stopping it. Its words are those of the till, read anew
 * with every hint.
 */
import type { CardPayment } from '../bindings/CardPayment';
import type { Checkout } from '../bindings/Checkout';
import type { PrintJob } from '../bindings/PrintJob';
import type { PrintState } from '../bindings/PrintState';
import type { SalePage } from '../bindings/SalePage';
import type { SaleSummary } from '../bindings/SaleSummary';
import type { Standing } from '../bindings/Standing';
import type { Host } from '../host/host';
import { Live } from './live.svelte';

/** From the one that promises least. */
const STANDINGS: readonly Standing[] = ['saved', 'unconfirmed', 'confirmed'];

/** From the one that somebody has to see to. */
const PRINTS: readonly PrintState[] = [
  'failed',
  'unknown',
  'printing',
  'queued',
  'dismissed',
  'replaced',
  'printed',
];

export class LastSale {
  readonly checkout: Checkout;
  /** The newest sales; a checkout is always among them, since it is the newest. */
  readonly #newest: Live<SalePage>;
  /** The newest print of each sale that has one. */
  readonly #prints: Live<PrintJob[]>;

  constructor(host: Host, checkout: Checkout) {
    this.checkout = checkout;
    this.#newest = new Live(() => host.recentSales({ after: null }));
    const ids = checkout.sales.map((sale) => sale.external_transaction_id);
    this.#prints = new Live(async () => {
      const prints = await host.salePrints({ external_transaction_ids: ids });
      // The oldest of each sale comes first, so the newest stays.
      const newest: Record<string, PrintJob> = {};
      for (const print of prints)
        if (print.external_transaction_id) newest[print.external_transaction_id] = print;
      return Object.values(newest);
    });
  }

  get isByCard(): boolean {
    return this.checkout.tenders.some(({ method }) => method === 'card');
  }

  /** Every sale of it that a card was to pay was charged. */
  get isPaid(): boolean {
    return this.sales.every(({ card }) => card === null || card.progress === 'approved');
  }

  /** The card that somebody has to see to first. */
  get card(): CardPayment | null {
    const cards = this.sales.map(({ card }) => card).filter((card) => card !== null);
    return cards.find(({ progress }) => progress !== 'approved') ?? cards[0] ?? null;
  }

  get sales(): SaleSummary[] {
    const newest = this.#newest.value?.items ?? [];
    return this.checkout.sales.map(
      (sale) => newest.find((now) => now.external_transaction_id === sale.external_transaction_id) ?? sale,
    );
  }

  /** The sale of this checkout that is furthest from being confirmed: one word must not promise for another. */
  get leastSettled(): SaleSummary | null {
    const rank = (sale: SaleSummary) => STANDINGS.indexOf(sale.standing);
    return this.sales.toSorted((a, b) => rank(a) - rank(b))[0] ?? null;
  }

  /** The print of this checkout that is furthest from being on paper; null if nothing was to be printed. */
  get print(): PrintJob | null {
    const rank = ({ state }: PrintJob) => PRINTS.indexOf(state);
    return this.#prints.value?.toSorted((a, b) => rank(a) - rank(b))[0] ?? null;
  }

  async refresh(): Promise<void> {
    await Promise.all([this.#newest.refresh(), this.#prints.refresh()]);
  }
}
