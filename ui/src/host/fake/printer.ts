/**
 * A printer in memory: it prints after a moment, or fails as the test or the person wants. Tickets are drawn only
 * roughly: the till's own layout is not repeated here.
 */
import type { PreviewRow } from '../../bindings/PreviewRow';
import type { PrintFailure } from '../../bindings/PrintFailure';
import type { PrintJob } from '../../bindings/PrintJob';
import type { PrinterSettings } from '../../bindings/PrinterSettings';
import type { Printing } from '../../bindings/Printing';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { TicketPreview } from '../../bindings/TicketPreview';
import { refusal, stamp } from './sales';

const UNSET: PrinterSettings = {
  device: null,
  columns: 48,
  code_page: 'pc858',
  qr_by_printer: false,
  cuts: true,
  prints_tickets: true,
  opens_drawer: false,
  says_no_receipt: true,
  footer_1: '',
  footer_2: '',
};

export class FakePrinter {
  settings: PrinterSettings = UNSET;
  /** What happens to the next jobs: null prints them. */
  trouble: PrintFailure | null = null;
  /** Whether the trouble comes in the middle of a ticket. */
  inMidTicket = false;
  readonly jobs: PrintJob[] = [];
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get printing(): Printing {
    const of = (state: PrintJob['state']) => this.jobs.filter((job) => job.state === state);
    return {
      has_printer: this.settings.device !== null,
      waiting_count: of('queued').length + of('printing').length,
      failed_count: of('failed').length,
      failed: of('failed'),
      questions: of('unknown'),
    };
  }

  set(settings: PrinterSettings): PrinterSettings {
    const { device } = settings;
    if (device?.kind === 'network' && device.address.trim() === '')
      throw refusal('printer_settings_invalid', 'address');
    if (device && device.kind !== 'network' && !device.path.startsWith('/'))
      throw refusal('printer_settings_invalid', 'path');
    this.settings = settings;
    this.#changed();
    return settings;
  }

  sold(sale: SaleSummary): void {
    if (this.settings.device && this.settings.prints_tickets) this.#add('ticket', sale, 0);
  }

  reprint(sale: SaleSummary): void {
    const earlier = this.of(sale.external_transaction_id);
    const failed = earlier.filter(({ state }) => state === 'failed');
    for (const job of failed) job.state = 'dismissed';
    const copies =
      earlier.length === failed.length ? 0 : Math.max(...earlier.map((job) => job.copy_number)) + 1;
    this.#add(copies === 0 ? 'ticket' : 'copy', sale, copies);
  }

  testPage(): void {
    this.#add('test', null, 0);
  }

  report(): void {
    this.#add('report', null, 0);
  }

  of(externalId: string): PrintJob[] {
    return this.jobs.filter((job) => job.external_transaction_id === externalId);
  }

  retry(jobId: number | null): void {
    for (const job of this.jobs)
      if (job.state === 'failed' && (jobId === null || job.job_id === jobId)) this.#print(job);
  }

  dismiss(jobId: number): void {
    for (const job of this.jobs) if (job.state === 'failed' && job.job_id === jobId) job.state = 'dismissed';
    this.#changed();
  }

  answer(jobId: number, isComplete: boolean, find: (externalId: string) => SaleSummary | undefined): void {
    const job = this.jobs.find(({ job_id, state }) => job_id === jobId && state === 'unknown');
    if (!job) throw refusal('not_found');
    job.state = isComplete ? 'printed' : 'replaced';
    const sale = job.external_transaction_id === null ? undefined : find(job.external_transaction_id);
    if (!isComplete && sale) this.reprint(sale);
    this.#changed();
  }

  /** As wide as the paper, with the words that matter. */
  draw(settings: PrinterSettings, title: string, lines: [string, string][]): TicketPreview {
    const width = settings.columns;
    const line = (text: string, bold = false, double = false): PreviewRow => ({
      row: 'line',
      text,
      bold,
      double,
    });
    const centred = (text: string, columns = width) =>
      `${' '.repeat(Math.max(0, Math.floor((columns - text.length) / 2)))}${text}`;
    const footer = [settings.footer_1, settings.footer_2].filter((text) => text !== '');
    return {
      columns: width,
      rows: [
        line(centred('Transportes del Sur'), true),
        line(centred(title, width / 2), true, true),
        line('-'.repeat(width)),
        ...lines.map(([left, right]) => line(`${left.padEnd(width - right.length)}${right}`)),
        line('-'.repeat(width)),
        ...(settings.says_no_receipt ? [line(centred('Este documento no es comprobante de pago'))] : []),
        ...footer.map((text) => line(centred(text))),
        { row: 'cut' },
      ],
    };
  }

  #add(kind: PrintJob['kind'], sale: SaleSummary | null, copyNumber: number): void {
    if (!this.settings.device) throw refusal('printer_missing');
    const job: PrintJob = {
      job_id: this.jobs.length + 1,
      kind,
      copy_number: copyNumber,
      external_transaction_id: sale?.external_transaction_id ?? null,
      description: sale?.description ?? null,
      state: 'queued',
      failure: null,
      detail: null,
      created_at: stamp(),
      changed_at: stamp(),
    };
    this.jobs.push(job);
    this.#print(job);
  }

  #print(job: PrintJob): void {
    job.state = this.trouble === null ? 'printed' : this.inMidTicket ? 'unknown' : 'failed';
    job.failure = this.trouble;
    this.#changed();
  }
}
