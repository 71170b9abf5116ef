/**
 * The sale just made, shown beside the next ticket without stopping it. Its words are those of the till, read anew
 * with every hint.
 */
import type { Checkout } from '../bindings/Checkout';
import type { SalePage } from '../bindings/SalePage';
import type { SaleSummary } from '../bindings/SaleSummary';
import type { Standing } from '../bindings/Standing';
import type { Host } from '../host/host';
import { Live } from './live.svelte';

/** From the one that promises least. */
const STANDINGS: readonly Standing[] = ['saved', 'unconfirmed', 'confirmed'];

export class LastSale {
  readonly checkout: Checkout;
  /** The newest sales; a checkout is always among them, since it is the newest. */
  readonly #newest: Live<SalePage>;

  constructor(host: Host, checkout: Checkout) {
    this.checkout = checkout;
    this.#newest = new Live(() => host.recentSales({ after: null }));
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

  refresh(): Promise<void> {
    return this.#newest.refresh();
  }
}
