import { afterEach, describe, expect, test, vi } from 'vitest';
import { IDLE_LOCK_MS, lockWhenIdle } from '../src/domain/idle';
import type { Till } from '../src/domain/till.svelte';
import { CASHIER, MANAGER, PINS } from '../src/host/fake/till';
import { messages } from '../src/i18n/messages';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, screen, typeSeat, waitFor, type Page } from './harness';

const t = messages.es;
const managerPin = PINS[MANAGER.person_id] ?? '';
const cashierPin = PINS[CASHIER.person_id] ?? '';

/** Another person takes over by keyboard alone. */
async function switchTo({ user }: Page, pin: string): Promise<void> {
  await user.keyboard('{F12}');
  await expectFocus(testid.pinInput);
  await user.keyboard(`${pin}{Enter}`);
  await waitFor(() => expect(maybe(testid.switchDialog)).toBeNull());
}

describe('switching', () => {
  test('is one step, the shift stays open, and everybody finds their own ticket again', async () => {
    const page = await openPage();
    await typeSeat(page.user, '418', '12A');
    await switchTo(page, managerPin);
    await waitFor(() => expect(get(testid.switchPerson).textContent).toContain(MANAGER.name));
    expect(maybe(testid.line(0))).toBeNull();
    expect(get(testid.switchPerson).textContent).toContain('S44');
    await switchTo(page, cashierPin);
    await waitFor(() => expect(get(testid.line(0)).textContent).toContain('12A'));
    expect(page.till.calls['lock']).toBeUndefined();
  });

  test('with a wrong PIN leaves whoever was there at the till', async () => {
    const { user } = await openPage();
    await user.keyboard('{F12}');
    await expectFocus(testid.pinInput);
    await user.keyboard('000001{Enter}');
    expect((await find(testid.problem)).dataset['code']).toBe('pin_wrong');
    await user.click(get(testid.switchClose));
    expect(get(testid.switchPerson).textContent).toContain(CASHIER.name);
  });

  test('is also the way to lock', async () => {
    const { user } = await openPage();
    await user.keyboard('{F12}');
    await user.click(await find(testid.switchLock));
    expect(await screen.findByText(t.lock.title)).toBeTruthy();
  });
});

describe('people', () => {
  async function openPeople(): Promise<Page> {
    const page = await openPage();
    await switchTo(page, managerPin);
    await waitFor(() => expect(get(testid.switchPerson).textContent).toContain(MANAGER.name));
    await page.user.keyboard('{F10}');
    await find(testid.people);
    return page;
  }

  test('are a manager’s business: a cashier is not offered them', async () => {
    const { user } = await openPage();
    await user.keyboard('{F10}');
    await find(testid.theme('dark'));
    expect(maybe(testid.people)).toBeNull();
  });

  test('a new person works at once', async () => {
    const { user, till } = await openPeople();
    await user.click(get(testid.personAdd));
    await expectFocus(testid.personName);
    await user.keyboard('Ana Ñahui');
    await user.type(get(testid.newPin), '482913');
    await user.type(get(testid.newPinAgain), '482914');
    expect(screen.getByText(t.people.mismatch)).toBeTruthy();
    await user.type(get(testid.newPinAgain), '{Backspace}3');
    await user.type(get(testid.approvalPin), `${managerPin}{Enter}`);
    expect(await screen.findByText('Ana Ñahui')).toBeTruthy();
    expect(till.calls['add_person']).toBe(1);
  });

  test('the only manager stays', async () => {
    const { user } = await openPeople();
    await user.click(get(testid.personRetire(MANAGER.person_id)));
    await user.type(await find(testid.approvalPin), `${managerPin}{Enter}`);
    expect((await find(testid.problem)).dataset['code']).toBe('last_manager');
  });

  test('whoever is retired is gone from the list', async () => {
    const { user } = await openPeople();
    await user.click(get(testid.personRetire(CASHIER.person_id)));
    await user.type(await find(testid.approvalPin), `${managerPin}{Enter}`);
    await waitFor(() => expect(maybe(testid.personRow(CASHIER.person_id))).toBeNull());
  });

  test('a PIN of one’s own is changed with the old one', async () => {
    const page = await openPage();
    await page.user.keyboard('{F12}');
    await page.user.click(await find(testid.ownPin));
    await expectFocus(testid.oldPin);
    await page.user.keyboard(cashierPin);
    await page.user.type(get(testid.newPin), '482913');
    await page.user.type(get(testid.newPinAgain), '482913{Enter}');
    await waitFor(() => expect(maybe(testid.ownPinDialog)).toBeNull());
    expect(page.till.calls['change_pin']).toBe(1);
  });
});

describe('a till that nobody touches', () => {
  afterEach(() => vi.useRealTimers());

  const watched = (phase: string) => {
    vi.useFakeTimers();
    const lock = vi.fn(() => Promise.resolve());
    const stop = lockWhenIdle({ phase: { phase }, lock } as unknown as Till);
    return { lock, stop };
  };

  test('locks after the named time, and any sign of life puts it off', () => {
    const { lock, stop } = watched('selling');
    vi.advanceTimersByTime(IDLE_LOCK_MS - 10_000);
    window.dispatchEvent(new Event('pointermove'));
    vi.advanceTimersByTime(IDLE_LOCK_MS - 10_000);
    expect(lock).not.toHaveBeenCalled();
    vi.advanceTimersByTime(20_000);
    expect(lock).toHaveBeenCalledTimes(1);
    stop();
    vi.advanceTimersByTime(2 * IDLE_LOCK_MS);
    expect(lock).toHaveBeenCalledTimes(1);
  });

  test('that is locked stays as it is', () => {
    const { lock, stop } = watched('locked');
    vi.advanceTimersByTime(3 * IDLE_LOCK_MS);
    expect(lock).not.toHaveBeenCalled();
    stop();
  });
});
