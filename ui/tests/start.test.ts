import { describe, expect, test, vi } from 'vitest';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, waitFor } from './harness';

const problemCode = () => maybe(testid.problem)?.dataset['code'];

test.each(['folder_in_use', 'folder_not_writable', 'database_newer', 'database_damaged', 'disk_full'])(
  'a till that cannot work because of %s says so in its own words',
  async (code) => {
    await openPage(code);
    const sentence = get(testid.problem);
    expect(sentence.dataset['code']).toBe(code);
    expect(sentence.textContent).toContain('No se cambió ni se perdió nada.');
    expect(maybe(testid.welcomePractice)).toBeNull();
  },
);

describe('welcome', () => {
  test('practice is one key away', async () => {
    const { user } = await openPage('welcome');
    await expectFocus(testid.welcomePractice);
    await user.keyboard('{Enter}');
    await find(testid.pinInput);
    expect(document.body.textContent).toContain('314159');
    expect(document.body.textContent).toContain('271828');
  });

  test('practice can be left again, and only practice', async () => {
    const { user } = await openPage('locked');
    await user.click(await find(testid.leavePractice));
    await find(testid.welcomePractice);
    await user.click(get(testid.welcomeConnect));
    await user.type(await find(testid.connectAddress), 'https://yupy.pe');
    await user.type(get(testid.connectCode), 'TURNO-1{Enter}');
    await find(testid.managerName);
    expect(maybe(testid.leavePractice)).toBeNull();
  });

  test.each([
    ['nadie aquí', 'TURNO-1', 'address_invalid'],
    ['https://nadie.pe', 'TURNO-1', 'address_unreachable'],
    ['https://portal.pe', 'TURNO-1', 'not_yupy'],
    ['https://yupy.pe', 'usado', 'enrolment_refused'],
  ])('connecting to %s with %s says %s and keeps what was typed', async (address, code, problem) => {
    const { user } = await openPage('welcome');
    await user.click(get(testid.welcomeConnect));
    await expectFocus(testid.connectAddress);
    await user.type(get(testid.connectAddress), address);
    await user.type(get(testid.connectCode), `${code}{Enter}`);
    await waitFor(() => expect(problemCode()).toBe(problem));
    expect(get(testid.connectAddress)).toHaveProperty('value', address);
    expect(get(testid.connectCode)).toHaveProperty('value', code);
  });

  test('data that came from elsewhere are connected again, with the address that they had', async () => {
    const { till, user } = await openPage('welcome');
    till.becomeCarried();
    await find(testid.reconnect);
    expect(maybe(testid.welcomePractice)).toBeNull();
    expect(get(testid.connectAddress)).toHaveProperty('value', 'https://yupy.pe');
    await user.type(get(testid.connectCode), 'TURNO-1{Enter}');
    await find(testid.managerName);
  });

  test('a connected till asks for its first manager', async () => {
    const { user } = await openPage('welcome');
    await user.click(get(testid.welcomeConnect));
    await user.type(await find(testid.connectAddress), 'https://yupy.pe');
    await user.type(get(testid.connectCode), 'TURNO-1{Enter}');
    await find(testid.managerName);
  });
});

describe('the first manager', () => {
  test('two different PINs are not sent', async () => {
    const { till, user } = await openPage('manager');
    await user.type(get(testid.managerName), 'Ana');
    await user.type(get(testid.newPin), '271828');
    await user.type(get(testid.newPinAgain), '271829{Enter}');
    expect(document.body.textContent).toContain('no son iguales');
    expect(till.calls['create_manager']).toBeUndefined();
  });

  test('a weak PIN is refused and the name stays', async () => {
    const { user } = await openPage('manager');
    await user.type(get(testid.managerName), 'Ana');
    await user.type(get(testid.newPin), '111111');
    await user.type(get(testid.newPinAgain), '111111{Enter}');
    await waitFor(() => expect(problemCode()).toBe('pin_weak'));
    expect(get(testid.managerName)).toHaveProperty('value', 'Ana');
    expect(get(testid.newPin)).toHaveProperty('value', '');
  });
});

describe('the lock', () => {
  test('digits and Enter unlock, whoever has the keyboard', async () => {
    const { user } = await openPage('locked');
    (document.activeElement as HTMLElement).blur();
    await user.keyboard('314159{Enter}');
    await find(testid.float);
  });

  test('the pad types too', async () => {
    const { user } = await openPage('locked');
    await user.click(get(testid.person('p-encargado')));
    for (const digit of '271828') await user.click(get(testid.pinDigit(digit)));
    await user.click(get(testid.unlock));
    await find(testid.float);
  });

  test('a wrong PIN is said and the field is empty for the next', async () => {
    const { user } = await openPage('locked');
    await user.keyboard('000000{Enter}');
    await waitFor(() => expect(problemCode()).toBe('pin_wrong'));
    expect(get(testid.pinInput)).toHaveProperty('value', '');
    await expectFocus(testid.pinInput);
    await user.keyboard('314159{Enter}');
    await find(testid.float);
  });

  test('a lock-out says how long', async () => {
    const { till, user } = await openPage('locked');
    vi.spyOn(till, 'unlock').mockRejectedValue({ code: 'pin_locked', message: '', detail: '30' });
    await user.keyboard('000000{Enter}');
    await waitFor(() => expect(get(testid.problem).textContent).toContain('Espere 30 s'));
  });

  test('the PIN is never on the page', async () => {
    const { user } = await openPage('locked');
    await user.keyboard('987654');
    expect(get(testid.pinInput)).toHaveProperty('type', 'password');
    expect(document.body.textContent).not.toContain('987654');
  });
});

test('a float that is no amount is refused in words', async () => {
  const { user } = await openPage('shift');
  await expectFocus(testid.float);
  await user.keyboard('cien{Enter}');
  await waitFor(() => expect(problemCode()).toBe('amount_invalid'));
  await user.clear(get(testid.float));
  await user.keyboard('150.50{Enter}');
  await find(testid.search);
});

test('the language changes at once, and every view with it', async () => {
  const { user } = await openPage('shift');
  expect(document.body.textContent).toContain('Abrir turno');
  await user.click(get(testid.language('en')));
  await waitFor(() => expect(document.body.textContent).toContain('Open the shift'));
  expect(document.documentElement.lang).toBe('en');
  await user.click(get(testid.language('es')));
  await waitFor(() => expect(document.documentElement.lang).toBe('es-PE'));
});

test('the web view’s own menu is only there for texts', async () => {
  const { user } = await openPage();
  const isPrevented = (target: Element) =>
    !target.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }));
  await user.keyboard('{F2}');
  expect(isPrevented(document.body)).toBe(true);
  expect(isPrevented(await find(testid.search))).toBe(false);
});
