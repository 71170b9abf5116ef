import { expect, test } from 'vitest';
import { compareSides, reviewSentence } from '../src/domain/comparison';
import { messages } from '../src/i18n/messages';
import { sampleReview, sampleSide } from './samples';

const { es, en } = messages;

const verdict = (review = sampleReview(), field = 'seat') =>
  compareSides(review, es).find((row) => row.field === field);

test('the reason is a plain sentence', () => {
  expect(reviewSentence(sampleReview(), es)).toBe(
    'Se parece a otra venta: mismo asiento 12A en la ruta 184, mismo pasajero (María Ramos), ' +
      'mismo monto (S/ 85.50), 40 s antes, en este mismo equipo.',
  );
  expect(reviewSentence(sampleReview(), en)).toBe(
    'It looks like another sale: same seat 12A on route 184, same passenger (María Ramos), ' +
      'same amount (S/ 85.50), 40 s earlier, on this same till.',
  );
});

test('an earlier sale that happened later is said to be later', () => {
  const review = sampleReview({ candidate: sampleSide({ occurred_at: '2026-11-30T10:01:20-05:00' }) });
  expect(reviewSentence(review, es)).toContain('40 s después');
});

test('the sentence names only what YUPY named', () => {
  const review = sampleReview({ matching_signals: ['amount', 'currency', 'seat', 'shift_id'] });
  expect(reviewSentence(review, es)).toBe(
    'Se parece a otra venta: mismo asiento 12A, mismo monto (S/ 85.50), 40 s antes.',
  );
});

test('what goes without saying beside a seat is not said', () => {
  const signals = ['amount', 'currency', 'route', 'seat', 'product', 'service'];
  expect(reviewSentence(sampleReview({ matching_signals: signals }), es)).toBe(
    'Se parece a otra venta: mismo asiento 12A en la ruta 184, mismo monto (S/ 85.50), 40 s antes.',
  );
});

test('a signal that this screen has no sentence for is still named', () => {
  const review = sampleReview({
    matching_signals: ['amount', 'currency', 'order', 'loyalty_card'],
    seconds_apart: null,
  });
  expect(reviewSentence(review, es)).toBe(
    'Se parece a otra venta: mismo monto (S/ 85.50), mismo pedido, loyalty_card.',
  );
});

test('equal, different and unknown are three verdicts', () => {
  const review = sampleReview({
    candidate: sampleSide({ seat: '12B', route: null, external_transaction_id: 'D07-AAA-S1-0001' }),
    matching_signals: ['amount', 'currency', 'buyer_name', 'shift_id'],
  });
  expect(verdict(review, 'seat')?.verdict).toBe('different');
  expect(verdict(review, 'route')?.verdict).toBe('unknown');
  expect(verdict(review, 'amount')?.verdict).toBe('equal');
  expect(verdict(review, 'external_transaction_id')?.verdict).toBe('different');
});

test('a name that YUPY takes for equal is equal, whatever its case', () => {
  const review = sampleReview({ candidate: sampleSide({ buyer_name: 'MARÍA  RAMOS' }) });
  expect(verdict(review, 'buyer_name')?.verdict).toBe('equal');
});

test('the time between is said beside the times', () => {
  expect(verdict(sampleReview(), 'occurred_at')).toMatchObject({
    own: '30 nov 10:00:40',
    candidate: '30 nov 10:00:00',
    verdict: 'different',
    note: '40 s antes',
  });
  expect(verdict(sampleReview({ seconds_apart: null }), 'occurred_at')).toMatchObject({
    verdict: 'unknown',
    note: null,
  });
});

test('the states at YUPY are words, an unknown one is shown as it came', () => {
  expect(verdict(sampleReview(), 'state')).toMatchObject({
    own: 'aún no está en YUPY',
    candidate: 'activa, pagada',
  });
  const review = sampleReview({
    candidate: sampleSide({ yupy_transaction_id: 'yt_1', operational: 'frozen', financial: null }),
  });
  expect(verdict(review, 'state')?.candidate).toBe('frozen');
});
