/** The shift of the in-memory till: its drawer, its closings, and the reports that are made of them. */
import type { CloseShiftRequest } from '../../bindings/CloseShiftRequest';
import type { LastClosing } from '../../bindings/LastClosing';
import type { MoveCashRequest } from '../../bindings/MoveCashRequest';
import type { Movement } from '../../bindings/Movement';
import type { PastShiftPage } from '../../bindings/PastShiftPage';
import type { Person } from '../../bindings/Person';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { Share } from '../../bindings/Share';
import type { Shift } from '../../bindings/Shift';
import type { ShiftLimits } from '../../bindings/ShiftLimits';
import type { ShiftReport } from '../../bindings/ShiftReport';
import type { Tally } from '../../bindings/Tally';
import { cashDue, parseTyped, soles } from './amounts';
import { isUnsettled, refusal, stamp } from './sales';

const FIRST = 44;
const LIMITS: ShiftLimits = {
  pay_out: soles(10_000),
  difference: soles(500),
  cash_held: soles(150_000),
  denominations: [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000].map(soles),
};

const tally = (sales: SaleSummary[]): Tally => ({
  count: sales.length,
  amount: soles(sales.reduce((sum, { amount }) => sum + amount.minor, 0)),
});

function shares(sales: SaleSummary[], labelOf: (sale: SaleSummary) => string): Share[] {
  const labels = [...new Set(sales.map(labelOf))];
  return labels.map((label) => ({ label, ...tally(sales.filter((sale) => labelOf(sale) === label)) }));
}

export class FakeShifts {
  readonly #sales: () => SaleSummary[];
  #number = FIRST - 1;
  #shift: Shift | null = null;
  #movements: Movement[] = [];
  readonly #drafts = new Set<string>();
  #closed: ShiftReport[] = [];

  /** `sales` are all that the till ever sold. */
  constructor(sales: () => SaleSummary[]) {
    this.#sales = sales;
  }

  get current(): Shift | null {
    if (!this.#shift) return null;
    const { figures, drawer } = this.#open(this.#shift);
    return {
      ...this.#shift,
      sales_count: figures.net.count,
      sold: figures.net.amount,
      drawer_is_full: drawer.expected.minor > LIMITS.cash_held.minor,
    };
  }

  get last(): LastClosing | null {
    const report = this.#closed.at(-1);
    if (!report?.closing) return null;
    const { z_id, closed_at, closed_by, counted, difference } = report.closing;
    const person: Person = { person_id: 'p-caja', name: closed_by, role: 'cashier' };
    return { shift_id: report.shift_id, z_id, closed_at, closed_by: person, counted, difference };
  }

  open(by: Person, float: string): void {
    const minor = parseTyped(float);
    if (minor === null) throw refusal('amount_invalid');
    this.#number += 1;
    this.#movements = [];
    this.#shift = {
      shift_id: `S${String(this.#number)}`,
      opened_at: stamp(),
      opened_by: by,
      float: soles(minor),
      sales_count: 0,
      sold: soles(0),
      drawer_is_full: false,
    };
  }

