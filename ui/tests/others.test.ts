import { expect, test } from 'vitest';
import { testid } from '../src/shared/testids';
import { openScene } from '../src/host/fake/scenes';
import { Decision } from '../src/domain/decision.svelte';
import { Till } from '../src/domain/till.svelte';
import { find, get, maybe, openPage, waitFor } from './harness';
import { sampleReview } from './samples';

const THEIRS = 'D07-AAA-S9-0002';

test('a manager answers another till’s question, and is not asked about its money', async () => {
  const { user, till } = await openPage();
  await user.keyboard('{F4}');
  await user.click(await find(testid.otherOpen(THEIRS)));
  expect(get(testid.reviewSentence).textContent).toContain('mismo asiento 3C');
  await user.click(get(testid.decideSame));
  expect(maybe(testid.decideMoney('refunded'))).toBeNull();
  await user.type(get(testid.decideReason), 'lo vi en la cámara');
  await user.type(get(testid.approvalPin), '271828');
  await user.click(get(testid.decideConfirm));
  await waitFor(() => expect(maybe(testid.otherOpen(THEIRS))).toBeNull());
  await waitFor(() =>
    expect(get(testid.otherReviews).querySelector('[data-progress=told]')?.textContent).toContain(
      'es la misma venta',
    ),
  );
  expect(till.calls['decide']).toBeUndefined();
  expect(till.calls['decide_other']).toBe(1);
});

test('a wrong PIN decides nothing', async () => {
  const { user } = await openPage();
  await user.keyboard('{F4}');
  await user.click(await find(testid.otherOpen(THEIRS)));
  await user.click(get(testid.decideDifferent));
  await user.type(get(testid.decideReason), 'son dos');
  await user.type(get(testid.approvalPin), '000000');
  await user.click(get(testid.decideConfirm));
  await waitFor(() => expect(get('problem').dataset['code']).toBe('pin_wrong'));
  await user.click(get(testid.decideLater));
  await find(testid.otherOpen(THEIRS));
});

test('a till without a manager’s right says so in words', async () => {
  const { user, till } = await openPage();
  till.others.withoutRight();
  await user.keyboard('{F4}');
  await find(testid.otherNotGranted);
  till.others.none();
  await user.click(get(testid.otherRefresh));
  await waitFor(() => expect(maybe(testid.otherNotGranted)).toBeNull());
});

test('hints of this till’s own changes ask YUPY nothing about others', async () => {
  const { user, till } = await openPage();
  await user.keyboard('{F4}');
  await find(testid.otherOpen(THEIRS));
  const asked = till.calls['other_reviews'];
  for (let hint = 0; hint < 5; hint += 1) till.hint();
  await waitFor(() => expect(till.calls['reviews']).toBeGreaterThan(1));
  expect(till.calls['other_reviews']).toBe(asked);
});

test('what somebody elsewhere said first leaves one answer, with the money', async () => {
  const host = await openScene('selling', 0);
  const said = { decided_by: 'Rosa', reason: null, decided_at: null };
  const review = sampleReview({ decided_elsewhere: said });
  const decision = new Decision(new Till(host), review, () => review);
  expect(decision.isSettledElsewhere).toBe(true);
  decision.answer('same_sale');
  expect(decision.asksMoney).toBe(true);
});
