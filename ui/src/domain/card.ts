/** What a person can do about a card, and what is said of it. */
import type { CardPayment } from '../bindings/CardPayment';
import type { Messages } from '../i18n/messages';

/** Nothing was charged, so that it can be charged anew or paid in another way. */
export const isUncharged = ({ progress, is_unconfirmed }: CardPayment): boolean =>
  !is_unconfirmed &&
  (progress === 'declined' || progress === 'needs_attention' || progress === 'awaits_sale');

/** The next card, the same charge again, or the first one after all; null where there is nothing to press. */
export function chargeWord({ progress, trouble }: CardPayment, t: Messages): string | null {
  if (progress === 'declined') return t.card.nextCard;
  if (progress === 'asking') return t.card.askAgain;
  if (progress !== 'needs_attention') return null;
  return trouble === 'too_late' ? t.card.chargeNow : t.card.askAgain;
}

export function cardSentence({ progress, trouble, is_unconfirmed }: CardPayment, t: Messages): string {
  if (trouble) return t.card.trouble[trouble];
  return is_unconfirmed ? t.card.unconfirmedSentence : t.card.sentence[progress];
}
