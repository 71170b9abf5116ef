/** A discount on a line of the ticket while it is typed. What it comes to is the till's quote. */
import type { Discount } from '../bindings/Discount';
import type { DiscountKind } from '../bindings/DiscountKind';

export const DISCOUNT_KINDS: readonly DiscountKind[] = ['percent', 'amount'];

export class DiscountForm {
  kind = $state<DiscountKind>('percent');
  value = $state('');
  reason = $state('');

  constructor(given: Discount | null) {
    if (!given) return;
    this.kind = given.kind;
    this.value = given.value;
    this.reason = given.reason;
  }

  get isFilled(): boolean {
    return this.value.trim() !== '' && this.reason.trim() !== '';
  }
  get given(): Discount {
    return { kind: this.kind, value: this.value.trim(), reason: this.reason.trim() };
  }
}
