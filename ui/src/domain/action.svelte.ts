/**
 * One button's work: busy while it runs, the problem when it was refused. A second press while the first is under
 * way does nothing, which is what makes a double press harmless.
 */
import type { Problem } from '../bindings/Problem';
import { toProblem } from './problem';

export class Action {
  #busy = $state(false);
  #problem = $state.raw<Problem | null>(null);

  get busy(): boolean {
    return this.#busy;
  }
  get problem(): Problem | null {
    return this.#problem;
  }

  /** Whether the work was done. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.#busy) return false;
    this.#busy = true;
    this.#problem = null;
    try {
      await work();
      return true;
    } catch (thrown) {
      this.#problem = toProblem(thrown);
      return false;
    } finally {
      this.#busy = false;
    }
  }

  refuse(problem: Problem): void {
    this.#problem = problem;
  }

  forget(): void {
    this.#problem = null;
  }
}
