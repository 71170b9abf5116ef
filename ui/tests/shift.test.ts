import { describe, expect, test } from 'vitest';
import { CashCount, piles } from '../src/domain/cash-count.svelte';
import { hourBars, routeBars } from '../src/domain/figures';
import { soles } from '../src/host/fake/amounts';
import { messages } from '../src/i18n/messages';
import { testid } from '../src/shared/testids';
import { expectFocus, find, get, maybe, openPage, screen, sellSeat, waitFor, type Page } from './harness';

const t = messages.es;

/** The page on Turno, with the seats sold. */
async function openShift(seats: string[] = [], scene = 'selling'): Promise<Page> {
  const page = await openPage(scene);
  for (const seat of seats) await sellSeat(page.user, '418', seat);
  await page.user.keyboard('{F7}');
  await find(testid.reportFigure('sold'));
  return page;
}

const figure = (name: string) => get(testid.reportFigure(name)).textContent.trim();

describe('the figures of the open shift', () => {
  test('what was sold is its four parts, and they follow the sales', async () => {
    const { till } = await openShift(['12A', '12B']);
    expect(figure('sold')).toContain('S/ 171.00');
    await waitFor(() => expect(figure('accepted')).toBe('S/ 171.00'));
    expect(figure('pending')).toBe('S/ 0.00');
    expect(figure('expected')).toBe('S/ 321.00');
    till.breakASale(1);
    till.hint();
    await waitFor(() => expect(figure('attention')).toBe('S/ 85.50'));
    expect(figure('accepted')).toBe('S/ 85.50');
    expect(figure('sold')).toContain('S/ 171.00');
  });

  test('each plot says in words what its bars show', async () => {
    await openShift(['12A']);
    expect(await screen.findByText(/^\d\d:00 a \d\d:59: 1 venta, S\/ 85\.50$/)).toBeTruthy();
    expect(screen.getByText(/^Efectivo: 1 venta, S\/ 85\.50$/)).toBeTruthy();
  });

  test('more than a few routes are one bar at the end, with everything in it', () => {
    const route = (at: number) => ({ label: `R${String(at)}`, count: 1, amount: soles(100 - at) });
    const bars = routeBars(
      Array.from({ length: 9 }, (_, at) => route(at)),
      t,
    );
    expect(bars).toHaveLength(7);
    expect(bars.at(-1)).toMatchObject({ name: t.report.otherRoutes, size: 94 + 93 + 92 });
    expect(routeBars([{ ...route(1), label: '' }], t)[0]?.name).toBe(t.report.noRoute);
    expect(hourBars([{ label: '7', count: 0, amount: soles(0) }], t)[0]).toMatchObject({
      name: '07',
      size: 0,
    });
  });
});

describe('cash in and out', () => {
  test('a pay-out by keyboard alone is in the figures at once', async () => {
    const { user, till } = await openShift();
    await user.click(get(testid.cashOut));
    await expectFocus(testid.cashAmount);
    await user.keyboard('20');
    await user.click(screen.getByText('Gasto menor'));
    await user.keyboard('{Tab}');
    await user.click(get(testid.cashConfirm));
    await waitFor(() => expect(figure('expected')).toBe('S/ 130.00'));
    expect(figure('drawer-pay_outs')).toBe('−S/ 20.00');
    expect(get(testid.reportMovement).textContent).toContain('Gasto menor');
    expect(till.calls['move_cash']).toBe(1);
  });

  test('beyond the limit a manager’s PIN is asked for, and a wrong one moves nothing', async () => {
    const { user } = await openShift();
    await user.click(get(testid.cashOut));
    await user.keyboard('120');
    await user.click(screen.getByText('Entrega al encargado'));
    expect(maybe(testid.approvalPin)).toBeNull();
    await user.click(get(testid.cashConfirm));
    await user.type(await find(testid.approvalPin), '000001{Enter}');
    expect((await find(testid.problem)).dataset['code']).toBe('pin_wrong');
    expect((get(testid.approvalPin) as HTMLInputElement).value).toBe('');
    await user.type(get(testid.approvalPin), '271828{Enter}');
    await waitFor(() => expect(figure('expected')).toBe('S/ 30.00'));
    expect(get(testid.reportMovement).textContent).toContain('aprobó Encargado');
  });

  test('more cash than there should be is said in the view and on its tab', async () => {
    const { user } = await openShift();
    expect(maybe(testid.reportOverCap)).toBeNull();
    await user.click(get(testid.cashIn));
    await user.keyboard('1500');
    await user.click(screen.getByText('Más fondo'));
    await user.click(get(testid.cashConfirm));
    await find(testid.reportOverCap);
    await waitFor(() => expect(get(testid.navShift).textContent).toContain(t.nav.full));
  });
});

describe('the count', () => {
  const all = [10, 100, 1000, 20_000].map(soles);

  test('is whole pieces of whole amounts, and nothing else', () => {
    const count = new CashCount();
    for (const wrong of ['-1', '1.5', '1e3', '10001', 'x', '٣']) {
      count.type(soles(10), wrong);
      expect(count.isRight(all), wrong).toBe(false);
      expect(count.total(all)).toBe(0);
    }
    count.type(soles(10), ' 3 ');
    count.type(soles(20_000), '2');
    count.type(soles(100), '');
    expect(count.isRight(all)).toBe(true);
    expect(count.total(all)).toBe(40_030);
    expect(count.sent(all)).toEqual([
      { denomination_minor: 10, pieces: 3 },
      { denomination_minor: 20_000, pieces: 2 },
    ]);
  });

  test('goes from the biggest note to the smallest coin', () => {
    const { coins, notes } = piles(all);
    expect(notes.map(({ minor }) => minor)).toEqual([20_000, 1000]);
    expect(coins.map(({ minor }) => minor)).toEqual([100, 10]);
  });
});

