/**
 * What of printing waits for a person: tickets that did not come out, and those of which nobody knows. Invariant:
 * it never stands in the way of a sale; whatever is pressed here is a row for the printer's own queue.
 */
import type { PrintJob } from '../bindings/PrintJob';
import type { Printing } from '../bindings/Printing';
import type { Host } from '../host/host';
import { Action } from './action.svelte';
import { Live } from './live.svelte';

export class PrintQueue {
  readonly action = new Action();
  readonly #host: Host;
  readonly #printing: Live<Printing>;

  constructor(host: Host) {
    this.#host = host;
    this.#printing = new Live(() => host.printing());
  }

  get hasPrinter(): boolean {
    return this.#printing.value?.has_printer ?? false;
  }
  get failedCount(): number {
    return this.#printing.value?.failed_count ?? 0;
  }
  /** The oldest that did not come out. */
  get failed(): PrintJob | null {
    return this.#printing.value?.failed[0] ?? null;
  }
  /** The oldest of which somebody has to say whether it is whole. */
  get question(): PrintJob | null {
    return this.#printing.value?.questions[0] ?? null;
  }

  refresh(): Promise<void> {
    return this.#printing.refresh();
  }

  retry = () => this.#do(() => this.#host.retryPrint({ job_id: null }));
  dismiss = (job: PrintJob) => this.#do(() => this.#host.dismissPrint({ job_id: job.job_id }));
  answer = (job: PrintJob, isComplete: boolean) =>
    this.#do(() => this.#host.answerPrint({ job_id: job.job_id, is_complete: isComplete }));
  printTestPage = () => this.#do(() => this.#host.printTestPage());

  /** Prints the tickets of these sales once more, in their order. */
  reprint = (externalIds: string[]) =>
    this.#do(async () => {
      for (const external_transaction_id of externalIds)
        await this.#host.reprint({ external_transaction_id });
    });

  async #do(work: () => Promise<unknown>): Promise<boolean> {
    const done = await this.action.run(work);
    await this.refresh();
    return done;
  }
}
