import { expect, test } from 'vitest';
import { testid } from '../src/shared/testids';
import { find, get, openPage, sellSeat, waitFor } from './harness';

const NASTY = '<img src=x onerror="document.body.dataset.owned=1">{alert(1)}&lt;b&gt;';
const RIGHT_TO_LEFT = '\u202eمحمد عبد الرحمن';

test('markup in a name stays text in every view', async () => {
  const { till, user } = await openPage();
  await till.setPracticeLine({ line: 'offline' });
  await sellSeat(user, '20:30', '12A', NASTY);

  await user.keyboard('{F3}');
  expect((await find(testid.sale('D03-K7M-S44-0001'))).textContent).toContain(NASTY);
  await user.keyboard('{F6}');
  await waitFor(() => expect(document.querySelector('table')).not.toBeNull());
  expect(get(testid.sale('D03-K7M-S44-0001')).textContent).toContain(NASTY);
  expect(document.querySelector('img')).toBeNull();
  expect(document.body.dataset['owned']).toBeUndefined();
});

test('markup stays text in the question about a duplicate', async () => {
  const { user } = await openPage();
  await sellSeat(user, '20:30', '12A', NASTY);
  await waitFor(() => expect(get(testid.lastSaleState).dataset['state']).toBe('accepted'));
  await user.keyboard('20:30{Enter}');
  await find(testid.seatTyped);
  await user.keyboard('12A{Enter}');
  await find(testid.buyerName);
  await user.paste(NASTY);
  await user.keyboard('{F9}');
  const warning = await find(testid.lookAlike);
  expect(warning.textContent).toContain(NASTY);
  await user.click(get(testid.lookAlikeSell));
  await waitFor(() => expect(get(testid.reviewCount).dataset['count']).toBe('1'));
  await user.keyboard('{F4}');
  await user.click(await find(testid.reviewOpen('D03-K7M-S44-0002')));
  expect((await find(testid.reviewDialog)).textContent).toContain(NASTY);
  expect(document.querySelector('img')).toBeNull();
});

test('a name written from right to left is isolated from what stands beside it', async () => {
  const { till, user } = await openPage();
  await till.setPracticeLine({ line: 'offline' });
  await sellSeat(user, '20:30', '12A', RIGHT_TO_LEFT);
  await user.keyboard('{F3}');
  const row = await find(testid.sale('D03-K7M-S44-0001'));
  const isolated = row.querySelector('bdi');
  expect(isolated?.textContent).toBe(RIGHT_TO_LEFT);
});
