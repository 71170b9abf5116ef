/**
 * The cards of the in-memory till: a moment after YUPY has the sale the bank says what the céntimos ask for, like the
 * practice acquirer: 1 declines, 2 leaves it pending for ever, 5 declines the first card.
 */
import type { CardPayment } from '../../bindings/CardPayment';
import { refusal, type Sold } from './sales';

export const FIRST_CARD: CardPayment = {
  progress: 'awaits_sale',
  is_unconfirmed: false,
  card_number: 1,
  trouble: null,
  next_attempt_at: null,
};

export class FakeCards {
  readonly #answerMs: number;
  readonly #set: (sold: Sold, card: CardPayment) => void;

  constructor(answerMs: number, set: (sold: Sold, card: CardPayment) => void) {
    this.#answerMs = answerMs;
    this.#set = set;
  }

  /** YUPY has the sale; the bank is asked. */
  ask(sold: Sold): void {
    const { card, amount } = sold.summary;
    if (!card || sold.given) return;
    this.#set(sold, { ...card, progress: 'asking', is_unconfirmed: true });
    const script = amount.minor % 100;
    if (script === 2) return;
    const isDeclined = script === 1 || (script === 5 && card.card_number === 1);
    const answer = { ...card, progress: isDeclined ? 'declined' : 'approved' } as const;
    setTimeout(() => this.#set(sold, answer), this.#answerMs);
  }

  /** The next card, or the same charge again. */
  charge(sold: Sold): void {
    const { card, voided } = sold.summary;
    if (!card || voided || card.progress === 'approved') throw refusal('card_not_chargeable');
    if (card.progress !== 'declined') return;
    this.#set(sold, { ...card, card_number: card.card_number + 1 });
    this.ask(sold);
  }

  /** That no card was charged for it. */
  check({ summary: { card } }: Sold): void {
    if (!card || card.progress === 'approved') throw refusal('card_was_charged');
    if (card.is_unconfirmed) throw refusal('void_awaits_payment');
  }
}
