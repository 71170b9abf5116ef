/**
 * How the ticket is paid, as it is being typed: parts that a wallet pays, and what pays the rest. The fast path is
 * untouched: cash, in one field. It knows no figures; what each part comes to is the till's quote.
 */
import type { Tender } from '../bindings/Tender';
import type { WalletProvider } from '../bindings/WalletProvider';

/** What can pay whatever the parts leave. */
export type RestMethod = 'cash' | 'wallet' | 'card';
export const REST_METHODS: readonly RestMethod[] = ['cash', 'wallet', 'card'];
export const PROVIDERS: readonly WalletProvider[] = ['yape', 'plin', 'other'];

/** A payment as the cashier copies it from the customer's telephone. */
export type WalletEntry = { readonly provider: WalletProvider; readonly operation: string };
export type Part = WalletEntry & { readonly key: number; readonly amount: string };

/** The till takes four tenders; one is the rest. */
const PARTS_LIMIT = 3;
const NO_ENTRY: WalletEntry = { provider: 'yape', operation: '' };

export class Tenders {
  readonly #changed: () => void;
  #received = $state('');
  #method = $state<RestMethod>('cash');
  #wallet = $state.raw<WalletEntry>(NO_ENTRY);
  #parts = $state.raw<Part[]>([]);
  #nextKey = 1;

  /** `changed` is called whenever the figures may be others. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get received(): string {
    return this.#received;
  }
  set received(received: string) {
    this.#received = received;
    this.#changed();
  }

  get method(): RestMethod {
    return this.#method;
  }
  set method(method: RestMethod) {
    if (method === this.#method) return;
    this.#method = method;
    this.#received = '';
    this.#changed();
  }

  /** A card pays a whole ticket or nothing of it. */
  canPayRest(method: RestMethod): boolean {
    return method !== 'card' || !this.isSplit;
  }

  /** The next way to pay, for a key that goes through them. */
  get otherMethod(): RestMethod {
    const open = REST_METHODS.filter((method) => this.canPayRest(method));
    return open[(open.indexOf(this.#method) + 1) % open.length] ?? 'cash';
  }

  /** What pays the rest when a wallet does. */
  get wallet(): WalletEntry {
    return this.#wallet;
  }
  setWallet(change: Partial<WalletEntry>): void {
    this.#wallet = { ...this.#wallet, ...change };
    this.#changed();
  }

  get parts(): readonly Part[] {
    return this.#parts;
  }
  get isSplit(): boolean {
    return this.#parts.length > 0;
  }
  get canSplit(): boolean {
    return this.#parts.length < PARTS_LIMIT && this.#method !== 'card';
  }

  /** One more part by wallet; the rest stays as it is. */
  split(): void {
    if (!this.canSplit) return;
    this.#parts = [...this.#parts, { ...NO_ENTRY, key: this.#nextKey++, amount: '' }];
    this.#changed();
  }

  setPart(key: number, change: Partial<Omit<Part, 'key'>>): void {
    this.#parts = this.#parts.map((part) => (part.key === key ? { ...part, ...change } : part));
    this.#changed();
  }

  removePart(key: number): void {
    this.#parts = this.#parts.filter((part) => part.key !== key);
    this.#changed();
  }

  clear(): void {
    this.#received = '';
    this.#method = 'cash';
    this.#wallet = NO_ENTRY;
    this.#parts = [];
  }

  /** As it is charged: what was not typed is refused, not guessed. */
  get wire(): Tender[] {
    return [...this.#parts.map(partTender), this.#rest()];
  }

  /** As it is quoted: a part whose amount is not typed yet pays nothing yet. */
  get quotable(): Tender[] {
    const typed = this.#parts.filter(({ amount }) => amount.trim() !== '');
    return [...typed.map(partTender), this.#rest()];
  }

  #rest(): Tender {
    if (this.#method === 'wallet') {
      const { provider, operation } = this.#wallet;
      return { method: 'wallet', provider, operation_number: operation, amount: null };
    }
    if (this.#method === 'card') return { method: 'card' };
    const received = this.#received.trim();
    return { method: 'cash', received: received === '' ? null : received };
  }
}

function partTender({ provider, operation, amount }: Part): Tender {
  return { method: 'wallet', provider, operation_number: operation, amount };
}
