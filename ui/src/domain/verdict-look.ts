/** The sign and the tone of the first sentence about a sale; the sentence itself is in i18n. */
import type { CardPayment } from '../bindings/CardPayment';
import type { CardProgress } from '../bindings/CardProgress';
import type { SaleVerdict } from '../bindings/SaleVerdict';
import type { ResolutionProgress } from '../bindings/ResolutionProgress';
import type { VoidProgress } from '../bindings/VoidProgress';
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
  discard_disputed: { icon: 'warning', tone: 'bad' },
  card_unconfirmed: { icon: 'unsure', tone: 'wait' },
  card_not_charged: { icon: 'warning', tone: 'bad' },
  voided: { icon: 'discard', tone: 'quiet' },
  void_refused: { icon: 'warning', tone: 'bad' },
};

export const voidLook: Record<VoidProgress, MarkLook> = {
  waiting: { icon: 'wait', tone: 'wait' },
  queued: { icon: 'wait', tone: 'wait' },
  sending: { icon: 'send', tone: 'info' },
  confirmed: { icon: 'discard', tone: 'quiet' },
  local: { icon: 'discard', tone: 'quiet' },
  needs_attention: { icon: 'warning', tone: 'bad' },
};

export const resolutionLook: Record<ResolutionProgress, MarkLook> = {
  queued: { icon: 'wait', tone: 'wait' },
  sending: { icon: 'send', tone: 'info' },
  told: { icon: 'check', tone: 'quiet' },
  closed: { icon: 'check', tone: 'quiet' },
  decided_otherwise: { icon: 'warning', tone: 'bad' },
  sale_exists: { icon: 'warning', tone: 'bad' },
  refused: { icon: 'warning', tone: 'bad' },
  acknowledged: { icon: 'check', tone: 'quiet' },
  taken_back: { icon: 'discard', tone: 'quiet' },
};

const progressLook: Record<CardProgress, MarkLook> = {
  awaits_sale: { icon: 'wait', tone: 'wait' },
  asking: { icon: 'send', tone: 'info' },
  approved: { icon: 'check', tone: 'ok' },
  declined: { icon: 'warning', tone: 'bad' },
  withdrawn: { icon: 'discard', tone: 'quiet' },
  needs_attention: { icon: 'warning', tone: 'bad' },
};

export const cardLook = ({ progress, is_unconfirmed }: CardPayment): MarkLook =>
  is_unconfirmed ? { icon: 'unsure', tone: 'wait' } : progressLook[progress];
