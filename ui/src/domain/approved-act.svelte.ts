/**
 * An act that a manager approves, while reason and PIN are given. Invariant: a refused PIN empties the PIN and nothing
 * else, and no act is asked for without a reason.
 */
import type { Problem } from '../bindings/Problem';
import { Action } from './action.svelte';
import { Approval } from './approval.svelte';
import { ownProblem } from './problem';
import type { Till } from './till.svelte';

/** What a request carries of an approval. */
export type Approved = { manager_id: string; pin: string; reason: string };

export class ApprovedAct {
  readonly approval: Approval;
  readonly #action = new Action();
  reason = $state('');

  constructor(till: Till) {
    this.approval = new Approval(till);
  }

  get busy(): boolean {
    return this.#action.busy;
  }
  get problem(): Problem | null {
    return this.#action.problem;
  }

  /** Whether the till did what was approved. */
  async ask(act: (approved: Approved) => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    const reason = this.reason.trim();
    if (reason === '') {
      this.#action.refuse(ownProblem('reason_required'));
      return false;
    }
    const approval = this.approval.take();
    if (!approval) return false;
    return this.#action.run(() => act({ ...approval, reason }));
  }
}
