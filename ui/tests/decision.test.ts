import { expect, test, vi } from 'vitest';
import type { Review } from '../src/bindings/Review';
import { Decision } from '../src/domain/decision.svelte';
import { Till } from '../src/domain/till.svelte';
import { openScene } from '../src/host/fake/scenes';
import { MANAGER, PINS } from '../src/host/fake/till';
import { sampleReview } from './samples';

const PIN = PINS[MANAGER.person_id] ?? '';

async function openDecision(current?: () => Review | null) {
  const till = new Till(await openScene('selling'));
  await till.refresh();
  const decide = vi.spyOn(till.host, 'decide');
  const review = sampleReview();
  const decision = new Decision(till, review, current ?? (() => review));
  return { till, decide, decision, review };
}

test('the only manager is already chosen', async () => {
  const { decision } = await openDecision();
  expect(decision.approval.managerId).toBe(MANAGER.person_id);
});

test('what is sent names the question on the screen, the manager, the reason and nothing about money', async () => {
  const { decide, decision, till } = await openDecision();
  decide.mockResolvedValueOnce(await till.host.frame());
  decision.answer('different_sale');
  decision.listedReason = 'Son dos pasajeros distintos';
  decision.freeReason = '  padre e hijo ';
  decision.money = 'refunded';
  decision.approval.pin = PIN;
  expect(await decision.confirm()).toBe(true);
  expect(decide).toHaveBeenCalledWith({
    external_transaction_id: 'D03-K7M-S44-0002',
    challenge_id: 'question-1',
    decision: 'different_sale',
    manager_id: MANAGER.person_id,
    pin: PIN,
    reason: 'Son dos pasajeros distintos. padre e hijo',
    money: null,
  });
});

test('without a reason nothing is sent', async () => {
  const { decide, decision } = await openDecision();
  decision.answer('different_sale');
  decision.approval.pin = PIN;
  decision.freeReason = '   ';
  expect(await decision.confirm()).toBe(false);
  expect(decision.problem?.code).toBe('reason_required');
  expect(decide).not.toHaveBeenCalled();
});

test('the same sale needs to know what became of the money', async () => {
  const { decide, decision, till } = await openDecision();
  decision.answer('same_sale');
  decision.freeReason = 'doble cobro';
  decision.approval.pin = PIN;
  expect(await decision.confirm()).toBe(false);
  expect(decision.problem?.code).toBe('money_handling_required');
  expect(decide).not.toHaveBeenCalled();

  decide.mockResolvedValueOnce(await till.host.frame());
  decision.money = 'refunded';
  decision.approval.pin = PIN;
  expect(await decision.confirm()).toBe(true);
  expect(decide.mock.calls[0]?.[0]).toMatchObject({ decision: 'same_sale', money: 'refunded' });
});

test('a wrong PIN empties the PIN and nothing else', async () => {
  const { decide, decision } = await openDecision();
  decide.mockRejectedValueOnce({ code: 'pin_wrong', message: '', detail: null });
  decision.answer('different_sale');
  decision.freeReason = 'dos pasajeros';
  decision.approval.pin = '000000';
  expect(await decision.confirm()).toBe(false);
  expect(decision.problem?.code).toBe('pin_wrong');
  expect(decision.approval.pin).toBe('');
  expect(decision.freeReason).toBe('dos pasajeros');
  expect(decision.kind).toBe('different_sale');
});

test('two presses decide once', async () => {
  const { decide, decision, till } = await openDecision();
  decide.mockResolvedValue(await till.host.frame());
  decision.answer('different_sale');
  decision.freeReason = 'dos pasajeros';
  decision.approval.pin = PIN;
  expect(await Promise.all([decision.confirm(), decision.confirm()])).toEqual([true, false]);
  expect(decide).toHaveBeenCalledTimes(1);
});

test('an answer begun for one question is no answer to the one that took its place', async () => {
  let current: Review | null = sampleReview();
  const { decide, decision } = await openDecision(() => current);
  decision.answer('different_sale');
  decision.freeReason = 'dos pasajeros';
  decision.approval.pin = PIN;
  current = sampleReview({ challenge_id: 'question-2' });
  expect(decision.replaced).toBe(true);
  expect(decision.kind).toBeNull();
  expect(await decision.confirm()).toBe(false);
  expect(decide).not.toHaveBeenCalled();
  expect(decision.freeReason).toBe('dos pasajeros');
});

test('a question that is no longer asked says so and keeps showing what it was', async () => {
  let current: Review | null = sampleReview();
  const { decision, review } = await openDecision(() => current);
  current = null;
  expect(decision.gone).toBe(true);
  expect(decision.review).toBe(review);
});

test('changing the answer drops a listed reason that belonged to the other one', async () => {
  const { decision } = await openDecision();
  decision.answer('different_sale');
  decision.listedReason = 'Son dos pasajeros distintos';
  decision.freeReason = 'visto en cámara';
  decision.answer('same_sale');
  expect(decision.listedReason).toBeNull();
  expect(decision.freeReason).toBe('visto en cámara');
});
