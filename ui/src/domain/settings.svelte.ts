/** What the settings show, read again with every hint. An older answer never replaces a newer one. */
import type { Problem } from '../bindings/Problem';
import type { Settings } from '../bindings/Settings';
import type { Host } from '../host/host';
import { toProblem } from './problem';

export class SettingsState {
  readonly #host: Host;
  #settings = $state.raw<Settings | null>(null);
  #problem = $state.raw<Problem | null>(null);
  #asked = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  get settings(): Settings | null {
    return this.#settings;
  }
  get problem(): Problem | null {
    return this.#problem;
  }

  /** A command's answer. */
  replace(settings: Settings): void {
    this.#asked += 1;
    this.#settings = settings;
  }

  async refresh(): Promise<void> {
    const asked = (this.#asked += 1);
    try {
      const settings = await this.#host.settings();
      if (asked !== this.#asked) return;
      this.#settings = settings;
      this.#problem = null;
    } catch (thrown) {
      if (asked === this.#asked) this.#problem = toProblem(thrown);
    }
  }
}