describe('closing', () => {
  async function beginClosing(seats: string[] = []): Promise<Page> {
    const page = await openShift(seats);
    await page.user.click(get(testid.shiftClose));
    await expectFocus(testid.countPieces(20_000));
    return page;
  }

  test('by keyboard: count, close, and the next float is what was counted', async () => {
    const { user, till } = await beginClosing();
    // 200, 100: none and one; 50: one.
    await user.keyboard('{Enter}1{Enter}1');
    await waitFor(() => expect(get(testid.closeDifference).textContent.trim()).toBe('Cuadra'));
    await user.keyboard('{Enter}'.repeat(9));
    await expectFocus(testid.closeConfirm);
    await user.keyboard('{Enter}');
    await find(testid.float);
    expect(get(testid.lastClosing).textContent).toContain('S/ 150.00');
    await user.click(get(testid.lastClosingUse));
    await expectFocus(testid.float);
    await user.keyboard('{Enter}');
    await find(testid.search);
    expect(till.calls['close_shift']).toBe(1);
    await user.keyboard('{F7}');
    await waitFor(() => expect(figure('drawer-float')).toBe('S/ 150.00'));
  });

  test('a difference beyond the limit needs a reason and a manager, a small one does not', async () => {
    const { user, till } = await beginClosing();
    await user.keyboard('{Enter}1');
    expect(get(testid.closeDifference).textContent).toContain('Faltan S/ 50.00');
    expect((get(testid.closeConfirm) as HTMLButtonElement).disabled).toBe(true);
    await user.type(get(testid.closeReason), 'Falta un billete');
    await user.type(get(testid.approvalPin), '271828');
    await user.click(get(testid.closeConfirm));
    await find(testid.float);
    await user.click(get(testid.lastClosingSee));
    await waitFor(() => expect(figure('difference')).toBe('Faltan S/ 50.00'));
    expect(get(testid.reportDialog).textContent).toContain('aprobó Encargado');
    await user.click(get(testid.reportSave));
    await waitFor(() => expect(get(testid.reportSaved).textContent).toContain('S44.pdf'));
    await user.click(get(testid.reportPrint));
    await waitFor(() =>
      expect(get(testid.reportDialog).textContent).toContain('Esta caja no tiene impresora.'),
    );
    expect(get(testid.reportSaved).textContent).toBe('');
    const { printer } = till;
    printer.set({ ...printer.settings, device: { kind: 'network', address: '10.0.0.9' } });
    await user.click(get(testid.reportPrint));
    await waitFor(() => expect(get(testid.reportSaved).textContent).toBe(t.report.sent));
    expect(printer.jobs.map(({ kind }) => kind)).toEqual(['report']);
  });

  test('offline it lists what YUPY has not confirmed, and later the addendum says what settled', async () => {
    const page = await openPage();
    const { user, till } = page;
    await till.setPracticeLine({ line: 'offline' });
    await sellSeat(user, '418', '12A');
    await user.keyboard('{F7}');
    await user.click(await find(testid.shiftClose));
    await waitFor(() => expect(get(testid.closePending).dataset['count']).toBe('1'));
    expect(get(testid.closePending).textContent).toContain('D03-K7M-S44-0001');
    await user.click(get(testid.countPieces(20_000)));
    await user.keyboard('1{Enter}{Enter}{Enter}1{Enter}1{Enter}1');
    await waitFor(() => expect(get(testid.closeDifference).textContent).toContain('Faltan S/ 0.50'));
    await user.click(get(testid.closeConfirm));
    await user.type(await find(testid.float), '100{Enter}');
    await find(testid.search);
    await till.setPracticeLine({ line: 'online' });
    await till.sendNow();
    await user.keyboard('{F7}');
    await user.click(await find(testid.shiftPast));
    await user.click(await find(testid.pastShift('S44')));
    await find(testid.reportUnsettled);
    await waitFor(() => expect(get(testid.reportLate).dataset['state']).toBe('accepted'));
    expect(figure('pending')).toBe('S/ 85.50');
  });

  test('an open ticket is named, and is there for its seller in the next shift', async () => {
    const { user } = await openPage();
    await expectFocus(testid.search);
    await user.keyboard('418{Enter}');
    await expectFocus(testid.seatTyped);
    await user.keyboard('12A{Enter}');
    await expectFocus(testid.buyerName);
    await user.keyboard('{F7}');
    await user.click(await find(testid.shiftClose));
    await find(testid.closeOpenTicket);
    await user.click(get(testid.countPieces(10_000)));
    await user.keyboard('1{Enter}1');
    await user.click(get(testid.closeConfirm));
    await user.type(await find(testid.float), '0{Enter}');
    await waitFor(() => expect(get(testid.line(0)).textContent).toContain('85.50'));
  });
});
