/** Whole values for tests that need one and care about a part of it. */
import type { Review } from '../src/bindings/Review';
import type { ReviewSide } from '../src/bindings/ReviewSide';
import type { SaleSummary } from '../src/bindings/SaleSummary';

export function sampleSide(change: Partial<ReviewSide> = {}): ReviewSide {
  return {
    external_transaction_id: 'D03-K7M-S44-0002',
    yupy_transaction_id: null,
    amount: { minor: 8550, currency: 'PEN' },
    occurred_at: '2026-11-30T10:00:40-05:00',
    device_id: 'D03',
    shift_id: 'S44',
    route: '184',
    seat: '12A',
    buyer_name: 'María Ramos',
    seller: 'Caja',
    description: 'Lima – Arequipa 20:30 · asiento 12A',
    operational: null,
    financial: null,
    ...change,
  };
}

export function sampleReview(change: Partial<Review> = {}): Review {
  return {
    external_transaction_id: 'D03-K7M-S44-0002',
    challenge_id: 'question-1',
    own: sampleSide(),
    candidate: sampleSide({
      external_transaction_id: 'D03-K7M-S44-0001',
      yupy_transaction_id: 'yt_1',
      occurred_at: '2026-11-30T10:00:00-05:00',
      seller: null,
      operational: 'active',
      financial: 'paid',
    }),
    candidates_count: 1,
    matching_signals: ['amount', 'currency', 'buyer_name', 'shift_id', 'device_id', 'route', 'seat'],
    seconds_apart: 40,
    asked_at: '2026-11-30T10:00:41-05:00',
    expires_at: '2026-12-01T10:00:41-05:00',
    previous_confirmation: null,
    decided_elsewhere: null,
    ...change,
  };
}

export function sampleSale(change: Partial<SaleSummary> = {}): SaleSummary {
  return {
    external_transaction_id: 'D03-K7M-S44-0001',
    sequence: 1,
    shift_id: 'S44',
    description: 'Lima – Arequipa 20:30 · asiento 12A',
    route: '184',
    seat: '12A',
    buyer_name: null,
    amount: { minor: 8550, currency: 'PEN' },
    occurred_at: '2026-11-30T10:00:00-05:00',
    seller: 'Caja',
    state: 'queued',
    standing: 'saved',
    reason: 'not_tried_yet',
    detail: null,
    attempts: 0,
    next_attempt_at: null,
    yupy_transaction_id: null,
    voided: null,
    returned: null,
    resolution: null,
    card: null,
    origin_device_id: null,
    ...change,
  };
}
