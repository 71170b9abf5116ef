/**
 * The pieces of each coin and note in the drawer, while somebody counts. Whole minor units times whole pieces: nothing
 * here can be anything but a whole number, and the till adds it up once more.
 */
import type { Money } from '../bindings/Money';
import type { Pieces } from '../bindings/Pieces';
import { SvelteMap } from 'svelte/reactivity';

/** As the till: more of one coin is a slip, or a scanner in the field. */
const MOST_PIECES = 10_000;
/** In soles the smallest note is S/ 10; what is less is a coin. */
const SMALLEST_NOTE: Record<string, number> = { PEN: 1000 };

export class CashCount {
  readonly #typed = new SvelteMap<number, string>();

  typed(denomination: Money): string {
    return this.#typed.get(denomination.minor) ?? '';
  }

  type(denomination: Money, text: string): void {
    this.#typed.set(denomination.minor, text.trim());
  }

  /** Null for a text that is no number of pieces. */
  pieces(denomination: Money): number | null {
    const text = this.typed(denomination);
    if (text === '') return 0;
    return /^\d{1,5}$/.test(text) && Number(text) <= MOST_PIECES ? Number(text) : null;
  }

  amount(denomination: Money): Money {
    return { ...denomination, minor: denomination.minor * (this.pieces(denomination) ?? 0) };
  }

  isRight(denominations: Money[]): boolean {
    return denominations.every((one) => this.pieces(one) !== null);
  }

  total(denominations: Money[]): number {
    return denominations.reduce((sum, one) => sum + this.amount(one).minor, 0);
  }

  sent(denominations: Money[]): Pieces[] {
    return denominations
      .map((one) => ({ denomination_minor: one.minor, pieces: this.pieces(one) ?? 0 }))
      .filter(({ pieces }) => pieces > 0);
  }
}

/** Coins and notes apart, each the biggest first: the order in which people count. */
export function piles(denominations: Money[]): { coins: Money[]; notes: Money[] } {
  const isNote = (one: Money) => one.minor >= (SMALLEST_NOTE[one.currency] ?? Number.POSITIVE_INFINITY);
  const sorted = denominations.toSorted((a, b) => b.minor - a.minor);
  return { coins: sorted.filter((one) => !isNote(one)), notes: sorted.filter(isNote) };
}
