/** The questions of other tills, as the in-memory till sees them. */
import type { DecideOther } from '../../bindings/DecideOther';
import type { OtherReviews } from '../../bindings/OtherReviews';
import type { Review } from '../../bindings/Review';
import type { ReviewSide } from '../../bindings/ReviewSide';
import { soles } from './amounts';
import { refusal, stamp } from './sales';

export class FakeOthers {
  #answers: OtherReviews = { access: 'granted', reviews: [question()], decided: [] };

  get list(): OtherReviews {
    return this.#answers;
  }

  /** The company gave this till no manager's right. */
  withoutRight(): void {
    this.#answers = { access: 'not_granted', reviews: [], decided: [] };
  }

  /** Nobody else asks. */
  none(): void {
    this.#answers = { access: 'granted', reviews: [], decided: [] };
  }

  decide({ challenge_id, external_transaction_id, decision }: DecideOther, by: string): void {
    const { access, reviews, decided } = this.#answers;
    if (!reviews.some((review) => review.challenge_id === challenge_id)) throw refusal('not_in_review');
    this.#answers = {
      access,
      reviews: reviews.filter((review) => review.challenge_id !== challenge_id),
      decided: [
        {
          external_transaction_id,
          challenge_id,
          decision,
          decided_by: by,
          decided_at: stamp(),
          progress: 'told',
          detail: null,
        },
        ...decided,
      ],
    };
  }
}

function question(): Review {
  const side = (number: string, yupyId: string | null): ReviewSide => ({
    external_transaction_id: `D07-AAA-S9-${number}`,
    yupy_transaction_id: yupyId,
    amount: soles(8550),
    occurred_at: stamp(yupyId === null ? -60_000 : -105_000),
    device_id: 'D07',
    shift_id: 'S9',
    route: '184',
    seat: '3C',
    buyer_name: 'Julia Mamani',
    seller: null,
    description: null,
    operational: yupyId === null ? null : 'active',
    financial: yupyId === null ? null : 'paid',
  });
  return {
    external_transaction_id: 'D07-AAA-S9-0002',
    challenge_id: 'question-of-d07',
    own: side('0002', null),
    candidate: side('0001', 'yt_d07'),
    candidates_count: 1,
    matching_signals: ['amount', 'currency', 'buyer_name', 'shift_id', 'device_id', 'route', 'seat'],
    seconds_apart: 45,
    asked_at: stamp(-50_000),
    expires_at: stamp(86_000_000),
    previous_confirmation: null,
    decided_elsewhere: null,
  };
}
