/**
 * The sale just made, shown beside the next ticket without stopping it. Its state is re-read until YUPY has
 * answered, so the words under it are always those of the till.
 */
import type { Checkout } from '../bindings/Checkout';
import type { SaleSummary } from '../bindings/SaleSummary';
import type { Host } from '../host/host';

export class LastSale {
  readonly checkout: Checkout;
  readonly #host: Host;
  #sales: SaleSummary[] = $state.raw([]);
  #reading = false;
  #again = false;

  constructor(host: Host, checkout: Checkout) {
    this.#host = host;
    this.checkout = checkout;
    this.#sales = checkout.sales;
  }

  get sales(): SaleSummary[] {
    return this.#sales;
  }

  /** The sale of this checkout that is furthest from being confirmed: one word must not promise for another. */
  get leastSettled(): SaleSummary | null {
    const order = ['saved', 'unconfirmed', 'confirmed'] as const;
    return this.#sales.toSorted((a, b) => order.indexOf(a.standing) - order.indexOf(b.standing))[0] ?? null;
  }

  async refresh(): Promise<void> {
    if (this.#sales.every((sale) => sale.state === 'accepted' || sale.state === 'discarded')) return;
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      do {
        this.#again = false;
        const { items } = await this.#host.recentSales({ after: null });
        // eslint-disable-next-line svelte/prefer-svelte-reactivity -- lives for one line
        const now = new Map(items.map((sale) => [sale.external_transaction_id, sale]));
        this.#sales = this.#sales.map((sale) => now.get(sale.external_transaction_id) ?? sale);
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set by a hint during the read
      } while (this.#again);
    } catch {
      // The next hint reads again; meanwhile what was known last stays, which never says more than is true.
    } finally {
      this.#reading = false;
    }
  }
}
