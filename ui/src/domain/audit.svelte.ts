/**
 * The audit as a manager filters it. Invariant: rows of one filter never stand under another; an older answer does not
 * replace a newer one.
 */
import type { AuditEntry } from '../bindings/AuditEntry';
import type { AuditKind } from '../bindings/AuditKind';
import type { AuditVerified } from '../bindings/AuditVerified';
import type { Problem } from '../bindings/Problem';
import type { Host } from '../host/host';
import type { Messages } from '../i18n/messages';
import { toProblem } from './problem';

/** What an audit row says happened; an event of a newer version, by its own word. */
export function auditEvent(event: string, t: Messages): string {
  return (t.audit.events as Partial<Record<string, string>>)[event] ?? event;
}

/** What is looked for; empty does not matter. */
export type Filters = { kind: AuditKind | ''; personId: string; day: string; sale: string };

export class AuditList {
  readonly #host: Host;
  #items = $state.raw<AuditEntry[]>([]);
  #next = $state.raw<number | null>(null);
  #problem = $state.raw<Problem | null>(null);
  #verified = $state.raw<AuditVerified | null>(null);
  #verifying = $state(false);
  #asked = 0;

  #filters = $state.raw<Filters>({ kind: '', personId: '', day: '', sale: '' });

  constructor(host: Host) {
    this.#host = host;
  }

  get items(): AuditEntry[] {
    return this.#items;
  }
  get hasMore(): boolean {
    return this.#next !== null;
  }
  get problem(): Problem | null {
    return this.#problem;
  }
  get verified(): AuditVerified | null {
    return this.#verified;
  }
  get verifying(): boolean {
    return this.#verifying;
  }

  get filters(): Filters {
    return this.#filters;
  }

  filter(change: Partial<Filters>): Promise<void> {
    this.#filters = { ...this.#filters, ...change };
    return this.search();
  }

  /** The newest rows under the filters as they are now. */
  search = (): Promise<void> => this.#read(null);
  more = (): Promise<void> => this.#read(this.#next);

  async verify(): Promise<void> {
    if (this.#verifying) return;
    this.#verifying = true;
    try {
      this.#verified = await this.#host.verifyAudit();
      this.#problem = null;
    } catch (thrown) {
      this.#problem = toProblem(thrown);
    }
    this.#verifying = false;
  }

  async #read(after: number | null): Promise<void> {
    const asked = (this.#asked += 1);
    const { kind, personId, day, sale } = this.#filters;
    try {
      const page = await this.#host.auditPage({
        after,
        kind: kind === '' ? null : kind,
        person_id: personId === '' ? null : personId,
        day: day === '' ? null : day,
        external_transaction_id: sale.trim() === '' ? null : sale.trim(),
      });
      if (asked !== this.#asked) return;
      this.#items = after === null ? page.items : [...this.#items, ...page.items];
      this.#next = page.next;
      this.#problem = null;
    } catch (thrown) {
      if (asked === this.#asked) this.#problem = toProblem(thrown);
    }
  }
}
