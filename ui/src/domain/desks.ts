/**
 * Keeps everybody's unfinished ticket while the screen is locked or another person serves. Invariant: whoever comes
 * back finds their own desk, and never somebody else's ticket.
 */
import type { Host } from '../host/host';
import { Desk } from './desk.svelte';

export class Desks {
  readonly #host: Host;
  readonly #desks = new Map<string, Desk>();

  constructor(host: Host) {
    this.#host = host;
  }

  of(personId: string): Desk {
    const known = this.#desks.get(personId);
    if (known) return known;
    const desk = new Desk(this.#host);
    this.#desks.set(personId, desk);
    return desk;
  }
}
