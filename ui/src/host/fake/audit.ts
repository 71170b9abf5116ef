/** An audit of the in-memory till: rows enough for two pages, and a chain that breaks when a test wants it. */
import type { AuditEntry } from '../../bindings/AuditEntry';
import type { AuditPage } from '../../bindings/AuditPage';
import type { AuditPageRequest } from '../../bindings/AuditPageRequest';
import type { AuditVerified } from '../../bindings/AuditVerified';
import { stamp } from './sales';

const PAGE = 20;
const EVENTS = ['sale_recorded', 'sale_accepted', 'pin_refused', 'question_decided', 'cash_paid_in'];
const KINDS: Record<string, string> = {
  sale_recorded: 'sales',
  sale_accepted: 'sales',
  pin_refused: 'people',
  question_decided: 'questions',
  cash_paid_in: 'shift',
};

export class FakeAudit {
  brokenAt: number | null = null;
  readonly #rows: AuditEntry[] = Array.from({ length: 45 }, (_, index) => row(index + 1));

  page({ after, kind, person_id, external_transaction_id }: AuditPageRequest): AuditPage {
    const name = person_id === null ? null : person_id === 'p-caja' ? 'Caja' : 'Encargado';
    const found = this.#rows
      .filter(
        (one) =>
          (after === null || one.number < after) &&
          (kind === null || KINDS[one.event] === kind) &&
          (name === null || one.person === name) &&
          (external_transaction_id === null || one.external_transaction_id === external_transaction_id),
      )
      .toReversed();
    const items = found.slice(0, PAGE);
    return { items, next: found.length > PAGE ? (items.at(-1)?.number ?? null) : null };
  }

  verify(): AuditVerified {
    const broken = this.brokenAt === null ? null : { number: this.brokenAt, fault: 'altered' as const };
    return {
      rows: this.brokenAt === null ? this.#rows.length : this.brokenAt - 1,
      head: 'a1b2'.repeat(16),
      broken,
    };
  }
}

function row(number: number): AuditEntry {
  const event = EVENTS[number % EVENTS.length] ?? 'sale_recorded';
  const isAboutASale = event !== 'pin_refused' && event !== 'cash_paid_in';
  return {
    number,
    at: stamp((number - 45) * 60_000),
    event,
    person: number % 2 === 0 ? 'Caja' : 'Encargado',
    external_transaction_id: isAboutASale ? `D03-K7M-S44-${String(number % 7).padStart(4, '0')}` : null,
    facts: event === 'cash_paid_in' ? [{ name: 'amount', value: '50.00' }] : [],
  };
}
