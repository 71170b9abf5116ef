import { describe, expect, test, vi } from 'vitest';
import type { ConnectionState } from '../src/bindings/ConnectionState';
import type { Frame } from '../src/bindings/Frame';
import { messages } from '../src/i18n/messages';
import { testid } from '../src/shared/testids';
import { sampleSale } from './samples';
import { expectState, find, get, maybe, openPage, screen, sellSeat, waitFor, type Page } from './harness';

/** A page whose frame says what the test wants. */
async function openWith(change: (frame: Frame) => Frame): Promise<Page> {
  const page = await openPage();
  const real = page.till.frame;
  vi.spyOn(page.till, 'frame').mockImplementation(async () => change(await real()));
  page.till.hint();
  return page;
}

const withConnection = (state: ConnectionState) => (frame: Frame) => ({
  ...frame,
  status: frame.status && { ...frame.status, connection: { ...frame.status.connection, state } },
});

const states = Object.keys(messages.es.connection) as ConnectionState[];

test.each(states)('the connection %s is said with its cause and what to do', async (state) => {
  await openWith(withConnection(state));
  await expectState(testid.connection, state);
  const { label, advice } = messages.es.connection[state];
  expect(get(testid.connection).textContent).toContain(label);
  expect(get(testid.connection).textContent).toContain(advice);
});

test('the counts are the till’s', async () => {
  await openWith((frame) => ({
    ...frame,
    status: frame.status && {
      ...frame.status,
      pending_count: 12,
      in_review_count: 2,
      needs_attention_count: 1,
    },
  }));
  await waitFor(() => expect(get(testid.pendingCount).dataset['count']).toBe('12'));
  expect(get(testid.pendingCount).textContent).toContain('12 pendientes');
  expect(get(testid.reviewCount).textContent).toContain('2 por revisar');
  expect(get(testid.attentionCount).textContent).toContain('1 con problema');
});

test('another till with this one’s identity is an alarm', async () => {
  const { till } = await openPage();
  expect(maybe(testid.identityAlarm)).toBeNull();
  till.identityCollisions = 1;
  till.hint();
  expect((await find(testid.identityAlarm)).textContent).toContain('avise a soporte');
});

test('new letters on the tickets are explained, with what is looked up', async () => {
  const { till } = await openPage();
  expect(maybe(testid.newEpoch)).toBeNull();
  till.newEpoch = {
    epoch: 'A3X',
    reason: 'folder_copied',
    taken_at: '2026-11-30T10:00:00-05:00',
    to_look_up_count: 2,
    recovered_count: 3,
  };
  till.hint();
  const notice = (await find(testid.newEpoch)).textContent;
  expect(notice).toContain('copia');
  expect(notice).toContain('A3X');
  expect(notice).toContain('2 ventas de antes');
  expect(notice).toContain('3 ventas recuperadas');
});

test('what is not safe about the data is said, each in its own line', async () => {
  const { till } = await openPage();
  expect(maybe(testid.storageWarning)).toBeNull();
  till.storageWarnings = ['backup_failed', 'journal_failed'];
  till.hint();
  await waitFor(() => expect(screen.getAllByTestId(testid.storageWarning)).toHaveLength(2));
  expect(screen.getAllByTestId(testid.storageWarning)[0]?.textContent).toContain('copia de seguridad');
});

test('a till that no longer answers is not shown as if it did', async () => {
  const { till } = await openPage();
  vi.spyOn(till, 'frame').mockRejectedValue(new Error('gone'));
  till.hint();
  await waitFor(() => expect(get(testid.problem).dataset['code']).toBe('internal'));
});

describe('Pendientes', () => {
  test('each sale says its state, its standing, why, and how often it was tried', async () => {
    const { till, user } = await openPage();
    await till.setPracticeLine({ line: 'lost_reply' });
    await sellSeat(user, '20:30', '12A', 'Rosa');
    await user.keyboard('{F3}');
    await expectState(testid.sale('D03-K7M-S44-0001'), 'queued');
    const row = get(testid.sale('D03-K7M-S44-0001'));
    await waitFor(() => expect(row.dataset['reason']).toBe('connection_lost'));
    expect(row.textContent).toContain('En espera');
    expect(row.textContent).toContain('Sin confirmar');
    expect(row.textContent).toContain(messages.es.saleReason.connection_lost);
    expect(row.textContent).toMatch(/1 intento · próximo en \d+ s/);
  });

  test('the countdown to the next try runs', async () => {
    const { till, user } = await openPage();
    const at = new Date(Date.now() + 60_000).toISOString();
    vi.spyOn(till, 'pending').mockResolvedValue({
      items: [sampleSale({ reason: 'unreachable', attempts: 3, next_attempt_at: at })],
      next: null,
    });
    await user.keyboard('{F3}');
    const row = await find(testid.sale('D03-K7M-S44-0001'));
    const shown = row.textContent;
    await waitFor(() => expect(row.textContent).not.toBe(shown), { timeout: 3000 });
    expect(row.textContent).toMatch(/próximo en 5\d s/);
  });

  test('Enviar ahora says what it came to', async () => {
    const { till, user } = await openPage();
    await till.setPracticeLine({ line: 'offline' });
    await sellSeat(user, '20:30', '12A');
    await user.keyboard('{F3}');
    await expectState(testid.sale('D03-K7M-S44-0001'), 'queued');
    await waitFor(() => expect(get(testid.sale('D03-K7M-S44-0001')).dataset['reason']).toBe('unreachable'));
    await till.setPracticeLine({ line: 'online' });
    await user.click(get(testid.sendNow));
    await waitFor(() =>
      expect(get(testid.sendReport).textContent).toBe(
        'Se intentó con 1: YUPY confirmó 1. Quedan 0 por confirmar.',
      ),
    );
    await waitFor(() => expect(maybe(testid.sale('D03-K7M-S44-0001'))).toBeNull());
  });

  test('nothing pending is said too', async () => {
    const { user } = await openPage();
    await user.keyboard('{F3}');
    await waitFor(() => expect(document.body.textContent).toContain(messages.es.pending.empty));
  });
});

