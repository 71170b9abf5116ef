import { expect, test } from 'vitest';
import { messages } from '../src/i18n/messages';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, sellSeat, waitFor, type Page } from './harness';

const { es } = messages;
const FILE = '/media/caja/USB/hoy.ventas';
const PASSPHRASE = 'tres buses azules';

/** The settings, with one sale that cannot be sent. */
async function withASale(): Promise<Page> {
  const page = await openPage();
  await page.till.pauseSending({ paused: true });
  await sellSeat(page.user, 'lima arequipa', '10A');
  await page.user.keyboard('{F10}');
  await find(testid.exportOpen);
  return page;
}

async function type({ user }: Page, path: string, passphrase: string): Promise<void> {
  await user.clear(get(testid.filePath));
  await user.paste(path);
  await user.clear(get(testid.filePassphrase));
  await user.paste(passphrase);
  await user.click(get(testid.fileSubmit));
}

test('unsent sales are exported with a place that is suggested and a passphrase that is seen', async () => {
  const page = await withASale();
  await page.user.click(get(testid.exportOpen));
  await expectFocus(testid.filePassphrase);
  expect((get(testid.filePath) as HTMLInputElement).value).toContain('turno-D03');
  expect((get(testid.filePassphrase) as HTMLInputElement).type).toBe('text');
  await type(page, FILE, 'corta');
  expect((await find(testid.problem)).dataset['code']).toBe('passphrase_short');
  await type(page, FILE, PASSPHRASE);
  expect((await find(testid.unsentDone)).textContent).toBe(es.settings.unsent.exported(1, FILE));
  expect(maybe(testid.filePath)).toBeNull();
  expect(page.till.files.get(FILE)).toBe(PASSPHRASE);
});

test('a file that is there already, and a wrong passphrase, are refused and what was typed stays', async () => {
  const page = await withASale();
  page.till.files.set(FILE, PASSPHRASE);
  await page.user.click(get(testid.exportOpen));
  await type(page, FILE, PASSPHRASE);
  expect((await find(testid.problem)).dataset['code']).toBe('file_exists');
  await page.user.click(get(testid.importOpen));
  await expectFocus(testid.filePath);
  await type(page, FILE, 'cuatro buses rojos');
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('passphrase_wrong'));
  expect((get(testid.filePath) as HTMLInputElement).value).toBe(FILE);
  await type(page, FILE, PASSPHRASE);
  expect((await find(testid.unsentDone)).textContent).toContain('D03');
});

test('without unsent sales there is nothing to export', async () => {
  const { user } = await openPage();
  await user.click(get(testid.navSettings));
  expect(((await find(testid.exportOpen)) as HTMLButtonElement).disabled).toBe(true);
  expect((get(testid.importOpen) as HTMLButtonElement).disabled).toBe(false);
});

test('a copy is made at once and its time is shown', async () => {
  const { user } = await openPage();
  await user.keyboard('{F10}');
  expect((await find(testid.lastBackup)).textContent).toBe(es.settings.backup.never);
  await user.click(get(testid.backUp));
  await waitFor(() => expect(get(testid.lastBackup).textContent).not.toBe(es.settings.backup.never));
});
