import { expect, test } from 'vitest';
import { Live } from '../src/domain/live.svelte';

/** A reader whose answers the test gives. */
function slowReader() {
  const waiting: ((answer: number | Error) => void)[] = [];
  const read = () =>
    new Promise<number>((resolve, reject) => {
      waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  return { read, waiting };
}

test('a burst of hints during one read costs exactly one more', async () => {
  const { read, waiting } = slowReader();
  const live = new Live(read);
  const done = live.refresh();
  for (let hint = 0; hint < 20; hint += 1) void live.refresh();
  expect(waiting).toHaveLength(1);
  waiting[0]?.(1);
  await expect.poll(() => waiting.length).toBe(2);
  waiting[1]?.(2);
  await done;
  expect(waiting).toHaveLength(2);
  expect(live.value).toBe(2);
});

test('a failed read keeps what was read before and says why', async () => {
  const { read, waiting } = slowReader();
  const live = new Live(read);
  const first = live.refresh();
  waiting[0]?.(7);
  await first;
  const second = live.refresh();
  waiting[1]?.(new Error('the window is gone'));
  await second;
  expect(live.value).toBe(7);
  expect(live.problem?.code).toBe('internal');
  const third = live.refresh();
  waiting[2]?.(8);
  await third;
  expect(live.value).toBe(8);
  expect(live.problem).toBeNull();
});
