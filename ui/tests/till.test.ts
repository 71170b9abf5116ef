import { expect, test, vi } from 'vitest';
import type { Frame } from '../src/bindings/Frame';
import { Till } from '../src/domain/till.svelte';
import { openScene } from '../src/host/fake/scenes';
import { CASHIER, PINS } from '../src/host/fake/till';

test('a frame read before a command answered never replaces the command’s own answer', async () => {
  const host = await openScene('locked');
  const old = await host.frame();
  let answerLate: (frame: Frame) => void = () => undefined;
  vi.spyOn(host, 'frame').mockImplementationOnce(() => new Promise((resolve) => (answerLate = resolve)));
  const till = new Till(host);

  const reading = till.refresh();
  await till.unlock(CASHIER.person_id, PINS[CASHIER.person_id] ?? '');
  expect(till.phase?.phase).toBe('no_shift');
  answerLate(old);
  await reading;
  expect(till.phase?.phase).toBe('no_shift');
});

test('a refused command rejects with the till’s code and changes nothing', async () => {
  const till = new Till(await openScene('locked'));
  await till.refresh();
  await expect(till.unlock(CASHIER.person_id, '000000')).rejects.toMatchObject({ code: 'pin_wrong' });
  expect(till.phase?.phase).toBe('locked');
});

test('whatever else is thrown becomes one kind of problem', async () => {
  const host = await openScene('locked');
  vi.spyOn(host, 'lock').mockRejectedValueOnce('command lock not allowed');
  const till = new Till(host);
  await expect(till.lock()).rejects.toEqual({
    code: 'internal',
    message: 'command lock not allowed',
    detail: null,
  });
});

test('a hint reaches the frame and everybody who listens, until they stop', async () => {
  const host = await openScene('selling');
  const till = new Till(host);
  const stopFollowing = till.follow();
  const listener = vi.fn();
  const stop = till.onChanged(listener);
  await till.refresh();
  await host.lock();
  host.becomeUnpeopled();
  await vi.waitFor(() => expect(till.phase?.phase).toBe('first_manager'));
  expect(listener).toHaveBeenCalled();

  stop();
  stopFollowing();
  listener.mockClear();
  host.becomeUnpeopled();
  expect(listener).not.toHaveBeenCalled();
});

test('a lost hint is made up for by reading now and then', async () => {
  vi.useFakeTimers();
  try {
    const host = await openScene('locked');
    vi.spyOn(host, 'onChanged').mockReturnValue(() => undefined);
    const till = new Till(host);
    const stop = till.follow();
    await vi.advanceTimersByTimeAsync(10);
    host.identityCollisions = 3;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(till.frame?.status?.identity_collision_count).toBe(3);
    stop();
  } finally {
    vi.useRealTimers();
  }
});
