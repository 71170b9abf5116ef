/** *Enviar ahora* and what it came to. */
import type { Problem } from '../bindings/Problem';
import type { SendReport } from '../bindings/SendReport';
import type { Host } from '../host/host';
import { Action } from './action.svelte';

export class SendNow {
  readonly #host: Host;
  readonly #action = new Action();
  #report = $state.raw<SendReport | null>(null);

  constructor(host: Host) {
    this.#host = host;
  }

  get sending(): boolean {
    return this.#action.busy;
  }
  get problem(): Problem | null {
    return this.#action.problem;
  }
  get report(): SendReport | null {
    return this.#report;
  }

  async press(): Promise<void> {
    await this.#action.run(async () => {
      this.#report = null;
      this.#report = await this.#host.sendNow();
    });
  }
}
