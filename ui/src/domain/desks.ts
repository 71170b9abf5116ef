/**
 * Keeps an unfinished ticket while the screen is locked. Invariant: whoever unlocks finds their own desk; another
 * person gets a new one, and never somebody else's ticket.
 */
import type { Host } from '../host/host';
import { Desk } from './desk.svelte';

export class Desks {
  readonly #host: Host;
  #last: { personId: string; desk: Desk } | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  of(personId: string): Desk {
    if (this.#last?.personId !== personId) this.#last = { personId, desk: new Desk(this.#host) };
    return this.#last.desk;
  }
}
