import { expect, test, vi } from 'vitest';
import { testid } from '../src/shared/testids';
import { find, get, openPage, waitFor } from './harness';

const look = () => Object.fromEntries(Object.entries(document.documentElement.dataset));

test('colours and size of texts change at once, each by itself', async () => {
  const { user } = await openPage();
  await user.keyboard('{F10}');
  await user.click(await find(testid.theme('dark')));
  await waitFor(() => expect(look()).toMatchObject({ theme: 'dark', size: 'normal' }));
  await user.click(get(testid.textSize('largest')));
  await waitFor(() => expect(look()).toMatchObject({ theme: 'dark', size: 'largest' }));
  expect(get(testid.theme('dark'))).toHaveProperty('checked', true);
});

test('the language is there too', async () => {
  const { user } = await openPage();
  await user.click(get(testid.navSettings));
  await user.click(await find(testid.language('en')));
  await waitFor(() => expect(get(testid.navSettings).textContent).toContain('Settings'));
});

test('a refused choice is drawn as the till has it', async () => {
  const { user, till } = await openPage();
  await user.keyboard('{F10}');
  vi.spyOn(till, 'setAppearance').mockRejectedValue({
    code: 'folder_not_writable',
    message: '',
    detail: '/x',
  });
  await user.click(await find(testid.theme('dark')));
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('folder_not_writable'));
  expect(get(testid.theme('light'))).toHaveProperty('checked', true);
  expect(look()).toMatchObject({ theme: 'light' });
});
