/** A manager's PIN for one act, while it is typed. Invariant: it is sent once and forgotten, whatever the answer. */
import type { Approval as Sent } from '../bindings/Approval';
import type { Person } from '../bindings/Person';
import type { Till } from './till.svelte';

export class Approval {
  readonly #till: Till;
  managerId = $state('');
  pin = $state('');

  constructor(till: Till) {
    this.#till = till;
    this.managerId = this.#likelyManager();
  }

  get managers(): Person[] {
    return this.#till.frame?.managers ?? [];
  }
  get isGiven(): boolean {
    return this.managerId !== '' && this.pin !== '';
  }

  /** What goes with the request; afterwards the field is empty. */
  take(): Sent | null {
    if (!this.isGiven) return null;
    const sent = { manager_id: this.managerId, pin: this.pin };
    this.pin = '';
    return sent;
  }

  #likelyManager(): string {
    const phase = this.#till.phase;
    const isHere =
      (phase?.phase === 'selling' || phase?.phase === 'no_shift') && phase.person.role === 'manager';
    return (isHere ? phase.person : this.managers[0])?.person_id ?? '';
  }
}