  report(shiftId: string | null): ShiftReport {
    const closed = this.#closed.find((report) => report.shift_id === shiftId);
    if (closed) return this.#withAddendum(closed);
    if (!this.#shift) throw refusal('shift_required');
    if (shiftId !== null && shiftId !== this.#shift.shift_id) throw refusal('not_found');
    return this.#open(this.#shift);
  }

  move(request: MoveCashRequest, by: Person, approver: Person | null): ShiftReport {
    if (!this.#shift) throw refusal('shift_required');
    const minor = parseTyped(request.amount);
    if (!minor) throw refusal('amount_invalid');
    if (request.reason.trim() === '') throw refusal('reason_required');
    if (this.#drafts.has(request.draft_id)) return this.#open(this.#shift);
    if (request.direction === 'pay_out') {
      const there = this.#open(this.#shift).drawer.expected.minor;
      if (minor > there) throw refusal('not_enough_cash', `${String(Math.floor(there / 100))}.00`);
      if (minor > LIMITS.pay_out.minor && !approver) throw refusal('manager_required');
    }
    this.#drafts.add(request.draft_id);
    this.#movements.push({
      movement_number: this.#movements.length + 1,
      kind: request.direction,
      amount: soles(minor),
      reason: request.reason.trim(),
      at: stamp(),
      person: by.name,
      approved_by: approver?.name ?? null,
    });
    return this.#open(this.#shift);
  }

  close(request: CloseShiftRequest, by: Person, approver: Person | null): void {
    if (this.#closed.some((report) => report.shift_id === request.shift_id)) return;
    if (this.#shift?.shift_id !== request.shift_id) throw refusal('not_found');
    const report = this.#open(this.#shift);
    const expected = report.drawer.expected.minor;
    if (expected !== request.shown_expected_minor) throw refusal('figures_changed');
    const count = request.count.map(({ denomination_minor, pieces }) => ({
      denomination: soles(denomination_minor),
      pieces,
      amount: soles(denomination_minor * pieces),
    }));
    const counted = count.reduce((sum, { amount }) => sum + amount.minor, 0);
    const isBig = Math.abs(counted - expected) > LIMITS.difference.minor;
    if (isBig && !approver) throw refusal('manager_required');
    if (isBig && !request.reason?.trim()) throw refusal('reason_required');
    this.#closed.push({
      ...report,
      closing: {
        z_id: `K7M-${String(this.#closed.length + 1)}`,
        closed_at: stamp(),
        closed_by: by.name,
        approved_by: isBig ? (approver?.name ?? null) : null,
        reason: isBig ? request.reason : null,
        count: count.toSorted((a, b) => b.denomination.minor - a.denomination.minor),
        counted: soles(counted),
        difference: soles(counted - expected),
      },
    });
    this.#shift = null;
  }

  past(): PastShiftPage {
    const items = this.#closed.toReversed().map((closed) => {
      const report = this.#withAddendum(closed);
      return {
        shift_id: report.shift_id,
        shift_number: Number(report.shift_id.slice(1)),
        z_id: report.closing?.z_id ?? null,
        opened_at: report.opened_at,
        closed_at: report.closing?.closed_at ?? '',
        opened_by: report.opened_by,
        net: report.figures.net.amount,
        counted: report.closing?.counted ?? null,
        difference: report.closing?.difference ?? null,
        late_count: report.addendum.length,
        unsettled_count: this.#of(report.shift_id).filter(isUnsettled).length,
      };
    });
    return { items, next: null };
  }

  #of(shiftId: string): SaleSummary[] {
    return this.#sales().filter((sale) => sale.shift_id === shiftId);
  }

  #withAddendum(report: ShiftReport): ShiftReport {
    const then = new Map(report.unsettled.map((sale) => [sale.external_transaction_id, sale.state]));
    const late = this.#of(report.shift_id).filter(
      (sale) => then.has(sale.external_transaction_id) && !isUnsettled(sale),
    );
    const addendum = late.map((sale) => ({
      sale,
      was: then.get(sale.external_transaction_id) ?? null,
      changed_at: stamp(),
    }));
    return { ...report, addendum };
  }

  #open(shift: Shift): ShiftReport {
    const sales = this.#of(shift.shift_id);
    const inState = (...states: string[]) => tally(sales.filter(({ state }) => states.includes(state)));
    const counted = sales.filter(({ state }) => state !== 'discarded');
    const net = tally(counted);
    // One sale a checkout is near enough here.
    const rounding = counted.reduce((sum, { amount }) => sum + amount.minor - cashDue(amount.minor), 0);
    const moved = (kind: string) =>
      this.#movements.filter((one) => one.kind === kind).reduce((sum, { amount }) => sum + amount.minor, 0);
    const [payIns, payOuts] = [moved('pay_in'), moved('pay_out')];
    return {
      shift_id: shift.shift_id,
      opened_at: shift.opened_at,
      opened_by: shift.opened_by.name,
      closing: null,
      figures: {
        sold: tally(sales),
        accepted: inState('accepted'),
        pending: inState('queued', 'sending'),
        attention: inState('in_review', 'needs_attention', 'on_hold'),
        discarded: inState('discarded'),
        returned: tally([]),
        discounts: tally([]),
        net,
      },
      drawer: {
        float: shift.float,
        sales: net.amount,
        rounding: soles(rounding),
        pay_ins: soles(payIns),
        pay_outs: soles(payOuts),
        refunds: soles(0),
        expected: soles(shift.float.minor + net.amount.minor - rounding + payIns - payOuts),
      },
      tenders: shares(counted, () => 'cash'),
      hours: shares(counted, (sale) => String(Number(sale.occurred_at.slice(11, 13)))),
      routes: shares(counted, (sale) => sale.route ?? ''),
      movements: [...this.#movements],
      unsettled: sales.filter(isUnsettled).map((sale) => ({
        external_transaction_id: sale.external_transaction_id,
        description: sale.description,
        amount: sale.amount,
        state: sale.state,
      })),
      unsettled_count: sales.filter(isUnsettled).length,
      addendum: [],
      limits: LIMITS,
    };
  }
}
