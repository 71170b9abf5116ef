/** The sign and the tone of the first sentence about a sale; the sentence itself is in i18n. */
import type { SaleVerdict } from '../bindings/SaleVerdict';
import type { MarkLook } from './marks';

export const verdictLook: Record<SaleVerdict, MarkLook> = {
  counts: { icon: 'check', tone: 'ok' },
  counts_with_difference: { icon: 'differs', tone: 'wait' },
  on_its_way: { icon: 'saved', tone: 'info' },
  unconfirmed: { icon: 'unsure', tone: 'wait' },
  awaits_decision: { icon: 'question', tone: 'ask' },
  awaits_correction: { icon: 'warning', tone: 'bad' },
  awaits_support: { icon: 'warning', tone: 'bad' },
  does_not_count: { icon: 'discard', tone: 'quiet' },
};