describe('Ventas', () => {
  test('newest first, and more on demand', async () => {
    const { till, user } = await openPage();
    await till.setPracticeLine({ line: 'offline' });
    for (let sale = 0; sale < 25; sale += 1) {
      const { draft_id } = await till.openDraft();
      await till.charge({
        draft_id,
        lines: [
          {
            offer_id: 'urban-adult',
            seat: null,
            quantity: 1,
            buyer_name: null,
            shown_price_minor: 250,
            discount: null,
          },
        ],
        tenders: [{ method: 'cash', received: null }],
        look_alikes: 'ask',
        approval: null,
      });
    }
    await user.keyboard('{F6}');
    await find(testid.sale('D03-K7M-S44-0025'));
    expect(maybe(testid.sale('D03-K7M-S44-0001'))).toBeNull();
    await user.click(get(testid.loadMore));
    await find(testid.sale('D03-K7M-S44-0001'));
    const ids = [...document.querySelectorAll<HTMLElement>('tbody tr')].map((row) => row.dataset['testid']);
    expect(ids[0]).toBe(testid.sale('D03-K7M-S44-0025'));
    expect(new Set(ids).size).toBe(25);
    expect(maybe(testid.loadMore)).toBeNull();
  });
});

describe('the practice network', () => {
  test('shows the line that the till says, and sets it', async () => {
    const { till, user } = await openPage();
    const radio = (line: string) => get(testid.practiceLine(line)) as HTMLInputElement;
    expect(radio('online').checked).toBe(true);
    await user.click(radio('lost_reply'));
    await waitFor(async () => expect((await till.frame()).practice?.line).toBe('lost_reply'));
    await waitFor(() => expect(radio('lost_reply').checked).toBe(true));
  });

  test('a refused change is not shown as made', async () => {
    const { till, user } = await openPage();
    vi.spyOn(till, 'setPracticeLine').mockRejectedValue({
      code: 'not_allowed_now',
      message: '',
      detail: null,
    });
    await user.click(get(testid.practiceLine('portal')));
    await find(testid.problem);
    await waitFor(() => expect((get(testid.practiceLine('online')) as HTMLInputElement).checked).toBe(true));
    expect((get(testid.practiceLine('portal')) as HTMLInputElement).checked).toBe(false);
  });

  test('outside practice there is no strip', async () => {
    await openPage('manager');
    expect(maybe(testid.practiceLine('online'))).toBeNull();
  });
});

test.each([
  [7 * 60, 'adelantado 7 min'],
  [-25 * 3600, 'atrasado 25 h'],
])('a clock that is %i s off is said in words', async (ahead, words) => {
  const { till } = await openPage();
  expect(maybe(testid.wrongClock)).toBeNull();
  till.clockAheadS = ahead;
  till.hint();
  expect((await find(testid.wrongClock)).textContent).toContain(words);
  till.clockAheadS = null;
  till.hint();
  await waitFor(() => expect(maybe(testid.wrongClock)).toBeNull());
});

test('sending can be switched off and on, and the sale that waits says why', async () => {
  const { user } = await openPage();
  await user.keyboard('{F3}');
  await user.click(await find(testid.pauseSending));
  await expectState(testid.connection, 'paused');
  expect(maybe(testid.sendNow)).toBeNull();
  await user.keyboard('{F2}');
  await sellSeat(user, '20:30', '12A');
  await user.keyboard('{F3}');
  await waitFor(() => expect(document.body.textContent).toContain(messages.es.saleReason.paused));
  expect(get(testid.pendingCount).dataset['count']).toBe('1');
  await user.click(get(testid.pauseSending));
  await expectState(testid.connection, 'online');
  await waitFor(() => expect(get(testid.pendingCount).dataset['count']).toBe('0'));
});
